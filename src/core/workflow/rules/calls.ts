/** Arguments of `runs.run`, `runs.all`, `runs.lanes`, `runs.host` and `runs.steer`. */
import type { AnyNode, CallExpression, ObjectExpression } from 'acorn';
import {
  CHILD_LAUNCH_FIELDS,
  didYouMean,
  hostFaults,
  keyFault,
  lanesFaults,
  launchFaults,
  REMOVED_LAUNCH_FIELDS,
  type RuleFault,
  say,
  sentences,
  steerFaults,
  UNKNOWN,
  type Words,
} from '../../../protocol/index.ts';
import { nearest } from '../../spelling/index.ts';
import { addTimeout, removeField, renameField } from '../fix-fields.ts';
import { batchItems } from '../launches.ts';
import { fieldsOf, literalValue, nodeAt } from '../literals.ts';
import { type ApiCall, hasSpread, plainArguments, type Script } from '../script.ts';
import { plainText } from '../syntax-tree.ts';
import { checkJson } from './values.ts';

export function checkCalls(script: Script): void {
  for (const call of script.calls) {
    switch (call.member) {
      case 'run':
        checkRun(script, call);
        break;
      case 'all':
        checkAll(script, call);
        break;
      case 'lanes':
        checkLanes(script, call);
        break;
      case 'host':
        checkHost(script, call);
        break;
      case 'steer':
        checkSteer(script, call);
        break;
      case 'status':
        checkStatus(script, call);
        break;
      default:
    }
  }
  for (const member of ['get', 'set']) {
    for (const call of script.globalCalls('state', member)) checkKey(script, call, `state.${member}`);
  }
}

function checkRun(script: Script, { node }: ApiCall): void {
  const keyNode = checkKey(script, node, 'runs.run');
  const params = plainArguments(node)[1];
  if (!params) {
    if (keyNode && !hasSpread(node)) {
      script.report('argument_missing', node, say('argument_missing:run'));
    }
    return;
  }
  const value = literalValue(params);
  if (checkJson(script, params, 'not_json:run')) return;
  if (params.type === 'ObjectExpression') checkLaunch(script, params, 'runs.run', keyNode && plainText(keyNode));
  else if (value !== UNKNOWN) {
    script.report('launch_field_invalid', params, say('launch_field_invalid:run'));
  }
}

/** Reports a key that cannot be one; the node of the key if there is one. */
function checkKey(script: Script, node: CallExpression, call: string): AnyNode | undefined {
  const what = say('key_of', { what: call });
  const [key] = plainArguments(node);
  if (key) reportFaults(script, keyFault(literalValue(key), what), key);
  else if (!hasSpread(node)) script.report('argument_missing', node, say('key_missing', { what }));
  return key;
}

function checkLaunch(
  script: Script,
  node: ObjectExpression,
  what: Words,
  key: string | undefined,
  isItem = false,
): void {
  const fields = fieldsOf(node);
  const { key: itemKey, ...rest } = fields.values();
  const params = isItem ? rest : fields.values();
  const faults = launchFaults(params, { what, key, open: fields.open });
  reportFaults(script, faults, node);
  if (!isItem && itemKey !== undefined && Object.hasOwn(params, 'key')) {
    const at = fields.byName.get('key') ?? node;
    const fix = removeField(script, node, 'key');
    script.report('launch_field_unknown', at, say('launch_field_unknown:key'), { fix });
  }
  reportUnknownFields(script, node, what, isItem ? ['key'] : []);
}

function reportUnknownFields(script: Script, node: ObjectExpression, what: Words, further: readonly string[]): void {
  for (const [name, property] of fieldsOf(node).byName) {
    if (CHILD_LAUNCH_FIELDS.includes(name) || Object.hasOwn(REMOVED_LAUNCH_FIELDS, name) || name === 'key') continue;
    const meant = nearest(name, [...CHILD_LAUNCH_FIELDS, ...further]);
    const message = sentences(say('launch_field_unknown', { what, name }), didYouMean(meant));
    const fix = meant && !fieldsOf(node).byName.has(meant) ? renameField(property, meant) : undefined;
    script.report('launch_field_unknown', property.key, message, { fix });
  }
}

function checkAll(script: Script, { node }: ApiCall): void {
  const [items] = plainArguments(node);
  if (!items) {
    if (!hasSpread(node)) script.report('argument_missing', node, say('argument_missing:all'));
    return;
  }
  const value = literalValue(items);
  if (items.type !== 'ArrayExpression') {
    if (items.type === 'ObjectExpression' || value !== UNKNOWN) {
      script.report('batch_not_array', items, say('batch_not_array'));
    }
    return;
  }
  items.elements.forEach((element, index) => {
    const number = index + 1;
    if (element === null) script.report('not_json', items, say('not_json:gap', { number }));
    else if (
      element.type !== 'ObjectExpression' &&
      element.type !== 'SpreadElement' &&
      literalValue(element) !== UNKNOWN
    ) {
      script.report('launch_field_invalid', element, say('launch_field_invalid:item', { number }));
    }
  });
  for (const item of batchItems(items).items) {
    if (item.keyNode) reportFaults(script, keyFault(literalValue(item.keyNode), say('key_of:item')), item.keyNode);
    else if (!item.fields.open && !item.fields.byName.has('key')) {
      reportFaults(script, keyFault(undefined, say('key_of:item')), item.node);
    }
    if (!checkJson(script, item.node, 'not_json:item')) checkLaunch(script, item.node, say('item'), item.key, true);
  }
}

function checkLanes(script: Script, { node }: ApiCall): void {
  const [lanes] = plainArguments(node);
  if (!lanes) {
    if (!hasSpread(node)) script.report('argument_missing', node, say('argument_missing:lanes'));
    return;
  }
  if (lanes.type === 'ArrayExpression' && checkJson(script, lanes, 'not_json:lanes')) return;
  const value = partialValue(lanes);
  const isOpen = (path: RuleFault['path']) => {
    const at = nodeAt(lanes, path);
    return at.type !== 'ObjectExpression' || fieldsOf(at).open;
  };
  reportFaults(script, lanesFaults(value, isOpen), lanes);
  for (const stage of stagesOf(lanes)) reportUnknownFields(script, stage, say('stage'), ['key']);
}

/** Like `literalValue`, but objects with a spread keep the fields that can be seen. */
function partialValue(node: AnyNode | null, depth = 0): unknown {
  if (
    node?.type === 'ArrayExpression' &&
    depth < 3 &&
    !node.elements.some((element) => element?.type === 'SpreadElement')
  ) {
    return node.elements.map((element) => partialValue(element, depth + 1));
  }
  if (node?.type !== 'ObjectExpression') return literalValue(node);
  const fields = fieldsOf(node);
  const values = fields.values();
  for (const [name, property] of fields.byName) {
    if (property.value.type === 'ArrayExpression' && !fields.uncertain.has(name))
      values[name] = partialValue(property.value, depth + 1);
  }
  return values;
}

function stagesOf(lanes: AnyNode): ObjectExpression[] {
  if (lanes.type !== 'ArrayExpression') return [];
  return lanes.elements.flatMap((lane) => {
    const stages = lane?.type === 'ObjectExpression' ? fieldsOf(lane).byName.get('stages')?.value : undefined;
    if (stages?.type !== 'ArrayExpression') return [];
    return stages.elements.filter((stage) => stage?.type === 'ObjectExpression');
  });
}

function checkHost(script: Script, { node }: ApiCall): void {
  checkKey(script, node, 'runs.host');
  const params = plainArguments(node)[1];
  if (!params) {
    if (plainArguments(node).length === 1 && !hasSpread(node)) {
      script.report('argument_missing', node, say('argument_missing:host'));
    }
    return;
  }
  if (checkJson(script, params, 'not_json:host')) return;
  if (params.type !== 'ObjectExpression') {
    if (literalValue(params) !== UNKNOWN) script.report('host_field_invalid', params, say('host_field_invalid:object'));
    return;
  }
  const fields = fieldsOf(params);
  for (const fault of hostFaults(fields.values(), fields.open)) {
    const fix =
      fault.rule === 'host_timeout_missing'
        ? addTimeout(params)
        : fault.rule === 'host_field_unknown'
          ? removeField(script, params, String(fault.path[0]))
          : undefined;
    const at =
      fault.rule === 'host_field_unknown'
        ? (fields.byName.get(String(fault.path[0])) ?? params)
        : nodeAt(params, fault.path);
    script.report(fault.rule, at, fault.message, { fix });
  }
}

function checkSteer(script: Script, { node }: ApiCall): void {
  if (hasSpread(node)) return;
  const [key, message, options] = plainArguments(node);
  const values = options?.type === 'ObjectExpression' ? fieldsOf(options).values() : literalOrMissing(options);
  const args = [key, message, options];
  for (const fault of steerFaults(literalOrMissing(key), literalOrMissing(message), values)) {
    const [first, ...path] = fault.path;
    const argument = args[Number(first)];
    script.report(fault.rule, argument ? nodeAt(argument, path) : node, fault.message);
  }
}

function checkStatus(script: Script, { node }: ApiCall): void {
  const [id] = plainArguments(node);
  const value = literalOrMissing(id);
  if (hasSpread(node) || value === UNKNOWN || (typeof value === 'string' && value.trim() !== '')) return;
  script.report('argument_missing', id ?? node, say('argument_missing:status'));
}

function literalOrMissing(node: AnyNode | undefined): unknown {
  return node ? literalValue(node) : undefined;
}

function reportFaults(script: Script, faults: readonly RuleFault[], root: AnyNode): void {
  for (const { rule, path, message } of faults) {
    const name = path.at(-1);
    const holder = nodeAt(root, path.slice(0, -1));
    const removable = rule === 'launch_field_removed' && holder.type === 'ObjectExpression';
    const fix = removable ? removeField(script, holder, String(name)) : undefined;
    script.report(rule, nodeAt(root, path), message, { fix });
  }
}

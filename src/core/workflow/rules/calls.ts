/** Arguments of `runs.run`, `runs.all`, `runs.lanes`, `runs.host` and `runs.steer`. */
import type { AnyNode, CallExpression, ObjectExpression } from 'acorn';
import {
  CHILD_LAUNCH_FIELDS,
  hostFaults,
  keyFault,
  lanesFaults,
  launchFaults,
  REMOVED_LAUNCH_FIELDS,
  type RuleFault,
  steerFaults,
  UNKNOWN,
} from '../../../protocol/index.ts';
import { addTimeout, removeField, renameField } from '../fix-fields.ts';
import { batchItems } from '../launches.ts';
import { fieldsOf, literalValue, nodeAt, notJson } from '../literals.ts';
import { nearest } from '../nearest.ts';
import { type ApiCall, hasSpread, plainArguments, type Script } from '../script.ts';
import { plainText } from '../syntax-tree.ts';

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
    for (const call of script.globalCalls('state', member)) checkKey(script, call, `key of state.${member}`);
  }
}

function checkRun(script: Script, { node }: ApiCall): void {
  const keyNode = checkKey(script, node, 'key of runs.run');
  const params = plainArguments(node)[1];
  if (!params) {
    if (keyNode && !hasSpread(node)) {
      script.report('argument_missing', node, 'runs.run needs its parameters: runs.run(key, {agent, task}).');
    }
    return;
  }
  const value = literalValue(params);
  if (checkJson(script, params, 'The parameters of runs.run')) return;
  if (params.type === 'ObjectExpression') checkLaunch(script, params, 'runs.run', keyNode && plainText(keyNode));
  else if (value !== UNKNOWN) {
    script.report('launch_field_invalid', params, 'The parameters of runs.run must be an object: {agent, task}.');
  }
}

/** Reports a key that cannot be one; the node of the key if there is one. */
function checkKey(script: Script, node: CallExpression, what: string): AnyNode | undefined {
  const [key] = plainArguments(node);
  if (key) reportFaults(script, keyFault(literalValue(key), what), key);
  else if (!hasSpread(node)) script.report('argument_missing', node, `The ${what} is missing.`);
  return key;
}

function checkLaunch(
  script: Script,
  node: ObjectExpression,
  what: string,
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
    script.report(
      'launch_field_unknown',
      at,
      'runs.run takes the key as its first argument; "key" among the parameters names nothing.',
      { fix },
    );
  }
  reportUnknownFields(script, node, what, isItem ? ['key'] : []);
}

function reportUnknownFields(script: Script, node: ObjectExpression, what: string, further: readonly string[]): void {
  for (const [name, property] of fieldsOf(node).byName) {
    if (CHILD_LAUNCH_FIELDS.includes(name) || Object.hasOwn(REMOVED_LAUNCH_FIELDS, name) || name === 'key') continue;
    const meant = nearest(name, [...CHILD_LAUNCH_FIELDS, ...further]);
    const hint = meant ? ` Did you mean "${meant}"?` : '';
    const message = `${what} has no field "${name}"; it is handed on, and nothing reads it.${hint}`;
    const fix = meant && !fieldsOf(node).byName.has(meant) ? renameField(property, meant) : undefined;
    script.report('launch_field_unknown', property.key, message, { fix });
  }
}

function checkAll(script: Script, { node }: ApiCall): void {
  const [items] = plainArguments(node);
  if (!items) {
    if (!hasSpread(node))
      script.report('argument_missing', node, 'runs.all needs an array of items: runs.all([{key, agent, task}]).');
    return;
  }
  const value = literalValue(items);
  if (items.type !== 'ArrayExpression') {
    if (items.type === 'ObjectExpression' || value !== UNKNOWN) {
      const message = 'runs.all takes an array of items, each {key, agent, task}; the results come in the same order.';
      script.report('batch_not_array', items, message);
    }
    return;
  }
  items.elements.forEach((element, index) => {
    if (element === null)
      script.report('not_json', items, `Item ${index + 1} of runs.all is missing: the array has a gap.`);
    else if (
      element.type !== 'ObjectExpression' &&
      element.type !== 'SpreadElement' &&
      literalValue(element) !== UNKNOWN
    ) {
      script.report(
        'launch_field_invalid',
        element,
        `Item ${index + 1} of runs.all must be an object: {key, agent, task}.`,
      );
    }
  });
  for (const item of batchItems(items).items) {
    if (item.keyNode)
      reportFaults(script, keyFault(literalValue(item.keyNode), 'key of an item of runs.all'), item.keyNode);
    else if (!item.fields.open && !item.fields.byName.has('key')) {
      reportFaults(script, keyFault(undefined, 'key of an item of runs.all'), item.node);
    }
    if (!checkJson(script, item.node, 'An item of runs.all'))
      checkLaunch(script, item.node, 'an item of runs.all', item.key, true);
  }
}

function checkLanes(script: Script, { node }: ApiCall): void {
  const [lanes] = plainArguments(node);
  if (!lanes) {
    if (!hasSpread(node))
      script.report('argument_missing', node, 'runs.lanes needs an array of lanes: runs.lanes([{key, stages}]).');
    return;
  }
  if (lanes.type === 'ArrayExpression' && checkJson(script, lanes, 'The lanes')) return;
  const value = partialValue(lanes);
  const isOpen = (path: RuleFault['path']) => {
    const at = nodeAt(lanes, path);
    return at.type !== 'ObjectExpression' || fieldsOf(at).open;
  };
  reportFaults(script, lanesFaults(value, isOpen), lanes);
  for (const stage of stagesOf(lanes)) reportUnknownFields(script, stage, 'a stage', ['key']);
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
  checkKey(script, node, 'key of runs.host');
  const params = plainArguments(node)[1];
  if (!params) {
    if (plainArguments(node).length === 1 && !hasSpread(node)) {
      script.report(
        'argument_missing',
        node,
        'runs.host needs its parameters: runs.host(key, {kind: "command", command, timeoutMs}).',
      );
    }
    return;
  }
  if (checkJson(script, params, 'The parameters of runs.host')) return;
  if (params.type !== 'ObjectExpression') {
    if (literalValue(params) !== UNKNOWN)
      script.report('host_field_invalid', params, 'The parameters of runs.host must be an object.');
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
  script.report('argument_missing', id ?? node, 'runs.status needs the key of a child or a run id.');
}

function literalOrMissing(node: AnyNode | undefined): unknown {
  return node ? literalValue(node) : undefined;
}

/** Reports a value that cannot be JSON; whether it did. */
function checkJson(script: Script, node: AnyNode, what: string): boolean {
  const found = notJson(node, script.jsonRules(false));
  // A field that is `undefined` is left out of what counts as missing, but it cannot cross to the host.
  if (found) script.report('not_json', found.node, `${what} must be JSON; this is ${found.what}.`);
  return found !== undefined;
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

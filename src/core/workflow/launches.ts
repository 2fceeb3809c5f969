/** What a script launches, as far as it can be seen. */
import type { AnyNode, ArrayExpression, ObjectExpression } from 'acorn';
import { stageKey } from '../../protocol/index.ts';
import { type Fields, fieldsOf, literalItems, literalValue } from './literals.ts';
import { type ApiCall, plainArguments, type Script } from './script.ts';
import { plainText } from './syntax-tree.ts';

export interface Launch {
  call: ApiCall;
  key: string;
  /** Where the key stands. */
  keyNode: AnyNode;
  /** The parameters, without the key; `UNKNOWN` where they cannot be seen. */
  params: unknown;
  /** The object literal with the parameters. */
  node: ObjectExpression | undefined;
  /** Whether the object may have further fields. */
  open: boolean;
  /** A stage of a lane: does not start before the one in front of it is done. */
  later?: boolean;
}

export interface Launches {
  launches: Launch[];
  /** Whether these are all, so that a key that is not among them is never launched. */
  complete: boolean;
}

export function findLaunches(script: Script): Launches {
  const launches: Launch[] = [];
  let complete = !script.runsEscapes;
  for (const call of script.calls) {
    const [first, second] = plainArguments(call.node);
    if (call.member === 'run') {
      const key = first && plainText(first);
      if (!first || key === undefined) complete = false;
      else {
        const node = second?.type === 'ObjectExpression' ? second : undefined;
        launches.push({
          call,
          key,
          keyNode: first,
          params: literalValue(second),
          node,
          open: node ? fieldsOf(node).open : true,
        });
      }
    } else if (call.member === 'all') {
      const items = first?.type === 'ArrayExpression' ? batchItems(first) : undefined;
      if (!items || items.open) complete = false;
      for (const item of items?.items ?? []) {
        if (item.key === undefined || !item.keyNode) complete = false;
        else
          launches.push({
            call,
            key: item.key,
            keyNode: item.keyNode,
            params: item.params,
            node: item.node,
            open: item.fields.open,
          });
      }
    } else if (call.member === 'lanes') {
      const stages = first && laneStages(call, first);
      if (!stages?.complete) complete = false;
      launches.push(...(stages?.launches ?? []));
    }
  }
  return { launches, complete };
}

export interface BatchItem {
  node: ObjectExpression;
  fields: Fields;
  key: string | undefined;
  keyNode: AnyNode | undefined;
  params: unknown;
}

/** The object literals among the items of a batch; `open` when others may be among them. */
export function batchItems(array: ArrayExpression): { items: BatchItem[]; open: boolean } {
  const { items, open } = literalItems(array);
  const seen: BatchItem[] = [];
  let others = open;
  for (const node of items) {
    if (node?.type !== 'ObjectExpression') {
      others = true;
      continue;
    }
    const fields = fieldsOf(node);
    const keyNode = fields.uncertain.has('key') ? undefined : fields.byName.get('key')?.value;
    const { key: _, ...params } = fields.values();
    seen.push({ node, fields, key: keyNode && plainText(keyNode), keyNode, params });
  }
  return { items: seen, open: others };
}

function laneStages(call: ApiCall, root: AnyNode): Launches {
  const launches: Launch[] = [];
  if (root.type !== 'ArrayExpression') return { launches, complete: false };
  const lanes = literalItems(root);
  let complete = !lanes.open;
  for (const lane of lanes.items) {
    const fields = lane?.type === 'ObjectExpression' ? fieldsOf(lane) : undefined;
    const laneKey = textOf(fields, 'key');
    const stages = fields?.uncertain.has('stages') ? undefined : fields?.byName.get('stages')?.value;
    if (laneKey === undefined || stages?.type !== 'ArrayExpression') {
      complete = false;
      continue;
    }
    const { items, open } = literalItems(stages);
    if (open) complete = false;
    items.forEach((stage, index) => {
      const inner = stage?.type === 'ObjectExpression' ? fieldsOf(stage) : undefined;
      const key = textOf(inner, 'key');
      const keyNode = inner?.byName.get('key')?.value;
      if (key === undefined || !keyNode || !inner || stage?.type !== 'ObjectExpression') complete = false;
      else {
        const { key: _, ...params } = inner.values();
        launches.push({
          call,
          key: stageKey(laneKey, key),
          keyNode,
          params,
          node: stage,
          open: inner.open,
          later: index > 0,
        });
      }
    });
  }
  return { launches, complete };
}

function textOf(fields: Fields | undefined, name: string): string | undefined {
  const property = fields?.uncertain.has(name) ? undefined : fields?.byName.get(name);
  return property?.kind === 'init' ? plainText(property.value) : undefined;
}

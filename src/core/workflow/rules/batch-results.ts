/** What `runs.all` resolves to is an array in the order of the items; reading it by key fails. */
import type { AnyNode, ArrayExpression, CallExpression, Identifier, ObjectPattern } from 'acorn';
import { isKeyedRead, say, sentences } from '../../../protocol/index.ts';
import { destructure, destructurePattern, indexRead } from '../fix-batch.ts';
import type { Fix } from '../fix-fields.ts';
import { batchItems } from '../launches.ts';
import { plainArguments, type Script } from '../script.ts';
import { isFunction, keyName, propertyName } from '../syntax-tree.ts';

/** One read of a batch result by name. */
export interface KeyedRead {
  name: string;
  /** Where the name stands. */
  at: AnyNode;
  node: AnyNode;
}

interface Batch {
  call: CallExpression;
  items: ArrayExpression | undefined;
  /** Place by key, for the keys that can be seen. */
  places: Map<string, number>;
  /** Whether `places` has all keys and each stands at its place. */
  complete: boolean;
}

export function checkBatchResults(script: Script): void {
  for (const { member, node } of script.calls) {
    if (member !== 'all') continue;
    const batch = describe(node);
    for (const origin of originsOf(script, node)) checkOrigin(script, batch, origin);
  }
}

function describe(call: CallExpression): Batch {
  const [items] = plainArguments(call);
  const array = items?.type === 'ArrayExpression' ? items : undefined;
  const seen = array && batchItems(array);
  const places = new Map<string, number>();
  seen?.items.forEach(({ key }, place) => {
    if (key !== undefined && !places.has(key)) places.set(key, place);
  });
  const complete = seen !== undefined && !seen.open && seen.items.every(({ key }) => key !== undefined);
  return { call, items: array, places, complete };
}

/** Where the result itself first appears: `await runs.all(…)`, or the parameter of its first handler. */
function* originsOf(script: Script, call: CallExpression): Generator<AnyNode> {
  const around = script.tree.parent(call);
  const whole = around?.type === 'ChainExpression' ? around : call;
  const parent = script.tree.parent(whole);
  if (parent?.type === 'AwaitExpression') yield parent;
  if (parent?.type !== 'MemberExpression' || parent.object !== whole || propertyName(parent) !== 'then') return;
  const then = script.tree.parent(parent);
  const [handler] = then?.type === 'CallExpression' && then.callee === parent ? then.arguments : [];
  if (handler && isFunction(handler) && handler.params[0]) yield handler.params[0];
}

interface Uses {
  reads: KeyedRead[];
  patterns: ObjectPattern[];
  /** Names that hold the result, with the nodes that use them. */
  names: Identifier[];
  /** Whether properties may have been added to the array. */
  mayHaveMore: boolean;
  /** Uses that are no read by name. */
  others: number;
}

function checkOrigin(script: Script, batch: Batch, origin: AnyNode): void {
  const uses = follow(script, origin);
  const isFailing = (name: string) => isKeyedRead(name) && !(uses.mayHaveMore && !batch.places.has(name));
  const reads = uses.reads.filter(({ name }) => isKeyedRead(name));
  const patternReads = uses.patterns.flatMap((pattern) =>
    namesOfPattern(pattern).filter(({ name }) => isKeyedRead(name)),
  );
  const wanted = [...reads, ...patternReads];
  if (wanted.length === 0) return;
  const whole = destructure(script, {
    origin,
    ...batch,
    reads,
    names: uses.names,
    others: uses.others + uses.patterns.length,
  });
  for (const read of reads) {
    const place = batch.places.get(read.name);
    const fix = whole ?? (place === undefined || !batch.complete ? undefined : indexRead(script, read, place));
    reportRead(script, batch, read, isFailing(read.name), fix);
  }
  for (const pattern of uses.patterns) {
    const fix = batch.complete ? destructurePattern(script, pattern, batch.places) : undefined;
    for (const read of namesOfPattern(pattern)) {
      if (isKeyedRead(read.name)) reportRead(script, batch, read, isFailing(read.name), fix);
    }
  }
}

function reportRead(script: Script, batch: Batch, { name, at }: KeyedRead, fails: boolean, fix: Fix | undefined): void {
  const place = batch.places.get(name);
  const where = place === undefined ? undefined : say('batch_keyed_read:index', { name, index: place });
  const key = place === undefined ? undefined : batch.items && batchItems(batch.items).items[place]?.keyNode;
  const related = key ? [{ at: key, message: say('batch_keyed_read:item', { name }) }] : undefined;
  const code = fails ? 'batch_keyed_read' : 'batch_unknown_read';
  script.report(code, at, sentences(say('batch_keyed_read', { name }), where), { related, fix });
}

function namesOfPattern(pattern: ObjectPattern): KeyedRead[] {
  return pattern.properties.flatMap((property) => {
    if (property.type !== 'Property') return [];
    const name = keyName(property);
    return name === undefined ? [] : [{ name, at: property.key, node: property }];
  });
}

/** Where the array goes by names and aliases that hold nothing else. */
function follow(script: Script, origin: AnyNode): Uses {
  const uses: Uses = { reads: [], patterns: [], names: [], mayHaveMore: false, others: 0 };
  const seen = new Set<AnyNode>();
  const open: AnyNode[] = [origin];
  const followName = (name: Identifier) => {
    const binding = script.scopes.bindingOf(name);
    if (!binding || binding.declarations.length > 1 || binding.writes.some((write) => write !== name)) return false;
    for (const use of binding.references) {
      if (use !== name) {
        uses.names.push(use);
        open.push(use);
      }
    }
    return true;
  };
  for (let node = open.pop(); node; node = open.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    // The parameter of a handler.
    if (node.type === 'ObjectPattern') {
      uses.patterns.push(node);
      continue;
    }
    const parent = script.tree.parent(node);
    if (node.type === 'Identifier' && parent && isFunction(parent) && parent.params.some((param) => param === node)) {
      if (!followName(node)) uses.others += 1;
      continue;
    }
    switch (parent?.type) {
      case 'MemberExpression': {
        const name = parent.object === node ? propertyName(parent) : undefined;
        const place = script.tree.parent(parent);
        const isWritten = script.scopes.isWritten(parent);
        const isDeleted = place?.type === 'UnaryExpression' && place.operator === 'delete';
        if (isWritten) uses.mayHaveMore = true;
        if (name !== undefined && !isWritten && !isDeleted)
          uses.reads.push({ name, at: parent.property, node: parent });
        if (name === undefined || isWritten || !isKeyedRead(name)) uses.others += 1;
        break;
      }
      case 'VariableDeclarator':
        if (parent.init !== node) break;
        if (parent.id.type === 'ObjectPattern') uses.patterns.push(parent.id);
        else if (parent.id.type !== 'Identifier' || !followName(parent.id)) uses.others += 1;
        break;
      case 'AssignmentExpression':
        if (parent.right !== node || parent.operator !== '=') break;
        if (parent.left.type === 'ObjectPattern') uses.patterns.push(parent.left);
        else if (parent.left.type !== 'Identifier' || !followName(parent.left)) uses.others += 1;
        break;
      case 'CallExpression':
        // What is called may add properties, as Object.assign does.
        uses.mayHaveMore = true;
        uses.others += 1;
        break;
      default:
        uses.others += 1;
    }
  }
  return uses;
}

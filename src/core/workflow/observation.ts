/**
 * What becomes of an operation's promise. An operation is observed when its outcome flows into something the workflow awaits
 * or returns; here only what is certain is told, and whatever leaves sight counts as observed.
 */
import type { AnyNode, CallExpression, Identifier } from 'acorn';
import type { Script } from './script.ts';
import { propertyName } from './syntax-tree.ts';

export interface Unobserved {
  /** `dropped`: the promise goes nowhere. `read`: only properties of the promise itself are read, which it does not have. */
  how: 'dropped' | 'read' | 'handler';
  /** The node where it is lost: the read, the statement, the variable. */
  at: AnyNode;
  /** The whole expression whose `await` would observe it. */
  whole: AnyNode;
}

export interface Fate {
  /** Whether some use may observe it. */
  observed: boolean;
  losses: Unobserved[];
}

const CHAINING = ['then', 'catch', 'finally'];
const COMBINING = ['all', 'allSettled', 'race', 'any'];

/** Follows the promise of a call. */
export function fateOf(script: Script, call: CallExpression): Fate {
  const fate: Fate = { observed: false, losses: [] };
  const seen = new Set<AnyNode>();
  const open: AnyNode[] = [call];
  for (let node = open.pop(); node; node = open.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    const step = follow(script, node);
    if (step.next) open.push(...step.next);
    else if (step.lost) fate.losses.push({ how: step.lost, at: step.at ?? node, whole: node });
    else fate.observed = true;
  }
  return fate;
}

interface Step {
  next?: AnyNode[];
  lost?: Unobserved['how'];
  at?: AnyNode;
}

const OBSERVED: Step = {};

function follow(script: Script, node: AnyNode): Step {
  const parent = script.tree.parent(node);
  switch (parent?.type) {
    case 'ChainExpression':
      return { next: [parent] };
    case 'MemberExpression':
      return parent.object === node ? followRead(script, parent) : OBSERVED;
    case 'ExpressionStatement':
      return { lost: 'dropped', at: node };
    case 'UnaryExpression':
    case 'BinaryExpression':
    case 'TemplateLiteral':
      return { lost: 'dropped', at: node };
    case 'SequenceExpression':
      return parent.expressions.at(-1) === node ? { next: [parent] } : { lost: 'dropped', at: node };
    case 'ConditionalExpression':
      return parent.test === node ? { lost: 'dropped', at: node } : { next: [parent] };
    case 'LogicalExpression':
      return { next: [parent] };
    case 'ArrayExpression':
      return followArray(script, parent);
    case 'CallExpression':
      return parent.callee !== node &&
        isPromiseCall(script, parent, ['resolve', ...COMBINING]) &&
        parent.arguments[0] === node
        ? { next: [parent] }
        : OBSERVED;
    case 'VariableDeclarator':
      return parent.init === node ? followDeclaration(script, parent.id) : OBSERVED;
    case 'ArrowFunctionExpression':
      return parent.body === node && isForEachHandler(script, parent) ? { lost: 'handler', at: node } : OBSERVED;
    default:
      return OBSERVED;
  }
}

function followRead(script: Script, read: AnyNode & { type: 'MemberExpression' }): Step {
  const name = propertyName(read);
  const call = script.tree.parent(read);
  const isCalled = call?.type === 'CallExpression' && call.callee === read;
  if (name !== undefined && CHAINING.includes(name)) return isCalled ? { next: [call] } : OBSERVED;
  return name === undefined ? OBSERVED : { lost: 'read', at: read };
}

/** An array of promises that is awaited as it is, or thrown away. */
function followArray(script: Script, array: AnyNode): Step {
  const parent = script.tree.parent(array);
  if (parent?.type === 'CallExpression' && isPromiseCall(script, parent, COMBINING) && parent.arguments[0] === array) {
    return { next: [parent] };
  }
  const isLost = parent?.type === 'AwaitExpression' || parent?.type === 'ExpressionStatement';
  return isLost ? { lost: 'dropped', at: parent } : OBSERVED;
}

function followDeclaration(script: Script, id: AnyNode): Step {
  if (id.type === 'ObjectPattern') return id.properties.length > 0 ? { lost: 'read', at: id } : OBSERVED;
  if (id.type !== 'Identifier') return OBSERVED;
  const binding = script.scopes.bindingOf(id);
  if (!binding || binding.declarations.length > 1 || binding.writes.length > 0) return OBSERVED;
  const uses: Identifier[] = binding.references;
  return uses.length === 0 ? { lost: 'dropped', at: id } : { next: uses };
}

function isPromiseCall(script: Script, call: CallExpression, members: readonly string[]): boolean {
  const { callee } = call;
  if (callee.type !== 'MemberExpression' || !script.isGlobal(callee.object, 'Promise')) return false;
  return members.includes(propertyName(callee) ?? '');
}

/** `forEach` throws away what its handler returns. */
function isForEachHandler(script: Script, handler: AnyNode): boolean {
  const call = script.tree.parent(handler);
  if (call?.type !== 'CallExpression' || call.arguments[0] !== handler) return false;
  return call.callee.type === 'MemberExpression' && propertyName(call.callee) === 'forEach';
}

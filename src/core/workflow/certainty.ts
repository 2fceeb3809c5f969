/**
 * Which places of a script are surely come to, with nobody there to catch what fails. A mistake elsewhere need not make the run
 * fail: the place may lie behind a condition, in a loop without rounds, in a function nobody calls, or in a `try`.
 */
import type { AnyNode, CallExpression } from 'acorn';
import type { Scopes } from './scopes.ts';
import { type FunctionNode, isFunction, type SyntaxTree } from './syntax-tree.ts';

interface Span {
  start: number;
  end: number;
}

export class Certainty {
  readonly #doubtful: Span[] = [];
  readonly #functions: FunctionNode[] = [];
  /** Functions that are called from a place that is surely come to. */
  readonly #called = new Set<FunctionNode>();

  constructor(tree: SyntaxTree, scopes: Scopes) {
    for (const node of tree.nodes) {
      this.#doubtful.push(...doubtfulParts(node, tree));
      if (isFunction(node)) this.#functions.push(node);
    }
    const calls = this.#functions.map((called) => ({ called, from: callsOf(called, tree, scopes) }));
    // A function that is surely called makes the calls in it sure.
    for (let before = -1; before < this.#called.size; ) {
      before = this.#called.size;
      for (const { called, from } of calls) if (from.some(({ start }) => this.isSure(start))) this.#called.add(called);
    }
  }

  /** Whether what stands at this offset is surely come to, and its failure is the workflow's. */
  isSure(at: number): boolean {
    if (this.#doubtful.some(({ start, end }) => at >= start && at < end)) return false;
    // A function itself is made in any case; what is in it happens when it is called.
    return this.#functions.every((one) => at <= one.start || at >= one.end || this.#called.has(one));
  }
}

/** The parts of a node that may be passed over, or whose failure may be caught. */
function doubtfulParts(node: AnyNode, tree: SyntaxTree): Span[] {
  switch (node.type) {
    case 'IfStatement':
    case 'ConditionalExpression':
      return node.alternate ? [node.consequent, node.alternate] : [node.consequent];
    case 'LogicalExpression':
    case 'AssignmentPattern':
      return [node.right];
    case 'AssignmentExpression':
      return ['&&=', '||=', '??='].includes(node.operator) ? [node.right] : [];
    case 'ForStatement':
      return node.update ? [node.update, node.body] : [node.body];
    case 'ForInStatement':
    case 'ForOfStatement':
    case 'WhileStatement':
    case 'DoWhileStatement':
    case 'LabeledStatement':
    case 'WithStatement':
      return [node.body];
    case 'SwitchStatement':
      return node.cases;
    case 'TryStatement':
      if (node.handler) return [node.block, node.handler];
      // A `return` in `finally` takes the place of what was thrown.
      return node.finalizer?.body.every(({ type }) => type === 'ExpressionStatement') ? [] : [node.block];
    // Instance fields have a value only where somebody makes an instance.
    case 'PropertyDefinition':
      return !node.static && node.value ? [node.value] : [];
    case 'CallExpression':
    case 'MemberExpression':
      return node.optional ? [afterOptional(node, tree)] : [];
    case 'ReturnStatement':
      return afterReturn(node, tree);
    default:
      return [];
  }
}

/** `a?.b(c)`: everything behind `a`, to the end of the chain. */
function afterOptional(node: AnyNode, tree: SyntaxTree): Span {
  const start =
    node.type === 'CallExpression' ? node.callee.end : node.type === 'MemberExpression' ? node.object.end : 0;
  for (const around of tree.ancestors(node)) if (around.type === 'ChainExpression') return { start, end: around.end };
  return { start, end: node.end };
}

/** What follows a `return` in its function: it may have ended there. */
function afterReturn(node: AnyNode, tree: SyntaxTree): Span[] {
  const around = tree.functionAround(node) ?? tree.program;
  return [{ start: node.end, end: around.end }];
}

/** Where a function is called under its own name or at the place where it stands. Generators only begin when somebody asks. */
function callsOf(node: FunctionNode, tree: SyntaxTree, scopes: Scopes): CallExpression[] {
  if (node.generator || node.async) return [];
  const parent = tree.parent(node);
  if (parent?.type === 'CallExpression' && parent.callee === node) return [parent];
  const name =
    node.type === 'FunctionDeclaration'
      ? node.id
      : parent?.type === 'VariableDeclarator' && parent.init === node && parent.id.type === 'Identifier'
        ? parent.id
        : undefined;
  const binding = name && scopes.bindingOf(name);
  if (!binding || binding.writes.length > 0 || binding.kind === 'var') return [];
  return binding.references.flatMap((use) => {
    const call = tree.parent(use);
    return call?.type === 'CallExpression' && call.callee === use && !call.optional ? [call] : [];
  });
}

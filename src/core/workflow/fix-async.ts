/**
 * Rewrites an async function as a plain one that gives the same promise: without `await` the word goes; with `await`s in a row
 * the rest of the function becomes the handler of a promise chain. Anything else is left to a person.
 */
import type { AnyNode, AwaitExpression, BlockStatement, ReturnStatement, Statement } from 'acorn';
import { say } from '../../protocol/index.ts';
import type { Fix } from './fix-fields.ts';
import type { Script, TextEdit } from './script.ts';
import { childrenOf, type FunctionNode, isFunction } from './syntax-tree.ts';

export function fixAsync(script: Script, node: FunctionNode): Fix | undefined {
  if (node.generator) return undefined;
  const remove = removeAsync(script, node);
  if (!remove || cannotBeChained(node)) return undefined;
  const awaits = [...ownAwaits(node.body)];
  // A default value that waits, or throws, would do so outside the promise.
  if (node.params.some((param) => param.type !== 'Identifier')) return undefined;
  if (awaits.length === 0) {
    if (!alwaysReturnsLaunch(script, node)) return undefined;
    return {
      kind: 'plain_helper',
      title: say('fix:plain_helper'),
      safe: true,
      edits: [remove],
    };
  }
  const edits =
    node.body.type === 'BlockStatement'
      ? chainBlock(script, node.body, awaits)
      : chainExpression(script, node.body, awaits);
  if (!edits) return undefined;
  return {
    kind: 'promise_chain',
    title: say('fix:promise_chain'),
    safe: true,
    edits: [remove, ...edits],
  };
}

/** The word `async` and the space behind it. */
function removeAsync(script: Script, node: FunctionNode): TextEdit | undefined {
  const parent = script.tree.parent(node);
  const isMethod = parent?.type === 'MethodDefinition' || (parent?.type === 'Property' && parent.method);
  const start = isMethod ? parent.start : node.start;
  const word = /^(static\s+)?async(\s+)/.exec(script.text.slice(start, node.body.start));
  if (!word) {
    const bare = /^async(?=\()/.exec(script.text.slice(start, node.body.start));
    return bare ? { start, end: start + bare[0].length, text: '' } : undefined;
  }
  const from = start + (word[1]?.length ?? 0);
  return { start: from, end: start + word[0].length, text: '' };
}

/** The awaits of a function itself, in the order of the text. */
function* ownAwaits(body: AnyNode): Generator<AwaitExpression> {
  const open: AnyNode[] = [body];
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.type === 'AwaitExpression') yield node;
    if (!isFunction(node)) open.push(...childrenOf(node).toReversed());
  }
}

/** Handlers are arrows, which have the same `this` and `arguments`; loops that wait cannot be written as handlers. */
function cannotBeChained(node: FunctionNode): boolean {
  const open: AnyNode[] = [node.body];
  for (let inner = open.pop(); inner; inner = open.pop()) {
    if (inner.type === 'ForOfStatement' && inner.await) return true;
    if (!isFunction(inner)) open.push(...childrenOf(inner));
  }
  return false;
}

function alwaysReturnsLaunch(script: Script, { body }: FunctionNode): boolean {
  if (body.type !== 'BlockStatement') return script.isPromise(body);
  if (body.body.at(-1)?.type !== 'ReturnStatement') return false;
  return ownStatements(body).every((node) => {
    if (node.type === 'ThrowStatement') return false;
    return node.type !== 'ReturnStatement' || (node.argument ? script.isPromise(node.argument) : false);
  });
}

function ownStatements(body: BlockStatement): AnyNode[] {
  const found: AnyNode[] = [];
  const open: AnyNode[] = [body];
  for (let node = open.pop(); node; node = open.pop()) {
    found.push(node);
    if (!isFunction(node)) open.push(...childrenOf(node));
  }
  return found;
}

/** `async (x) => (await A).b` becomes `(x) => A.then((result) => result.b)`. */
function chainExpression(script: Script, body: AnyNode, awaits: readonly AwaitExpression[]): TextEdit[] | undefined {
  const [only] = awaits;
  if (!only || awaits.length > 1 || !isEvaluatedFirst(script, only, body)) return undefined;
  if (only === body) return [{ start: body.start, end: body.end, text: promiseOf(script, only.argument) }];
  const name = script.freshName('result');
  const [open, close] = parentheses(script, only);
  const before = script.text.slice(body.start, open);
  const after = script.text.slice(close, body.end);
  const handler = `.then((${name}) => ${wrapObject(`${before}${name}${after}`, body)})`;
  return [{ start: body.start, end: body.end, text: `${promiseOf(script, only.argument)}${handler}` }];
}

function wrapObject(text: string, body: AnyNode): string {
  return body.type === 'ObjectExpression' && !text.startsWith('(') ? `(${text})` : text;
}

/** The span of an expression with the parentheses right around it. */
function parentheses(script: Script, node: AnyNode): [number, number] {
  let { start, end } = node;
  for (;;) {
    const before = /\(\s*$/.exec(script.text.slice(0, start));
    const after = /^\s*\)/.exec(script.text.slice(end));
    // Parentheses of a call belong to the call.
    if (!before || !after || /[\w$\])]\s*$/.test(script.text.slice(0, before.index))) return [start, end];
    start = before.index;
    end += after[0].length;
  }
}

/** Whether nothing else happens before this `await`, and it happens in any case. */
function isEvaluatedFirst(script: Script, awaited: AnyNode, whole: AnyNode): boolean {
  let inner = awaited;
  for (const around of script.tree.ancestors(awaited)) {
    if (inner === whole) return true;
    switch (around.type) {
      case 'MemberExpression':
        if (around.object !== inner) return false;
        break;
      case 'CallExpression':
        if (around.callee !== inner) return false;
        break;
      case 'ChainExpression':
      case 'UnaryExpression':
      case 'TemplateLiteral':
      case 'Property':
        if (around.type === 'TemplateLiteral' && around.expressions[0] !== inner) return false;
        if (around.type === 'Property' && around.computed) return false;
        break;
      case 'BinaryExpression':
      case 'LogicalExpression':
        if (around.left !== inner) return false;
        break;
      case 'ConditionalExpression':
        if (around.test !== inner) return false;
        break;
      case 'ArrayExpression':
        if (around.elements[0] !== inner) return false;
        break;
      case 'ObjectExpression':
        if (around.properties[0] !== inner) return false;
        break;
      default:
        return false;
    }
    inner = around;
  }
  return inner === whole;
}

/**
 * Statements before the first `await` stay; what follows it becomes the handler, and so on for the next one.
 * `undefined` when an `await` stands anywhere but alone at the top of the function.
 */
function chainBlock(script: Script, body: BlockStatement, awaits: readonly AwaitExpression[]): TextEdit[] | undefined {
  const edits: TextEdit[] = [];
  const waiting = new Set<AnyNode>(awaits);
  let handlers = 0;
  for (const [index, statement] of body.body.entries()) {
    const inside = awaits.filter(({ start, end }) => statement.start <= start && end <= statement.end);
    if (inside.length === 0) {
      if (handlers === 0 && leaves(statement)) return undefined;
      // Names that are hoisted out of a handler, or functions used before it, would not be found any more.
      if (handlers > 0 && declaresHoisted(statement)) return undefined;
      continue;
    }
    const [only] = inside;
    if (!only || inside.length > 1) return undefined;
    waiting.delete(only);
    const isLast = index === body.body.length - 1;
    const step = chainStatement(script, statement, only, isLast);
    if (!step) return undefined;
    edits.push(...step.edits);
    if (step.opens && handlers === 0 && !isUsedOnlyAfter(script, body, statement.start)) return undefined;
    if (step.opens) handlers += 1;
  }
  if (waiting.size > 0) return undefined;
  const end = body.end - 1;
  if (handlers > 0) edits.push({ start: end, end, text: `${'});'.repeat(handlers)} ` });
  return edits;
}

/** Whether a statement may end the function at once, with something that is no promise. */
function leaves(statement: Statement): boolean {
  const open: AnyNode[] = [statement];
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.type === 'ReturnStatement' || node.type === 'ThrowStatement') return true;
    if (!isFunction(node)) open.push(...childrenOf(node));
  }
  return false;
}

/** Whether what is declared from here on is used only from here on: it will be visible in the handler only. */
function isUsedOnlyAfter(script: Script, body: BlockStatement, start: number): boolean {
  return script.scopes.bindings.every(({ declarations, references }) => {
    const own = declarations.some((node) => start <= node.start && node.end <= body.end);
    return !own || references.every((node) => start <= node.start && node.end <= body.end);
  });
}

function chainStatement(
  script: Script,
  statement: Statement,
  awaited: AwaitExpression,
  isLast: boolean,
): { edits: TextEdit[]; opens: boolean } | undefined {
  const promise = promiseOf(script, awaited.argument);
  const whole = (text: string) => [{ start: statement.start, end: statement.end, text }];
  if (statement.type === 'ReturnStatement') return isLast ? returned(script, statement, awaited, promise) : undefined;
  if (statement.type === 'ExpressionStatement' && statement.expression === awaited) {
    return { edits: whole(`return ${promise}.then(() => {`), opens: true };
  }
  if (statement.type !== 'VariableDeclaration' || statement.kind === 'var' || statement.declarations.length > 1)
    return undefined;
  const [declaration] = statement.declarations;
  if (declaration?.init !== awaited || !declaration) return undefined;
  return { edits: whole(`return ${promise}.then((${script.source(declaration.id)}) => {`), opens: true };
}

function returned(
  script: Script,
  statement: ReturnStatement,
  awaited: AwaitExpression,
  promise: string,
): { edits: TextEdit[]; opens: boolean } | undefined {
  const { argument } = statement;
  if (!argument) return undefined;
  if (argument === awaited) {
    return { edits: [{ start: awaited.start, end: awaited.end, text: promise }], opens: false };
  }
  const chained = isEvaluatedFirst(script, awaited, argument);
  if (!chained) return undefined;
  const name = script.freshName('result');
  const [open, close] = parentheses(script, awaited);
  const text = `${script.text.slice(argument.start, open)}${name}${script.text.slice(close, argument.end)}`;
  const [start, end] = [argument.start, argument.end];
  return { edits: [{ start, end, text: `${promise}.then((${name}) => ${wrapObject(text, argument)})` }], opens: false };
}

function declaresHoisted(statement: Statement): boolean {
  const open: AnyNode[] = [statement];
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.type === 'FunctionDeclaration' || (node.type === 'VariableDeclaration' && node.kind === 'var'))
      return true;
    if (!isFunction(node)) open.push(...childrenOf(node));
  }
  return false;
}

/** The text of something awaited, as a promise. */
function promiseOf(script: Script, node: AnyNode): string {
  return script.isPromise(node) ? script.source(node) : `Promise.resolve(${script.source(node)})`;
}

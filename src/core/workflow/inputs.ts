/** Which fields of `args` a script reads, followed through constants and patterns. */
import type { AnyNode, Identifier, Property } from 'acorn';
import { isKnown, type ScriptInput, type ScriptInputs } from '../../protocol/index.ts';
import { literalValue } from './literals.ts';
import { isMember, type Script, wholeExpression } from './script.ts';
import { isLeaf, keyName, propertyName } from './syntax-tree.ts';

/** A person is not asked for more one by one. */
const MAX_INPUTS = 20;

/** Members that only lists have; texts have `slice` and `includes`, too. */
const OF_LISTS = new Set([
  'every',
  'filter',
  'find',
  'flatMap',
  'forEach',
  'join',
  'map',
  'reduce',
  'some',
  'sort',
  'toSorted',
]);

/** How one place reads a field. */
interface Read {
  name: string;
  at: AnyNode;
  fallback?: unknown;
  /** The place asks only whether the field is there. */
  isTest: boolean;
  isList: boolean;
}

export function inputsOf(script: Script): ScriptInputs {
  const reader = new InputReader(script);
  const { reads, isWhole, isTested } = reader.readAll();
  const named = mergeReads(script, reads);
  return {
    named: named.slice(0, MAX_INPUTS),
    // A script that only asks whether there are any arguments does something with them that cannot be seen.
    isWhole: isWhole || named.length > MAX_INPUTS || (isTested && named.length === 0),
  };
}

function mergeReads(script: Script, reads: readonly Read[]): ScriptInput[] {
  const byName = new Map<string, Read[]>();
  for (const read of reads.toSorted((a, b) => a.at.start - b.at.start)) {
    byName.set(read.name, [...(byName.get(read.name) ?? []), read]);
  }
  return [...byName].map(([name, places]) => {
    const fallback = places.find((place) => 'fallback' in place)?.fallback;
    const text = fallback === undefined || !isKnown(fallback) ? undefined : JSON.stringify(fallback);
    const [first] = places;
    return {
      name,
      ...(text === undefined ? {} : { fallback: text }),
      // Where it is tested the script is ready for its absence; where every read has something in its place, too.
      isOptional: places.some(({ isTest }) => isTest) || places.every((place) => 'fallback' in place),
      isList: places.some(({ isList }) => isList) || Array.isArray(fallback),
      range: script.rangeOf(first?.at ?? script.tree.program),
    };
  });
}

class InputReader {
  readonly #script: Script;
  readonly #reads: Read[] = [];
  /** Expressions that are `args`. */
  readonly #open: AnyNode[];
  readonly #seen = new Set<AnyNode>();
  #isWhole = false;
  #isTested = false;

  constructor(script: Script) {
    this.#script = script;
    this.#open = [...(script.scopes.globals.get('args') ?? [])].filter((use) => script.isGlobal(use));
  }

  readAll(): { reads: readonly Read[]; isWhole: boolean; isTested: boolean } {
    for (let use = this.#open.pop(); use; use = this.#open.pop()) {
      if (this.#seen.has(use)) continue;
      this.#seen.add(use);
      this.#follow(use);
    }
    return { reads: this.#reads, isWhole: this.#isWhole, isTested: this.#isTested };
  }

  #follow(use: AnyNode): void {
    const { tree, scopes } = this.#script;
    const parent = tree.parent(use);
    if (isMember(parent) && parent.object === use) {
      const name = propertyName(parent);
      if (name === undefined) this.#isWhole = true;
      else if (!scopes.isWritten(parent)) this.#readField(name, parent);
      return;
    }
    switch (parent?.type) {
      case 'LogicalExpression':
        // `args ?? {}` is `args`, with nothing in its place; `args && …` only asks.
        if (parent.left === use && parent.operator !== '&&') this.#open.push(parent);
        else this.#test(parent.left === use);
        return;
      case 'ChainExpression':
      case 'ParenthesizedExpression':
        this.#open.push(parent);
        return;
      case 'VariableDeclarator':
        this.#bind(parent.id, parent.init === use);
        return;
      case 'AssignmentExpression':
        if (parent.left !== use) this.#bind(parent.left, parent.right === use);
        return;
      default:
        this.#test(isTestOf(parent, use));
    }
  }

  #test(isTest: boolean): void {
    if (isTest) this.#isTested = true;
    else this.#isWhole = true;
  }

  #bind(target: AnyNode, isValue: boolean): void {
    if (!isValue) {
      this.#isWhole = true;
    } else if (target.type === 'ObjectPattern') {
      for (const property of target.properties) {
        const name = property.type === 'Property' ? keyName(property) : undefined;
        if (property.type !== 'Property' || name === undefined) this.#isWhole = true;
        else this.#readPattern(name, property);
      }
    } else if (target.type === 'Identifier') {
      const binding = this.#script.scopes.bindingOf(target);
      // A name that is given another value later may mean anything.
      if (!binding || binding.writes.length > 0) this.#isWhole = true;
      else this.#open.push(...binding.references);
    } else this.#isWhole = true;
  }

  /** `{ name = 'value' }` */
  #readPattern(name: string, { value }: Property | { value: AnyNode }): void {
    const hasDefault = value.type === 'AssignmentPattern';
    const inner = hasDefault ? value.left : value;
    const uses = inner.type === 'Identifier' ? (this.#script.scopes.bindingOf(inner)?.references ?? []) : [];
    this.#reads.push({
      name,
      at: inner,
      ...(hasDefault ? { fallback: literalValue(value.right) } : fallbackOfAll(this.#script, uses)),
      isTest: uses.some((use) => isTestOf(this.#script.tree.parent(use), use)),
      isList: inner.type === 'ArrayPattern' || uses.some((use) => this.#isList(use)),
    });
  }

  /** `args.name` */
  #readField(name: string, member: AnyNode): void {
    const { tree } = this.#script;
    const whole = wholeExpression(tree, member);
    const parent = tree.parent(whole);
    const names = this.#namesOf(whole, parent);
    this.#reads.push({
      name,
      at: whole,
      ...fallbackOf(this.#script, whole),
      isTest: isTestOf(parent, whole) || names.some((use) => isTestOf(tree.parent(use), use)),
      isList: this.#isList(member) || this.#isList(whole) || names.some((use) => this.#isList(use)),
    });
  }

  /** Uses of the constant that a field is kept in: `const files = args.files ?? []`. */
  #namesOf(value: AnyNode, parent: AnyNode | undefined): readonly Identifier[] {
    const { tree, scopes } = this.#script;
    const isLeft = parent?.type === 'LogicalExpression' && parent.left === value;
    const kept = isLeft ? parent : value;
    const declarator = isLeft ? tree.parent(parent) : parent;
    if (declarator?.type !== 'VariableDeclarator' || declarator.init !== kept || declarator.id.type !== 'Identifier')
      return [];
    return scopes.bindingOf(declarator.id)?.references ?? [];
  }

  #isList(use: AnyNode): boolean {
    const parent = this.#script.tree.parent(use);
    if (isMember(parent) && parent.object === use) {
      const called = this.#script.tree.parent(parent);
      return called?.type === 'CallExpression' && called.callee === parent && OF_LISTS.has(propertyName(parent) ?? '');
    }
    if (parent?.type === 'ForOfStatement') return parent.right === use;
    return parent?.type === 'LogicalExpression' && parent.left === use && parent.right.type === 'ArrayExpression';
  }
}

/** What stands in place of a value that is missing: `value ?? other`. */
function fallbackOf({ tree }: Script, value: AnyNode): { fallback?: unknown } {
  const parent = tree.parent(value);
  const isDefaulted = parent?.type === 'LogicalExpression' && parent.left === value && parent.operator !== '&&';
  return isDefaulted ? { fallback: literalValue(parent.right) } : {};
}

/** The same for a name, when each of its uses has something in its place. */
function fallbackOfAll(script: Script, uses: readonly Identifier[]): { fallback?: unknown } {
  const [first, ...others] = uses.map((use) => fallbackOf(script, use));
  return first && [first, ...others].every((one) => 'fallback' in one) ? first : {};
}

/** Whether a place only asks if a value is there. */
function isTestOf(parent: AnyNode | undefined, value: AnyNode): boolean {
  switch (parent?.type) {
    case 'UnaryExpression':
      return parent.operator === '!' || parent.operator === 'typeof' || parent.operator === 'void';
    case 'BinaryExpression':
      return isEquality(parent.operator) && isNothing(parent.left === value ? parent.right : parent.left);
    case 'IfStatement':
    case 'ConditionalExpression':
      return parent.test === value;
    case 'LogicalExpression':
      return parent.operator === '&&' && parent.left === value;
    case 'ExpressionStatement':
      return true;
    default:
      return false;
  }
}

function isEquality(operator: string): boolean {
  return ['==', '===', '!=', '!=='].includes(operator);
}

/** `undefined`, `null`, `void 0`. */
function isNothing(node: AnyNode): boolean {
  if (node.type === 'UnaryExpression') return node.operator === 'void';
  if (!isLeaf(node)) return false;
  return (node.type === 'Identifier' && node.name === 'undefined') || (node.type === 'Literal' && node.value === null);
}

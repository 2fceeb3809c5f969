/** What can be told of a value from the text alone. */
import type { AnyNode, ArrayExpression, Expression, ObjectExpression, Property, SpreadElement } from 'acorn';
import { say, UNKNOWN, type Words } from '../../protocol/index.ts';
import { keyName, plainText } from './syntax-tree.ts';

/** Literals deeper than this are not looked into. */
const MAX_DEPTH = 200;

/** The JSON value of an expression, with `UNKNOWN` wherever only a run can tell. */
export function literalValue(node: AnyNode | null | undefined, depth = 0): unknown {
  if (!node || depth > MAX_DEPTH) return UNKNOWN;
  switch (node.type) {
    case 'Literal': {
      const { value } = node;
      return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null
        ? node.regex
          ? UNKNOWN
          : value
        : UNKNOWN;
    }
    case 'TemplateLiteral':
      return plainText(node) ?? UNKNOWN;
    case 'UnaryExpression': {
      const value = literalValue(node.argument, depth + 1);
      return typeof value === 'number' && node.operator === '-' ? -value : UNKNOWN;
    }
    case 'ArrayExpression':
      // Behind a spread nobody knows which place an element has.
      if (node.elements.some((element) => element?.type === 'SpreadElement')) return UNKNOWN;
      return node.elements.map((element) => literalValue(element, depth + 1));
    case 'ObjectExpression': {
      const fields = fieldsOf(node);
      if (fields.open) return UNKNOWN;
      return fields.values(depth + 1);
    }
    default:
      return UNKNOWN;
  }
}

export interface Fields {
  /** The definition that counts, by name; a name that a later spread may redefine has none. */
  byName: Map<string, Property>;
  /** Names that are defined in any case, though perhaps not with the value seen here. */
  uncertain: Set<string>;
  /** Whether there may be fields that cannot be seen. */
  open: boolean;
  /** The fields as an object, `UNKNOWN` where a value is not plain. */
  values(depth?: number): Record<string, unknown>;
}

/** The fields of an object literal. */
export function fieldsOf(node: ObjectExpression): Fields {
  const byName = new Map<string, Property>();
  const uncertain = new Set<string>();
  let open = false;
  for (const property of node.properties) {
    const name = property.type === 'Property' ? keyName(property) : undefined;
    // `__proto__: x` sets the prototype and defines nothing.
    const isPrototype =
      property.type === 'Property' && name === '__proto__' && !property.computed && !property.shorthand;
    if (property.type !== 'Property' || name === undefined || isPrototype) {
      open = true;
      for (const known of byName.keys()) uncertain.add(known);
      continue;
    }
    uncertain.delete(name);
    byName.delete(name);
    byName.set(name, property);
  }
  return {
    byName,
    uncertain,
    open,
    values: (depth = 0) => {
      const entries = [...byName].map(([name, property]): [string, unknown] => [
        name,
        uncertain.has(name) || property.kind !== 'init' ? UNKNOWN : literalField(property.value, depth),
      ]);
      return Object.fromEntries(entries);
    },
  };
}

/** `undefined` counts as a field that is not there. */
function literalField(node: Expression, depth: number): unknown {
  return node.type === 'Identifier' && node.name === 'undefined' ? undefined : literalValue(node, depth);
}

/** The node at a path of field names and array places; the last that exists when the path leads further. */
export function nodeAt(root: AnyNode, path: readonly (string | number)[]): AnyNode {
  let node: AnyNode = root;
  for (const step of path) {
    let next: AnyNode | null | undefined;
    if (node.type === 'ArrayExpression' && typeof step === 'number') next = node.elements[step];
    else if (node.type === 'ObjectExpression') next = fieldsOf(node).byName.get(String(step))?.value;
    if (!next) break;
    node = next;
  }
  return node;
}

export interface NotJson {
  node: AnyNode;
  /** What it is, as a noun. */
  what: Words;
}

export interface JsonRules {
  /** Whether `undefined` is fine at any depth. */
  undefinedIsFine: boolean;
  /** Whether the name `undefined` (or another) means what it says here. */
  isGlobal: (node: AnyNode) => boolean;
  /** Calls that surely give a promise. */
  isPromise: (node: AnyNode) => boolean;
}

/** The first part of a value that surely is no JSON. What cannot be told is taken to be right. */
export function notJson(root: AnyNode, rules: JsonRules): NotJson | undefined {
  const open: AnyNode[] = [root];
  for (let node = open.pop(); node; node = open.pop()) {
    const what = whatIsNotJson(node, rules);
    if (what) return { node, what };
    if (node.type === 'ArrayExpression') {
      if (node.elements.includes(null)) return { node, what: say('found:gaps') };
      for (const element of node.elements.toReversed()) if (element) open.push(element);
    } else if (node.type === 'ObjectExpression') {
      const fields = fieldsOf(node);
      for (const [name, property] of [...fields.byName].toReversed()) {
        if (fields.uncertain.has(name) || property.kind !== 'init') continue;
        if (property.method) return { node: property, what: say('found:function') };
        open.push(property.value);
      }
    }
  }
  return undefined;
}

function whatIsNotJson(node: AnyNode, rules: JsonRules): Words | undefined {
  switch (node.type) {
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return say('found:function');
    case 'Literal':
      return node.bigint ? say('found:bigint') : node.regex ? say('found:regex') : undefined;
    case 'Identifier':
      return node.name === 'undefined' && !rules.undefinedIsFine && rules.isGlobal(node) ? 'undefined' : undefined;
    case 'UnaryExpression':
      return node.operator === 'void' && !rules.undefinedIsFine ? 'undefined' : undefined;
    case 'CallExpression':
      return rules.isPromise(node) ? say('found:promise') : undefined;
    default:
      return undefined;
  }
}

/** The items of an array literal that can be seen; those beside a spread, too. */
export function literalItems(node: ArrayExpression): { items: (Expression | null)[]; open: boolean } {
  const items = node.elements.filter((element): element is Exclude<typeof element, SpreadElement> => {
    return element?.type !== 'SpreadElement';
  });
  return { items, open: items.length < node.elements.length };
}

/** Walking acorn's tree without recursion: scripts may nest deeper than a stack. */
import type { AnyNode, ArrowFunctionExpression, FunctionDeclaration, FunctionExpression, Program } from 'acorn';

export type FunctionNode = FunctionDeclaration | FunctionExpression | ArrowFunctionExpression;

export function isFunction(node: AnyNode): node is FunctionNode {
  return (
    node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression'
  );
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

export function isLeaf({ type }: AnyNode): boolean {
  return type === 'Identifier' || type === 'Literal' || type === 'TemplateElement';
}

/** The nodes directly below, in the order of the text. */
export function childrenOf(node: AnyNode): AnyNode[] {
  const children: AnyNode[] = [];
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) {
      for (const item of value) if (isNode(item)) children.push(item);
    } else if (isNode(value)) children.push(value);
  }
  // Shorthand properties have one node as key and value; templates keep texts and expressions apart.
  if (node.type === 'Property' && node.shorthand) return children.slice(-1);
  if (node.type === 'TemplateLiteral') children.sort((a, b) => a.start - b.start);
  return children;
}

interface Place {
  parent: AnyNode;
  /** The function a node stands in, also in its parameters. */
  around: FunctionNode | undefined;
  /** What a node runs as part of: a function, class field or static block; nothing: the body of the workflow. */
  runner: AnyNode | undefined;
}

export class SyntaxTree {
  readonly program: Program;
  readonly #places = new Map<AnyNode, Place>();
  /** Every node, each before what is below it, in the order of the text. */
  readonly nodes: AnyNode[] = [];

  constructor(program: Program) {
    this.program = program;
    const open: AnyNode[] = [program];
    for (let node = open.pop(); node; node = open.pop()) {
      this.nodes.push(node);
      if (isLeaf(node)) continue;
      const own = this.#places.get(node);
      const around = isFunction(node) ? node : own?.around;
      const runner =
        isFunction(node) || node.type === 'PropertyDefinition' || node.type === 'StaticBlock' ? node : own?.runner;
      // The children of one node share what is said of their place.
      const place: Place = { parent: node, around, runner };
      const children = childrenOf(node);
      for (let at = children.length - 1; at >= 0; at -= 1) {
        const child = children[at];
        if (!child) continue;
        this.#places.set(child, place);
        open.push(child);
      }
    }
  }

  parent(node: AnyNode): AnyNode | undefined {
    return this.#places.get(node)?.parent;
  }

  /** What is around a node, from the inside out. */
  *ancestors(node: AnyNode): Generator<AnyNode> {
    for (let at = this.parent(node); at; at = this.parent(at)) yield at;
  }

  /** The function a node stands in (also in its parameters); `undefined` in the body of the workflow. */
  functionAround(node: AnyNode): FunctionNode | undefined {
    return this.#places.get(node)?.around;
  }

  /** Whether code runs as part of the workflow's body itself: in no function, class field or static block. */
  isInBody(node: AnyNode): boolean {
    return this.#places.get(node)?.runner === undefined;
  }
}

/** The name of a property that is plain to see: `.name`, `["name"]`, `` [`name`] ``; private names have none. */
export function propertyName(node: { property: AnyNode; computed: boolean }): string | undefined {
  return nameOf(node.property, node.computed);
}

/** The name by which an object literal, pattern or class defines something. */
export function keyName(node: { key: AnyNode; computed: boolean }): string | undefined {
  return nameOf(node.key, node.computed);
}

function nameOf(node: AnyNode, computed: boolean): string | undefined {
  if (!computed && node.type === 'Identifier') return node.name;
  if (node.type === 'Literal' && (typeof node.value === 'string' || typeof node.value === 'number')) {
    return String(node.value);
  }
  return computed ? plainText(node) : undefined;
}

/** The text of a string literal or of a template without substitutions. */
export function plainText(node: AnyNode): string | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node.type === 'TemplateLiteral' && node.expressions.length === 0)
    return node.quasis[0]?.value.cooked ?? undefined;
  return undefined;
}

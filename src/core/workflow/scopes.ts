/**
 * Which name means which declaration. What no declaration explains is global; below `with`, nothing can be said.
 */
import type { AnyNode, Identifier, Pattern } from 'acorn';
import { isFunction, isLeaf, type SyntaxTree } from './syntax-tree.ts';

export interface Binding {
  name: string;
  kind: 'var' | 'let' | 'const' | 'function' | 'class' | 'param' | 'catch';
  /** Where it is declared; several places for `var` and functions. */
  declarations: Identifier[];
  /** Every use, declarations not counted. */
  references: Identifier[];
  /** Uses that give it another value, after its declaration. */
  writes: Identifier[];
}

interface Scope {
  names: Map<string, Binding>;
  /** Whether `var` and function declarations stop here. */
  isFunction: boolean;
  isWith: boolean;
}

interface ScopeChain {
  scope: Scope;
  around: ScopeChain | undefined;
}

export class Scopes {
  readonly #tree: SyntaxTree;
  readonly #scopes = new Map<AnyNode, Scope>();
  readonly #bindings = new Map<Identifier, Binding>();
  readonly #uncertain = new Set<Identifier>();
  /** Uses of names that nothing declares, by name. */
  readonly globals = new Map<string, Identifier[]>();
  readonly bindings: Binding[] = [];

  constructor(tree: SyntaxTree) {
    this.#tree = tree;
    for (const node of tree.nodes) this.#declare(node);
    // The scopes around each node, from those of its parent: looking for them upwards would take too long in deep trees.
    const chains = new Map<AnyNode, ScopeChain | undefined>();
    for (const node of tree.nodes) {
      const parent = tree.parent(node);
      const around = parent && chains.get(parent);
      if (node.type === 'Identifier' && this.#isReference(node)) this.#resolve(node, around);
      if (isLeaf(node)) continue;
      const scope = this.#scopes.get(node);
      chains.set(node, scope ? { scope, around } : around);
    }
  }

  /** What a name that is used or declared means; `undefined` when it is global. */
  bindingOf(identifier: Identifier): Binding | undefined {
    return this.#bindings.get(identifier);
  }

  /** Whether a use of this name surely means the global one. */
  isGlobal(identifier: Identifier): boolean {
    return !this.#bindings.has(identifier) && !this.#uncertain.has(identifier);
  }

  #scopeOf(node: AnyNode, isFunctionScope = false): Scope {
    let scope = this.#scopes.get(node);
    if (!scope) {
      scope = { names: new Map(), isFunction: isFunctionScope, isWith: false };
      this.#scopes.set(node, scope);
    }
    return scope;
  }

  #bind(scope: Scope, identifier: Identifier, kind: Binding['kind']): void {
    let binding = scope.names.get(identifier.name);
    if (!binding) {
      binding = { name: identifier.name, kind, declarations: [], references: [], writes: [] };
      scope.names.set(identifier.name, binding);
      this.bindings.push(binding);
    } else if (kind !== 'var' || binding.kind !== 'var') {
      // A second declaration gives a second value: a function over a parameter, a function over a function.
      binding.writes.push(identifier);
    }
    binding.declarations.push(identifier);
    this.#bindings.set(identifier, binding);
  }

  /** The scope around a node; `var`s go to the one of the function. */
  #around(node: AnyNode, forVar: boolean): Scope {
    for (const around of this.#tree.ancestors(node)) {
      if (isFunction(around) || around.type === 'StaticBlock' || around.type === 'Program') {
        return this.#scopeOf(around, true);
      }
      if (!forVar && makesScope(around)) return this.#scopeOf(around);
    }
    return this.#scopeOf(this.#tree.program, true);
  }

  #declare(node: AnyNode): void {
    if (node.type === 'WithStatement') this.#scopeOf(node).isWith = true;
    else if (node.type === 'VariableDeclaration') {
      const kind = node.kind === 'var' ? 'var' : node.kind === 'let' ? 'let' : 'const';
      const scope = this.#around(node, kind === 'var');
      for (const { id } of node.declarations) for (const name of namesIn(id)) this.#bind(scope, name, kind);
    } else if (isFunction(node)) {
      const own = this.#scopeOf(node, true);
      for (const param of node.params) for (const name of namesIn(param)) this.#bind(own, name, 'param');
      if (!node.id) return;
      if (node.type === 'FunctionExpression') {
        if (!own.names.has(node.id.name)) this.#bind(own, node.id, 'function');
      } else if (node.type === 'FunctionDeclaration') {
        // In sloppy code a function in a block is also visible around it; one scope for both is close enough.
        this.#bind(this.#around(node, true), node.id, 'function');
      }
    } else if (node.type === 'ClassDeclaration' && node.id) this.#bind(this.#around(node, false), node.id, 'class');
    else if (node.type === 'ClassExpression' && node.id) this.#bind(this.#scopeOf(node), node.id, 'class');
    else if (node.type === 'CatchClause' && node.param) {
      for (const name of namesIn(node.param)) this.#bind(this.#scopeOf(node), name, 'catch');
    }
  }

  #isReference(node: Identifier): boolean {
    if (this.#bindings.has(node)) return false;
    const parent = this.#tree.parent(node);
    switch (parent?.type) {
      case 'MemberExpression':
        return parent.object === node || parent.computed;
      case 'Property':
        return parent.value === node || parent.computed;
      case 'MethodDefinition':
      case 'PropertyDefinition':
        return parent.value === node || parent.computed;
      case 'LabeledStatement':
      case 'BreakStatement':
      case 'ContinueStatement':
      case 'MetaProperty':
        return false;
      default:
        return true;
    }
  }

  #resolve(identifier: Identifier, innermost: ScopeChain | undefined): void {
    for (let chain = innermost; chain; chain = chain.around) {
      const { scope } = chain;
      if (scope.isWith) {
        this.#uncertain.add(identifier);
        return;
      }
      const binding = scope.names.get(identifier.name);
      if (!binding) continue;
      this.#bindings.set(identifier, binding);
      binding.references.push(identifier);
      if (this.isWritten(identifier)) binding.writes.push(identifier);
      return;
    }
    const uses = this.globals.get(identifier.name);
    if (uses) uses.push(identifier);
    else this.globals.set(identifier.name, [identifier]);
  }

  /** Whether a name or property is assigned to, also as part of a pattern. */
  isWritten(target: AnyNode): boolean {
    let inner: AnyNode = target;
    for (const around of this.#tree.ancestors(target)) {
      switch (around.type) {
        case 'AssignmentExpression':
          return around.left === inner;
        case 'UpdateExpression':
          return true;
        case 'ForInStatement':
        case 'ForOfStatement':
          return around.left === inner;
        case 'AssignmentPattern':
          if (around.left !== inner) return false;
          break;
        case 'Property':
          if (around.value !== inner) return false;
          break;
        case 'ArrayPattern':
        case 'ObjectPattern':
        case 'RestElement':
          break;
        default:
          return false;
      }
      inner = around;
    }
    return false;
  }
}

function makesScope(node: AnyNode): boolean {
  return (
    node.type === 'BlockStatement' ||
    node.type === 'ForStatement' ||
    node.type === 'ForInStatement' ||
    node.type === 'ForOfStatement' ||
    node.type === 'SwitchStatement' ||
    node.type === 'CatchClause'
  );
}

/** Every name that a pattern declares. */
export function namesIn(pattern: Pattern): Identifier[] {
  const names: Identifier[] = [];
  const open: (AnyNode | null)[] = [pattern];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    switch (node?.type) {
      case 'Identifier':
        names.push(node);
        break;
      case 'ObjectPattern':
        for (const property of node.properties) open.push(property.type === 'Property' ? property.value : property);
        break;
      case 'ArrayPattern':
        open.push(...node.elements);
        break;
      case 'AssignmentPattern':
        open.push(node.left);
        break;
      case 'RestElement':
        open.push(node.argument);
        break;
      default:
    }
  }
  return names;
}

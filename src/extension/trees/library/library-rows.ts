/** The rows of the Library from one look to the next: one object for each, and which of them have to be drawn again. */
import { isDeepStrictEqual } from 'node:util';
import type { Branch } from './layout-tree.ts';
import { idOf, type LibraryNode } from './library-node.ts';

interface Kept {
  /** The view knows it by identity: what it says is put into it, whenever that changes. */
  node: LibraryNode;
  look: unknown;
  children: readonly LibraryNode[];
}

export class LibraryRows {
  #rows = new Map<string, Kept>();
  #roots: readonly LibraryNode[] = [];

  get roots(): readonly LibraryNode[] {
    return this.#roots;
  }

  /**
   * Takes over what the rows are now.
   * @returns the rows to draw again, each with all that stands in it; `undefined`: everything
   */
  take(branches: readonly Branch[]): LibraryNode[] | undefined {
    const before = this.#rows;
    const rootsBefore = this.#roots;
    this.#rows = new Map();
    const taken = branches.map((branch) => this.#takeBranch(branch, before));
    this.#roots = taken.map(({ node }) => node);
    return areSame(rootsBefore, this.#roots) ? taken.flatMap(({ changed }) => changed) : undefined;
  }

  #takeBranch(branch: Branch, before: ReadonlyMap<string, Kept>): { node: LibraryNode; changed: LibraryNode[] } {
    const id = idOf(branch.node);
    const known = before.get(id);
    const node = known ? Object.assign(known.node, branch.node) : branch.node;
    const taken = branch.children.map((child) => this.#takeBranch(child, before));
    const children = taken.map((child) => child.node);
    const look = lookOf(node);
    this.#rows.set(id, { node, look, children });
    const isSame = known && isDeepStrictEqual(known.look, look) && areSame(known.children, children);
    return { node, changed: isSame ? taken.flatMap(({ changed }) => changed) : [node] };
  }

  childrenOf(parent: LibraryNode): readonly LibraryNode[] {
    return this.#rows.get(idOf(parent))?.children ?? [];
  }

  /** The row as it is now, whichever object of it was kept; one that is gone as it was. */
  current(node: LibraryNode): LibraryNode {
    return this.#rows.get(idOf(node))?.node ?? node;
  }
}

function areSame(before: readonly LibraryNode[], now: readonly LibraryNode[]): boolean {
  return before.length === now.length && now.every((node, index) => node === before[index]);
}

/** What is shown of a row beyond what it is known by. */
function lookOf(node: LibraryNode): unknown {
  switch (node.kind) {
    case 'project':
      return node.folder.name;
    case 'group':
      return node.facts;
    case 'agent':
      return node.row;
    case 'script':
      // An address remembers how it was read, so that two of the same may differ.
      return [node.row.findings, node.row.unreadable];
    case 'problem':
      return node.problem;
    case 'failure':
      return node.error;
    case 'note':
      return node.note;
    default:
      return node satisfies never;
  }
}

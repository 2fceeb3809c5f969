/**
 * When rows are drawn again. VS Code obeys the first wish at once, holds back those that follow until nothing was wished for
 * 200 ms, and so would hold back for ever what keeps coming. Here wishes are gathered instead, and passed on as soon as the
 * next one is obeyed at once again: a change that comes alone waits for nothing, a stream of them is shown five times a second.
 */
import type * as vscode from 'vscode';

/** Milliseconds between two wishes, a little more than VS Code's own quiet time. */
const APART_MS = 210;

export class Refreshes<Node> implements vscode.Disposable {
  readonly #draw: (nodes: Node[] | undefined) => void;
  #wanted: Set<Node> | 'all' = new Set();
  #timer: NodeJS.Timeout | undefined;

  /** @param draw `undefined`: the whole tree */
  constructor(draw: (nodes: Node[] | undefined) => void) {
    this.#draw = draw;
  }

  /** What is asked for now would be drawn at once. */
  get atRest(): boolean {
    return this.#timer === undefined;
  }

  /** @param nodes absent: the whole tree */
  ask(nodes?: readonly Node[]): void {
    if (nodes === undefined) this.#wanted = 'all';
    else if (this.#wanted !== 'all') for (const node of nodes) this.#wanted.add(node);
    if (this.atRest) this.#drawWanted();
  }

  #drawWanted(): void {
    const wanted = this.#wanted;
    if (wanted !== 'all' && wanted.size === 0) return;
    this.#wanted = new Set();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#drawWanted();
    }, APART_MS);
    this.#draw(wanted === 'all' ? undefined : [...wanted]);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#wanted = new Set();
  }
}

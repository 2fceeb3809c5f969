import * as vscode from 'vscode';

/** Runs this window is ending or continuing right now: what they pass through meanwhile is nothing to tell a person. */
export class RunsInHand implements vscode.Disposable {
  readonly #count = new Map<string, number>();
  readonly #released = new vscode.EventEmitter<string>();
  /** The run is in nobody's hand here any more. */
  readonly onDidRelease = this.#released.event;

  has(runId: string): boolean {
    return this.#count.has(runId);
  }

  async during<T>(runId: string, work: () => Thenable<T>): Promise<T> {
    this.#count.set(runId, (this.#count.get(runId) ?? 0) + 1);
    try {
      return await work();
    } finally {
      const left = (this.#count.get(runId) ?? 1) - 1;
      if (left > 0) this.#count.set(runId, left);
      else {
        this.#count.delete(runId);
        this.#released.fire(runId);
      }
    }
  }

  dispose(): void {
    this.#released.dispose();
  }
}

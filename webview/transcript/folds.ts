/** Which parts of which items a person has folded or unfolded; everything else is as its kind has it. */
export class Folds {
  readonly #chosen = new Map<string, Map<string, boolean>>();

  isOpen(key: string, part: string, byDefault: boolean): boolean {
    return this.#chosen.get(key)?.get(part) ?? byDefault;
  }

  set(key: string, part: string, open: boolean): void {
    const parts = this.#chosen.get(key) ?? new Map<string, boolean>();
    parts.set(part, open);
    this.#chosen.set(key, parts);
  }

  /** What was streamed under one key goes on under another. */
  move(from: string, to: string): void {
    const parts = this.#chosen.get(from);
    if (!parts) return;
    this.#chosen.delete(from);
    this.#chosen.set(to, parts);
  }

  forget(keys: Iterable<string>): void {
    for (const key of keys) this.#chosen.delete(key);
  }
}

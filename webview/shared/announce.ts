/**
 * What a screen reader is told politely: changes of state, never streamed text. At most one announcement per `everyMs`; a
 * newer one about the same thing replaces an older one that has not been said.
 */
export class Announcer {
  readonly #region: HTMLElement;
  readonly #everyMs: number;
  readonly #waiting = new Map<string, string>();
  #timer: number | undefined;

  constructor(region: HTMLElement, everyMs = 2000) {
    this.#region = region;
    this.#everyMs = everyMs;
  }

  say(about: string, text: string): void {
    this.#waiting.delete(about);
    this.#waiting.set(about, text);
    if (this.#timer === undefined) this.#speak();
  }

  #speak(): void {
    const next = this.#waiting.entries().next();
    if (next.done) {
      this.#timer = undefined;
      return;
    }
    const [about, text] = next.value;
    this.#waiting.delete(about);
    this.#region.textContent = text;
    this.#timer = window.setTimeout(() => this.#speak(), this.#everyMs);
  }
}

/** Long bodies: what of them has been fetched. The transcript says them in full only when a person asks. */
import { cutText, type ToTranscriptPanel } from '../../src/protocol/index.ts';

/** Most characters of one body that are fetched; the rest is read in an editor. */
export const FETCH_LIMIT = 1024 * 1024;
/** Most characters kept of all of them; the ones fetched first are folded again. */
const KEPT_LIMIT = 6 * 1024 * 1024;

export interface FetchedBody {
  readonly text: string;
  readonly state: 'coming' | 'here' | 'missing';
}

export interface BodySource {
  /** Asks for a body; `answer` gets its pieces. Returns the number of the request. */
  fetch(ref: string, limit: number, answer: (message: ToTranscriptPanel) => void): number;
  forget(request: number): void;
}

export class Bodies {
  readonly #source: BodySource;
  readonly #changed: () => void;
  readonly #bodies = new Map<string, FetchedBody>();
  readonly #requests = new Map<string, number>();

  constructor(source: BodySource, changed: () => void) {
    this.#source = source;
    this.#changed = changed;
  }

  get(ref: string): FetchedBody | undefined {
    return this.#bodies.get(ref);
  }

  fetch(ref: string): void {
    if (this.#requests.has(ref) || this.#bodies.get(ref)?.state === 'here') return;
    this.#set(ref, { text: '', state: 'coming' });
    const request = this.#source.fetch(ref, FETCH_LIMIT, (message) => this.#take(ref, message));
    this.#requests.set(ref, request);
  }

  /** Folds a body again. */
  release(ref: string): void {
    this.#settle(ref);
    if (this.#bodies.delete(ref)) this.#changed();
  }

  /** The transcript comes from elsewhere now: what was fetched is not its. */
  clear(): void {
    for (const ref of [...this.#requests.keys()]) this.#settle(ref);
    this.#bodies.clear();
  }

  #take(ref: string, message: ToTranscriptPanel): void {
    const before = this.#bodies.get(ref);
    if (!before) return;
    if (message.type !== 'body' || message.text === null) {
      this.#settle(ref);
      this.#set(ref, { text: '', state: 'missing' });
      return;
    }
    const text = before.text + message.text;
    const done = message.done || text.length >= FETCH_LIMIT;
    if (done) this.#settle(ref);
    this.#set(ref, { text: cutText(text, FETCH_LIMIT), state: done ? 'here' : 'coming' });
  }

  #settle(ref: string): void {
    const request = this.#requests.get(ref);
    if (request !== undefined) this.#source.forget(request);
    this.#requests.delete(ref);
  }

  #set(ref: string, body: FetchedBody): void {
    this.#bodies.delete(ref);
    this.#bodies.set(ref, body);
    let total = 0;
    for (const { text } of this.#bodies.values()) total += text.length;
    for (const [other, { text, state }] of this.#bodies) {
      if (total <= KEPT_LIMIT || other === ref) break;
      if (state === 'coming') continue;
      total -= text.length;
      this.#bodies.delete(other);
    }
    this.#changed();
  }
}

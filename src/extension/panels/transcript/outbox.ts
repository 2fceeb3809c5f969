/**
 * What goes to a page, in order, at most one message in a frame, and nothing before the page is ready. A head that is newer
 * replaces one that was not sent yet.
 */
import type { PanelHead, ToTranscriptPanel } from '../../../protocol/index.ts';

const FRAME_MS = 16;
/** A page that is sent this much a millisecond can keep up. */
const CHARS_PER_MS = 20_000;

interface Waiting {
  message: ToTranscriptPanel;
  /** Characters of it, more or less. */
  size: number;
  onSent: (() => void) | undefined;
}

export class Outbox {
  readonly #post: (message: ToTranscriptPanel) => PromiseLike<boolean>;
  #waiting: Waiting[] = [];
  #head: PanelHead | undefined;
  #isOpen = false;
  #isSending = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(post: (message: ToTranscriptPanel) => PromiseLike<boolean>) {
    this.#post = post;
  }

  /** The page listens. What waited for one before it is not for this one. */
  open(): void {
    this.close();
    this.#isOpen = true;
  }

  /** The page is gone or hidden: what is said to it would be lost. */
  close(): void {
    for (const { onSent } of this.#waiting) onSent?.();
    this.#waiting = [];
    this.#head = undefined;
    this.#isOpen = false;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** @param onSent called when it has been taken, or never will be */
  send(message: ToTranscriptPanel, size = 1000, onSent?: () => void): void {
    if (!this.#isOpen) {
      onSent?.();
      return;
    }
    // A snapshot has everything that deltas before it would have changed.
    if (message.type === 'snapshot') this.#head = undefined;
    this.#waiting.push({ message, size, onSent });
    this.#soon(0);
  }

  sendHead(head: PanelHead): void {
    if (!this.#isOpen) return;
    this.#head = head;
    this.#soon(0);
  }

  #soon(ms: number): void {
    if (this.#isSending || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#sendNext();
    }, ms);
  }

  #next(): Waiting | undefined {
    const head = this.#head;
    const waiting = this.#waiting.shift();
    if (!head || (waiting && waiting.message.type !== 'delta')) return waiting;
    this.#head = undefined;
    if (waiting?.message.type === 'delta') return { ...waiting, message: { ...waiting.message, head } };
    const message = { type: 'delta' as const, head, changed: [], grown: [], removed: [], added: [] };
    return { message, size: 1000, onSent: undefined };
  }

  async #sendNext(): Promise<void> {
    const next = this.#next();
    if (!next) return;
    this.#isSending = true;
    try {
      await this.#post(next.message);
    } catch {
      // The panel was closed meanwhile.
    } finally {
      this.#isSending = false;
      next.onSent?.();
      if (this.#waiting.length > 0 || this.#head) this.#soon(Math.max(FRAME_MS, next.size / CHARS_PER_MS));
    }
  }
}

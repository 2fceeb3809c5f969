/** Asks for the parts of the transcript that the window does not hold, one request per direction at a time. */
import type { ErrorValue, PanelWindow, ToTranscriptPanel } from '../../src/protocol/index.ts';
import type { ItemWindow } from './item-window.ts';

export type Direction = 'before' | 'after' | 'around' | 'tail';

/** Milliseconds after which neighbours that could not be had are asked for again. */
const AGAIN_MS = 5000;

export interface PageChannel {
  page(direction: Direction, cursor: string | null, answer: (message: ToTranscriptPanel) => void): number;
  forget(request: number): void;
  /** The window has changed: `neighbours` were added, or it was replaced. */
  arrived(how: 'neighbours' | 'replaced'): void;
  failed(error: ErrorValue): void;
  changed(): void;
}

export class Paging {
  readonly #channel: PageChannel;
  readonly #window: ItemWindow;
  readonly #asked = new Map<Direction, number>();
  /** Cursors that were answered with an error, and when they may be tried again. */
  readonly #failed = new Map<string, number>();

  constructor(channel: PageChannel, window: ItemWindow) {
    this.#channel = channel;
    this.#window = window;
  }

  isAsking(...directions: Direction[]): boolean {
    return directions.some((direction) => this.#asked.has(direction));
  }

  /** Asks for neighbours at one end, unless there are none or they are on their way. */
  more(direction: 'before' | 'after'): void {
    const cursor = direction === 'before' ? this.#window.before : this.#window.after;
    if (cursor === null || this.isAsking(direction, 'around', 'tail')) return;
    if (performance.now() < (this.#failed.get(`${direction} ${cursor}`) ?? 0)) return;
    this.#ask(direction, cursor, (window) => {
      // The place is not there any more: the file was replaced, and a window of its end is the truth.
      if (window === null) return this.jump('tail', null);
      this.#window.merge(direction, window);
      this.#channel.arrived('neighbours');
    });
  }

  /** Replaces the window; `then` follows when it is here. */
  jump(direction: 'around' | 'tail', cursor: string | null, then: () => void = () => {}): void {
    this.cancel();
    this.#ask(direction, cursor, (window) => {
      if (window === null) {
        if (direction === 'around') this.jump('tail', null, then);
        return;
      }
      this.#window.replace(window);
      this.#channel.arrived('replaced');
      then();
    });
  }

  /** Answers on their way are about a window that is gone. */
  cancel(): void {
    for (const request of this.#asked.values()) this.#channel.forget(request);
    this.#asked.clear();
  }

  #ask(direction: Direction, cursor: string | null, take: (window: PanelWindow | null) => void): void {
    const request = this.#channel.page(direction, cursor, (message) => {
      this.#channel.forget(request);
      this.#asked.delete(direction);
      if (message.type === 'page') take(message.window);
      else if (message.type === 'failed') {
        this.#failed.set(`${direction} ${cursor}`, performance.now() + AGAIN_MS);
        this.#channel.failed(message.error);
      }
      this.#channel.changed();
    });
    this.#asked.set(direction, request);
    this.#channel.changed();
  }
}

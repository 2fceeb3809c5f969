import type { EndCause } from './conclusion.ts';
import type { EngineThread } from './engine-thread.ts';
import { TERMINATE_AFTER_MS } from './limits.ts';
import { reasonOf } from './message-of.ts';

/** Ends a run from outside: at the deadline and on a stop, first by interrupting, then by ending the worker. */
export class Guard implements Disposable {
  readonly #thread: EngineThread;
  readonly #end: (cause: EndCause) => void;
  readonly #timers: NodeJS.Timeout[] = [];
  #signal: AbortSignal | undefined;
  #onAbort: (() => void) | undefined;

  constructor(thread: EngineThread, end: (cause: EndCause) => void) {
    this.#thread = thread;
    this.#end = end;
  }

  watch(signal: AbortSignal | undefined): void {
    if (!signal) return;
    this.#signal = signal;
    this.#onAbort = () => this.#fire({ type: 'aborted', reason: reasonOf(signal) });
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** @param usedMs how much of it is used up */
  startDeadline(ms: number | undefined, usedMs: number): void {
    if (ms === undefined) return;
    const left = ms - usedMs;
    const over = () => this.#fire({ type: 'timeout', ms });
    if (left <= 0) {
      over();
      return;
    }
    this.#thread.deadlineIn = left;
    this.#timers.push(setTimeout(over, left));
  }

  #fire(cause: EndCause): void {
    this.#thread.interrupt();
    this.#end(cause);
    this.#timers.push(
      setTimeout(() => {
        if (this.#thread.computing) void this.#thread[Symbol.asyncDispose]();
      }, TERMINATE_AFTER_MS),
    );
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearTimeout(timer);
    if (this.#onAbort) this.#signal?.removeEventListener('abort', this.#onAbort);
  }
}

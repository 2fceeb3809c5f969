/**
 * Why a run is to end before its work is done. Several reasons can arrive: stop wins over timeout, timeout over interrupt;
 * nothing takes a stop back.
 */
import type { ErrorValue } from '../protocol/index.ts';

export type EndReason = 'interrupt' | 'timeout' | 'stop';

const PRECEDENCE: readonly EndReason[] = ['interrupt', 'timeout', 'stop'];

export class RunControl {
  readonly #requested = Promise.withResolvers<'ended'>();
  readonly #abort = new AbortController();
  #reason: EndReason | undefined;
  #error: ErrorValue | null = null;
  #askedAt: number | undefined;

  get reason(): EndReason | undefined {
    return this.#reason;
  }

  /** Milliseconds since the first reason came; null: there is none. */
  get askedMs(): number | null {
    return this.#askedAt === undefined ? null : performance.now() - this.#askedAt;
  }

  /** What a timeout says about itself. */
  get error(): ErrorValue | null {
    return this.#error;
  }

  /** Aborted as soon as a reason is there. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  request(reason: EndReason, error: ErrorValue | null = null): void {
    if (this.#reason !== undefined && PRECEDENCE.indexOf(reason) <= PRECEDENCE.indexOf(this.#reason)) return;
    this.#askedAt ??= performance.now();
    this.#reason = reason;
    this.#error = error;
    this.#requested.resolve('ended');
    this.#abort.abort(new Error(`asked to end: ${reason}`));
  }

  /** The work's result, or `ended` as soon as a reason is there. The work itself goes on and must be ended. */
  async race<T>(work: Promise<T>): Promise<T | 'ended'> {
    if (this.#reason !== undefined) {
      work.catch(() => undefined);
      return 'ended';
    }
    return Promise.race([work, this.#requested.promise]);
  }
}

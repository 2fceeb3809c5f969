/**
 * Time during which this process was alive, by a monotonic clock. Deadlines count it: a machine that sleeps, a runner that is
 * suspended and a wall clock that is set do not make work time out.
 */

/** Milliseconds between two looks. A longer gap than twice this was not lived through. */
const TICK_MS = 1000;

export interface AliveClockOptions {
  /** Milliseconds that earlier runners of the same run lived. */
  before?: number;
  now?: () => number;
}

export class AliveClock {
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  readonly #alarms = new Set<{ at: number; ring: () => void }>();
  #elapsed: number;
  #last: number;

  constructor(options: AliveClockOptions = {}) {
    this.#now = options.now ?? (() => performance.now());
    this.#elapsed = options.before ?? 0;
    this.#last = this.#now();
    this.#timer = setInterval(() => this.tick(), TICK_MS);
    this.#timer.unref();
  }

  /** Milliseconds lived so far. */
  get elapsed(): number {
    this.#advance();
    return this.#elapsed;
  }

  /** Calls `ring` once, when `ms` more have been lived. Returns how to call it off. */
  after(ms: number, ring: () => void): () => void {
    const alarm = { at: this.elapsed + ms, ring };
    this.#alarms.add(alarm);
    // Short limits are met on time; the tick alone would be up to a second late.
    const timer = ms < 60_000 ? setTimeout(() => this.tick(), ms + 1) : undefined;
    timer?.unref();
    return () => {
      clearTimeout(timer);
      this.#alarms.delete(alarm);
    };
  }

  tick(): void {
    this.#advance();
    for (const alarm of [...this.#alarms]) {
      if (alarm.at > this.#elapsed) continue;
      this.#alarms.delete(alarm);
      alarm.ring();
    }
  }

  #advance(): void {
    const now = this.#now();
    this.#elapsed += Math.max(0, Math.min(now - this.#last, 2 * TICK_MS));
    this.#last = now;
  }

  dispose(): void {
    clearInterval(this.#timer);
    this.#alarms.clear();
  }
}

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

interface Alarm {
  at: number;
  ring: () => void;
  timer?: NodeJS.Timeout | undefined;
}

export class AliveClock {
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  readonly #alarms = new Set<Alarm>();
  #elapsed: number;
  #last: number;
  #holds = 0;

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
    const alarm: Alarm = { at: this.elapsed + ms, ring };
    this.#alarms.add(alarm);
    this.#arm(alarm);
    return () => this.#callOff(alarm);
  }

  /** The clock stands still until what is returned is called: nothing that is limited happens meanwhile. Several may hold it. */
  hold(): () => void {
    this.#advance();
    this.#holds++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#advance();
      this.#holds--;
      for (const alarm of this.#alarms) this.#arm(alarm);
    };
  }

  tick(): void {
    this.#advance();
    for (const alarm of [...this.#alarms]) {
      if (alarm.at > this.#elapsed) continue;
      this.#callOff(alarm);
      alarm.ring();
    }
  }

  /** Short limits are met on time; the tick alone would be up to a second late. */
  #arm(alarm: Alarm): void {
    clearTimeout(alarm.timer);
    const ms = alarm.at - this.elapsed;
    alarm.timer = ms < 60_000 ? setTimeout(() => this.tick(), ms + 1) : undefined;
    alarm.timer?.unref();
  }

  #callOff(alarm: Alarm): void {
    clearTimeout(alarm.timer);
    this.#alarms.delete(alarm);
  }

  #advance(): void {
    const now = this.#now();
    if (this.#holds === 0) this.#elapsed += Math.max(0, Math.min(now - this.#last, 2 * TICK_MS));
    this.#last = now;
  }

  dispose(): void {
    clearInterval(this.#timer);
    for (const alarm of [...this.#alarms]) this.#callOff(alarm);
  }
}

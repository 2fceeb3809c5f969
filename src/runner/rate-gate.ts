/**
 * A provider that answers 429 to one child is left alone by all children of the run for as long as it wants, or for longer and longer where
 * it does not say. The children look at a file before each request (`src/pi/child/rate-gate.ts`), each with a little delay of its own, so
 * that they do not all come back at the same moment.
 */
import { writeFileAtomic } from '../core/files/index.ts';
import type { RateGateFile } from '../protocol/index.ts';

/** Milliseconds, where the provider does not say: doubled with each refusal that follows the last one closely. */
const FIRST_MS = 1000;
/** The longest a provider is left alone at once: asked again, it can say that it wants more. */
const MOST_MS = 60_000;
/** Milliseconds after which a provider that refused nothing more is trusted again. */
const FORGET_MS = 60_000;

export interface RateLimited {
  provider: string;
  /** Null: it did not say. */
  retryAfterMs: number | null;
}

export class RateGate {
  readonly #file: string;
  readonly #now: () => number;
  readonly #providers = new Map<string, { until: number; refusals: number }>();
  #writing: Promise<void> = Promise.resolve();

  /** @param now milliseconds since 1970 */
  constructor(file: string, now: () => number = Date.now) {
    this.#file = file;
    this.#now = now;
  }

  /** A child was refused. One that is refused while the gate is closed had asked before, and makes it no worse. */
  limited({ provider, retryAfterMs }: RateLimited): void {
    const now = this.#now();
    const known = this.#providers.get(provider);
    const isClosed = known !== undefined && now < known.until;
    const before = known === undefined || now - known.until > FORGET_MS ? 0 : known.refusals;
    const refusals = isClosed ? known.refusals : before + 1;
    const own = isClosed ? 0 : FIRST_MS * 2 ** (refusals - 1);
    const until = Math.max(known?.until ?? 0, now + Math.min(retryAfterMs ?? own, MOST_MS));
    this.#providers.set(provider, { until, refusals });
    if (until === known?.until) return;
    // Without the file the children go on as they would without a gate.
    this.#writing = this.#writing.then(() => writeFileAtomic(this.#file, this.#text())).catch(() => undefined);
  }

  #text(): string {
    const file: RateGateFile = Object.fromEntries([...this.#providers].map(([name, { until }]) => [name, until]));
    return `${JSON.stringify(file)}\n`;
  }

  /** Resolves when the children can read what was decided. */
  written(): Promise<void> {
    return this.#writing;
  }
}

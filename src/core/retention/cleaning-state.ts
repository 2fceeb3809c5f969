/** What a cleaner leaves for the next one: where it stopped, and what time it was. */
import * as z from 'zod/mini';
import { readRegular, writeFileAtomic } from '../files/index.ts';
import { DAY_MS } from './own-verdict.ts';

const cleaningState = z.object({
  version: z.literal(1),
  /** The last run that was looked at, as `<project>/<run id>`; null: begin at the first. */
  cursor: z.nullable(z.string()),
  /** The run at which a pass had to stop because it could not be removed. */
  stuckAt: z.nullable(z.string()),
  /** Epoch milliseconds of the last pass that believed its clock. */
  lastAt: z.nullable(z.number()),
  /** Epoch milliseconds since when the clock is doubted. */
  doubtedAt: z.nullable(z.number()),
});
export type CleaningState = z.infer<typeof cleaningState>;

const NEW: CleaningState = { version: 1, cursor: null, stuckAt: null, lastAt: null, doubtedAt: null };

/** What cannot be read costs nothing but the place where the last one stopped. */
export async function readCleaningState(path: string): Promise<CleaningState> {
  try {
    const parsed = cleaningState.safeParse(JSON.parse(await readRegular(path)));
    return parsed.success ? parsed.data : NEW;
  } catch {
    return NEW;
  }
}

export function writeCleaningState(path: string, state: CleaningState): Promise<void> {
  return writeFileAtomic(path, `${JSON.stringify(state)}\n`);
}

/** Longest time in which nothing happens in a store that is in use. */
const QUIET_MS = 90 * DAY_MS;

/**
 * A clock that was set far ahead makes every run old at once. So a store in which nothing is known to have happened for three
 * months is left alone until the clock has said so for a day.
 *
 * @param newestRunAt epoch milliseconds at which the newest run was made
 */
export function believeClock(
  state: CleaningState,
  newestRunAt: number,
  now: number,
): Pick<CleaningState, 'lastAt' | 'doubtedAt'> & { believed: boolean } {
  const lastSign = Math.max(state.lastAt ?? 0, newestRunAt);
  const doubtedFor = state.doubtedAt === null ? 0 : now - state.doubtedAt;
  // Where nothing is known there is no run either.
  if (lastSign === 0 || now - lastSign <= QUIET_MS || doubtedFor >= DAY_MS)
    return { believed: true, lastAt: now, doubtedAt: null };
  const since = state.doubtedAt === null || doubtedFor < 0 ? now : state.doubtedAt;
  return { believed: false, lastAt: state.lastAt, doubtedAt: since };
}

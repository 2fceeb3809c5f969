/**
 * A session that a person has opened with Pi in a terminal. Pi neither locks its session files nor keeps them open, and hides
 * its arguments behind a title; so what is looked at is whether somebody wrote to the file since a run of ours had it, and
 * whether that may still be going on.
 */
import { realpath, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { formatDuration, type LanesError, lanesError } from '../../protocol/index.ts';
import { lockChangedAt } from '../locks/index.ts';
import { othersWorkingIn } from '../processes/index.ts';
import { sessionLockPath } from './session-lease.ts';

/** The title Pi gives its process. */
const PI_TITLE = 'pi';
/** Where processes cannot be looked at: milliseconds after a write in which the writer is taken to be there still. */
const RECENT_MS = 10 * 60 * 1000;

export interface ForeignWriterOptions {
  now?: number;
  /** Pids of foreign Pis that work in a folder; `undefined`: cannot be told here. */
  others?: (folder: string, name: string) => Promise<number[] | undefined>;
}

/**
 * The error `session_in_use` when another program writes the session; `undefined` when nothing speaks for it. A session that
 * no run of ours has had is not judged.
 *
 * @param cwd folder of the session
 */
export async function foreignWriter(
  sessionLocks: string,
  session: string,
  cwd: string,
  { now = Date.now(), others = othersWorkingIn }: ForeignWriterOptions = {},
): Promise<LanesError | undefined> {
  const ours = await lockChangedAt(await sessionLockPath(sessionLocks, session));
  const written = await stat(session).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );
  if (ours === undefined || written === undefined || written <= ours) return undefined;
  const pids = await others(await realpath(cwd).catch(() => cwd), PI_TITLE);
  const age = Math.max(0, now - written);
  if (pids ? pids.length === 0 : age > RECENT_MS) return undefined;
  const facts = { session: basename(session), age: formatDuration(age) };
  return pids
    ? lanesError('session_in_use:written-by-pi', { ...facts, pids: pids.join(', ') })
    : lanesError('session_in_use:written', facts);
}

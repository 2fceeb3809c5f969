/** One writer per session file: Pi itself does not lock, and two writers silently split a conversation. */
import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { LanesError, lanesError } from '../../protocol/index.ts';
import { acquireLock, inspectLock, type Lock } from '../locks/index.ts';

/** Path of the lock of a session, whatever path it is reached by. The file itself need not exist yet. */
export async function sessionLockPath(sessionLocks: string, session: string): Promise<string> {
  const folder = await realpath(dirname(session)).catch(() => resolve(dirname(session)));
  const canonical = join(folder, basename(session));
  return join(sessionLocks, createHash('sha256').update(canonical).digest('hex').slice(0, 32));
}

/** Takes the session for this process, or throws `session_in_use` naming the holder. */
export async function leaseSession(sessionLocks: string, session: string, purpose: string): Promise<Lock> {
  try {
    return await acquireLock(await sessionLockPath(sessionLocks, session), { purpose });
  } catch (error) {
    if (error instanceof LanesError && error.code === 'lock_held') throw await inUse(sessionLocks, session);
    throw error;
  }
}

/** The error naming who holds a session; `undefined` when it is free. */
export async function sessionHolder(sessionLocks: string, session: string): Promise<LanesError | undefined> {
  const view = await inspectLock(await sessionLockPath(sessionLocks, session));
  return view.state === 'held' || view.state === 'orphaned' ? inUse(sessionLocks, session) : undefined;
}

async function inUse(sessionLocks: string, session: string): Promise<LanesError> {
  const { owner } = await inspectLock(await sessionLockPath(sessionLocks, session));
  const name = basename(session);
  return owner
    ? lanesError('session_in_use', { session: name, purpose: owner.purpose, pid: owner.process.pid })
    : lanesError('session_in_use:unnamed', { session: name });
}

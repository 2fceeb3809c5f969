/** Which checkout a folder lies in, and that one child at a time changes files there. */
import { lstat, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type AgentContract, LanesError, lanesError } from '../../protocol/index.ts';
import { folderLock } from '../git/index.ts';
import { acquireLock, inspectLock, type Lock } from '../locks/index.ts';

/**
 * Top folder of the checkout, real path; `undefined` outside of every repository, and for a folder that is not there: whoever works in
 * it says so. Git is not asked.
 */
export async function checkoutOf(folder: string): Promise<string | undefined> {
  const real = await realpath(folder).catch(() => undefined);
  if (real === undefined) return undefined;
  for (let at = real; ; at = dirname(at)) {
    const there = await lstat(join(at, '.git')).catch(() => undefined);
    if (there) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** Tools of Pi and of ours that change no file. */
const READERS: ReadonlySet<string> = new Set(['read', 'grep', 'find', 'ls', 'structured_output']);

/** Whether an agent has tools it could change files with. */
export function mayWrite({ tools }: Pick<AgentContract, 'tools'>): boolean {
  return tools === undefined || tools.some((tool) => !READERS.has(tool));
}

const LOOK_MS = 50;
const SLOWEST_LOOK_MS = 1000;

export interface WriterOptions {
  /** Folder of the locks. */
  locks: string;
  /** In words a person reads as the owner. */
  purpose: string;
  /** Whether to wait until whoever works there is done. */
  wait: boolean;
  signal: AbortSignal;
  /** Told once for each owner that is waited for. */
  onWait: (owner: string) => Promise<void>;
}

/** Takes a checkout for one child. Throws `checkout_in_use` naming the owner, unless that is waited for. */
export async function takeCheckout(checkout: string, options: WriterOptions): Promise<Lock> {
  const path = folderLock(options.locks, checkout);
  let told: string | undefined;
  for (let wait = LOOK_MS; ; wait = Math.min(wait * 1.5, SLOWEST_LOOK_MS)) {
    options.signal.throwIfAborted();
    try {
      return await acquireLock(path, { purpose: options.purpose });
    } catch (error) {
      if (!(error instanceof LanesError) || error.code !== 'lock_held') throw error;
    }
    const { owner } = await inspectLock(path);
    const who = owner?.purpose;
    if (!options.wait)
      throw who === undefined
        ? lanesError('checkout_in_use:unnamed', { folder: checkout })
        : lanesError('checkout_in_use', { folder: checkout, owner: who, pid: owner?.process.pid ?? 0 });
    if (who !== undefined && who !== told) {
      told = who;
      await options.onWait(who);
    }
    await delay(wait * (0.5 + Math.random()), undefined, { signal: options.signal });
  }
}

/** Who changes files in a checkout now, in words a person reads; `undefined`: nobody, as far as can be told. */
export async function writerIn(locks: string, checkout: string): Promise<string | undefined> {
  const { state, owner } = await inspectLock(folderLock(locks, checkout));
  return state === 'held' ? owner?.purpose : undefined;
}

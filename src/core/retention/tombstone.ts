/**
 * Removing a run's folder so that nobody ever sees half of it: it is put out of sight by one rename, looked at once more where
 * nobody can begin to use it, and removed; or put back. Whoever used it before the rename has left a trace that is seen now.
 */
import { lstat, readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { toErrorValue } from '../../protocol/index.ts';
import { errnoOf } from '../files/index.ts';
import { runLayout } from '../projects/index.ts';
import type { Kept } from './keep-reason.ts';
import { type Found, findEach } from './leftovers.ts';

/** Looks at a run that lies in this folder for the moment. */
export type Recheck = (runId: string, directory: string) => Promise<Kept | undefined>;

export type Removal = { outcome: 'removed' } | { outcome: 'kept'; kept: Kept } | { outcome: 'failed'; reason: string };

/** Milliseconds after which what a cleaner left who died is taken up. */
export const TOMBSTONE_MS = 24 * 60 * 60_000;

const TOMBSTONE = /^\.([0-9a-f-]{36})\.(\d+)\.gone$/;

/** @param runs the project's folder of runs */
export async function removeRun(runs: string, runId: string, recheck: Recheck, now: number): Promise<Removal> {
  const tombstone = join(runs, `.${runId}.${now}.gone`);
  try {
    await rename(join(runs, runId), tombstone);
  } catch (error) {
    // Windows does not move a folder somebody has a file of open.
    return failed(error);
  }
  return removeOrPutBack(runs, runId, tombstone, recheck);
}

async function removeOrPutBack(runs: string, runId: string, tombstone: string, recheck: Recheck): Promise<Removal> {
  try {
    const kept = await recheck(runId, tombstone);
    if (kept) {
      await rename(tombstone, join(runs, runId));
      return { outcome: 'kept', kept };
    }
    // Without its record it is no run any more: should this be the end of us, the rest is removed unseen.
    await rm(runLayout(tombstone).record);
    await rm(tombstone, { recursive: true, force: true });
    return { outcome: 'removed' };
  } catch (error) {
    return failed(error);
  }
}

function failed(error: unknown): Removal {
  return { outcome: 'failed', reason: toErrorValue(error).message };
}

/** Folders of cleaners that died a day ago: finished, or put back when the run must stay after all. */
export async function reapTombstones(runs: string, recheck: Recheck, now: number): Promise<Found> {
  const tombstones = await findTombstones(runs, now);
  return findEach(
    tombstones.map(({ path }) => path),
    async (path) => {
      const runId = TOMBSTONE.exec(basename(path))?.[1] ?? '';
      if (!(await isThere(runLayout(path).record))) {
        await rm(path, { recursive: true, force: true });
        return true;
      }
      if (await isThere(join(runs, runId))) return false;
      const removal = await removeOrPutBack(runs, runId, path, recheck);
      if (removal.outcome === 'failed') throw new Error(removal.reason);
      return removal.outcome === 'removed';
    },
  );
}

export async function findTombstones(runs: string, now: number): Promise<{ runId: string; path: string }[]> {
  const names = await readdir(runs).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  });
  return names.flatMap((name) => {
    const [, runId, at] = TOMBSTONE.exec(name) ?? [];
    return runId !== undefined && now - Number(at) >= TOMBSTONE_MS ? [{ runId, path: join(runs, name) }] : [];
  });
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: unknown) => {
      if (errnoOf(error) === 'ENOENT') return false;
      throw error;
    },
  );
}

/** Locks are marked as released, not removed, so that epochs never go back. One nobody has wanted for long can be forgotten. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../files/index.ts';
import { inspectGeneration } from './lock.ts';

const GENERATION = /^(.+)\.([1-9]\d*)$/;

/** A file beside a lock that a taker who died has left. */
const UNFINISHED = /\.new$/;

/**
 * Files of locks in a folder that were released, or whose owner is proven gone, and that were not touched for `idleMs`. Each
 * may be removed: whoever looked at it before takes the next epoch, whoever looks later begins anew, and `acquireLock` notices
 * when both happen at once.
 *
 * @param now epoch milliseconds
 */
export async function findIdleLocks(folder: string, idleMs: number, now: number): Promise<string[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  });
  const idle: string[] = [];
  for (const name of names) {
    const path = join(folder, name);
    const info = await stat(path).catch(() => undefined);
    if (!info?.isFile() || now - info.mtimeMs < idleMs) continue;
    if (UNFINISHED.test(name) || (await isOver(folder, name))) idle.push(path);
  }
  return idle;
}

async function isOver(folder: string, name: string): Promise<boolean> {
  const [, lock, epoch] = GENERATION.exec(name) ?? [];
  if (lock === undefined) return false;
  const view = await inspectGeneration(join(folder, lock), Number(epoch));
  return view.state === 'stale' || (view.state === 'missing' && view.owner?.released === true);
}

/**
 * Folders of worktrees on their way out. One rename takes a worktree out of reach of whoever knows its path; it is looked at there, and
 * is put back or given up. What is given up is deleted piece by piece, by whoever has the time.
 */
import { randomBytes } from 'node:crypto';
import { chmod, lstat, readdir, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { WorktreePlan } from '../../protocol/index.ts';
import { errnoOf, replaceFile } from '../files/index.ts';

type Place = Pick<WorktreePlan, 'path'>;

/** Where it lies while it is looked at for the last time. It is still registered then, and may have to come back. */
export function leavingPath({ path }: Place): string {
  return join(dirname(path), `.${basename(path)}.leaving`);
}

/** Gives up a folder that was looked at and that git does not know any more. @returns where it lies until it is deleted */
export async function giveUp(place: Place): Promise<string> {
  const gone = join(dirname(place.path), `.${basename(place.path)}.${randomBytes(4).toString('hex')}.gone`);
  await replaceFile(leavingPath(place), gone);
  return gone;
}

/** Folders of a worktree that were given up and are not deleted yet. */
export async function givenUp(place: Place): Promise<string[]> {
  const folder = dirname(place.path);
  const start = `.${basename(place.path)}.`;
  const names = await readdir(folder).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return [];
    throw error;
  });
  return names
    .filter((name) => name.startsWith(start) && /^[0-9a-f]{8}\.gone$/.test(name.slice(start.length)))
    .map((name) => join(folder, name));
}

/** Files that are deleted at the same time. */
const AT_ONCE = 32;

/**
 * Deletes a folder with all that is in it; a link is unlinked, and what it leads to is not looked at. When the signal is aborted the rest
 * stays for a later call.
 * @returns whether it is gone. Throws what the system says of a file that cannot be deleted.
 */
export async function deleteFolder(path: string, signal?: AbortSignal): Promise<boolean> {
  return deleteBelow(Buffer.from(path), signal);
}

const SLASH = Buffer.from('/');

async function deleteBelow(folder: Buffer, signal: AbortSignal | undefined): Promise<boolean> {
  const entries = await withAccess(folder, () => readdir(folder, { withFileTypes: true, encoding: 'buffer' })).catch(
    (error: unknown) => {
      if (errnoOf(error) === 'ENOENT') return undefined;
      throw error;
    },
  );
  if (!entries) return true;
  const leaves = entries.filter((entry) => !entry.isDirectory());
  for (let from = 0; from < leaves.length; from += AT_ONCE) {
    if (signal?.aborted) return false;
    const some = leaves.slice(from, from + AT_ONCE);
    await Promise.all(some.map(({ name }) => remove(folder, name)));
  }
  for (const entry of entries) {
    if (!entry.isDirectory()) continue;
    if (signal?.aborted || !(await deleteBelow(Buffer.concat([folder, SLASH, entry.name]), signal))) return false;
  }
  await withAccess(folder.subarray(0, folder.lastIndexOf(SLASH)), () => rmdir(folder));
  return true;
}

async function remove(folder: Buffer, name: Buffer): Promise<void> {
  const path = Buffer.concat([folder, SLASH, name]);
  await withAccess(folder, () => unlink(path)).catch(async (error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return;
    // On Windows a file that must not be written cannot be deleted either.
    await chmod(path, 0o600);
    await unlink(path);
  });
}

/** Does it again when the folder lets nobody in that may let itself in. */
async function withAccess<T>(folder: Buffer, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes(errnoOf(error) ?? '')) throw error;
    const info = await lstat(folder);
    if (!info.isDirectory() || (info.mode & 0o700) === 0o700) throw error;
    await chmod(folder, 0o700);
    return work();
  }
}

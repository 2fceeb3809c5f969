/** What a tree changes of another, path by path; a rename is one that goes and one that comes. */
import { writeFile } from 'node:fs/promises';
import type { Git } from '../../git/index.ts';
import { LONG_MS } from '../snapshot.ts';
import { keyOf } from '../walk.ts';
import type { Side } from './sides.ts';

export interface Change {
  /** Bytes, relative to the root. */
  path: Buffer;
  base?: Side;
  theirs?: Side;
}

/** By `keyOf` their path, in the order of git. */
export async function changesBetween(
  git: Git,
  folder: string,
  base: string,
  tree: string,
): Promise<Map<string, Change>> {
  const args = [
    'diff-tree',
    '-r',
    '-z',
    '--raw',
    '--no-renames',
    '--full-index',
    '--ignore-submodules=none',
    base,
    tree,
  ];
  const records = await git.records(folder, args, { timeoutMs: LONG_MS });
  const changes = new Map<string, Change>();
  for (let at = 0; at + 1 < records.length; at += 2) {
    const [oldMode = '', newMode = '', oldHash = '', newHash = ''] = String(records[at]).slice(1).split(' ');
    const path = records[at + 1] as Buffer;
    const base = sideOf(oldMode, oldHash);
    const theirs = sideOf(newMode, newHash);
    changes.set(keyOf(path), { path, ...(base && { base }), ...(theirs && { theirs }) });
  }
  return changes;
}

function sideOf(mode: string, hash: string): Side | undefined {
  return /^0+$/.test(mode) ? undefined : { mode, hash };
}

/**
 * Merges three files by their lines.
 * @returns what comes of it; `undefined`: lines contradict each other, or it is no text
 */
export async function mergeLines(
  git: Git,
  { ours, base, theirs }: { ours: string; base: string; theirs: string },
): Promise<Buffer | undefined> {
  const args = ['merge-file', '-p', '--quiet', ours, base, theirs];
  const { stdout, exitCode } = await git.run(process.platform === 'win32' ? 'C:\\' : '/', args, { accept: 'any' });
  return exitCode === 0 ? stdout : undefined;
}

/** Writes an object of git as it is stored. */
export async function writeBlob(git: Git, folder: string, hash: string, to: string): Promise<string> {
  const { stdout } = await git.run(folder, ['cat-file', 'blob', hash], { timeoutMs: LONG_MS });
  await writeFile(to, stdout, { mode: 0o600 });
  return to;
}

/** Every folder above a path, the nearest first. */
export function parentsOf(key: string): string[] {
  const parents: string[] = [];
  for (let slash = key.lastIndexOf('/'); slash > 0; slash = key.lastIndexOf('/', slash - 1))
    parents.push(key.slice(0, slash));
  return parents;
}

/** Files of a worktree that no commit has: what git ignores or does not see, and what its filters would change. */
import { createHash, type Hash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, open, readlink, symlink, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { OutsideFile, WorktreeRecord } from '../../protocol/index.ts';
import type { Git } from '../git/index.ts';
import { findDisposable } from './disposable.ts';
import { ownPaths, type Snapshot } from './snapshot.ts';
import { inFolder, keyOf, type Leaf, textOfPath } from './walk.ts';

export interface Outside {
  files: (OutsideFile & { bytesOfPath: Buffer })[];
  disposable: Buffer[];
}

/**
 * Every leaf that is neither in the tree nor disposable nor put there by us, and every file of the tree whose own bytes are not
 * what git has stored.
 */
export async function findOutside(
  git: Git,
  record: WorktreeRecord,
  snapshot: Snapshot,
  leaves: readonly Leaf[],
  patterns: readonly string[],
): Promise<Outside> {
  const isDisposable = await findDisposable(git, record.path, patterns);
  const isOwn = ownPaths(record);
  const exact = new Map(
    record.synthetic.flatMap((one) => (one.link || one.digest ? [[keyOf(Buffer.from(one.path)), one]] : [])),
  );
  const outside: Outside = { files: [], disposable: [] };
  for (const { path, link } of leaves) {
    const key = keyOf(path);
    if (snapshot.entries.has(key)) continue;
    const own = exact.get(key);
    // What has taken the place of a link, or has another content than it was given, is the child's.
    if (own ? await isUntouched(record.path, path, link, own) : isOwn(key)) continue;
    if (isDisposable(key)) outside.disposable.push(path);
    else outside.files.push(await describeFile(record.path, path, link ? 'link' : 'file'));
  }
  const hashLength = snapshot.tree.length;
  for (const path of snapshot.read) {
    const entry = snapshot.entries.get(keyOf(path));
    if (!entry?.mode.startsWith('100')) continue;
    const stored = await blobHash(inFolder(record.path, path), hashLength);
    if (stored !== entry.hash) outside.files.push(await describeFile(record.path, path, 'filtered'));
  }
  return outside;
}

async function isUntouched(
  folder: string,
  path: Buffer,
  isLink: boolean,
  { link, digest }: WorktreeRecord['synthetic'][number],
): Promise<boolean> {
  if (link) return isLink;
  return !isLink && (await digestOf(inFolder(folder, path), 'file')) === digest;
}

async function describeFile(
  folder: string,
  path: Buffer,
  kind: OutsideFile['kind'],
): Promise<OutsideFile & { bytesOfPath: Buffer }> {
  const full = inFolder(folder, path);
  const { size } = await lstat(full);
  return { ...textOfPath(path), kind, bytes: size, digest: await digestOf(full, kind), bytesOfPath: path };
}

export async function digestOf(path: Buffer, kind: OutsideFile['kind']): Promise<string> {
  const hash = createHash('sha256');
  if (kind === 'link') hash.update(await readlink(path, { encoding: 'buffer' }));
  else await readInto(hash, path);
  return hash.digest('hex');
}

/** The name git gives to exactly these bytes. */
async function blobHash(path: Buffer, length: number): Promise<string> {
  const { size } = await lstat(path);
  const hash = createHash(length === 64 ? 'sha256' : 'sha1').update(`blob ${size}\0`);
  await readInto(hash, path);
  return hash.digest('hex');
}

async function readInto(hash: Hash, path: Buffer): Promise<void> {
  for await (const chunk of createReadStream(path)) hash.update(chunk);
}

/** Copies the files below `target` and proves each copy. Throws when one could not be kept as it was described. */
export async function keepOutside(folder: string, files: Outside['files'], target: string): Promise<void> {
  for (const { bytesOfPath, kind, digest, path } of files) {
    const [from, to] = [inFolder(folder, bytesOfPath), inFolder(target, bytesOfPath)];
    await mkdir(parentOf(to, target), { recursive: true, mode: 0o700 });
    if (kind === 'link') {
      await symlink(await readlink(from, { encoding: 'buffer' }), to);
    } else {
      const { mode, atime, mtime } = await lstat(from);
      await copyFile(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
      await utimes(to, atime, mtime);
      await syncFile(to);
      await chmod(to, mode & 0o777);
    }
    if ((await digestOf(to, kind)) !== digest) throw new Error(`${join(folder, path)} changed while it was copied`);
  }
}

function parentOf(path: Buffer, root: string): Buffer | string {
  const slash = path.lastIndexOf(0x2f);
  return slash <= Buffer.byteLength(root) ? dirname(join(root, 'x')) : path.subarray(0, slash);
}

async function syncFile(path: Buffer): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** One file or link as bytes: kept aside, compared, put in place in one step. */
import { chmod, copyFile, lstat, open, readlink, rename, rm, rmdir, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { FileBody } from '../../../protocol/index.ts';
import { errnoOf, makeFolders } from '../../files/index.ts';
import { digestOf } from '../outside.ts';

/** What is at a path, without a copy of it; `null`: nothing; `undefined`: neither a file nor a link. */
export async function describeBody(path: Buffer): Promise<Omit<FileBody, 'body'> | null | undefined> {
  const info = await lstat(path).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return null;
    throw error;
  });
  if (info === null) return null;
  const kind = info.isSymbolicLink() ? 'link' : info.isFile() ? 'file' : undefined;
  if (!kind) return undefined;
  return { kind, mode: kind === 'link' ? 0 : info.mode & 0o777, digest: await digestOf(path, kind) };
}

/** Whether a path is as described: content and whether it may be run, which is all that git knows of a mode. */
export async function isAt(path: Buffer, body: Omit<FileBody, 'body'> | null): Promise<boolean> {
  const now = await describeBody(path);
  if (!now || !body) return now === null && body === null;
  return now.kind === body.kind && now.digest === body.digest && (now.mode & 0o100) === (body.mode & 0o100);
}

/** Copies a file or link durably. Throws when it is not as described afterwards. */
export async function keepBody(from: Buffer, to: string, body: Omit<FileBody, 'body'>): Promise<void> {
  await put(from, Buffer.from(to), body);
  if ((await digestOf(Buffer.from(to), body.kind)) !== body.digest)
    throw new Error(`${from} changed while it was copied`);
}

async function put(from: Buffer, to: Buffer, { kind, mode }: Omit<FileBody, 'body'>): Promise<void> {
  if (kind === 'link') {
    await symlink(await readlink(from, { encoding: 'buffer' }), to);
    return;
  }
  await copyFile(from, to);
  await chmod(to, mode | 0o600);
  const handle = await open(to, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  await chmod(to, mode);
}

/** Where a body lies for a moment before it takes its place. A death can leave it there, so its name is known. */
export function besideOf(folder: string, path: Buffer): Buffer {
  const name = `/.pi-lanes-${basename(folder)}`;
  return Buffer.concat([path.subarray(0, path.lastIndexOf(0x2f)), Buffer.from(name)]);
}

/** Puts the body at a path, or takes away what is there; a reader sees the one or the other. Folders above it are made. */
export async function place(folder: string, body: FileBody | null, path: Buffer): Promise<void> {
  if (!body) {
    await rm(path, { force: true });
    return;
  }
  const parent = path.subarray(0, path.lastIndexOf(0x2f));
  await makeFolders(parent.toString());
  const beside = besideOf(folder, path);
  await rm(beside, { force: true });
  try {
    await put(Buffer.from(join(folder, body.body)), beside, body);
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

/** Removes folders that have nothing in them, from one upward to the root, which stays. */
export async function removeEmpty(folder: string, root: string): Promise<void> {
  for (let at = folder; at !== root && at.startsWith(root); at = dirname(at)) {
    const gone = await rmdir(at).then(
      () => true,
      () => false,
    );
    if (!gone) return;
  }
}

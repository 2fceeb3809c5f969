import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds between tries of a rename that another program blocks (virus scanners and indexers on Windows). */
const RENAME_RETRY_MS = [10, 25, 50, 100, 200, 500, 1000];
const BLOCKED = new Set(['EACCES', 'EBUSY', 'EPERM']);

export interface AtomicWriteOptions {
  /** Sync file and folder before returning. Default true. */
  durable?: boolean;
  /** File mode. Default 0600: run data is private. */
  mode?: number;
}

/** Replaces `path` as a whole: a reader sees the old content or the new, never a part. The temp file never stays behind. */
export async function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  options: AtomicWriteOptions = {},
): Promise<void> {
  const { durable = true, mode = 0o600 } = options;
  const temp = join(dirname(path), `.${basename(path)}.${process.pid}.${randomBytes(4).toString('hex')}`);
  try {
    const handle = await open(temp, 'wx', mode);
    try {
      await handle.writeFile(data);
      if (durable) await handle.sync();
    } finally {
      await handle.close();
    }
    await replaceFile(temp, path);
    if (durable) await syncFolder(dirname(path));
  } catch (error) {
    await discard(temp);
    throw error;
  }
}

/** Renames over the target, retrying where another program holds it for a moment (Windows). */
export async function replaceFile(
  from: string,
  to: string,
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await rename(from, to);
    } catch (error) {
      const wait = RENAME_RETRY_MS[attempt];
      if (platform !== 'win32' || wait === undefined || !BLOCKED.has(errnoOf(error) ?? '')) throw error;
      await delay(wait);
    }
  }
}

/** Makes a new name in a folder durable. Windows cannot open folders and needs no such call. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, 'r');
    await handle.sync();
  } catch (error) {
    // Some network file systems refuse to sync folders; the rename itself has happened.
    if (!['EINVAL', 'ENOTSUP', 'EPERM'].includes(errnoOf(error) ?? '')) throw error;
  } finally {
    await handle?.close();
  }
}

/** Removes what is not needed any more, with all that is in it. A failure is not worth an error: what went wrong before is the reason. */
export async function discard(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
}

/** The system error code (`ENOENT`, …) of anything thrown, if it has one. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

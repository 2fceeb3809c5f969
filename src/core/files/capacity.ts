import type { FileHandle } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { lanesError, wordsOf } from '../../protocol/index.ts';
import { errnoOf } from './atomic-write.ts';

/** Errors that pass when somebody makes room or closes files. */
const CAPACITY = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);
const RETRY_MS = 1000;

/** Does the write again every second while the disk is full or too many files are open: nothing a run knows is given up. */
export async function whenThereIsRoom<T>(write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!CAPACITY.has(errnoOf(error) ?? '')) throw error;
      await delay(RETRY_MS);
    }
  }
}

/** Errors that a person has to put in order: permissions, a read-only disk, another program that holds the file. */
const REFUSED = new Set(['EACCES', 'EPERM', 'EROFS', 'EBUSY']);

/** An error of the disk (no room, no permission) in words that say what helps; any other as it is. */
export function explainDisk(error: unknown): unknown {
  const code = errnoOf(error) ?? '';
  const reason = wordsOf(error);
  if (['ENOSPC', 'EDQUOT'].includes(code)) return lanesError('disk_full', { reason }, { cause: error });
  if (REFUSED.has(code)) return lanesError('store_unwritable', { reason }, { cause: error });
  return error;
}

/** Appends all of it or nothing: what a full disk took only in part is cut off again. For files with one writer. */
export async function appendWhole(handle: FileHandle, data: string | Uint8Array): Promise<void> {
  const { size } = await handle.stat();
  try {
    await handle.appendFile(data);
  } catch (error) {
    await handle.truncate(size).catch(() => undefined);
    throw error;
  }
}

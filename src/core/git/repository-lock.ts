/** Changes of one repository, one after the other: within this process in the order they came, and among all processes. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { waitForLock } from '../locks/index.ts';
import { isUnproven } from './git.ts';

/** How long the lock is waited for, once all earlier changes of this process are done. */
const DEADLINE_MS = 120_000;

/**
 * Path of the lock of a folder, whatever project it is seen from.
 * @param locks folder of the locks
 * @param folder real path: of a repository its git common folder, of a checkout its top folder
 */
export function folderLock(locks: string, folder: string): string {
  return join(locks, createHash('sha256').update(folder).digest('hex').slice(0, 32));
}

export class RepositoryLock {
  readonly #path: string;
  #last: Promise<unknown> = Promise.resolve();

  /** @param path of the lock; all processes that change the repository name the same */
  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Throws what `work` throws, and `lock_held` naming the owner when the lock was not free in time. A git that could not be
   * proven to have ended keeps the lock until this process is gone: it may still be changing the repository.
   * @param purpose in words a person reads in `in use by …`
   */
  async run<T>(
    purpose: string,
    work: () => Promise<T>,
    options: { signal?: AbortSignal | undefined } = {},
  ): Promise<T> {
    const before = this.#last;
    let done: () => void = () => undefined;
    this.#last = new Promise<void>((resolve) => {
      done = resolve;
    });
    try {
      await before;
      options.signal?.throwIfAborted();
      const { signal } = options;
      const lock = await waitForLock(this.#path, { purpose, deadlineMs: DEADLINE_MS, ...(signal && { signal }) });
      let unproven = false;
      try {
        return await work();
      } catch (error) {
        unproven = isUnproven(error);
        throw error;
      } finally {
        if (!unproven) await lock.release();
      }
    } finally {
      done();
    }
  }
}

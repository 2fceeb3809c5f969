/** A call whenever a file may have grown: file notices make it quick, a slow poll makes it sure. */
import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';

const POLL_MS = 1000;

export class FileWatch {
  readonly #folder: string;
  readonly #onNotice: () => void;
  readonly #poll: NodeJS.Timeout;
  #watcher: FSWatcher | undefined;

  /** @param path the file; its neighbours count, too */
  constructor(path: string, onNotice: () => void) {
    this.#folder = dirname(path);
    this.#onNotice = onNotice;
    this.#poll = setInterval(() => {
      this.#watch();
      onNotice();
    }, POLL_MS);
    this.#watch();
  }

  #watch(): void {
    if (this.#watcher) return;
    try {
      const watcher = watch(this.#folder, { persistent: false }, () => this.#onNotice());
      watcher.on('error', () => {
        watcher.close();
        this.#watcher = undefined;
      });
      this.#watcher = watcher;
    } catch {
      // The folder is not there yet; the poll looks again.
    }
  }

  close(): void {
    clearInterval(this.#poll);
    this.#watcher?.close();
  }
}

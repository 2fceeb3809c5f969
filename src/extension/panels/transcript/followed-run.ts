/** The run a panel shows: its state as it is now, and a call whenever that changed. */
import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import { RunFollower, type RunSnapshot } from '../../../client/index.ts';
import { isTerminal } from '../../../protocol/index.ts';

const GATHER_MS = 60;
const POLL_MS = 1000;

export class FollowedRun {
  readonly #directory: string;
  readonly #onChange: (snapshot: RunSnapshot) => void;
  readonly #follower: RunFollower;
  readonly #poll: NodeJS.Timeout;
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #mark = '';
  #isDisposed = false;

  constructor(directory: string, onChange: (snapshot: RunSnapshot) => void) {
    this.#directory = directory;
    this.#onChange = onChange;
    this.#follower = new RunFollower(basename(directory), directory);
    this.#poll = setInterval(() => {
      this.#watch();
      this.#soon();
    }, POLL_MS);
    this.#watch();
    void this.#look();
  }

  #watch(): void {
    if (this.#watcher) return;
    try {
      const watcher = watch(this.#directory, { persistent: false }, () => this.#soon());
      watcher.on('error', () => {
        watcher.close();
        this.#watcher = undefined;
      });
      this.#watcher = watcher;
    } catch {
      // The folder is gone or not there yet; the poll looks again.
    }
  }

  #soon(): void {
    if (this.#isDisposed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#look();
    }, GATHER_MS);
  }

  async #look(): Promise<void> {
    const snapshot = await this.#follower.snapshot();
    if (this.#isDisposed) return;
    const mark = `${snapshot.state} ${snapshot.view?.seq} ${snapshot.error?.code} ${snapshot.error?.message}`;
    if (mark !== this.#mark) {
      this.#mark = mark;
      this.#onChange(snapshot);
    }
    // It will not change any more.
    if (isTerminal(snapshot.state)) this.dispose();
  }

  dispose(): void {
    this.#isDisposed = true;
    clearInterval(this.#poll);
    clearTimeout(this.#timer);
    this.#watcher?.close();
  }
}

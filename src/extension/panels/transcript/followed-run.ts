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
  #poll: NodeJS.Timeout | undefined;
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #mark = '';
  #isDisposed = false;

  constructor(directory: string, onChange: (snapshot: RunSnapshot) => void) {
    this.#directory = directory;
    this.#onChange = onChange;
    this.#follower = new RunFollower(basename(directory), directory);
    this.#startPolling();
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
    if (!isTerminal(snapshot.state)) this.#startPolling();
    // It will not change any more; only a workflow can be continued.
    else if (snapshot.view?.workflow) this.#stopPolling();
    else this.dispose();
  }

  #startPolling(): void {
    this.#poll ??= setInterval(() => {
      this.#watch();
      this.#soon();
    }, POLL_MS);
  }

  #stopPolling(): void {
    clearInterval(this.#poll);
    this.#poll = undefined;
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#stopPolling();
    clearTimeout(this.#timer);
    this.#watcher?.close();
  }
}

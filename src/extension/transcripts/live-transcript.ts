/** One transcript that is shown: its text, its run's state, and a call whenever either changed. */
import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import { RunFollower, type RunSnapshot, TranscriptFollower } from '../../client/index.ts';
import { childLayout } from '../../core/projects/index.ts';
import { isTerminal } from '../../protocol/index.ts';
import { findChild } from '../runs/child-state.ts';

const GATHER_MS = 100;
const POLL_MS = 1000;

export class LiveTranscript {
  readonly #directory: string;
  readonly #child: number;
  readonly #onChange: () => void;
  readonly #text: TranscriptFollower;
  readonly #run: RunFollower;
  readonly #poll: NodeJS.Timeout;
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #snapshot: RunSnapshot | undefined;

  constructor(directory: string, child: number, onChange: () => void) {
    this.#directory = directory;
    this.#child = child;
    this.#onChange = onChange;
    this.#text = new TranscriptFollower(directory, child);
    this.#run = new RunFollower(basename(directory), directory);
    this.#poll = setInterval(() => {
      this.#watch();
      this.#soon();
    }, POLL_MS);
    this.#watch();
  }

  /** Everything up to now. */
  async read(): Promise<{ text: string; snapshot: RunSnapshot }> {
    // In this order: what an ended run has said is all there.
    this.#snapshot = await this.#run.snapshot();
    await this.#text.refresh();
    // Nothing more will come: nobody needs to look again.
    if (isTerminal(this.#snapshot.state)) this.dispose();
    return { text: this.#text.toString(), snapshot: this.#snapshot };
  }

  #watch(): void {
    if (this.#watcher) return;
    try {
      this.#watcher = watch(childLayout(this.#directory, this.#child).directory, { persistent: false }, () =>
        this.#soon(),
      );
      this.#watcher.on('error', () => this.#watcher?.close());
    } catch {
      // The child's folder is not there yet; the poll looks again.
    }
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#look();
    }, GATHER_MS);
  }

  async #look(): Promise<void> {
    const before = this.#snapshot;
    const grew = await this.#text.refresh().catch(() => false);
    this.#snapshot = await this.#run.snapshot();
    const { state, error } = this.#snapshot;
    const own = (snapshot: RunSnapshot | undefined) => snapshot && findChild(snapshot, this.#child)?.state;
    const hasChanged =
      before && (before.state !== state || before.error?.code !== error?.code || own(before) !== own(this.#snapshot));
    if (grew || hasChanged) this.#onChange();
    if (isTerminal(state) || error?.code === 'run_not_found') this.dispose();
  }

  dispose(): void {
    clearInterval(this.#poll);
    clearTimeout(this.#timer);
    this.#watcher?.close();
  }
}

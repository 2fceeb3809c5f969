/**
 * Watches the live runs of one project, and only those: a run that has ended is looked at again only when it goes on, which a workflow
 * can. File notices make it quick, a slow poll makes it sure; the poll also finds runners that died without a word.
 */
import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { runLayout } from '../core/projects/index.ts';
import { newRunId } from '../core/runs/index.ts';
import { isTerminal } from '../protocol/index.ts';
import { RunFollower, type RunSnapshot } from './run-snapshot.ts';
import type { RunStore } from './run-store.ts';

export interface RunWatcherOptions {
  /** Milliseconds between polls. */
  pollMs?: number;
  /** Milliseconds between two looks at one run, however many notices come. The first notice is followed at once. */
  gatherMs?: number;
  /** Called with runs that were there and are gone: somebody has removed them. */
  onRemoved?: (runIds: string[]) => void;
}

/** Milliseconds two changes of a folder may be apart and have the same time. */
const FOLDER_TICK_MS = 100;

interface Watched {
  follower: RunFollower;
  watcher: FSWatcher | undefined;
  last: { mark: string; view: RunSnapshot['view'] };
  timer: NodeJS.Timeout | undefined;
  lookedAt: number;
  busy: boolean;
  again: boolean;
}

export class RunWatcher {
  readonly #store: RunStore;
  readonly #onChange: (snapshot: RunSnapshot) => void;
  readonly #onRemoved: ((runIds: string[]) => void) | undefined;
  readonly #gatherMs: number;
  readonly #watched = new Map<string, Watched>();
  /**
   * Runs that have ended although their marker is still there: a runner removes it last, or died before it could, or has just made
   * it to go on with a workflow. `bytes`: of workflows, what their journals had then. `marked`: its marker was seen; that of a quick
   * run may come to be seen after its end.
   */
  readonly #ended = new Map<string, { readonly bytes: number | undefined; marked: boolean }>();
  /** Every run that was followed or reported. */
  readonly #known = new Set<string>();
  /** Ids below it were made before this watcher. */
  readonly #since = newRunId();
  #runsChangedAt: number | undefined;
  /** The runs there were when the folder was last listed. */
  #listed: ReadonlySet<string> = new Set();
  /** Runs that were reported as removed. One that is put back is reported like a new one. */
  readonly #removed = new Set<string>();
  readonly #poll: NodeJS.Timeout;
  /** Of the folders where new runs appear. */
  readonly #folders = new Map<string, FSWatcher>();
  #closed = false;
  #scanning: Promise<void> | undefined;
  #scanAgain = false;

  /** @param onChange called with each run that changed; the last call for a run has a terminal state */
  constructor(store: RunStore, onChange: (snapshot: RunSnapshot) => void, options: RunWatcherOptions = {}) {
    this.#store = store;
    this.#onChange = onChange;
    this.#onRemoved = options.onRemoved;
    this.#gatherMs = options.gatherMs ?? 40;
    this.#poll = setInterval(() => void this.refresh(), options.pollMs ?? 2000);
    this.#poll.unref();
  }

  /** Looks at everything now. Safe to call at any time: what changes while it looks is looked at once more. */
  refresh(): Promise<void> {
    if (this.#scanning) this.#scanAgain = true;
    else {
      this.#scanning = this.#scanUntilQuiet().finally(() => {
        this.#scanning = undefined;
      });
    }
    return this.#scanning;
  }

  async #scanUntilQuiet(): Promise<void> {
    do {
      this.#scanAgain = false;
      await this.#scan();
    } while (this.#scanAgain && !this.#closed);
  }

  async #scan(): Promise<void> {
    if (this.#closed) return;
    // The marker of a new run is there before the run itself, so both have to be watched.
    for (const path of [this.#store.layout.active, this.#store.layout.runs]) this.#watchForRuns(path);
    const ids: string[] = await this.#store.activeIds().catch(() => []);
    for (const [runId, over] of this.#ended) {
      const isMarked = ids.includes(runId);
      const goesOn = over.bytes !== undefined && (await this.#journalBytes(runId)) !== over.bytes;
      if (goesOn || (over.marked && !isMarked)) this.#ended.delete(runId);
      over.marked ||= isMarked;
      // It may be over again already, and its marker gone with it.
      if (goesOn && !this.#closed && !this.#watched.has(runId)) this.#follow(runId);
    }
    for (const runId of ids) {
      if (!this.#closed && !this.#watched.has(runId) && !this.#ended.has(runId)) this.#follow(runId);
    }
    await Promise.all([...this.#watched.keys()].map((runId) => this.#look(runId)));
    await this.#reportMissed();
  }

  /** A quick run of another client can be over before its marker was seen: new ones are reported once all the same. */
  async #reportMissed(): Promise<void> {
    const changedAt = await stat(this.#store.layout.runs).then(
      ({ mtimeMs }) => mtimeMs,
      () => undefined,
    );
    if (changedAt === this.#runsChangedAt) return;
    // A folder that changed just now can change again within the same tick of its clock.
    const isSettled = changedAt === undefined || Date.now() - changedAt > FOLDER_TICK_MS;
    this.#runsChangedAt = isSettled ? changedAt : undefined;
    const ids = await this.#store.runIds().catch(() => undefined);
    // What cannot be listed is not gone.
    if (!ids || this.#closed) return;
    this.#reportRemoved(ids);
    const isNew = (id: string) => (id > this.#since || this.#removed.has(id)) && !this.#known.has(id);
    for (const runId of ids.filter(isNew)) {
      this.#known.add(runId);
      this.#removed.delete(runId);
      const bytes = await this.#journalBytes(runId);
      const snapshot = await this.#store.read(runId);
      if (this.#closed) return;
      // One that lives is found by its marker.
      if (!isTerminal(snapshot.state)) {
        this.#lookAgainFor(runId);
        continue;
      }
      this.#ended.set(runId, { bytes: snapshot.view?.mode === 'workflow' ? bytes : undefined, marked: false });
      this.#onChange(snapshot);
    }
  }

  #reportRemoved(ids: readonly string[]): void {
    const present = new Set(ids);
    const removed = [...this.#listed].filter((id) => !present.has(id));
    this.#listed = present;
    for (const runId of removed) {
      this.#known.delete(runId);
      this.#ended.delete(runId);
      this.#removed.add(runId);
    }
    if (removed.length > 0) this.#onRemoved?.(removed);
  }

  /** It may end before its marker is seen: then the next look still finds it. */
  #lookAgainFor(runId: string): void {
    this.#known.delete(runId);
    this.#runsChangedAt = undefined;
  }

  #watchForRuns(path: string): void {
    if (this.#folders.has(path)) return;
    const watcher = this.#watchFolder(path, () => void this.refresh());
    if (!watcher) return;
    this.#folders.set(path, watcher);
    watcher.once('error', () => this.#folders.delete(path));
  }

  #follow(runId: string): void {
    const watched: Watched = {
      follower: new RunFollower(runId, this.#store.directoryOf(runId)),
      watcher: undefined,
      last: { mark: '', view: null },
      timer: undefined,
      lookedAt: Number.NEGATIVE_INFINITY,
      busy: false,
      again: false,
    };
    this.#watched.set(runId, watched);
    this.#known.add(runId);
  }

  /** Watches the run's folder. True when it was not watched before, and is now. */
  #watchRun(watched: Watched): boolean {
    if (watched.watcher) return false;
    const { runId, directory } = watched.follower;
    watched.watcher = this.#watchFolder(directory, () => {
      const waitMs = watched.lookedAt + this.#gatherMs - performance.now();
      watched.timer ??= setTimeout(
        () => {
          watched.timer = undefined;
          void this.#look(runId);
        },
        Math.max(0, waitMs),
      );
    });
    return watched.watcher !== undefined;
  }

  /** `undefined` where the folder cannot be watched (not there yet, or no watches left): the poll does it then. */
  #watchFolder(path: string, onNotice: () => void): FSWatcher | undefined {
    try {
      const watcher = watch(path, { persistent: false }, onNotice);
      watcher.on('error', () => watcher.close());
      return watcher;
    } catch {
      return undefined;
    }
  }

  async #look(runId: string): Promise<void> {
    const watched = this.#watched.get(runId);
    if (!watched || this.#closed) return;
    if (watched.busy) {
      watched.again = true;
      return;
    }
    watched.busy = true;
    try {
      do {
        watched.again = false;
        watched.lookedAt = performance.now();
        this.#watchRun(watched);
        const snapshot = await watched.follower.snapshot();
        if (this.#closed) return;
        // A marker without a run: its runner died while creating it, or is about to.
        if (snapshot.error?.code === 'run_not_found') {
          this.#forget(runId);
          this.#lookAgainFor(runId);
          return;
        }
        const mark = `${snapshot.state} ${snapshot.skipped} ${snapshot.error?.message}`;
        // A view is made anew with each event, and when the journal was replaced by one of as many events.
        if (mark !== watched.last.mark || snapshot.view !== watched.last.view) {
          watched.last = { mark, view: snapshot.view };
          this.#onChange(snapshot);
        }
        if (isTerminal(snapshot.state)) {
          const bytes = snapshot.view?.mode === 'workflow' ? await this.#journalBytes(runId) : undefined;
          // What was written while it was read may be that it goes on.
          if (bytes !== undefined && (await watched.follower.snapshot()).view !== snapshot.view) {
            watched.again = true;
            continue;
          }
          this.#ended.set(runId, { bytes, marked: true });
          this.#forget(runId);
          return;
        }
        // The folder came between the watch that failed and the look: it may have changed since.
        if (this.#watchRun(watched)) watched.again = true;
      } while (watched.again);
    } finally {
      watched.busy = false;
    }
  }

  async #journalBytes(runId: string): Promise<number> {
    const { journal } = runLayout(this.#store.directoryOf(runId));
    return stat(journal).then(
      ({ size }) => size,
      () => -1,
    );
  }

  #forget(runId: string): void {
    const watched = this.#watched.get(runId);
    clearTimeout(watched?.timer);
    watched?.watcher?.close();
    this.#watched.delete(runId);
  }

  dispose(): void {
    this.#closed = true;
    clearInterval(this.#poll);
    for (const watcher of this.#folders.values()) watcher.close();
    for (const runId of [...this.#watched.keys()]) this.#forget(runId);
  }
}

/** Waits until a run is terminal, or proven lost. */
export async function waitForEnd(
  store: RunStore,
  runId: string,
  options: { signal?: AbortSignal; onChange?: (snapshot: RunSnapshot) => void } = {},
): Promise<RunSnapshot> {
  const first = await store.read(runId);
  if (isOver(first)) return first;
  options.signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const watcher = new RunWatcher(
      store,
      (snapshot) => {
        if (snapshot.runId !== runId) return;
        options.onChange?.(snapshot);
        if (isOver(snapshot)) finish(() => resolve(snapshot));
      },
      { pollMs: 500 },
    );
    // The watcher alone would not keep this process alive.
    const alive = setInterval(() => void lookAfterEnd(), 1000);
    const onAbort = () => finish(() => reject(options.signal?.reason));
    options.signal?.addEventListener('abort', onAbort, { once: true });
    void watcher.refresh().then(lookAfterEnd);

    // A run that ended before the watcher saw its marker is not among the live ones any more.
    async function lookAfterEnd(): Promise<void> {
      const snapshot = await store.read(runId);
      if (isOver(snapshot)) finish(() => resolve(snapshot));
    }
    function finish(done: () => void): void {
      clearInterval(alive);
      watcher.dispose();
      options.signal?.removeEventListener('abort', onAbort);
      done();
    }
  });
}

/** Nothing more will come: it has ended, its runner is gone, or it cannot be read at all. */
function isOver({ state, view }: RunSnapshot): boolean {
  return isTerminal(state) || state === 'lost' || (state === 'unknown' && view === null);
}

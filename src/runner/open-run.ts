/** A run this process owns: its folder, its lease, its journal and the view that follows from them. */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  discard,
  explainDisk,
  makePrivateFolder,
  readRegular,
  syncFolder,
  whenThereIsRoom,
  writeFileAtomic,
} from '../core/files/index.ts';
import { JournalWriter, readJournal } from '../core/journal/index.ts';
import { acquireLock, inspectLock, type Lock, lockAt } from '../core/locks/index.ts';
import { identify, liveness } from '../core/processes/index.ts';
import {
  type ChildLayout,
  childLayout,
  type ProjectLayout,
  projectLayout,
  type RunLayout,
  runLayout,
} from '../core/projects/index.ts';
import { applyLine, digestOf, foldRun, initialView, readLaunchRecord, runnerLog } from '../core/runs/index.ts';
import { redact } from '../core/transcripts/index.ts';
import {
  type ChildView,
  cutText,
  type ErrorValue,
  isTerminal,
  type JournalEvent,
  type JournalEventType,
  type JournalLine,
  type LaunchRecord,
  lanesError,
  type NewOrder,
  type Owner,
  type RecoverOrder,
  type RunView,
  type StoredFile,
  type TerminalState,
  toErrorValue,
  type WorkflowBounds,
} from '../protocol/index.ts';
import { KeptRecord } from './kept-record.ts';
import { RateGate } from './rate-gate.ts';

/** Milliseconds an intent may wait for the disk before it takes effect. */
const INTENT_MS = 1000;

export interface OpenRunOptions {
  fault?: ((type: JournalEventType, when: 'before' | 'after') => void) | undefined;
  /** Bytes of journal up to which progress is recorded. */
  maxJournalBytes?: number | undefined;
}

export class OpenRun {
  readonly record: LaunchRecord;
  readonly layout: RunLayout;
  readonly project: ProjectLayout;
  readonly rateGate: RateGate;
  readonly #lease: Lock;
  readonly #record: KeptRecord;
  #earlier: readonly JournalLine[];
  readonly #started = Promise.withResolvers<void>();
  #suspended = false;
  #journal: JournalWriter | undefined;
  #view: RunView;

  private constructor(
    record: LaunchRecord,
    project: ProjectLayout,
    directory: string,
    { body, lease, earlier }: { body: string; lease: Lock; earlier: readonly JournalLine[] },
  ) {
    this.record = record;
    this.project = project;
    this.layout = runLayout(directory);
    this.rateGate = new RateGate(childLayout(directory, 1).rateGate);
    this.#lease = lease;
    this.#record = new KeptRecord(this.layout.record, body);
    this.#earlier = earlier;
    this.#view = earlier.length > 0 ? foldRun(record, earlier) : initialView(record);
  }

  /**
   * Makes the run durable: record and lease are written beside the other runs under a temporary name and become visible
   * by one rename, so that there never is half a run.
   */
  static async create(order: NewOrder, record: LaunchRecord, options: OpenRunOptions = {}): Promise<OpenRun> {
    const project = projectLayout(order.projectDirectory);
    const final = join(project.runs, record.runId);
    const staging = join(project.runs, `.${record.runId}.new`);
    const marker = join(project.active, record.runId);
    let lease: Lock;
    const body = recordBody(record);
    try {
      await mkdir(staging, { mode: 0o700 });
      await writeFileAtomic(runLayout(staging).record, body);
      lease = await acquireLock(runLayout(staging).lease, {
        purpose: `run ${record.runId}`,
        socket: order.address,
        token: order.token,
      });
      await writeFile(marker, '', { mode: 0o600 });
      await rename(staging, final);
      await syncFolder(project.runs);
    } catch (error) {
      await discard(marker);
      await discard(staging);
      throw explainDisk(error);
    }
    const run = new OpenRun(record, project, final, {
      body,
      lease: lockAt(runLayout(final).lease, lease.owner),
      earlier: [],
    });
    // On Windows an open file cannot be moved: the log then stays where it is.
    await rename(order.log, run.layout.log).catch(() => undefined);
    try {
      await run.#openJournal(options);
      await run.append(created(record, body), await run.#runnerStarted());
      await syncFolder(final);
      return run;
    } catch (error) {
      // The starter was promised nothing yet: a run without a first line never was.
      await run.#journal?.close().catch(() => undefined);
      await discard(marker);
      await discard(final);
      throw explainDisk(error);
    }
  }

  /** Takes a run over from a runner that is gone. Throws `lock_held` when it is not. */
  static async takeOver(order: RecoverOrder, options: OpenRunOptions = {}): Promise<OpenRun> {
    const project = projectLayout(order.projectDirectory);
    const layout = runLayout(join(project.runs, order.runId));
    const record = await readLaunchRecord(layout.directory);
    const body = await readRegular(layout.record);
    const { owner: gone } = await inspectLock(layout.lease);
    const after = await epochOfTheGone(layout.journal, record);
    const lease = await acquireLock(layout.lease, {
      purpose: `run ${record.runId}`,
      socket: order.address,
      token: order.token,
      after,
    });
    // Nobody else takes it away.
    if (gone?.socket && process.platform !== 'win32') await rm(gone.socket, { force: true }).catch(() => undefined);
    const { lines } = await readJournal(layout.journal);
    const run = new OpenRun(record, project, layout.directory, { body, lease, earlier: lines });
    await writeFile(join(project.active, record.runId), '', { mode: 0o600 });
    await rename(order.log, runnerLog(layout.directory, lease.owner.epoch)).catch(() => undefined);
    await run.#openJournal(options);
    // The runner that made the run may have died before its first line.
    const first = lines.length > 0 ? [] : [created(record, body)];
    await run.append(...first, await run.#runnerStarted());
    return run;
  }

  async #openJournal({ fault, maxJournalBytes }: OpenRunOptions): Promise<void> {
    this.#journal = await JournalWriter.open(this.layout.journal, {
      ...(fault ? { fault } : {}),
      ...(maxJournalBytes === undefined ? {} : { maxBytes: maxJournalBytes }),
      onAppended: (line) => {
        this.#view = applyLine(this.#view, line);
        if (this.#view.startedAt !== null) this.#started.resolve();
      },
    });
  }

  async #runnerStarted(): Promise<JournalEvent> {
    return {
      type: 'runner.started',
      epoch: this.#lease.owner.epoch,
      process: await identify(process.pid),
      node: process.versions.node,
      version: PI_LANES_VERSION,
      runtime: this.record.runtime,
    };
  }

  /** What stood in the journal before this runner, and that it was continued; empty for a new run. */
  get earlier(): readonly JournalLine[] {
    return this.#earlier;
  }

  /** A workflow goes on as the same run, within these limits. */
  async reopen(by: Owner, bounds: WorkflowBounds): Promise<void> {
    // Whoever finds it takes the run for ended; the journal alone is the truth.
    await rm(this.layout.status, { force: true });
    await this.append({ type: 'run.continued', by, ...bounds });
    this.#earlier = (await readJournal(this.layout.journal)).lines;
  }

  get view(): RunView {
    return this.#view;
  }

  /** What the journal says about one child. */
  child(index: number): ChildView | undefined {
    return this.#view.children.find((child) => child.index === index);
  }

  /** Resolves when it is durable that the run has begun. */
  get started(): Promise<void> {
    return this.#started.promise;
  }

  get seq(): number {
    return this.#view.seq;
  }

  get epoch(): number {
    return this.#lease.owner.epoch;
  }

  /** Writes the lease, the mark and the journal of a live run anew when they are gone. `lost`: the run has another owner. */
  async renew(): Promise<'held' | 'renewed' | 'lost'> {
    if (this.#suspended || isTerminal(this.#view.state)) return 'held';
    const lease = await this.#lease.renew();
    // Exclusively: a file that is there is not touched, so nobody who watches the folder is told.
    if (lease !== 'lost') {
      const mark = join(this.project.active, this.record.runId);
      await writeFile(mark, '', { flag: 'wx', mode: 0o600 }).catch(() => undefined);
      await this.#record.keep().catch(() => undefined);
      await this.keepJournal();
    }
    return lease;
  }

  /** The journal is written again when somebody removed, replaced or cut it. What cannot be put right is tried again later. */
  async keepJournal(): Promise<void> {
    const state = await this.#journal?.keep().catch(() => undefined);
    if (state === 'rewritten')
      console.error('pi-lanes runner: the journal had been changed from outside; it was written again.');
  }

  /** Nothing more is written: this process leaves, and what happens to its children now is not the run's end. */
  suspend(): void {
    this.#suspended = true;
  }

  /** Appends one step and syncs it. */
  append(...events: JournalEvent[]): Promise<void> {
    if (this.#suspended) return new Promise(() => undefined);
    return this.#writer.append(events, { sync: true });
  }

  /** Appends the intent to end a child. A disk that is full keeps the line waiting, but not the end. */
  async appendInTime(event: JournalEvent): Promise<void> {
    const written = this.append(event);
    await Promise.race([written, delay(INTENT_MS)]);
  }

  /** Appends without a sync: progress that may be lost. */
  note(event: JournalEvent): void {
    if (this.#suspended) return;
    // A failed note is a failing disk; the next synced step reports it.
    void this.#writer.append([event], { sync: false }).catch(() => undefined);
  }

  get #writer(): JournalWriter {
    if (!this.#journal) throw new Error('the journal is not open');
    return this.#journal;
  }

  async childFolder(index: number): Promise<ChildLayout> {
    const layout = childLayout(this.layout.directory, index);
    await makePrivateFolder(layout.directory);
    return layout;
  }

  /** Writes a body durably and says how an event names it. `path` lies inside the run folder. */
  async store(path: string, content: string): Promise<StoredFile> {
    await whenThereIsRoom(() => writeFileAtomic(path, content));
    return {
      file: path.slice(this.layout.directory.length + 1).replaceAll('\\', '/'),
      bytes: Buffer.byteLength(content),
      sha256: digestOf(content),
    };
  }

  /** The terminal order: results are durable already; terminal event, then status, then the marks of a live run go. */
  async end(state: TerminalState, error: ErrorValue | null): Promise<void> {
    await this.append({ type: 'run.ended', state, error: error && clipError(error) });
    await this.keepJournal();
    await this.finish();
  }

  /**
   * Everything after the terminal event. Repeating it changes nothing. The journal has the end: what cannot be written or
   * removed here is said in the runner's log and left to whoever tidies up.
   */
  async finish(): Promise<void> {
    const steps: (() => Promise<unknown>)[] = [
      () => whenThereIsRoom(() => writeFileAtomic(this.layout.status, `${JSON.stringify(this.#view)}\n`)),
      () => rm(join(this.project.active, this.record.runId), { force: true }),
      () => this.#lease.release(),
      () => this.#writer.close(),
    ];
    for (const step of steps) {
      await step().catch((error: unknown) => console.error(`after the end: ${toErrorValue(error).message}`));
    }
  }
}

/** Epoch of the newest runner in the journal. Throws `lock_held` unless it is gone: a lease file can be removed by mistake. */
async function epochOfTheGone(journal: string, record: LaunchRecord): Promise<number> {
  const { epoch, runner } = foldRun(record, (await readJournal(journal)).lines);
  if (runner && (await liveness(runner)) !== 'gone') {
    throw lanesError('lock_held', { lock: 'lease', pid: runner.pid, purpose: `run ${record.runId}` });
  }
  return epoch;
}

function recordBody(record: LaunchRecord): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}

function created({ runId }: LaunchRecord, body: string): JournalEvent {
  return { type: 'run.created', runId, digest: digestOf(body) };
}

/** Journal lines are small; the whole text of an error stands in the result file. */
export function clipError(error: ErrorValue): ErrorValue {
  return mapTexts(cleanError(error), (text, most) => cutText(text, most));
}

/** Providers repeat keys in their errors. */
export function cleanError(error: ErrorValue): ErrorValue {
  return mapTexts(error, redact);
}

/** Changes everything in an error that came from outside; `most` is the number of characters a journal line has room for. */
function mapTexts(error: ErrorValue, change: (text: string, most: number) => string): ErrorValue {
  const params = Object.entries(error.params ?? {}).map(([name, value]): [string, string | number] => [
    name,
    typeof value === 'string' ? change(value, 1000) : value,
  ]);
  return {
    ...error,
    message: change(error.message, 8000),
    ...(error.params === undefined ? {} : { params: Object.fromEntries(params) }),
  };
}

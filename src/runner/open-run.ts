/** A run this process owns: its folder, its lease, its journal and the view that follows from them. */
import { createHash } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makePrivateFolder, syncFolder, writeFileAtomic } from '../core/files/index.ts';
import { JournalWriter } from '../core/journal/index.ts';
import { acquireLock, type Lock, lockAt } from '../core/locks/index.ts';
import { identify } from '../core/processes/index.ts';
import { type ChildLayout, childLayout, projectLayout, type RunLayout, runLayout } from '../core/projects/index.ts';
import { applyLine, initialView } from '../core/runs/index.ts';
import type {
  ErrorValue,
  JournalEvent,
  LaunchRecord,
  RunView,
  StartOrder,
  StoredFile,
  TerminalState,
} from '../protocol/index.ts';

export class OpenRun {
  readonly record: LaunchRecord;
  readonly layout: RunLayout;
  readonly #lease: Lock;
  readonly #marker: string;
  #journal: JournalWriter | undefined;
  #view: RunView;

  private constructor(record: LaunchRecord, layout: RunLayout, lease: Lock, marker: string) {
    this.record = record;
    this.layout = layout;
    this.#lease = lease;
    this.#marker = marker;
    this.#view = initialView(record);
  }

  /**
   * Makes the run durable: record and lease are written beside the other runs under a temporary name and become visible
   * by one rename, so that there never is half a run.
   */
  static async create(order: StartOrder, record: LaunchRecord): Promise<OpenRun> {
    const project = projectLayout(order.projectDirectory);
    const final = join(project.runs, record.runId);
    const staging = join(project.runs, `.${record.runId}.new`);
    const marker = join(project.active, record.runId);
    await mkdir(staging, { mode: 0o700 });
    let lease: Lock;
    const body = `${JSON.stringify(record, null, 2)}\n`;
    try {
      await writeFileAtomic(runLayout(staging).record, body);
      lease = await acquireLock(runLayout(staging).lease, {
        purpose: 'runner',
        socket: order.address,
        token: order.token,
      });
      await writeFile(marker, '', { mode: 0o600 });
      await rename(staging, final);
      await syncFolder(project.runs);
    } catch (error) {
      await rm(marker, { force: true });
      await rm(staging, { recursive: true, force: true });
      throw error;
    }
    const layout = runLayout(final);
    const run = new OpenRun(record, layout, lockAt(layout.lease, lease.owner), marker);
    // On Windows an open file cannot be moved: the log then stays where it is.
    await rename(order.log, layout.log).catch(() => undefined);
    run.#journal = await JournalWriter.open(layout.journal, {
      onAppended: (line) => {
        run.#view = applyLine(run.#view, line);
      },
    });
    await run.append(
      { type: 'run.created', runId: record.runId, digest: createHash('sha256').update(body).digest('hex') },
      {
        type: 'runner.started',
        epoch: lease.owner.epoch,
        process: await identify(process.pid),
        node: process.versions.node,
        version: PI_LANES_VERSION,
        runtime: record.runtime,
      },
    );
    await syncFolder(final);
    return run;
  }

  get view(): RunView {
    return this.#view;
  }

  get seq(): number {
    return this.#view.seq;
  }

  /** Appends one step and syncs it. */
  append(...events: JournalEvent[]): Promise<void> {
    return this.#writer.append(events, { sync: true });
  }

  /** Appends without a sync: progress that may be lost. */
  note(event: JournalEvent): void {
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
    await writeFileAtomic(path, content);
    return {
      file: path.slice(this.layout.directory.length + 1).replaceAll('\\', '/'),
      bytes: Buffer.byteLength(content),
      sha256: createHash('sha256').update(content).digest('hex'),
    };
  }

  /** The terminal order: results are durable already; terminal event, then status, then the marks of a live run go. */
  async end(state: TerminalState, error: ErrorValue | null): Promise<void> {
    await this.append({ type: 'run.ended', state, error });
    await writeFileAtomic(this.layout.status, `${JSON.stringify(this.#view)}\n`);
    await rm(this.#marker, { force: true });
    await this.#lease.release();
    await this.#writer.close();
  }
}

/**
 * Appends events to a journal. One writer per journal, guarded by the run's lease.
 * Group sync: whatever is waiting when the disk becomes free is written in one call and synced once.
 */
import { type FileHandle, open } from 'node:fs/promises';
import type { JournalEvent, JournalLine } from '../../protocol/index.ts';
import { formatLine } from './journal-line.ts';
import { readJournal } from './journal-reader.ts';

interface Waiting {
  bytes: Buffer;
  sync: boolean;
  resolve: () => void;
  reject: (error: unknown) => void;
}

export interface JournalWriterOptions {
  now?: () => number;
  /** Called with each event once it is in the file (and synced, where asked for). */
  onAppended?: (line: JournalLine) => void;
}

export class JournalWriter {
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;
  #seq: number;
  readonly #handle: FileHandle;
  readonly #now: () => number;
  readonly #onAppended: ((line: JournalLine) => void) | undefined;

  private constructor(handle: FileHandle, seq: number, options: JournalWriterOptions) {
    this.#handle = handle;
    this.#seq = seq;
    this.#now = options.now ?? Date.now;
    this.#onAppended = options.onAppended;
  }

  /** Opens or creates the journal. A torn last line is closed with a newline, so that it cannot weld itself to the next. */
  static async open(path: string, options: JournalWriterOptions = {}): Promise<JournalWriter> {
    const handle = await open(path, 'a', 0o600);
    const existing = await readJournal(path);
    if (existing.unfinishedBytes > 0) await handle.write('\n');
    return new JournalWriter(handle, existing.lastSeq, options);
  }

  get seq(): number {
    return this.#seq;
  }

  /**
   * Appends one step: all events in order, in one write. Resolves when they are in the file; with `sync` when they are
   * on the disk as well.
   */
  append(events: readonly JournalEvent[], options: { sync: boolean }): Promise<void> {
    const t = this.#now();
    const lines = events.map((event) => ({ ...event, seq: ++this.#seq, t }));
    const bytes = Buffer.concat(lines.map(({ seq, t: time, ...event }) => formatLine(event, seq, time)));
    return new Promise<void>((resolve, reject) => {
      this.#waiting.push({
        bytes,
        sync: options.sync,
        resolve: () => {
          for (const line of lines) this.#onAppended?.(line);
          resolve();
        },
        reject,
      });
      this.#running ??= this.#drain();
    });
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#handle.write(Buffer.concat(group.map((item) => item.bytes)));
        if (group.some((item) => item.sync)) await this.#handle.datasync();
        for (const item of group) item.resolve();
      } catch (error) {
        for (const item of group) item.reject(error);
      }
    }
    this.#running = undefined;
  }

  async close(): Promise<void> {
    await this.#running;
    await this.#handle.close();
  }
}

/**
 * Appends events to a journal. One writer per journal, guarded by the run's lease.
 * Group sync: whatever is waiting when the disk becomes free is written in one call and synced once.
 */
import type { FileHandle } from 'node:fs/promises';
import type { JournalEvent, JournalLine } from '../../protocol/index.ts';
import { openForAppending, whenThereIsRoom } from '../files/index.ts';
import { formatLine } from './journal-line.ts';
import { notAJournal, readJournal } from './journal-reader.ts';
import { JournalRoom, MAX_JOURNAL_BYTES } from './journal-room.ts';

interface Waiting {
  bytes: Buffer;
  sync: boolean;
  resolve: () => void;
  reject: (error: unknown) => void;
}

export interface JournalWriterOptions {
  /** Bytes up to which progress is written. Default 50 MiB. */
  maxBytes?: number;
  now?: () => number;
  /** Called around each event's write, so that tests can end the process there. */
  fault?: (type: JournalEvent['type'], when: 'before' | 'after') => void;
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
  readonly #fault: JournalWriterOptions['fault'];
  /** Length of the file up to the last line that was written whole. */
  #size: number;
  readonly #room: JournalRoom;

  private constructor(
    handle: FileHandle,
    from: { seq: number; size: number; cut: boolean },
    options: JournalWriterOptions,
  ) {
    this.#handle = handle;
    this.#seq = from.seq;
    this.#size = from.size;
    this.#room = new JournalRoom(options.maxBytes ?? MAX_JOURNAL_BYTES, from.size, from.cut);
    this.#fault = options.fault;
    this.#now = options.now ?? Date.now;
    this.#onAppended = options.onAppended;
  }

  /** Opens or creates the journal. A torn last line is closed with a newline, so that it cannot weld itself to the next. */
  static async open(path: string, options: JournalWriterOptions = {}): Promise<JournalWriter> {
    const handle = await openForAppending(path).catch((error: unknown) => {
      throw notAJournal(path, error);
    });
    try {
      const existing = await readJournal(path);
      if (existing.unfinishedBytes > 0) await handle.appendFile('\n');
      const cut = existing.lines.some(({ type }) => type === 'journal.truncated');
      return new JournalWriter(handle, { seq: existing.lastSeq, size: (await handle.stat()).size, cut }, options);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  get seq(): number {
    return this.#seq;
  }

  /**
   * Appends one step: all events in order, in one write. Resolves when they are in the file; with `sync` when they are
   * on the disk as well. Rejects with a `RangeError`, before anything is written, when an event is too long for a line.
   * Progress that has no room any more is left out.
   */
  async append(step: readonly JournalEvent[], options: { sync: boolean }): Promise<void> {
    const events = this.#room.admit(step);
    if (events.length === 0) return;
    for (const { type } of events) this.#fault?.(type, 'before');
    const t = this.#now();
    const lines = events.map((event, index) => ({ ...event, seq: this.#seq + 1 + index, t }));
    const bytes = Buffer.concat(lines.map(({ seq, t: time, ...event }) => formatLine(event, seq, time)));
    // Numbers are used up only now: a refused event leaves no gap.
    this.#seq += lines.length;
    this.#room.take(events, bytes.length);
    return new Promise<void>((resolve, reject) => {
      this.#waiting.push({
        bytes,
        sync: options.sync,
        resolve: () => {
          for (const line of lines) {
            this.#onAppended?.(line);
            this.#fault?.(line.type, 'after');
          }
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
        const bytes = Buffer.concat(group.map((item) => item.bytes));
        await whenThereIsRoom(() => this.#write(bytes));
        if (group.some((item) => item.sync)) await whenThereIsRoom(() => this.#handle.datasync());
        for (const item of group) item.resolve();
      } catch (error) {
        for (const item of group) item.reject(error);
      }
    }
    this.#running = undefined;
  }

  /** All or nothing: what a full disk took only in part is cut off again. */
  async #write(bytes: Buffer): Promise<void> {
    try {
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await this.#handle.write(bytes, done);
        done += bytesWritten;
      }
      this.#size += bytes.length;
    } catch (error) {
      await this.#handle.truncate(this.#size).catch(() => undefined);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#running;
    await this.#handle.close();
  }
}

/**
 * Appends events to a journal. One writer per journal, guarded by the run's lease.
 * Group sync: whatever is waiting when the disk becomes free is written in one call and synced once.
 */
import { type FileHandle, link, rename, stat } from 'node:fs/promises';
import type { JournalEvent, JournalEventType, JournalLine } from '../../protocol/index.ts';
import { openForAppending, whenThereIsRoom, writeFileAtomic } from '../files/index.ts';
import { formatLine } from './journal-line.ts';
import { notAJournal, readJournal } from './journal-reader.ts';
import { JournalRoom, MAX_JOURNAL_BYTES } from './journal-room.ts';
import { KeptLines } from './kept-lines.ts';

interface Waiting {
  lines: readonly { type: JournalEventType; bytes: Buffer }[];
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
  #handle: FileHandle;
  readonly #now: () => number;
  readonly #onAppended: ((line: JournalLine) => void) | undefined;
  readonly #fault: JournalWriterOptions['fault'];
  /** Length of the file up to the last line that was written whole. */
  #size: number;
  readonly #room: JournalRoom;
  readonly #path: string;
  /** What it is written again from. */
  readonly #kept: KeptLines;

  private constructor(
    path: string,
    handle: FileHandle,
    from: { seq: number; size: number; cut: boolean; kept: KeptLines },
    options: JournalWriterOptions,
  ) {
    this.#path = path;
    this.#handle = handle;
    this.#kept = from.kept;
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
      const kept = new KeptLines();
      for (const { seq, t, ...event } of existing.lines) kept.add(event.type, formatLine(event, seq, t));
      const { size } = await handle.stat();
      return new JournalWriter(path, handle, { seq: existing.lastSeq, size, cut, kept }, options);
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
    const written = lines.map(({ seq, t: time, ...event }) => ({
      type: event.type,
      bytes: formatLine(event, seq, time),
    }));
    const size = written.reduce((sum, { bytes }) => sum + bytes.length, 0);
    // Numbers are used up only now: a refused event leaves no gap.
    this.#seq += lines.length;
    this.#room.take(events, size);
    return new Promise<void>((resolve, reject) => {
      this.#waiting.push({
        lines: written,
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
        const lines = group.flatMap((item) => item.lines);
        const bytes = Buffer.concat(lines.map((line) => line.bytes));
        await whenThereIsRoom(() => this.#write(bytes));
        for (const { type, bytes: line } of lines) this.#kept.add(type, line);
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

  /**
   * Looks whether the file is still the one that is written to, and writes it again where it is not: removed, replaced, cut. What
   * stands in its place is kept beside it. `busy`: something is being written; ask again. `lost`: it cannot be written again.
   */
  async keep(): Promise<'sound' | 'rewritten' | 'busy' | 'lost'> {
    if (this.#running) return 'busy';
    const check = this.#check();
    this.#running = check.then(
      () => undefined,
      () => undefined,
    );
    try {
      return await check;
    } finally {
      this.#running = this.#waiting.length > 0 ? this.#drain() : undefined;
    }
  }

  async #check(): Promise<'sound' | 'rewritten' | 'lost'> {
    const own = await this.#handle.stat();
    const found = await stat(this.#path).catch(() => undefined);
    if (found?.ino === own.ino && found.dev === own.dev && found.size >= this.#size) return 'sound';
    const content = this.#kept.content;
    if (!content) return 'lost';
    if (found && found.ino !== own.ino) await this.#setAside(found.isFile());
    await whenThereIsRoom(() => writeFileAtomic(this.#path, content));
    const handle = await openForAppending(this.#path);
    await this.#handle.close().catch(() => undefined);
    this.#handle = handle;
    this.#size = content.length;
    return 'rewritten';
  }

  /** Whoever put it there may want it back. */
  async #setAside(isFile: boolean): Promise<void> {
    const aside = `${this.#path}.${this.#now()}.aside`;
    // A file stays until it is replaced: at no moment is there no journal.
    await (isFile ? link(this.#path, aside) : rename(this.#path, aside));
  }

  async close(): Promise<void> {
    await this.#running;
    await this.#handle.close();
  }
}

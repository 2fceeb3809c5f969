/** Reads journals without trusting them: every bad record is skipped and reported exactly, every good one is returned. */
import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { type JournalLine, lanesError } from '../../protocol/index.ts';
import { errnoOf, NotAFile, openRegular } from '../files/index.ts';
import { type LineProblem, MAX_LINE_BYTES, type ParsedLine, parseLine } from './journal-line.ts';

export interface SkippedRecord {
  /** Byte offset of the record's first byte in the file. */
  offset: number;
  /** Bytes, newline excluded. */
  length: number;
  problem: LineProblem | 'sequence';
  seq?: number;
}

export interface JournalContent {
  lines: JournalLine[];
  skipped: SkippedRecord[];
  /** Highest sequence number seen, skipped records included; 0 when there is none. */
  lastSeq: number;
  /** Offset after the last complete line. */
  end: number;
  /** Bytes of a last line without newline: a write under way, or one that was torn. Not counted as skipped. */
  unfinishedBytes: number;
}

/** `undefined`: there is none. Throws `run_unreadable` for what is no file. */
export async function openJournal(path: string): Promise<FileHandle | undefined> {
  return openRegular(path).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw notAJournal(path, error);
  });
}

/** Names what stands in the place of a journal; any other error as it is. */
export function notAJournal(path: string, error: unknown): unknown {
  if (!(error instanceof NotAFile)) return error;
  return lanesError('run_unreadable:file', { file: path, reason: `it is ${error.kind}, not a journal` });
}

/** The whole journal. A missing file reads as empty; throws `run_unreadable` for what is no file. */
export async function readJournal(path: string): Promise<JournalContent> {
  const tail = new JournalTail(path);
  const lines = await tail.read();
  return { lines, ...tail.position() };
}

const CHUNK_BYTES = 256 * 1024;

/**
 * Follows a growing journal: each `read` returns the events that came since the last one. A file that was replaced, cut or
 * written over is read from its beginning, whatever its time and size say: see `generation`.
 */
export class JournalTail {
  readonly path: string;
  #offset = 0;
  #lastSeq = 0;
  #unfinished = 0;
  #skipped: SkippedRecord[] = [];
  #generation = 0;
  #inode: number | undefined;
  /** The file as it was when all of it had been read; `undefined` while there was more to come. */
  #readWhole: { size: number; ctimeMs: number } | undefined;

  constructor(path: string) {
    this.path = path;
  }

  position(): Omit<JournalContent, 'lines'> {
    return { skipped: this.#skipped, lastSeq: this.#lastSeq, end: this.#offset, unfinishedBytes: this.#unfinished };
  }

  /** Another number than before: what `read` returns from now on is another journal, from its first event on. */
  get generation(): number {
    return this.#generation;
  }

  async read(): Promise<JournalLine[]> {
    const handle = await openJournal(this.path);
    if (!handle) return [];
    const lines: JournalLine[] = [];
    try {
      const info = await handle.stat();
      this.#startOverIfReplaced(info);
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      let pending: Buffer[] = [];
      let pendingBytes = 0;
      let position = this.#offset;
      for (;;) {
        const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, position);
        if (bytesRead === 0) break;
        position += bytesRead;
        let from = 0;
        for (let at = chunk.indexOf(10, from); at !== -1 && at < bytesRead; at = chunk.indexOf(10, from)) {
          // A line far over the limit is measured, not kept: its content is never looked at.
          const keep = pendingBytes <= MAX_LINE_BYTES;
          const bytes = keep ? Buffer.concat([...pending, chunk.subarray(from, at)]) : undefined;
          this.#take(bytes, pendingBytes + at - from, lines);
          pending = [];
          pendingBytes = 0;
          from = at + 1;
        }
        const rest = chunk.subarray(from, bytesRead);
        if (pendingBytes <= MAX_LINE_BYTES) pending.push(Buffer.from(rest));
        pendingBytes += rest.length;
      }
      this.#unfinished = pendingBytes;
      const { size, ctimeMs } = await handle.stat();
      this.#readWhole = size === position ? { size, ctimeMs } : undefined;
    } finally {
      await handle.close();
    }
    return lines;
  }

  #startOverIfReplaced({ ino, size, ctimeMs }: Stats): void {
    const { size: before, ctimeMs: then } = this.#readWhole ?? {};
    // A file that was written and did not grow was written over. Its own time of change cannot be set by anybody.
    const isOther =
      (this.#inode !== undefined && this.#inode !== ino) ||
      size < this.#offset ||
      (size === before && ctimeMs !== then);
    this.#inode = ino;
    if (!isOther) return;
    this.#generation++;
    this.#offset = 0;
    this.#lastSeq = 0;
    this.#unfinished = 0;
    this.#skipped = [];
  }

  #take(bytes: Buffer | undefined, length: number, lines: JournalLine[]): void {
    const offset = this.#offset;
    this.#offset += length + 1;
    if (length === 0) return;
    const parsed: ParsedLine = bytes ? parseLine(bytes) : { ok: false, problem: 'too-long' };
    if (!parsed.ok) {
      this.#skipped.push({
        offset,
        length,
        problem: parsed.problem,
        ...(parsed.seq === undefined ? {} : { seq: parsed.seq }),
      });
      if (parsed.seq !== undefined) this.#lastSeq = Math.max(this.#lastSeq, parsed.seq);
      return;
    }
    // Numbers only rise. A record that repeats or goes back was written by somebody who did not own the journal.
    if (parsed.line.seq <= this.#lastSeq) {
      this.#skipped.push({ offset, length, problem: 'sequence', seq: parsed.line.seq });
      return;
    }
    this.#lastSeq = parsed.line.seq;
    lines.push(parsed.line);
  }
}

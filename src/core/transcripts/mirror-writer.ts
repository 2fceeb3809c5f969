/**
 * Writes a child's transcript mirror. Lines are gathered for a moment and written together, never synced: the mirror is for
 * reading along. Long blocks are cut, known token shapes redacted, and the whole is capped: the head is kept in
 * `transcript.jsonl`, then the newest segments `transcript.tail-<n>.jsonl`.
 */
import { type FileHandle, rm } from 'node:fs/promises';
import { cutText, cutTextFront, MAX_BLOCK_CHARS, MAX_DIFF_CHARS, type TranscriptEntry } from '../../protocol/index.ts';
import { appendWhole, openForAppending, whenThereIsRoom } from '../files/index.ts';
import { redact, settledLength } from './redact.ts';
import { mirrorFiles, tailSegment } from './segments.ts';

export interface MirrorLimits {
  headBytes: number;
  segmentBytes: number;
  segments: number;
}

/** 64 MiB in all. */
export const MIRROR_LIMITS: MirrorLimits = { headBytes: 32 * 1024 * 1024, segmentBytes: 8 * 1024 * 1024, segments: 4 };

const FLUSH_MS = 50;
/** A running tool sends its whole output again and again: at most one update per tool in this time, and only its end. */
const TOOL_UPDATE_MS = 250;
const TOOL_UPDATE_CHARS = 8 * 1024;
/** Bytes that may wait for a disk that is full or slow. What comes while more wait is left out, and the mirror says so. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

type Delta = Extract<TranscriptEntry, { type: 'delta' }>;
type ToolUpdate = Extract<TranscriptEntry, { type: 'tool.update' }>;

export class MirrorWriter {
  readonly #path: string;
  readonly #limits: MirrorLimits;
  #lines: string[] = [];
  #delta: Delta | undefined;
  /** Per tool: when an update was written last, and the one that waits. */
  #toolUpdates = new Map<string, { at: number; entry: ToolUpdate | undefined }>();
  #timer: NodeJS.Timeout | undefined;
  #handle: FileHandle | undefined;
  /** The file that is written; `undefined` before the first line. */
  #segment: number | undefined;
  #bytes = 0;
  #waitingBytes = 0;
  #leftOut = 0;
  #writing: Promise<void> = Promise.resolve();
  #failed: unknown;

  constructor(path: string, limits: MirrorLimits = MIRROR_LIMITS) {
    this.#path = path;
    this.#limits = limits;
  }

  /** Why nothing more is written, if so. The run itself goes on without its mirror. */
  get failure(): unknown {
    return this.#failed;
  }

  add(entry: TranscriptEntry): void {
    if (entry.type === 'delta') this.#addDelta(entry);
    else if (entry.type === 'tool.update') this.#addToolUpdate(entry);
    else {
      // The message that follows replaces streamed text; what is still held back is not needed.
      if (entry.type === 'message' && entry.role === 'assistant') this.#delta = undefined;
      else this.#flushDelta(false);
      if (entry.type === 'tool.end') this.#toolUpdates.delete(entry.id);
      this.#push(entry);
    }
    this.#flushSoon();
  }

  #flushSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.flush();
    }, FLUSH_MS);
  }

  #addDelta(entry: Delta): void {
    const current = this.#delta;
    if (current && current.kind === entry.kind && current.index === entry.index) {
      this.#delta = { ...current, text: current.text + entry.text };
      return;
    }
    this.#flushDelta(false);
    this.#delta = entry;
  }

  /** Streamed text is held back where it may go on as a token that could not be recognised any more. */
  #flushDelta(holdBack: boolean): void {
    const delta = this.#delta;
    if (!delta) return;
    const cut = holdBack ? settledLength(delta.text) : delta.text.length;
    if (cut > 0) this.#push({ ...delta, text: delta.text.slice(0, cut) });
    this.#delta = cut < delta.text.length ? { ...delta, text: delta.text.slice(cut) } : undefined;
  }

  #addToolUpdate(entry: ToolUpdate): void {
    const last = this.#toolUpdates.get(entry.id);
    if (last && entry.t - last.at < TOOL_UPDATE_MS) {
      this.#toolUpdates.set(entry.id, { at: last.at, entry });
      return;
    }
    this.#toolUpdates.set(entry.id, { at: entry.t, entry: undefined });
    this.#push(entry);
  }

  /** Writes updates that have waited long enough. A tool that says nothing more is still shown as it stands. */
  #flushToolUpdates(all: boolean): void {
    const now = Date.now();
    for (const [id, { at, entry }] of this.#toolUpdates) {
      if (!entry) continue;
      if (!all && now - at < TOOL_UPDATE_MS) {
        this.#flushSoon();
        continue;
      }
      this.#push(entry);
      this.#toolUpdates.set(id, { at: now, entry: undefined });
    }
  }

  #push(entry: TranscriptEntry): void {
    this.#lines.push(`${JSON.stringify(cleanEntry(entry))}\n`);
  }

  /** Writes what has been gathered. Never rejects: see `failure`. */
  flush(): Promise<void> {
    this.#flushDelta(true);
    this.#flushToolUpdates(false);
    const lines = this.#lines;
    this.#lines = [];
    this.#handOver(lines);
    return this.#writing;
  }

  #handOver(lines: string[]): void {
    if (this.#waitingBytes > MAX_WAITING_BYTES) {
      this.#leftOut += lines.length;
      return;
    }
    if (this.#leftOut > 0) {
      const text = `${this.#leftOut} entries were left out here: the disk was full or too slow.`;
      lines.unshift(`${JSON.stringify({ type: 'note', t: Date.now(), text } satisfies TranscriptEntry)}\n`);
      this.#leftOut = 0;
    }
    for (const bytes of batches(lines)) {
      this.#waitingBytes += bytes.length;
      this.#writing = this.#writing.then(async () => {
        await this.#write(bytes);
        this.#waitingBytes -= bytes.length;
      });
    }
  }

  async #write(bytes: Buffer): Promise<void> {
    if (this.#failed !== undefined) return;
    try {
      await whenThereIsRoom(() => this.#append(bytes));
    } catch (error) {
      this.#failed = error;
    }
  }

  async #append(bytes: Buffer): Promise<void> {
    // A run that is taken over goes on in the file it had come to.
    this.#segment ??= (await mirrorFiles(this.#path)).at(-1)?.number ?? 0;
    let handle = await this.#open(this.#segment);
    const limit = this.#segment === 0 ? this.#limits.headBytes : this.#limits.segmentBytes;
    if (this.#bytes > 0 && this.#bytes + bytes.length > limit) handle = await this.#nextSegment(this.#segment + 1);
    await appendWhole(handle, bytes);
    this.#bytes += bytes.length;
  }

  async #open(segment: number): Promise<FileHandle> {
    if (this.#handle) return this.#handle;
    this.#handle = await openForAppending(segment === 0 ? this.#path : tailSegment(this.#path, segment));
    this.#bytes = (await this.#handle.stat()).size;
    return this.#handle;
  }

  async #nextSegment(segment: number): Promise<FileHandle> {
    await this.#handle?.close();
    this.#handle = undefined;
    this.#segment = segment;
    const dropped = segment - this.#limits.segments;
    if (dropped > 0) await rm(tailSegment(this.#path, dropped), { force: true });
    return this.#open(segment);
  }

  /** Writes everything, held-back text included, and closes the file. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushDelta(false);
    this.#flushToolUpdates(true);
    await this.flush();
    // What was left out last has nothing behind it yet that would say so.
    this.#handOver([]);
    await this.#writing;
    await this.#handle?.close();
    this.#handle = undefined;
  }
}

/** Written at once, far less than a segment holds. */
const BATCH_CHARS = 1024 * 1024;

function* batches(lines: readonly string[]): Generator<Buffer> {
  let batch = '';
  for (const line of lines) {
    batch += line;
    if (batch.length < BATCH_CHARS) continue;
    yield Buffer.from(batch);
    batch = '';
  }
  if (batch !== '') yield Buffer.from(batch);
}

function cleanText(text: string): string {
  const clean = redact(text);
  if (clean.length <= MAX_BLOCK_CHARS) return clean;
  const half = MAX_BLOCK_CHARS / 2;
  return `${cutText(clean, half)}\n… ${clean.length - MAX_BLOCK_CHARS} characters left out here …\n${cutTextFront(clean, half)}`;
}

function cleanEntry(entry: TranscriptEntry): TranscriptEntry {
  switch (entry.type) {
    case 'message':
      return {
        ...entry,
        blocks: entry.blocks.map((block) => {
          if (block.type === 'toolCall') return { ...block, arguments: cleanText(block.arguments) };
          return block.type === 'image' ? block : { ...block, text: cleanText(block.text) };
        }),
        ...(entry.error === undefined ? {} : { error: cleanText(entry.error) }),
      };
    case 'tool.start':
      return { ...entry, arguments: cleanText(entry.arguments) };
    case 'tool.update': {
      // Redacted before it is cut: half a token would not be recognised.
      const text = redact(entry.text);
      return { ...entry, text: text.length > TOOL_UPDATE_CHARS ? `…${cutTextFront(text, TOOL_UPDATE_CHARS)}` : text };
    }
    case 'tool.end': {
      const { diff, ...rest } = entry;
      const text = cleanText(entry.text);
      return { ...rest, text, ...(diff === undefined ? {} : { diff: cutText(redact(diff), MAX_DIFF_CHARS) }) };
    }
    case 'delta':
    case 'note':
      return { ...entry, text: cleanText(entry.text) };
    case 'retry':
      return { ...entry, error: cleanText(entry.error) };
    case 'compaction':
      return entry.summary === undefined ? entry : { ...entry, summary: cleanText(entry.summary) };
    default:
      return entry satisfies never;
  }
}

/** Reads a transcript mirror: as it stands, or following it while it grows. Lines that do not parse are counted, not fatal. */
import { type TranscriptEntry, transcriptEntry } from '../../protocol/index.ts';
import { errnoOf, openRegular } from '../files/index.ts';
import { mirrorFiles } from './segments.ts';

const LEFT_OUT = 'The middle of this transcript was left out: it grew over its limit.';

export class MirrorReader {
  readonly #path: string;
  /** The file that is being read; `undefined` before the first. */
  #number: number | undefined;
  #offset = 0;
  #unreadable = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Lines so far that could not be read. */
  get unreadable(): number {
    return this.#unreadable;
  }

  /** Entries that came since the last call. */
  async read(): Promise<TranscriptEntry[]> {
    const entries: TranscriptEntry[] = [];
    const files = await mirrorFiles(this.#path);
    const before = this.#number;
    // A segment that was dropped while we read it: go on with the oldest that is left.
    let gap = before !== undefined && !files.some((file) => file.number === before);
    for (const file of files) {
      if (file.number < (this.#number ?? 0)) continue;
      if (file.number !== this.#number) {
        gap ||= file.number !== (this.#number ?? -1) + 1;
        if (gap) entries.push({ type: 'note', t: Date.now(), text: LEFT_OUT });
        gap = false;
        this.#number = file.number;
        this.#offset = 0;
      }
      await this.#readFile(file.path, entries);
    }
    return entries;
  }

  async #readFile(file: string, entries: TranscriptEntry[]): Promise<void> {
    const handle = await openRegular(file).catch((error: unknown) => {
      if (errnoOf(error) === 'ENOENT') return undefined;
      throw error;
    });
    if (!handle) return;
    try {
      const { size } = await handle.stat();
      if (size <= this.#offset) return;
      const buffer = Buffer.allocUnsafe(size - this.#offset);
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, this.#offset);
      const end = buffer.subarray(0, bytesRead).lastIndexOf(10);
      if (end === -1) return;
      this.#offset += end + 1;
      for (const line of buffer.toString('utf8', 0, end).split('\n')) this.#take(line, entries);
    } finally {
      await handle.close();
    }
  }

  #take(line: string, entries: TranscriptEntry[]): void {
    if (line === '') return;
    try {
      const parsed = transcriptEntry.safeParse(JSON.parse(line));
      if (parsed.success) entries.push(parsed.data);
      else this.#unreadable++;
    } catch {
      this.#unreadable++;
    }
  }
}

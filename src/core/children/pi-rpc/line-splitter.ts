/**
 * Splits Pi's protocol stream at byte 10 only. Text-based readers also split at U+2028, which does occur inside records.
 * A multi-byte character cut between two chunks stays whole, because only complete lines are decoded.
 */

/** Longest protocol line in bytes. A longer one ends the child, unless it only repeats what was sent before. */
export const MAX_PROTOCOL_LINE_BYTES = 16 * 1024 * 1024;

/** Bytes kept of both ends of a line that is too long, enough to read its kind and its closing fields. */
const EDGE_BYTES = 4096;

export type SplitLine =
  | { type: 'line'; text: string }
  | { type: 'oversized'; bytes: number; head: string; tail: string };

export class LineSplitter {
  #chunks: Buffer[] = [];
  #bytes = 0;
  #head: Buffer | undefined;
  readonly #limit: number;

  constructor(limit: number = MAX_PROTOCOL_LINE_BYTES) {
    this.#limit = limit;
  }

  /** Takes the next chunk of the stream and returns the lines it completed. */
  push(chunk: Buffer): SplitLine[] {
    const lines: SplitLine[] = [];
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      this.#keep(chunk.subarray(from, at));
      lines.push(...this.#finish());
      from = at + 1;
    }
    this.#keep(chunk.subarray(from));
    return lines;
  }

  /** The stream is over: a last line without newline still counts. */
  end(): SplitLine[] {
    return this.#finish();
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return;
    this.#chunks.push(part);
    this.#bytes += part.length;
    if (this.#bytes > this.#limit) {
      // From here on only both ends are kept.
      const all = Buffer.concat(this.#chunks);
      this.#head ??= Buffer.from(all.subarray(0, EDGE_BYTES));
      this.#chunks = [Buffer.from(all.subarray(-EDGE_BYTES))];
    }
  }

  #finish(): SplitLine[] {
    const bytes = this.#bytes;
    const body = Buffer.concat(this.#chunks);
    const head = this.#head;
    this.#chunks = [];
    this.#bytes = 0;
    this.#head = undefined;
    if (bytes === 0) return [];
    if (head) return [{ type: 'oversized', bytes, head: head.toString('utf8'), tail: body.toString('utf8') }];
    const text = body.toString('utf8').replace(/\r$/, '');
    return text === '' ? [] : [{ type: 'line', text }];
  }
}

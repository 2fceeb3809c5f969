/**
 * A journal's lines, kept in memory by the runner that wrote them: should somebody remove, replace or cut the file, it is written
 * again from them. When they become many, those go by which nothing is decided.
 */
import { isProgress, type JournalEventType } from '../../protocol/index.ts';

/** Bytes up to which progress is kept as well. */
const WITH_PROGRESS_BYTES = 2 * 1024 * 1024;
/** Bytes of all. The lasting lines of a run of a thousand children have about a quarter of it. */
const MOST_BYTES = 8 * 1024 * 1024;

export interface KeptLinesLimits {
  withProgressBytes: number;
  mostBytes: number;
}

export class KeptLines {
  readonly #limits: KeptLinesLimits;
  #lines: { type: JournalEventType; bytes: Buffer }[] = [];
  #bytes = 0;
  #withProgress = true;

  constructor(limits: KeptLinesLimits = { withProgressBytes: WITH_PROGRESS_BYTES, mostBytes: MOST_BYTES }) {
    this.#limits = limits;
  }

  add(type: JournalEventType, bytes: Buffer): void {
    if (this.#isTooMany || (!this.#withProgress && isProgress(type))) return;
    this.#bytes += bytes.length;
    this.#lines.push({ type, bytes });
    if (this.#withProgress && this.#bytes > this.#limits.withProgressBytes) {
      this.#withProgress = false;
      this.#lines = this.#lines.filter((line) => !isProgress(line.type));
      this.#bytes = this.#lines.reduce((sum, line) => sum + line.bytes.length, 0);
    }
    if (this.#isTooMany) this.#lines = [];
  }

  get #isTooMany(): boolean {
    return this.#bytes > this.#limits.mostBytes;
  }

  /** All of them, in order; `undefined` when there were more than can be kept. */
  get content(): Buffer | undefined {
    return this.#isTooMany ? undefined : Buffer.concat(this.#lines.map(({ bytes }) => bytes));
  }
}

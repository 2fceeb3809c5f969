/**
 * How large a journal may grow. At the limit progress stops, with one line that says so; whatever the run is decided by is
 * still written, however much it is.
 */
import { isProgress, type JournalEvent } from '../../protocol/index.ts';

/** Bytes. */
export const MAX_JOURNAL_BYTES = 50 * 1024 * 1024;

/** Bytes kept free below the limit for the line that says that it was reached. */
export const TRUNCATION_RESERVE = 512;

/** Bytes that number, time and newline add to an event at most. */
const STAMP_BYTES = 48;
const sizeOf = (event: JournalEvent) => Buffer.byteLength(JSON.stringify(event)) + STAMP_BYTES;

export class JournalRoom {
  readonly #limit: number;
  /** Bytes in the file and on their way to it. */
  #used: number;
  #cut: boolean;

  /** @param cut whether the journal says already that it was cut */
  constructor(limit: number, used: number, cut: boolean) {
    this.#limit = limit;
    this.#used = used;
    this.#cut = cut;
  }

  /** What is to be written of these events. The first progress that has no room is replaced by the line that says so. */
  admit(events: readonly JournalEvent[]): JournalEvent[] {
    let cut = this.#cut;
    let used = this.#used;
    return events.flatMap((event) => {
      if (cut) return isProgress(event.type) ? [] : [event];
      used += sizeOf(event);
      if (!isProgress(event.type) || used <= this.#limit - TRUNCATION_RESERVE) return [event];
      cut = true;
      return [{ type: 'journal.truncated', limit: this.#limit }];
    });
  }

  /** These events, so many bytes, are about to be written. */
  take(events: readonly JournalEvent[], bytes: number): void {
    this.#used += bytes;
    this.#cut ||= events.some(({ type }) => type === 'journal.truncated');
  }
}

/**
 * The limit from the environment variable `PI_SUBAGENT_ASYNC_EVENTS_MAX_BYTES`: a whole number of bytes above 0.
 * @param warn told of a value that is none; the default holds then
 */
export function journalLimit(env: NodeJS.ProcessEnv, warn: (text: string) => void): number {
  const text = env['PI_SUBAGENT_ASYNC_EVENTS_MAX_BYTES'];
  if (text === undefined || text === '') return MAX_JOURNAL_BYTES;
  const bytes = Number(text);
  if (/^\d+$/.test(text) && bytes > 0 && Number.isSafeInteger(bytes)) return bytes;
  warn(
    `PI_SUBAGENT_ASYNC_EVENTS_MAX_BYTES is "${text}"; it must be a whole number of bytes above 0. ${MAX_JOURNAL_BYTES} is used.`,
  );
  return MAX_JOURNAL_BYTES;
}

import { type JournalEvent, type JournalLine, journalEvent, journalStamp } from '../../protocol/index.ts';

/** Longest journal line in bytes, newline included. Larger bodies are files that an event names. */
export const MAX_LINE_BYTES = 64 * 1024;

export type LineProblem =
  | 'not-json'
  | 'not-an-event'
  | 'invalid-utf8'
  | 'too-long'
  | 'nul-bytes'
  | 'unfinished'
  | 'newer-event';

export type ParsedLine = { ok: true; line: JournalLine } | { ok: false; problem: LineProblem; seq?: number };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** One line without its newline. */
export function parseLine(bytes: Uint8Array): ParsedLine {
  if (bytes.length >= MAX_LINE_BYTES) return { ok: false, problem: 'too-long' };
  if (bytes.includes(0)) return { ok: false, problem: 'nul-bytes' };
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { ok: false, problem: 'invalid-utf8' };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problem: 'not-json' };
  }
  const stamp = journalStamp.safeParse(value);
  if (!stamp.success) return { ok: false, problem: 'not-an-event' };
  const event = journalEvent.safeParse(value);
  // A stamped line of an unknown kind was written by a newer version: it is skipped, never an error.
  if (!event.success) return { ok: false, problem: 'newer-event', seq: stamp.data.seq };
  return { ok: true, line: { ...event.data, ...stamp.data } };
}

export function formatLine(event: JournalEvent, seq: number, t: number): Buffer {
  const line = Buffer.from(`${JSON.stringify({ seq, t, ...event })}\n`);
  if (line.length > MAX_LINE_BYTES) {
    throw new RangeError(`journal event ${event.type} has ${line.length} bytes; the limit is ${MAX_LINE_BYTES}`);
  }
  return line;
}

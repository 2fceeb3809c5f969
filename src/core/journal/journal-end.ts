import type { JournalLine } from '../../protocol/index.ts';
import { MAX_LINE_BYTES, parseLine } from './journal-line.ts';
import { openJournal } from './journal-reader.ts';

/**
 * The last events of a journal, at least one if the last line is sound, however long the journal is. What cannot be read is
 * left out; a missing file reads as empty.
 */
export async function readJournalEnd(path: string): Promise<JournalLine[]> {
  const handle = await openJournal(path);
  if (!handle) return [];
  try {
    const { size } = await handle.stat();
    const from = Math.max(0, size - 2 * MAX_LINE_BYTES);
    const buffer = Buffer.alloc(size - from);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, from);
    const lines: JournalLine[] = [];
    // Where the part begins in the middle of a line, that line is left out.
    let at = from === 0 ? 0 : buffer.indexOf(10) + 1;
    for (let end = buffer.indexOf(10, at); end !== -1 && end < bytesRead; end = buffer.indexOf(10, at)) {
      const parsed = parseLine(buffer.subarray(at, end));
      if (parsed.ok) lines.push(parsed.line);
      at = end + 1;
    }
    return lines;
  } finally {
    await handle.close();
  }
}

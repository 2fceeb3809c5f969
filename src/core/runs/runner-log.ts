/** What a runner printed before it went: the only word of one that died without writing anything down. */
import { join } from 'node:path';
import { openRegular } from '../files/index.ts';
import { runLayout } from '../projects/index.ts';
import { redact } from '../transcripts/index.ts';

const TAIL_BYTES = 4000;

/** Where the runner of an epoch prints to. */
export function runnerLog(directory: string, epoch: number): string {
  return epoch <= 1 ? runLayout(directory).log : join(directory, `runner.${epoch}.log`);
}

/** The end of it, at most 4,000 bytes, without tokens; empty when there is nothing or it cannot be read. */
export async function runnerLogTail(directory: string, epoch: number): Promise<string> {
  const handle = await openRegular(runnerLog(directory, epoch)).catch(() => undefined);
  if (!handle) return '';
  try {
    const { size } = await handle.stat();
    const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
    const { bytesRead } = await handle.read(tail, 0, tail.length, size - tail.length);
    // Where the part begins in the middle of a character, that one is left out.
    const text = tail.toString('utf8', 0, bytesRead);
    return redact(size > TAIL_BYTES ? text.replace(/^\uFFFD+/, '') : text).trim();
  } catch {
    return '';
  } finally {
    await handle.close();
  }
}

/** A sentence for people and the excerpt; empty when nothing was printed. */
export function describePrinted(tail: string): string {
  return tail === '' ? '' : `\nThe runner printed last:\n${tail}`;
}

/** The latest changes of agents, so that each can be taken back: written before a change is made. */
import * as z from 'zod/mini';
import { readRegular, writeFileAtomic } from '../files/index.ts';
import type { FileChange, FileState } from './file-changes.ts';

const MAX_ENTRIES = 20;
const VERSION = 1;

const state = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('absent') }),
  z.object({ kind: z.literal('file'), base64: z.string(), mode: z.number() }),
  z.object({ kind: z.literal('link'), target: z.string() }),
]);
const entry = z.object({
  action: z.string(),
  name: z.string(),
  changes: z.array(z.object({ file: z.string(), before: state, after: state })),
});
const history = z.object({ version: z.literal(VERSION), entries: z.array(entry) });

export interface HistoryEntry {
  action: string;
  /** Of the agent. */
  name: string;
  changes: FileChange[];
}

/** From the oldest to the latest. What cannot be read is no history: nothing else depends on it. */
export async function readHistory(file: string): Promise<HistoryEntry[]> {
  try {
    const { entries } = history.parse(JSON.parse(await readRegular(file)));
    return entries.map(({ changes, ...rest }) => ({
      ...rest,
      changes: changes.map(({ file: path, before, after }) => ({
        file: path,
        before: decoded(before),
        after: decoded(after),
      })),
    }));
  } catch {
    return [];
  }
}

/** Keeps the latest of them. */
export async function writeHistory(file: string, entries: readonly HistoryEntry[]): Promise<void> {
  const kept = entries.slice(-MAX_ENTRIES).map(({ changes, ...rest }) => ({
    ...rest,
    changes: changes.map(({ file: path, before, after }) => ({
      file: path,
      before: encoded(before),
      after: encoded(after),
    })),
  }));
  await writeFileAtomic(file, `${JSON.stringify({ version: VERSION, entries: kept })}\n`);
}

function encoded(given: FileState): z.infer<typeof state> {
  if (given.kind !== 'file') return given;
  return { kind: 'file', base64: given.bytes.toString('base64'), mode: given.mode };
}

function decoded(given: z.infer<typeof state>): FileState {
  if (given.kind !== 'file') return given;
  return { kind: 'file', bytes: Buffer.from(given.base64, 'base64'), mode: given.mode };
}

import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { runLayout } from '../../../src/core/projects/index.ts';
import { newRunId } from '../../../src/core/runs/index.ts';
import type { JournalEvent, SingleRecord, TerminalState } from '../../../src/protocol/index.ts';
import { oneOfEach } from './events.ts';
import { ended, type RunOptions, type WrittenRun, writeRun } from './run.ts';

export const DAY = 24 * 60 * 60_000;
const HOUR = 60 * 60_000;

export interface OldRunOptions extends RunOptions {
  /** Epoch milliseconds of its end. */
  endedAt: number;
  /** Null: it has not ended. Default: complete. */
  state?: TerminalState | null;
  /** Whether its session file is in its folder. Default true. */
  session?: boolean;
  record?: Partial<SingleRecord>;
}

export interface OldRun extends WrittenRun {
  /** Path of its session file. */
  session: string;
}

/** A run as its runner left it at that time: an hour of work, all processes proven gone, and its files as old as its end. */
export async function writeOldRun(projectDirectory: string, options: OldRunOptions): Promise<OldRun> {
  const { endedAt, state = 'complete', ...rest } = options;
  const runId = options.record?.runId ?? newRunId(endedAt - HOUR);
  const directory = join(projectDirectory, 'runs', runId);
  const session = join(directory, 'children', '1', 'session', 's.jsonl');
  const file = options.record?.resume?.how === 'continue' ? options.record.resume.session : session;
  const events: JournalEvent[] = options.events?.slice() ?? [
    { type: 'run.created', runId, digest: 'd' },
    oneOfEach['runner.started'],
    oneOfEach['run.proceeded'],
    { ...oneOfEach['child.spawn.intended'], attempt: 1 },
    { ...oneOfEach['child.spawned'], attempt: 1 },
    { ...oneOfEach['child.ready'], session: { id: 's', file } },
    { ...oneOfEach['child.ended'], attempt: 1 },
    ...(state === null ? [] : [ended(state)]),
  ];
  const run = await writeRun(projectDirectory, {
    at: endedAt,
    ...rest,
    events,
    record: { createdAt: endedAt - HOUR, ...options.record, runId },
  });
  if (options.session !== false) {
    await mkdir(dirname(session), { recursive: true });
    await writeFile(session, '{"type":"session","id":"s","cwd":"/somewhere"}\n');
    await setAge(session, endedAt);
  }
  const { journal, status } = runLayout(run.directory);
  for (const path of [journal, status]) await setAge(path, endedAt).catch(() => undefined);
  return { ...run, session };
}

/** Sets the time of a file's last change. */
export function setAge(path: string, at: number): Promise<void> {
  return utimes(path, new Date(at), new Date(at));
}

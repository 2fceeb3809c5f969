import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { JournalWriter } from '../../../src/core/journal/index.ts';
import { lockAt } from '../../../src/core/locks/index.ts';
import { identify } from '../../../src/core/processes/index.ts';
import { projectLayout, runLayout } from '../../../src/core/projects/index.ts';
import { foldRun, newRunId } from '../../../src/core/runs/index.ts';
import type {
  JournalEvent,
  JournalLine,
  LaunchRecord,
  LockOwner,
  ProcessIdentity,
  SingleRecord,
  TerminalState,
  WorkflowRecord,
} from '../../../src/protocol/index.ts';

/** A complete launch record, with what the test cares about laid over it. */
export function aRecord(over: Partial<SingleRecord> = {}): SingleRecord {
  return {
    version: 1,
    runId: newRunId(),
    createdAt: 1_000,
    mode: 'single',
    child: {
      agent: {
        name: 'worker',
        description: 'Works.',
        source: 'builtin',
        systemPrompt: 'You work.',
        systemPromptMode: 'replace',
        tools: ['read', 'edit'],
        inheritProjectContext: true,
        inheritSkills: false,
      },
      task: 'Mend the fence.',
      modelIsExplicit: false,
      sessionName: 'worker · Mend the fence.',
    },
    cwd: '/somewhere',
    owner: { kind: 'cli', id: 'me' },
    parent: null,
    workflowKey: null,
    lane: null,
    ceiling: null,
    resume: null,
    trust: 'no-approve',
    timeoutMs: null,
    runtime: 'abc123',
    client: { kind: 'test', version: '0' },
    agentDir: '/agent',
    node: '/node',
    pi: { command: { file: '/node', args: ['/pi.js'] }, version: '1.6.0', packageName: 'pi' },
    ...over,
  };
}

/** Events as they stand in a journal: numbered from 1, one millisecond apart from `t` on. */
export function lines(events: readonly JournalEvent[], t = 2_000): JournalLine[] {
  return events.map((event, index) => ({ ...event, seq: index + 1, t: t + index }));
}

export const ended = (state: TerminalState): JournalEvent => ({ type: 'run.ended', state, error: null });

/** Who runs now: this process. */
export const me = () => identify(process.pid);

/** A process identity that is proven gone: this pid, once given to another process. */
export const goneIdentity = (): ProcessIdentity => ({ pid: process.pid, start: 'another start' });

export function anOwner(process: ProcessIdentity, over: Partial<LockOwner> = {}): LockOwner {
  return { version: 1, process, token: 'secret', epoch: 1, acquiredAt: 1, purpose: 'runner', ...over };
}

export interface WrittenRun {
  runId: string;
  directory: string;
  record: LaunchRecord;
}

export interface RunOptions {
  /** A whole record, or what differs from the usual one of a single run. */
  record?: Partial<SingleRecord> | WorkflowRecord;
  events?: readonly JournalEvent[];
  /** Whose lease it is; absent: there is none. */
  lease?: ProcessIdentity;
  /** What else the lease says, for example where its runner listens. */
  owner?: Partial<LockOwner>;
  /** Whether the run carries the marker of a live one. Default: it has not ended. */
  active?: boolean;
  /** Milliseconds of its events. */
  at?: number;
  /** Whether the final status is written. Default: it has ended. */
  status?: boolean;
}

/** Writes a run below the project's folder as a runner would have left it. */
export async function writeRun(projectDirectory: string, options: RunOptions = {}): Promise<WrittenRun> {
  const project = projectLayout(projectDirectory);
  const given = options.record;
  const record = given?.mode === 'workflow' ? given : aRecord(given);
  const { runId } = record;
  const layout = runLayout(join(project.runs, runId));
  const events = options.events ?? [];
  const at = options.at ?? 2_000;
  const over = events.some((event) => event.type === 'run.ended');
  await mkdir(layout.directory, { recursive: true });
  await mkdir(project.active, { recursive: true });
  await writeFile(layout.record, JSON.stringify(record));
  if (events.length > 0) {
    const journal = await JournalWriter.open(layout.journal, { now: () => at });
    await journal.append(events, { sync: false });
    await journal.close();
  }
  if (options.lease) await writeFile(`${layout.lease}.1`, JSON.stringify(anOwner(options.lease, options.owner)));
  if (options.status ?? over) await writeFile(layout.status, JSON.stringify(foldRun(record, lines(events, at))));
  if (options.active ?? !over) await writeFile(join(project.active, runId), '');
  return { runId, directory: layout.directory, record };
}

/** Marks the lease of a run as given back, as a runner does at its end. */
export function releaseLease(directory: string, owner: LockOwner): Promise<void> {
  return lockAt(runLayout(directory).lease, owner).release();
}

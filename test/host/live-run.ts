import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { writeFileAtomic } from '../../src/core/files/index.ts';
import { JournalWriter } from '../../src/core/journal/index.ts';
import { acquireLock } from '../../src/core/locks/index.ts';
import {
  agentDirectory,
  childLayout,
  ensureProject,
  findProject,
  type ProjectLayout,
  runLayout,
} from '../../src/core/projects/index.ts';
import { foldRun, newRunId } from '../../src/core/runs/index.ts';
import { MirrorWriter } from '../../src/core/transcripts/index.ts';
import {
  type ErrorValue,
  type JournalEvent,
  type JournalLine,
  launchRecord,
  type TerminalState,
  type TranscriptEntry,
} from '../../src/protocol/index.ts';
import { aRecord } from '../unit/builders/run.ts';

/** A run on disk as a runner writes it, owned by this process: alive until it is ended. */
export interface LiveRun {
  readonly runId: string;
  readonly directory: string;
  /** What the child says next, in the mirror when this resolves. */
  say(...entries: TranscriptEntry[]): Promise<void>;
  /** What the runner notes about it. */
  append(events: readonly JournalEvent[]): Promise<void>;
  end(state: TerminalState, error?: ErrorValue): Promise<void>;
  /** Its runner is gone without a word. */
  abandon(): Promise<void>;
}

/** The store of the project that the workspace belongs to, as the extension finds it. */
export async function workspaceProject(): Promise<ProjectLayout> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  if (!folder) throw new Error('the tests need a workspace folder');
  const project = await findProject(agentDirectory(), folder, folder);
  await ensureProject(project);
  return project.layout;
}

export async function startLiveRun(project: ProjectLayout, task: string): Promise<LiveRun> {
  const runId = newRunId();
  const marker = join(project.active, runId);
  const layout = runLayout(join(project.runs, runId));
  const child = childLayout(layout.directory, 1);
  await mkdir(project.active, { recursive: true });
  await mkdir(child.directory, { recursive: true });
  await writeFile(marker, '');
  const plan = aRecord().child;
  const record = launchRecord.parse(aRecord({ runId, createdAt: Date.now(), child: { ...plan, task } }));
  await writeFileAtomic(layout.record, JSON.stringify(record));
  const lease = await acquireLock(layout.lease, { purpose: 'runner' });
  const lines: JournalLine[] = [];
  const journal = await JournalWriter.open(layout.journal, { onAppended: (line) => lines.push(line) });
  await journal.append([{ type: 'run.created', runId, digest: 'unused' }, { type: 'run.proceeded' }], { sync: true });
  const mirror = new MirrorWriter(child.transcript);
  return {
    runId,
    directory: layout.directory,
    async say(...entries) {
      for (const entry of entries) mirror.add(entry);
      await mirror.flush();
    },
    append: (events) => journal.append(events, { sync: false }),
    async end(state, error) {
      await mirror.close();
      await journal.append([{ type: 'run.ended', state, error: error ?? null }], { sync: true });
      await writeFileAtomic(layout.status, JSON.stringify(foldRun(record, lines)));
      await rm(marker);
      await lease.release();
      await journal.close();
    },
    async abandon() {
      await mirror.close();
      await journal.close();
      await lease.release();
    },
  };
}

export function userSays(text: string): TranscriptEntry {
  return { type: 'message', t: Date.now(), role: 'user', blocks: [{ type: 'text', text }] };
}

export function assistantSays(text: string): TranscriptEntry {
  return { type: 'message', t: Date.now(), role: 'assistant', blocks: [{ type: 'text', text }] };
}

/** A piece of an answer that is still being written. */
export function assistantStreams(text: string): TranscriptEntry {
  return { type: 'delta', t: Date.now(), kind: 'text', index: 0, text };
}

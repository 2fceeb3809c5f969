/** What the disk says about a run that may be old enough to go. */
import { lstat, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { isTerminal, type LaunchRecord, type LockState, type RunView, toErrorValue } from '../../protocol/index.ts';
import { errnoOf } from '../files/index.ts';
import { readJournal, readJournalEnd } from '../journal/index.ts';
import { inspectLock } from '../locks/index.ts';
import { type ProjectLayout, type RunLayout, runLayout } from '../projects/index.ts';
import { foldRun, initialView, readFinalStatus, readLaunchRecord } from '../runs/index.ts';
import { sessionLockPath } from '../sessions/index.ts';
import { Ledger } from '../worktrees/index.ts';
import type { Kept } from './keep-reason.ts';

export interface RunFacts {
  runId: string;
  view: RunView;
  /** Epoch milliseconds of its terminal event; null when it has not ended. */
  endedAt: number | null;
  /** Newest change of its journal, status and session files, and of what is remembered of its worktrees that are gone. */
  changedAt: number;
  lease: LockState;
  /** It carries the marker of a live run. */
  isMarked: boolean;
  /** It hands over worktrees that are not all gone. */
  hasHandoff: boolean;
  /** A worktree that was made for it, or that one of its children goes on in, is still there. */
  hasWorktree: boolean;
  /** The strongest claim anybody has on one of its session files. */
  sessionLock: LockState;
}

export type ReadFacts = { ok: true; facts: RunFacts } | { ok: false; kept: Kept };

export interface RunPlace {
  project: ProjectLayout;
  runId: string;
  /** Locks of session files. */
  sessionLocks: string;
  /** Where the run lies; another folder than the one of its name while it is being removed. */
  directory?: string;
}

/** Never throws: what cannot be read is a reason to keep the run. */
export async function readRunFacts(place: RunPlace): Promise<ReadFacts> {
  const named = join(place.project.runs, place.runId);
  const directory = place.directory ?? named;
  try {
    const info = await lstat(directory);
    if (!info.isDirectory()) return mismatch('it is not a folder');
    const record = await readLaunchRecord(directory);
    if (record.runId !== place.runId) return mismatch(`its record is that of ${record.runId}`);
    const found = await readEnd(runLayout(directory), record);
    if ('kept' in found) return { ok: false, kept: found.kept };
    const { view, endedAt } = found;
    const sessions = view.children.flatMap(({ session }) => (session?.file ? [session.file] : []));
    const moved = (path: string) => (isInside(named, path) ? join(directory, relative(named, path)) : path);
    const layout = runLayout(directory);
    const files = [layout.journal, layout.status, ...sessions.map(moved)];
    const home = (await exists(layout.handoff)) ? await broughtHomeAt(place) : 0;
    const facts: RunFacts = {
      runId: place.runId,
      view,
      endedAt,
      changedAt: Math.max(home ?? 0, ...(await Promise.all(files.map(changeOf)))),
      lease: (await inspectLock(layout.lease)).state,
      isMarked: await exists(join(place.project.active, place.runId)),
      hasHandoff: home === undefined,
      hasWorktree: await hasWorktree(view),
      sessionLock: await strongestLock(place, named, sessions),
    };
    return { ok: true, facts };
  } catch (error) {
    return { ok: false, kept: { reason: 'invalid-status', detail: toErrorValue(error).message } };
  }
}

/**
 * When the last worktree that it or one of its children used was removed, with its branch, in epoch milliseconds. Until that is long
 * ago the run holds what brings them back. `undefined`: not all are gone, or nothing certain is known of them.
 */
async function broughtHomeAt({ project, runId }: RunPlace): Promise<number | undefined> {
  const rows = await new Ledger(project.worktrees).list();
  const own = rows.filter(({ id, entry }) => id.runId === runId || entry?.users.some((user) => user.runId === runId));
  const isGone = own.every(
    ({ entry }) =>
      (entry?.state === 'removed' && entry.branchRemoved) || (entry?.state === 'undone' && entry.left.length === 0),
  );
  if (!isGone || own.length === 0) return undefined;
  return Math.max(...own.map(({ entry }) => entry?.changedAt ?? 0));
}

async function hasWorktree({ children }: RunView): Promise<boolean> {
  for (const { worktree } of children)
    if (worktree && worktree.state !== 'undone' && (await exists(worktree.path))) return true;
  return false;
}

function mismatch(detail: string): ReadFacts {
  return { ok: false, kept: { reason: 'identity-mismatch', detail } };
}

const invalid = (detail: string): { kept: Kept } => ({ kept: { reason: 'invalid-status', detail } });

/** The final status counts when the journal ends as it says; without one the journal is folded as a whole. */
async function readEnd(
  layout: RunLayout,
  record: LaunchRecord,
): Promise<{ view: RunView; endedAt: number | null } | { kept: Kept }> {
  const status = await readFinalStatus(layout.directory);
  const end = (await readJournalEnd(layout.journal)).findLast((line) => line.type === 'run.ended');
  if (status && isTerminal(status.state)) {
    if (status.runId !== record.runId)
      return { kept: { reason: 'identity-mismatch', detail: `its status is that of ${status.runId}` } };
    if (end?.type !== 'run.ended' || end.state !== status.state)
      return invalid('its journal does not end as its status says');
    return { view: status, endedAt: end.t };
  }
  // One that has not ended needs no closer look, however long its journal is.
  if (!end) return { view: initialView(record), endedAt: null };
  const { lines, skipped, unfinishedBytes } = await readJournal(layout.journal);
  const first = lines[0];
  if (first?.type === 'run.created' && first.runId !== record.runId)
    return { kept: { reason: 'identity-mismatch', detail: `its journal is that of ${first.runId}` } };
  if (skipped.length > 0) return invalid(`${skipped.length} record(s) of its journal cannot be read`);
  const view = foldRun(record, lines);
  if (isTerminal(view.state) && unfinishedBytes > 0) return invalid('its journal is torn');
  return { view, endedAt: view.endedAt };
}

/** Milliseconds of the last change; 0 for what is not there. */
async function changeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 0;
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

const STRENGTH: readonly LockState[] = ['missing', 'stale', 'malformed', 'unavailable', 'orphaned', 'held'];

async function strongestLock(place: RunPlace, named: string, sessions: readonly string[]): Promise<LockState> {
  // Locks are named after the real path, which cannot be asked for while the folder has another name.
  const real = join(await realpath(dirname(named)), place.runId);
  const states = await Promise.all(
    sessions.map(async (session) => {
      const path = isInside(named, session) ? join(real, relative(named, session)) : session;
      return (await inspectLock(await sessionLockPath(place.sessionLocks, path))).state;
    }),
  );
  return states.reduce<LockState>((a, b) => (STRENGTH.indexOf(b) > STRENGTH.indexOf(a) ? b : a), 'missing');
}

export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && !way.startsWith('..') && way !== path;
}

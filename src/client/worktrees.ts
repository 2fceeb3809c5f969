/** The worktrees of a project, from its ledger and from what git has registered. Nothing is changed. */
import { Git, listWorktrees, type RegisteredWorktree } from '../core/git/index.ts';
import { childProof } from '../core/runs/index.ts';
import { BRANCH_PREFIX, Ledger, type LedgerRow, type Liveness, readCapture } from '../core/worktrees/index.ts';
import {
  type ErrorValue,
  isTerminal,
  LanesError,
  type LedgerEntry,
  toErrorValue,
  type WorktreeCapture,
  type WorktreeUser,
} from '../protocol/index.ts';
import type { RunSnapshot } from './run-snapshot.ts';
import type { RunStore } from './run-store.ts';
import { isFolder, reasonsOf } from './worktree-facts.ts';

export interface WorktreeRow {
  /** Whose it is; absent: nobody has written down that it was made. */
  runId?: string;
  child?: number;
  /** `unknown`: git has it and the ledger does not; `unreadable`: the ledger cannot be read. */
  state: LedgerEntry['state'] | 'unknown' | 'unreadable';
  path?: string;
  branch?: string;
  base?: string;
  /** Whether its folder is there; null: that could not be told. */
  present?: boolean | null;
  /** Whether git has this path on this branch; null: git could not be asked. */
  registered: boolean | null;
  users: (WorktreeUser & { liveness: Liveness })[];
  /** Of what was kept last, while that is whole. `folder` is absolute. */
  capture?: Pick<WorktreeCapture, 'changed' | 'commits' | 'kept' | 'patch' | 'outside'> & { folder: string };
  /** Why it stays, or what is left of it. */
  reasons: ErrorValue[];
  /** Why the ledger cannot be read. */
  fault?: string;
}

export interface ProjectWorktrees {
  worktrees: WorktreeRow[];
  /** Why git could not be asked; what the ledger says stands there all the same. */
  git: ErrorValue | null;
}

/** @param folder of the repository; absent: git is asked at the repositories the ledger names */
export async function readWorktrees(store: RunStore, folder?: string): Promise<ProjectWorktrees> {
  const rows = await new Ledger(store.layout.worktrees).list();
  const asked = await registered(rows, folder);
  const worktrees = await Promise.all(rows.map((row) => rowOf(store, row, asked.found)));
  const known = new Set(rows.flatMap(({ entry }) => (entry ? [entry.plan.path] : [])));
  const own = (asked.found ?? []).filter(
    ({ path, branch }) => branch?.startsWith(`refs/heads/${BRANCH_PREFIX}`) && !known.has(path),
  );
  const unknown = own.map(
    ({ path, branch, prunable }): WorktreeRow => ({
      state: 'unknown',
      path,
      ...(branch !== undefined && { branch: branch.slice('refs/heads/'.length) }),
      present: !prunable,
      registered: true,
      users: [],
      reasons: [],
    }),
  );
  return { worktrees: [...worktrees, ...unknown], git: asked.fault };
}

async function registered(
  rows: readonly LedgerRow[],
  folder: string | undefined,
): Promise<{ found: RegisteredWorktree[] | null; fault: ErrorValue | null }> {
  const places = new Set(rows.flatMap(({ entry }) => (entry ? [entry.plan.repository] : [])));
  if (folder !== undefined) places.add(folder);
  if (places.size === 0) return { found: [], fault: null };
  try {
    const git = await Git.find({ cwd: process.platform === 'win32' ? 'C:\\' : '/' });
    const found: RegisteredWorktree[] = [];
    for (const place of places) found.push(...(await listWorktrees(git, place)));
    return { found, fault: null };
  } catch (error) {
    return { found: null, fault: toErrorValue(error) };
  }
}

async function rowOf(store: RunStore, row: LedgerRow, found: RegisteredWorktree[] | null): Promise<WorktreeRow> {
  const { id, entry, fault } = row;
  if (!entry) {
    return { ...id, state: 'unreadable', registered: null, users: [], reasons: [], ...(fault && { fault }) };
  }
  const { path, branch, base } = entry.plan;
  const kept = 'capture' in entry ? await readCapture(entry.capture) : undefined;
  const { changed, commits, kept: ref, patch, outside } = kept?.capture ?? {};
  return {
    ...id,
    state: entry.state,
    path,
    branch,
    base,
    present: await isFolder(path),
    registered: found?.some((one) => one.path === path && one.branch === `refs/heads/${branch}`) ?? null,
    users: await Promise.all(entry.users.map(async (user) => ({ ...user, liveness: await livenessOf(store, user) }))),
    ...(kept &&
      changed !== undefined &&
      commits !== undefined &&
      outside && {
        capture: { changed, commits, ...(ref && { kept: ref }), ...(patch && { patch }), outside, folder: kept.folder },
      }),
    reasons: reasonsOf(entry, kept?.capture),
  };
}

/** Whether a child may still be at work. `ended` only where the end of all its processes was seen. */
export async function livenessOf(store: RunStore, { runId, child }: WorktreeUser): Promise<Liveness> {
  try {
    return childLiveness(await store.read(runId), child);
  } catch (error) {
    if (error instanceof LanesError) return 'unknown';
    throw error;
  }
}

/** The same, from what was read of its run. A child of a lost run is not known to have ended. */
export function childLiveness({ view, state }: Pick<RunSnapshot, 'view' | 'state'>, index: number): Liveness {
  const child = view?.children.find((one) => one.index === index);
  if (!child) return 'unknown';
  if (isTerminal(child.state)) {
    const proof = childProof(child).state;
    return proof === 'observed' || proof === 'not-started' ? 'ended' : 'unknown';
  }
  if (isTerminal(state)) return 'unknown';
  return state === 'running' || state === 'queued' || state === 'waiting' ? 'live' : 'unknown';
}

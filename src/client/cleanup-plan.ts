/** A plan of which worktrees may go, made by looking at each. Nothing is removed, deleted or pruned; the plan is saved. */
import { randomUUID } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { errnoOf } from '../core/files/index.ts';
import { type Git, listWorktrees, type RegisteredWorktree } from '../core/git/index.ts';
import {
  BRANCH_PREFIX,
  type CleanupFacts,
  conditionsOf,
  judgeWorktree,
  type LedgerRow,
  lookOver,
  lossesOf,
  makePlan,
  readCapture,
  savePlan,
} from '../core/worktrees/index.ts';
import {
  type CleanupEntry,
  type CleanupPlan,
  describeError,
  type Eligibility,
  type ErrorValue,
  LanesError,
  type LedgerEntry,
  lanesError,
  type RunState,
  toErrorValue,
} from '../protocol/index.ts';
import { laneStatus } from './lanes.ts';
import { OneLook } from './one-look.ts';
import type { WorktreeDoor } from './worktree-door.ts';
import { livenessOf } from './worktrees.ts';

export interface PlanOptions {
  /** Folder of a repository whose own worktrees are named as well. */
  folder?: string;
  /** Epoch milliseconds. */
  now?: number;
  signal?: AbortSignal;
}

export interface SavedPlan {
  plan: CleanupPlan;
  /** Where it lies. */
  path: string;
}

/** Throws what keeps the ledger from being listed, or the plan from being written. */
export async function planCleanup(door: WorktreeDoor, options: PlanOptions = {}): Promise<SavedPlan> {
  const rows = await door.ledger.list();
  const look = new OneLook(door.store.layout);
  const warnings: ErrorValue[] = [];
  const places = new Set(rows.flatMap(({ entry }) => (entry ? [entry.plan.repository] : [])));
  const found: RegisteredWorktree[] = [];
  for (const place of new Set([...places, ...(options.folder === undefined ? [] : [options.folder])])) {
    try {
      for (const one of await listWorktrees(door.git, place))
        if (!found.some(({ path }) => path === one.path)) found.push(one);
    } catch (error) {
      // Outside of git there is nothing of the person's either.
      if (places.has(place)) warnings.push(toErrorValue(error));
    }
  }
  const entries: CleanupEntry[] = [];
  for (const row of rows) {
    options.signal?.throwIfAborted();
    const entry = await entryOf(door, look, row, found, options.signal);
    if (entry) entries.push(entry);
  }
  const known = new Set(entries.map(({ path }) => path));
  entries.push(
    ...found
      .slice(1)
      .filter(({ path }) => !known.has(path))
      .map(foreignEntry),
  );
  const plan = makePlan(randomUUID(), entries, warnings, options.now ?? Date.now());
  return { plan, path: await savePlan(door.store.layout.cleanupPlans, plan) };
}

function foreignEntry({ path, branch }: RegisteredWorktree): CleanupEntry {
  const isUnknown = branch?.startsWith(`refs/heads/${BRANCH_PREFIX}`) ?? false;
  return {
    path,
    branch: branch?.replace(/^refs\/heads\//, '') ?? null,
    repository: null,
    decision: isUnknown ? 'unknown' : 'keep',
    state: isUnknown ? 'unknown' : 'ineligible',
    source: 'git',
    reasons: [describeError('worktree_preserved:foreign', { path })],
    selected: false,
    willDeleteBranch: false,
    losses: [],
    conditions: null,
  };
}

async function entryOf(
  door: WorktreeDoor,
  look: OneLook,
  { id, entry, fault }: LedgerRow,
  found: readonly RegisteredWorktree[],
  signal: AbortSignal | undefined,
): Promise<CleanupEntry | undefined> {
  if (!entry) {
    const path = `${id.runId}/${id.child}`;
    const reason = describeError('worktree_ledger_unreadable', { path, reason: fault ?? '' });
    const own = { path, branch: null, repository: null, ...id, losses: [], conditions: null, willDeleteBranch: false };
    return { ...own, decision: 'unknown', state: 'unknown', source: 'metadata', reasons: [reason], selected: false };
  }
  const facts = await readFacts(door, look, entry, found, signal);
  const verdict = judgeWorktree(facts);
  if (!verdict) return undefined;
  const { path, branch, repository } = entry.plan;
  const at = found.find((one) => one.path === path);
  const mayGo = verdict.decision === 'remove';
  const conditions = await conditionsOf(door.git, entry, at, facts.eligibility).catch(toErrorValue);
  if ('code' in conditions) {
    const own = { ...id, path, branch, repository, losses: [], conditions: null, willDeleteBranch: false };
    return {
      ...own,
      decision: 'unknown',
      state: 'unknown',
      source: 'metadata',
      reasons: [conditions],
      selected: false,
    };
  }
  return {
    ...id,
    path,
    branch,
    repository,
    ...verdict,
    source: at ? 'both' : 'metadata',
    willDeleteBranch: mayGo && conditions.branchTip !== null,
    losses: facts.kept ? lossesOf(facts.kept, mayGo && conditions.branchTip !== null ? branch : null) : [],
    conditions,
  };
}

/** Asks what the verdict needs; the slowest, a look at all files, only where nothing speaks against it before. */
export async function readFacts(
  door: WorktreeDoor,
  look: OneLook,
  entry: LedgerEntry,
  found: readonly RegisteredWorktree[],
  signal?: AbortSignal,
): Promise<CleanupFacts> {
  const { path, branch } = entry.plan;
  const at = found.find((one) => one.path === path);
  const users = await Promise.all(
    entry.users.map(async (user) => ({ ...user, liveness: await livenessOf(look, user) })),
  );
  const known = await runOf(look, entry.plan.runId);
  const kept = 'capture' in entry ? await readCapture(entry.capture) : undefined;
  const facts: CleanupFacts = {
    entry,
    registered: at !== undefined && (at.branch === undefined || at.branch === `refs/heads/${branch}`),
    present: await whatIsAt(path),
    users,
    kept,
    faults: [],
    ...known,
  };
  if (entry.state !== 'captured' || !kept || judgeWorktree(facts)?.decision !== 'remove') return facts;
  return { ...facts, faults: await lookAt(door.git, entry, kept, signal) };
}

function lookAt(
  git: Git,
  entry: Extract<LedgerEntry, { state: 'captured' }>,
  kept: NonNullable<CleanupFacts['kept']>,
  signal: AbortSignal | undefined,
): Promise<ErrorValue[]> {
  return lookOver(entry.plan, kept, { git, signal });
}

async function runOf(look: OneLook, runId: string): Promise<{ runState: RunState; eligibility: Eligibility | null }> {
  try {
    const { state } = await look.read(runId);
    return { runState: state, eligibility: (await laneStatus(look, runId)).eligibility };
  } catch (error) {
    if (error instanceof LanesError) return { runState: 'unknown', eligibility: null };
    throw error;
  }
}

async function whatIsAt(path: string): Promise<CleanupFacts['present']> {
  try {
    return (await lstat(path)).isDirectory() ? 'folder' : 'other';
  } catch (error) {
    return errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR' ? 'nothing' : null;
  }
}

/**
 * The tool's action: a plan and nothing else. `mode` missing or `apply`, or a plan that is named, is refused: what a plan says is done by
 * a person. Throws `cleanup_refused:plan-only`.
 */
export async function cleanupAction(
  door: WorktreeDoor,
  input: { mode?: unknown; planId?: unknown },
  options: PlanOptions = {},
): Promise<SavedPlan> {
  if (input.mode !== 'plan' || input.planId !== undefined) throw lanesError('cleanup_refused:plan-only');
  return planCleanup(door, options);
}

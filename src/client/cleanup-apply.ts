/** Carries out a saved plan, worktree by worktree: whatever is not as the plan says stays, and the others go. */
import { listWorktrees } from '../core/git/index.ts';
import { runLayout } from '../core/projects/index.ts';
import {
  changesOf,
  conditionsOf,
  continueRemoval,
  deleteGivenUp,
  givenUp,
  liveUsers,
  type Removal,
  readHandoff,
  readPlan,
  removeTracked,
} from '../core/worktrees/index.ts';
import {
  type CleanupEntry,
  type CleanupPlan,
  describeError,
  type ErrorValue,
  LanesError,
  type LedgerEntry,
  lanesError,
  toErrorValue,
} from '../protocol/index.ts';
import { laneStatus } from './lanes.ts';
import type { WorktreeDoor } from './worktree-door.ts';
import { livenessOf } from './worktrees.ts';

export interface ApplyOptions {
  /** Branches, paths or `RUN/CHILD` of what goes; absent: what the plan has selected. */
  only?: readonly string[];
  /** Milliseconds after which nothing more is begun, and files of what was removed are left for later. Default: none. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Epoch milliseconds. */
  now?: number;
}

export interface Applied {
  path: string;
  branch: string | null;
  runId: string;
  child: number;
  removed: boolean;
  branchRemoved: boolean;
  /** Why it stays, or what of it is left. */
  reasons: ErrorValue[];
  /** Folders out of the way whose files are still to be deleted. */
  clearing: string[];
}

/** Throws `cleanup_refused` before anything is done: no such plan, changed, expired, or a choice that it does not give. */
export async function applyCleanup(door: WorktreeDoor, planId: string, options: ApplyOptions = {}): Promise<Applied[]> {
  const plan = await readPlan(door.store.layout.cleanupPlans, planId);
  const now = options.now ?? Date.now();
  // A plan from the future was written by another clock.
  if (now > plan.expiresAt || now < plan.createdAt - (plan.expiresAt - plan.createdAt)) {
    throw lanesError('cleanup_refused:expired', { planId, expired: new Date(plan.expiresAt).toISOString() });
  }
  const chosen = choose(plan, options.only);
  const deadline = options.timeoutMs === undefined ? undefined : AbortSignal.timeout(Math.ceil(options.timeoutMs));
  const ends = [deadline, options.signal].filter((signal) => signal !== undefined);
  const deleting = ends.length === 0 ? undefined : AbortSignal.any(ends);
  const results: Applied[] = [];
  for (const entry of chosen) {
    // The first always begins: with any time at all something is done.
    const isLate = results.length > 0 && deleting?.aborted;
    results.push(await applyOne(door, entry, { isLate: isLate ?? false, deleting, signal: options.signal }));
  }
  return results;
}

type Chosen = CleanupEntry & { runId: string; child: number };

function choose({ planId, entries }: CleanupPlan, only: readonly string[] | undefined): Chosen[] {
  const named = (entry: CleanupEntry): entry is Chosen => entry.runId !== undefined && entry.child !== undefined;
  if (!only) return entries.filter(named).filter(({ decision, selected }) => decision === 'remove' && selected);
  const chosen = new Set<Chosen>();
  for (const wanted of only) {
    const matches = entries.filter(
      ({ path, branch, runId, child }) => wanted === path || wanted === branch || wanted === `${runId}/${child}`,
    );
    const [entry] = matches;
    if (!entry || matches.length > 1) throw lanesError('cleanup_refused:entry', { planId, wanted });
    if (!named(entry) || entry.decision !== 'remove') {
      const reason = entry.reasons[0]?.message ?? entry.state;
      throw lanesError('cleanup_refused:kept', { planId, path: entry.path, reason });
    }
    chosen.add(entry);
  }
  return [...chosen];
}

interface Moment {
  isLate: boolean;
  deleting: AbortSignal | undefined;
  signal: AbortSignal | undefined;
}

/** Never rejects: one that cannot be removed does not keep the others. */
async function applyOne(door: WorktreeDoor, planned: Chosen, moment: Moment): Promise<Applied> {
  const { path, branch, runId, child } = planned;
  const own = { path, branch, runId, child };
  const stays = (...reasons: ErrorValue[]): Applied => ({
    ...own,
    removed: false,
    branchRemoved: false,
    reasons,
    clearing: [],
  });
  try {
    if (moment.isLate) return stays(describeError('worktree_preserved:time', { path }));
    const entry = await door.ledger.read({ runId, child });
    if (!entry) throw lanesError('worktree_ledger_missing', { child, runId });
    // What is gone already is no other worktree that the plan did not speak of.
    if (entry.state === 'removed') return { ...own, ...(await goneAlready(entry, moment)) };
    const changes = await changesSince(door, planned, entry);
    if (changes.length > 0)
      return stays(describeError('worktree_preserved:other-now', { path, changes: changes.join('; ') }));
    const removal = await remove(door, entry, moment);
    return {
      ...own,
      removed: removal.worktreeRemoved,
      branchRemoved: removal.branchRemoved,
      reasons: removal.reasons,
      clearing: await givenUp(entry.plan),
    };
  } catch (error) {
    return stays(toErrorValue(error));
  }
}

async function goneAlready(
  entry: Extract<LedgerEntry, { state: 'removed' }>,
  { deleting }: Moment,
): Promise<Pick<Applied, 'removed' | 'branchRemoved' | 'reasons' | 'clearing'>> {
  await deleteGivenUp(entry.plan, deleting);
  const { branchRemoved, reasons } = entry;
  return { removed: true, branchRemoved, reasons, clearing: await givenUp(entry.plan) };
}

async function changesSince(door: WorktreeDoor, planned: Chosen, entry: LedgerEntry): Promise<string[]> {
  if (!planned.conditions) return ['nothing was known of it'];
  const { path, repository } = entry.plan;
  const at = (await listWorktrees(door.git, repository)).find((one) => one.path === path);
  const eligibility = await laneStatus(door.store, entry.plan.runId).then(
    (status) => status.eligibility,
    (error: unknown) => {
      if (error instanceof LanesError) return null;
      throw error;
    },
  );
  return changesOf(planned.conditions, await conditionsOf(door.git, entry, at, eligibility));
}

async function remove(door: WorktreeDoor, entry: LedgerEntry, { deleting, signal }: Moment): Promise<Removal> {
  const { runId, child, repository } = entry.plan;
  const id = { runId, child };
  const common = { git: door.git, lock: door.lockOf(repository), ledger: door.ledger, deleting, signal };
  if (entry.state === 'removing') {
    // Whoever wrote that down may be asking at this moment whether anybody lives in it.
    const users = await liveUsers(entry, (user) => livenessOf(door.store, user));
    if (users.length === 0) return continueRemoval(id, entry, common);
    const children = users.map((user) => `${user.child} of ${user.runId}`).join(', ');
    const reason = describeError('worktree_preserved:users', { path: entry.plan.path, children });
    return { worktreeRemoved: false, branchRemoved: false, reasons: [reason] };
  }
  return removeTracked(id, {
    ...common,
    livenessOf: (user) => livenessOf(door.store, user),
    handOver: () => requireHandedOver(door, entry),
  });
}

/** What is to be brought home was written by the run's own runner; a client only sees that it is there and speaks of this capture. */
async function requireHandedOver(door: WorktreeDoor, entry: LedgerEntry): Promise<void> {
  for (const { runId } of [{ runId: entry.plan.runId }, ...entry.users]) {
    const { handoff } = runLayout(door.store.directoryOf(runId));
    const manifest = await readHandoff(handoff, runId);
    const children = manifest?.groups.flatMap((group) => group.children) ?? [];
    if (children.some(({ worktree }) => worktree.path === entry.plan.path)) return;
  }
  throw new Error(`no manifest speaks of ${entry.plan.path}`);
}

export interface Finished {
  /** Removals that a death had cut off. */
  finished: Applied[];
  /** Folders that are still to be deleted, with the reason where it is not the time. */
  left: { path: string; reason?: string }[];
}

/** Goes on with what was begun: removals whose process has died, and files that are still to be deleted. Nothing new is removed. */
export async function finishCleanup(door: WorktreeDoor, deleting?: AbortSignal): Promise<Finished> {
  const finished: Applied[] = [];
  const left: Finished['left'] = [];
  for (const { id, entry } of await door.ledger.list()) {
    if (!entry) continue;
    const { path, branch } = entry.plan;
    if (entry.state === 'removing') {
      const removal = await remove(door, entry, { isLate: false, deleting, signal: undefined }).catch(
        (error: unknown): Removal => ({ worktreeRemoved: false, branchRemoved: false, reasons: [toErrorValue(error)] }),
      );
      const { worktreeRemoved: removed, branchRemoved, reasons } = removal;
      finished.push({ ...id, path, branch, removed, branchRemoved, reasons, clearing: await givenUp(entry.plan) });
    }
    left.push(...(await deleteGivenUp(entry.plan, deleting)));
  }
  return { finished, left };
}

/** Removing a worktree that stands in the ledger: when nobody lives in it and what it held is handed over. */
import { describeError, type LedgerEntry, lanesError, type WorktreeUser, wordsOf } from '../../../protocol/index.ts';
import { type KeptCapture, readCapture } from '../kept-capture.ts';
import { deleteGivenUp, finishTakingOut, type RemovalOptions as Options, type Removal, takeOut } from '../remove.ts';
import type { Ledger, WorktreeId } from './ledger.ts';
import { type Liveness, liveUsers } from './users.ts';

export interface TrackedRemovalOptions extends Options {
  ledger: Ledger;
  livenessOf: (user: WorktreeUser) => Promise<Liveness>;
  /** Writes down what is to be brought home. A failure keeps the worktree. */
  handOver: () => Promise<void>;
}

/**
 * The intent stands in the ledger before anything is removed, the fact after it. Whoever joins the worktree meanwhile is refused, or
 * was there first and keeps it. A worktree that stays is `captured` again. Throws when ledger or repository cannot be locked.
 */
export async function removeTracked(id: WorktreeId, options: TrackedRemovalOptions): Promise<Removal> {
  const { ledger } = options;
  const before = await ledger.read(id);
  if (!before) throw lanesError('worktree_ledger_missing', { child: id.child, runId: id.runId });
  if (before.state !== 'captured') return stays('worktree_preserved:uncaptured', before);
  const kept = await readCapture(before.capture);
  if (!kept) {
    const reason = describeError('worktree_preserved:copy', { reason: before.capture });
    return { worktreeRemoved: false, branchRemoved: false, reasons: [reason] };
  }
  try {
    await options.handOver();
  } catch (error) {
    const reason = describeError('worktree_preserved:handoff', { path: before.plan.path, reason: wordsOf(error) });
    return { worktreeRemoved: false, branchRemoved: false, reasons: [reason] };
  }
  const { repository, branch } = before.plan;
  const branchTip = await options.git.tipOf(repository, `refs/heads/${branch}`);
  let isOurs = false;
  const intended = await ledger.change(id, (entry) => {
    const same = entry.state === 'captured' && entry.capture === before.capture;
    isOurs = same;
    return same ? { ...entry, state: 'removing', ...(branchTip !== undefined && { branchTip }) } : entry;
  });
  // Another one's intent, or what has come of it, is not ours to carry out.
  if (intended.state !== 'removing' || !isOurs) return stays('worktree_preserved:uncaptured', intended);
  // Asked behind the intent: nobody can come after it.
  const users = await liveUsers(intended, options.livenessOf).catch(() => intended.users);
  if (users.length > 0) {
    await ledger.change(id, (entry) => {
      if (entry.state !== 'removing') return entry;
      const { plan, users: own, capture } = entry;
      return { version: 1, state: 'captured', plan, users: own, capture };
    });
    const who = users.map(({ runId, child }) => `${child} of ${runId}`).join(', ');
    const reason = describeError('worktree_preserved:users', { path: intended.plan.path, children: who });
    return { worktreeRemoved: false, branchRemoved: false, reasons: [reason] };
  }
  return note(id, 'removing', await takeOut(intended.plan, kept, options), kept, options);
}

/** Goes on with a removal whose process has died. */
export async function continueRemoval(
  id: WorktreeId,
  entry: Extract<LedgerEntry, { state: 'removing' | 'removed' }>,
  options: Options & { ledger: Ledger },
): Promise<Removal> {
  const kept = await readCapture(entry.capture);
  if (!kept) {
    const reason = describeError('worktree_preserved:copy', { reason: entry.capture });
    return { worktreeRemoved: entry.state === 'removed', branchRemoved: false, reasons: [reason] };
  }
  return note(id, entry.state, await finishTakingOut(entry.plan, kept, options), kept, options);
}

/**
 * The fact is there before the first file is deleted. What another process has removed meanwhile stays removed.
 * @param from what the entry was when this removal began
 */
async function note(
  id: WorktreeId,
  from: 'removing' | 'removed',
  removal: Removal,
  { folder }: KeptCapture,
  { ledger, deleting }: Options & { ledger: Ledger },
): Promise<Removal> {
  const { branchRemoved, reasons } = removal;
  let others: Removal | undefined;
  const { plan: record } = await ledger.change(id, (entry) => {
    if (entry.state !== 'removing' && entry.state !== 'removed') return entry;
    const isOthers = from === 'removing' && entry.state === 'removed';
    if (isOthers) others = { worktreeRemoved: true, branchRemoved: entry.branchRemoved, reasons: entry.reasons };
    if (isOthers) return entry;
    const { plan, users, branchTip } = entry;
    const own = { version: 1, plan, users, capture: folder } as const;
    if (!removal.worktreeRemoved) return { ...own, state: 'captured' };
    return { ...own, state: 'removed', ...(branchTip !== undefined && { branchTip }), branchRemoved, reasons };
  });
  if (others ?? removal.worktreeRemoved) await deleteGivenUp(record, deleting);
  return others ?? removal;
}

function stays(text: 'worktree_preserved:uncaptured', { plan }: LedgerEntry): Removal {
  return { worktreeRemoved: false, branchRemoved: false, reasons: [describeError(text, { path: plan.path })] };
}

/** Bringing back a worktree that stands in the ledger as removed: the intent there first, the fact after it was proven. */
import { type LedgerEntry, lanesError } from '../../../protocol/index.ts';
import { readCapture } from '../kept-capture.ts';
import { leftOfRestoring, type Restored, type RestoreOptions, restoreWorktree, takeHalfAway } from '../restore.ts';
import type { Ledger, WorktreeId } from './ledger.ts';

type Options = Omit<RestoreOptions, 'branchTip'> & { ledger: Ledger };

/**
 * Afterwards it is `captured`, as it was before it was removed, and can be gone on with. A try that died is taken up: what it has
 * finished is adopted, what it has half done is done anew, and what somebody has worked in since is left alone.
 *
 * Throws `restore_refused`, `worktree_ledger_missing`, or what git refuses; it is `removed` then as before.
 */
export async function restoreTracked(id: WorktreeId, options: Options): Promise<Restored> {
  const { ledger, git } = options;
  const before = await ledger.read(id);
  if (!before) throw lanesError('worktree_ledger_missing', { child: id.child, runId: id.runId });
  const { path } = before.plan;
  if (before.state !== 'removed' && before.state !== 'restoring') {
    throw lanesError('restore_refused:there', { path, state: before.state });
  }
  const kept = await readCapture(before.capture);
  if (!kept) throw lanesError('restore_refused:copy', { path, folder: before.capture });
  const intended = await ledger.change(id, (entry) => {
    if (entry.state !== 'removed' && entry.state !== 'restoring') return entry;
    const { plan, users, capture, branchTip } = entry;
    return { version: 1, state: 'restoring', plan, users, capture, ...(branchTip !== undefined && { branchTip }) };
  });
  if (intended.state !== 'restoring') throw lanesError('restore_refused:there', { path, state: intended.state });
  try {
    const restored = await bringBack(before, intended, kept, options);
    await ledger.change(id, ({ users }) => {
      return { version: 1, state: 'captured', plan: restored.record, users, capture: kept.folder };
    });
    return restored;
  } catch (error) {
    // What could not even be taken away stays an intent: the next try looks at it.
    const left = await leftOfRestoring(git, intended.plan, kept).catch(() => undefined);
    if (left?.state === 'nothing' || (left?.state === 'worked' && before.state === 'removed')) {
      await ledger.change(id, (entry) => backTo(before, entry));
    }
    throw error;
  }
}

async function bringBack(
  before: LedgerEntry,
  { plan, branchTip }: Extract<LedgerEntry, { state: 'restoring' }>,
  kept: NonNullable<Awaited<ReturnType<typeof readCapture>>>,
  options: Options,
): Promise<Restored> {
  if (before.state === 'restoring') {
    const left = await leftOfRestoring(options.git, plan, kept);
    if (left.state === 'whole') return { record: left.record, warnings: [] };
    if (left.state === 'worked') throw lanesError('restore_refused:worked', { path: plan.path });
    if (left.state === 'half') await takeHalfAway(plan, options);
  }
  return restoreWorktree(plan, kept, { ...options, branchTip });
}

function backTo(before: LedgerEntry, entry: LedgerEntry): Parameters<Parameters<Ledger['change']>[1]>[0] {
  if (entry.state !== 'restoring') return entry;
  const { changedAt, plan, users, capture, branchTip } = entry;
  const own = { version: 1, changedAt, plan, users, capture, ...(branchTip !== undefined && { branchTip }) } as const;
  if (before.state === 'removed')
    return { ...own, state: 'removed', branchRemoved: before.branchRemoved, reasons: before.reasons };
  return { ...own, state: 'removed', branchRemoved: true, reasons: [] };
}

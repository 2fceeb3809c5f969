/** How long the refs stay that keep what was in worktrees which are gone. */
import type { LedgerEntry } from '../../../protocol/index.ts';
import type { Git, RepositoryLock } from '../../git/index.ts';
import { keptRef } from '../keep.ts';
import { readCapture } from '../kept-capture.ts';
import type { LedgerRow } from './ledger.ts';

const DAY_MS = 24 * 60 * 60_000;

export interface KeptRefRule {
  /** Days a ref is kept after its worktree was removed; 0: for ever. */
  days: number;
  /** Epoch milliseconds. */
  now: number;
  /** Whether the run still has its folder, and so its handoff. */
  isRunThere: (runId: string) => Promise<boolean>;
}

/** Whether nobody needs the ref any more: its worktree is gone as long, with its branch, and its run was removed before. */
export async function mayDropRef(entry: LedgerEntry, { days, now, isRunThere }: KeptRefRule): Promise<boolean> {
  if (days === 0 || entry.state !== 'removed' || !entry.branchRemoved) return false;
  if (now - entry.changedAt < days * DAY_MS) return false;
  return !(await isRunThere(entry.plan.runId));
}

/**
 * Deletes the refs of one repository that `mayDropRef` allows, each at exactly the commit it was seen at. A ref that the ledger does not
 * know stays, and so does one whose entry cannot be read.
 * @returns names of the deleted refs
 */
export async function dropKeptRefs(
  git: Git,
  lock: RepositoryLock,
  repository: string,
  rows: readonly LedgerRow[],
  rule: KeptRefRule,
): Promise<string[]> {
  const dropped: string[] = [];
  for (const { entry } of rows) {
    if (entry?.plan.repository !== repository || !(await mayDropRef(entry, rule))) continue;
    // A capture that is still whole is still somebody's.
    if (entry.state === 'removed' && (await readCapture(entry.capture))) continue;
    const ref = keptRef(entry.plan);
    await lock.run('letting go of what was kept', async () => {
      const tip = await git.tipOf(repository, ref);
      if (tip === undefined) return;
      const { exitCode } = await git.run(repository, ['update-ref', '-d', ref, tip], { accept: 'any' });
      if (exitCode === 0) dropped.push(ref);
    });
  }
  return dropped;
}

/** Whether a worktree may go, from what is known of it. Pure. What is not certain stays. */
import {
  type CleanupEntry,
  type CleanupLoss,
  describeError,
  type Eligibility,
  type ErrorValue,
  type LedgerEntry,
  type RunState,
  type WorktreeUser,
} from '../../../protocol/index.ts';
import type { KeptCapture } from '../kept-capture.ts';
import type { Liveness } from '../ledger/index.ts';

export interface CleanupFacts {
  entry: LedgerEntry;
  /** Whether git has it at its path on its branch, or without one. */
  registered: boolean;
  /** What lies at its path; null: that cannot be told. */
  present: 'folder' | 'nothing' | 'other' | null;
  users: readonly (WorktreeUser & { liveness: Liveness })[];
  /** Its capture, while that is whole. */
  kept: KeptCapture | undefined;
  /** Why a removal would leave it; not asked where there is a reason before. */
  faults: readonly ErrorValue[];
  runState: RunState;
  eligibility: Eligibility | null;
}

export type Verdict = Pick<CleanupEntry, 'decision' | 'state' | 'reasons' | 'selected'>;

const CHANGED = new Set(['worktree_preserved:changed', 'worktree_preserved:uncaptured']);

/** The first that holds. `undefined`: there is nothing of it any more. */
export function judgeWorktree(facts: CleanupFacts): Verdict | undefined {
  const { entry, present, users, kept, faults, runState, eligibility } = facts;
  const { path, runId } = entry.plan;
  const stays = (state: Verdict['state'], ...reasons: readonly ErrorValue[]): Verdict => ({
    decision: state === 'active' || state === 'ineligible' || state === 'dirty' ? 'keep' : 'unknown',
    state,
    reasons: [...reasons],
    selected: false,
  });
  if (entry.state === 'removed' || entry.state === 'undone') return undefined;
  if (entry.state === 'removing' || entry.state === 'restoring') {
    // It was decided before: what is left of that is to be finished.
    return {
      decision: entry.state === 'removing' ? 'remove' : 'keep',
      state: 'stale',
      reasons: [],
      selected: entry.state === 'removing',
    };
  }
  const living = users.filter(({ liveness }) => liveness !== 'ended');
  if (living.length > 0) {
    const children = living.map((user) => `${user.child} of ${user.runId}`).join(', ');
    const isLive = living.some(({ liveness }) => liveness === 'live');
    return stays(isLive ? 'active' : 'unknown', describeError('worktree_preserved:users', { path, children }));
  }
  if (present === null || present === 'other')
    return stays('unknown', describeError('worktree_preserved:replaced', { path }));
  if (present === 'nothing') return stays('stale', describeError('worktree_preserved:missing', { path }));
  if (runState === 'paused') return stays('ineligible', describeError('worktree_preserved:resumable', { path, runId }));
  if (entry.state !== 'captured') return stays('dirty', describeError('worktree_preserved:uncaptured', { path }));
  if (!kept) return stays('ineligible', describeError('worktree_preserved:copy', { reason: entry.capture }));
  if (faults.length > 0)
    return stays(faults.every(({ text }) => CHANGED.has(text ?? '')) ? 'dirty' : 'ineligible', ...faults);
  const isAttested = eligibility?.state === 'terminal-eligible' || eligibility?.state === 'superseded-eligible';
  const { changed, outside } = kept.capture;
  const selected = isAttested || (!changed && outside.files === 0);
  const reasons = selected ? [] : [describeError('worktree_preserved:unattested', { path })];
  return { decision: 'remove', state: 'safe', reasons, selected };
}

/** What would not be there any more, by kind, and where it is kept. */
export function lossesOf({ capture, folder }: KeptCapture, branch: string | null): CleanupLoss[] {
  const { commits, patch, outside, disposable, kept } = capture;
  const losses: CleanupLoss[] = [
    { kind: 'commits', count: commits, keptAt: kept?.ref ?? null },
    {
      kind: 'files',
      count: patch?.files ?? 0,
      bytes: patch?.bytes ?? 0,
      keptAt: patch ? `${folder}/${patch.path}` : null,
    },
    { kind: 'outside', count: outside.files, bytes: outside.bytes, keptAt: `${folder}/files` },
    { kind: 'disposable', count: disposable.files, keptAt: null },
    { kind: 'branch', count: branch === null ? 0 : 1, keptAt: kept?.ref ?? capture.base },
  ];
  return losses.filter(({ count }) => count > 0);
}

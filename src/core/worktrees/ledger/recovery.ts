/** What is left to do of a worktree after a death, from the ledger alone. */
import type { LedgerEntry } from '../../../protocol/index.ts';
import type { Liveness } from './users.ts';

export type RecoveryStep =
  /** Somebody is at work, or nobody can tell: it is left alone. */
  | 'leave'
  /** An intent without its fact: taken over when it is there as planned, else taken back. */
  | 'settle'
  /** What is in it is kept, once more where that had begun. */
  | 'capture'
  /** The removal that had begun goes on. */
  | 'finish-removal'
  /** What was being brought back is brought back anew. */
  | 'restore'
  /** It is whole, and stays until somebody decides. */
  | 'keep'
  /** There is nothing of it any more. */
  | 'done';

/** @param users of everybody in `users`, the strongest: `live` before `unknown` before `ended` */
export function recoveryStep(entry: LedgerEntry, users: Liveness): RecoveryStep {
  if (entry.state === 'undone') return entry.left.length === 0 ? 'done' : 'keep';
  if (entry.state === 'removed') return entry.branchRemoved ? 'done' : 'keep';
  if (entry.state === 'restoring') return 'restore';
  if (users !== 'ended') return 'leave';
  if (entry.state === 'planned') return 'settle';
  if (entry.state === 'made') return 'capture';
  return entry.state === 'captured' ? 'keep' : 'finish-removal';
}

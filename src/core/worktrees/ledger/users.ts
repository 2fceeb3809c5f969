/** Who still needs a worktree. Counted by asking the run of each, never by a number that is stored: a dead process counts nothing down. */
import type { LedgerEntry, WorktreeUser } from '../../../protocol/index.ts';

/** Whether a child is proven to have ended, with all its processes. A child that waits for a person lives. */
export type Liveness = 'live' | 'ended' | 'unknown';

/** Users that are not proven to have ended: one that cannot be told counts as living. */
export async function liveUsers(
  entry: Pick<LedgerEntry, 'users'>,
  livenessOf: (user: WorktreeUser) => Promise<Liveness>,
): Promise<WorktreeUser[]> {
  const states = await Promise.all(entry.users.map(livenessOf));
  return entry.users.filter((_, index) => states[index] !== 'ended');
}

export function sameUser(a: WorktreeUser, b: WorktreeUser): boolean {
  return a.runId === b.runId && a.child === b.child;
}

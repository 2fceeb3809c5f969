/** Everything that is in a worktree and would be gone with it. Nothing is written but objects of git. */
import { describeError, type ErrorValue, LanesError, type WorktreeRecord } from '../../protocol/index.ts';
import type { Git } from '../git/index.ts';
import { type Commits, findCommits } from './commits.ts';
import { identityFault } from './identity.ts';
import { nestedFaults } from './nested.ts';
import { findOutside, type Outside } from './outside.ts';
import { type Snapshot, takeSnapshot } from './snapshot.ts';
import { walkFiles } from './walk.ts';

export interface Survey {
  snapshot: Snapshot;
  commits: Commits;
  outside: Outside;
  blockers: ErrorValue[];
}

/**
 * @param scratch a folder for the index, of this call alone
 * @param disposable patterns of what need not be kept
 */
export async function surveyWorktree(
  git: Git,
  record: WorktreeRecord,
  { scratch, disposable, signal }: { scratch: string; disposable: readonly string[]; signal?: AbortSignal | undefined },
): Promise<Survey> {
  const fault = await identityFault(record);
  if (fault) throw new LanesError(fault);
  const snapshot = await takeSnapshot(git, record, scratch, signal);
  const [commits, walk] = await Promise.all([findCommits(git, record), walkFiles(record.path)]);
  const outside = await findOutside(git, record, snapshot, walk.leaves, disposable);
  const blockers = await nestedFaults(git, record, walk.repositories, disposable);
  if (commits.operation !== undefined) {
    blockers.push(describeError('worktree_preserved:operation', { operation: commits.operation }));
  }
  return { snapshot, commits, outside, blockers };
}

/** A branch of what was kept of a worktree. */
import { lanesError, type WorktreePlan } from '../../../protocol/index.ts';
import type { Git, RepositoryLock } from '../../git/index.ts';
import type { KeptCapture } from '../kept-capture.ts';

export interface NewBranch {
  branch: string;
  commit: string;
}

/**
 * Makes a branch that stands on the commits the child has made, with one more where files were not committed. Nothing is checked out.
 * Throws `apply_refused` when there is such a branch, none can be called so, or nothing was changed.
 */
export async function branchOfCapture(
  git: Git,
  lock: RepositoryLock,
  plan: Pick<WorktreePlan, 'repository' | 'branch' | 'runId' | 'child'>,
  { capture }: KeptCapture,
  name: string,
): Promise<NewBranch> {
  const { repository } = plan;
  const named = await git.run(repository, ['check-ref-format', '--branch', name], { accept: 'any' });
  if (named.exitCode !== 0) throw lanesError('apply_refused:branch-name', { branch: name });
  const branch = named.stdout.toString().trim();
  if (!capture.kept) throw lanesError('apply_refused:no-change');
  return lock.run(`making the branch ${branch}`, async () => {
    const ref = `refs/heads/${branch}`;
    if ((await git.tipOf(repository, ref)) !== undefined) {
      throw lanesError('apply_refused:branch', { branch });
    }
    const from = capture.head ?? capture.base;
    const tree = await git.line(repository, ['rev-parse', `${from}^{tree}`]);
    const commit = tree === capture.tree ? from : await commitOn(git, plan, from, capture.tree);
    // With the hash it must have: who makes the same branch at this moment keeps it.
    await git.run(repository, [
      'update-ref',
      '-m',
      'Pi Lanes: branch of a lane',
      ref,
      commit,
      '0'.repeat(commit.length),
    ]);
    return { branch, commit };
  });
}

/** By the person, whose branch it is; by us where git does not know who that is. */
async function commitOn(
  git: Git,
  { repository, branch, runId, child }: Pick<WorktreePlan, 'repository' | 'branch' | 'runId' | 'child'>,
  parent: string,
  tree: string,
): Promise<string> {
  const known = await git.run(repository, ['var', 'GIT_COMMITTER_IDENT'], { accept: 'any' });
  const who = { NAME: 'Pi Lanes', EMAIL: 'pi-lanes@localhost' };
  const env: Record<string, string> = {};
  if (known.exitCode !== 0)
    for (const role of ['AUTHOR', 'COMMITTER'])
      for (const [field, value] of Object.entries(who)) env[`GIT_${role}_${field}`] = value;
  const input = `Work of ${branch}\n\nChild ${child} of run ${runId}.\n`;
  return git.line(repository, ['commit-tree', '-p', parent, tree], { input, env });
}

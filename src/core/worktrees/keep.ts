/** A ref of ours that keeps the files and the commits of a worktree when its branch is gone. */
import type { WorktreeRecord } from '../../protocol/index.ts';
import type { Git } from '../git/index.ts';
import type { Survey } from './survey.ts';

export function keptRef({ runId, child }: Pick<WorktreeRecord, 'runId' | 'child'>): string {
  return `refs/pi-lanes/kept/${runId}/${child}`;
}

/**
 * Makes a commit of the files whose ancestors are all commits that were made, and points the ref to it. What the ref has kept
 * before stays reachable. The caller holds the repository's lock.
 */
export async function keepCommits(git: Git, record: WorktreeRecord, survey: Survey): Promise<string> {
  const { snapshot, commits } = survey;
  const folder = record.repository;
  const ref = keptRef(record);
  const before = await git.tipOf(folder, `${ref}^{commit}`);
  const first = commits.head ?? record.base;
  const wanted = [first, ...commits.tips.map(({ commit }) => commit)];
  if (snapshot.staged !== undefined && !(await isTreeOf(git, folder, first, snapshot.staged))) {
    wanted.push(await commitTree(git, record, snapshot.staged, [first], 'What was staged'));
  }
  if (before !== undefined && (await keepsAll(git, folder, before, snapshot.tree, wanted))) return before;
  const parents = [...new Set(before === undefined ? wanted : [...wanted, before])];
  const commit = await commitTree(git, record, snapshot.tree, parents, `Worktree ${record.branch}`);
  await git.run(folder, ['update-ref', '-m', 'Pi Lanes: kept', ref, commit, before ?? '0'.repeat(commit.length)]);
  return commit;
}

/** Whether the ref keeps the base of a worktree in which nothing was changed: a branch of it, or of a person, may go. */
export async function keepBase(git: Git, record: WorktreeRecord, base: string): Promise<boolean> {
  const { repository } = record;
  const ref = keptRef(record);
  const at = await git.tipOf(repository, `${ref}^{commit}`);
  if (at !== undefined) {
    const { exitCode } = await git.run(repository, ['merge-base', '--is-ancestor', base, at], { accept: [1] });
    return exitCode === 0;
  }
  const made = ['update-ref', '-m', 'Pi Lanes: kept', ref, base, '0'.repeat(base.length)];
  return (await git.run(repository, made, { accept: 'any' })).exitCode === 0;
}

async function isTreeOf(git: Git, folder: string, commit: string, tree: string): Promise<boolean> {
  return (await git.line(folder, ['rev-parse', `${commit}^{tree}`])) === tree;
}

/** Whether a commit has the tree, and all of the commits behind it. */
export async function keepsAll(
  git: Git,
  folder: string,
  kept: string,
  tree: string,
  commits: readonly string[],
): Promise<boolean> {
  if (!(await isTreeOf(git, folder, kept, tree))) return false;
  const input = `${[...commits, `^${kept}`].join('\n')}\n`;
  return (await git.line(folder, ['rev-list', '--max-count=1', '--stdin'], { input })) === '';
}

/** The same content gives the same commit, however often it is made: its date is that of the worktree. */
function commitTree(
  git: Git,
  record: WorktreeRecord,
  tree: string,
  parents: readonly string[],
  message: string,
): Promise<string> {
  const date = `${Math.floor(record.madeAt / 1000)} +0000`;
  const env: Record<string, string> = {};
  for (const who of ['AUTHOR', 'COMMITTER']) {
    Object.assign(env, {
      [`GIT_${who}_NAME`]: 'Pi Lanes',
      [`GIT_${who}_EMAIL`]: 'pi-lanes@localhost',
      [`GIT_${who}_DATE`]: date,
    });
  }
  const args = ['commit-tree', ...parents.flatMap((parent) => ['-p', parent]), tree];
  return git.line(record.repository, args, { env, input: `${message}\n` });
}

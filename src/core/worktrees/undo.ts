/** Taking a worktree back that was planned and is not wanted: exactly this one, with its branch, and nothing else. */
import { lstat, rmdir, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeError, type ErrorValue, type WorktreePlan, wordsOf } from '../../protocol/index.ts';
import { errnoOf } from '../files/index.ts';
import { type Git, listWorktrees } from '../git/index.ts';
import { inFolder, walkFiles } from './walk.ts';

/**
 * Removes what git has made of a plan whose path and branch were absent before. For worktrees that no child has worked in: their
 * content is not kept. The caller holds the repository's lock.
 *
 * @returns what could not be removed, with the reason; empty when all is as it was before
 */
export async function undoWorktree(git: Git, plan: WorktreePlan): Promise<ErrorValue[]> {
  const left: ErrorValue[] = [];
  const branch = `refs/heads/${plan.branch}`;
  const entry = (await listWorktrees(git, plan.repository)).find(({ path }) => path === plan.path);
  if (entry?.branch === branch) {
    // A git that was killed while it made the worktree leaves it locked by that word. No other lock is broken.
    const force = entry.locked === 'initializing' ? ['--force', '--force'] : ['--force'];
    await unlinkAll(plan.path);
    const removed = await git.run(plan.repository, ['worktree', 'remove', ...force, plan.path], { accept: 'any' });
    if (removed.exitCode !== 0) left.push(leftover(plan.path, removed.stderr));
  } else if (entry) {
    left.push(leftover(plan.path, `git has it on ${entry.branch ?? 'no branch'}`));
  }
  if (left.length === 0) left.push(...(await removeEmpty(plan.path)));
  left.push(...(await removeBranch(git, plan, branch)));
  // Only when it is empty: others may have worktrees there.
  if (left.length === 0) await rmdir(dirname(plan.path)).catch(() => undefined);
  return left;
}

/** On Windows a junction would be followed into the folder it leads to. */
async function unlinkAll(path: string): Promise<void> {
  const walk = await walkFiles(path).catch(() => undefined);
  for (const leaf of walk?.leaves ?? []) if (leaf.link) await unlink(inFolder(path, leaf.path));
}

async function removeBranch(git: Git, plan: WorktreePlan, branch: string): Promise<ErrorValue[]> {
  const tip = await git.tipOf(plan.repository, branch);
  if (tip === undefined) return [];
  if (tip !== plan.base) return [leftover(plan.branch, `it stands at ${tip}`)];
  const user = (await listWorktrees(git, plan.repository)).find((one) => one.branch === branch);
  if (user) return [leftover(plan.branch, `it is checked out in ${user.path}`)];
  // With the hash it must have: whoever moves it at this moment keeps it.
  const deleted = await git.run(plan.repository, ['update-ref', '-d', branch, plan.base], { accept: 'any' });
  return deleted.exitCode === 0 ? [] : [leftover(plan.branch, deleted.stderr)];
}

/** The folder git was to fill, when nothing is in it. */
async function removeEmpty(path: string): Promise<ErrorValue[]> {
  const info = await lstat(path).catch(() => undefined);
  if (!info) return [];
  try {
    await rmdir(path);
    return [];
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? [] : [leftover(path, wordsOf(error))];
  }
}

function leftover(what: string, reason: string): ErrorValue {
  return describeError('worktree_left', { what, reason: reason.trim().split('\n').at(-1) ?? '' });
}

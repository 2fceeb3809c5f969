import { resolve } from 'node:path';
import type { Git } from './git.ts';
import { splitRecords } from './git.ts';

/** One worktree that git has registered. */
export interface RegisteredWorktree {
  path: string;
  /** Full name, `refs/heads/x`; absent: detached, or bare. */
  branch?: string;
  head?: string;
  bare: boolean;
  /** Why it is locked, which may be empty; absent: it is not. */
  locked?: string;
  /** Its folder is gone. */
  prunable: boolean;
}

/** All worktrees of a repository, the main one first. Before git 2.36 a path with a line break in it is cut there. */
export async function listWorktrees(git: Git, folder: string): Promise<RegisteredWorktree[]> {
  const nul = git.version.atLeast(2, 36);
  const { stdout } = await git.run(folder, ['worktree', 'list', '--porcelain', ...(nul ? ['-z'] : [])]);
  const found = parseWorktrees(nul ? splitRecords(stdout).map(String) : stdout.toString('utf8').split('\n'));
  // On Windows git writes paths with slashes.
  return found.map((one) => ({ ...one, path: resolve(one.path) }));
}

/** @param fields of `git worktree list --porcelain`; an empty one ends a worktree */
export function parseWorktrees(fields: readonly string[]): RegisteredWorktree[] {
  const found: RegisteredWorktree[] = [];
  for (const field of fields) {
    const space = field.indexOf(' ');
    const [name, value] = space === -1 ? [field, ''] : [field.slice(0, space), field.slice(space + 1)];
    if (name === 'worktree') found.push({ path: value, bare: false, prunable: false });
    const at = found.at(-1);
    if (!at) continue;
    if (name === 'branch') at.branch = value;
    else if (name === 'HEAD') at.head = value;
    else if (name === 'bare') at.bare = true;
    else if (name === 'locked') at.locked = value;
    else if (name === 'prunable') at.prunable = true;
  }
  return found;
}

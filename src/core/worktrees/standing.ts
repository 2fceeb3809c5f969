/** How the worktrees of a repository stand to the branch they are to come home to. Nothing is changed, no lock file is made. */
import { lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorktreeRecord } from '../../protocol/index.ts';
import type { Git, GitCall } from '../git/index.ts';
import { inFolder, walkFiles } from './walk.ts';

/** Commits that only the one, and only the other has. */
export interface Standing {
  ahead: number;
  behind: number;
}

/** Looking must not get in the way of who works there: git would refresh the index. */
const ONLY_LOOKING: GitCall = { env: { GIT_OPTIONAL_LOCKS: '0' } };

/**
 * How far each commit is ahead of and behind `target`, for any number of commits with three calls of git: newer ones could be asked
 * for it, older ones only for one pair at a time. A commit that is not there is left out.
 */
export async function standingsOf(
  git: Git,
  repository: string,
  target: string,
  heads: readonly string[],
): Promise<Map<string, Standing>> {
  const found = new Map<string, Standing>();
  const there = await commitsThere(git, repository, [...new Set([target, ...heads])]);
  if (!there.has(target)) return found;
  const wanted = [...there].filter((head) => head !== target);
  if (there.has(target)) found.set(target, { ahead: 0, behind: 0 });
  if (wanted.length === 0) return found;
  // Everything behind a common ancestor is in all of them.
  const common = await git.lineIfAny(repository, ['merge-base', '--octopus', target, ...wanted], ONLY_LOOKING);
  const input = `${[target, ...wanted].join('\n')}\n${common ? `^${common.split('\n')[0]}\n` : ''}`;
  const listed = await git.line(repository, ['rev-list', '--parents', '--stdin'], { ...ONLY_LOOKING, input });
  const parents = new Map(
    listed
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const [commit = '', ...behind] = line.split(' ');
        return [commit, behind] as const;
      }),
  );
  const inTarget = reached(parents, target);
  for (const head of wanted) {
    const own = reached(parents, head);
    const shared = [...own].filter((commit) => inTarget.has(commit)).length;
    found.set(head, { ahead: own.size - shared, behind: inTarget.size - shared });
  }
  return found;
}

async function commitsThere(git: Git, repository: string, commits: readonly string[]): Promise<Set<string>> {
  const input = commits.map((commit) => `${commit}^{commit}\n`).join('');
  const call = { ...ONLY_LOOKING, input };
  const lines = (await git.line(repository, ['cat-file', '--batch-check=%(objectname)'], call)).split('\n');
  return new Set(commits.filter((commit, at) => lines[at] === commit));
}

function reached(parents: ReadonlyMap<string, readonly string[]>, from: string): Set<string> {
  const seen = new Set<string>();
  const open = [from];
  for (let commit = open.pop(); commit !== undefined; commit = open.pop()) {
    const next = seen.has(commit) ? undefined : parents.get(commit);
    if (!next) continue;
    seen.add(commit);
    open.push(...next);
  }
  return seen;
}

/** How many files of a worktree are not as they are in its base, committed or not; ignored ones do not count. */
export async function countChanged(git: Git, { path, base }: Pick<WorktreeRecord, 'path' | 'base'>): Promise<number> {
  const diff = ['diff', '-z', '--name-only', '--no-renames', '--no-ext-diff', '--ignore-submodules=all', base, '--'];
  const [changed, added] = await Promise.all([
    git.records(path, diff, ONLY_LOOKING),
    git.records(path, ['ls-files', '-z', '--others', '--exclude-standard'], ONLY_LOOKING),
  ]);
  return changed.length + added.length;
}

/** Files and bytes below a folder; what it links to, and repositories in it, are not counted. */
export async function sizeOf(folder: string): Promise<{ files: number; bytes: number }> {
  const { leaves } = await walkFiles(folder);
  let bytes = 0;
  for (const { path } of leaves) bytes += await lstat(inFolder(folder, path)).then(({ size }) => size, nothing);
  return { files: leaves.length, bytes };
}

const nothing = () => 0;

/** Epoch milliseconds at which git last did something in a worktree; 0: nothing is known. */
export async function lastMoved(gitFolder: string): Promise<number> {
  const files = ['index', 'HEAD', join('logs', 'HEAD')];
  const times = await Promise.all(
    files.map((name) => stat(join(gitFolder, name)).then((info) => info.mtimeMs, nothing)),
  );
  return Math.max(...times);
}

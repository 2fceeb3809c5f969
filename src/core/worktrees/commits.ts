/** Every commit that was made in a worktree, on whatever branch, whether or not anything still names it. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorktreeRecord } from '../../protocol/index.ts';
import { readRegular } from '../files/index.ts';
import type { Git } from '../git/index.ts';
import { LONG_MS } from './snapshot.ts';

export interface Tip {
  commit: string;
  name: string;
}

export interface Commits {
  head?: string;
  /** Short name of the branch HEAD is on. */
  branch?: string;
  /** How many commits are not in the base. */
  count: number;
  /** Commits that together reach all of them; HEAD first, when it is one of them. */
  tips: Tip[];
  /** What git was in the middle of. */
  operation?: string;
}

/** Names that git itself gives to commits of one worktree. */
const PSEUDO_REFS = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'ORIG_HEAD', 'REBASE_HEAD', 'BISECT_HEAD'];

/** Files and folders of git's that are there while something is under way, and what it is. */
const OPERATIONS: readonly [name: string, operation: string][] = [
  ['MERGE_HEAD', 'merge'],
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['sequencer', 'cherry-pick'],
  ['BISECT_LOG', 'bisect'],
];

export async function findCommits(git: Git, record: WorktreeRecord): Promise<Commits> {
  const { path } = record;
  const [head, branch, moves, own, stashes, refs, operation] = await Promise.all([
    git.tipOf(path, 'HEAD^{commit}'),
    git.lineIfAny(path, ['symbolic-ref', '--quiet', '--short', 'HEAD'], { accept: [1] }),
    movesOfHead(git, record),
    reflog(git, path, `refs/heads/${record.branch}`),
    reflog(git, path, 'refs/stash'),
    git.line(path, ['for-each-ref', '--format=%(refname)', 'refs/bisect', 'refs/worktree', 'refs/rewritten']),
    operationIn(record.gitFolder),
  ]);
  const visited = new Set([record.branch, ...(branch === undefined ? [] : [branch]), ...moves.flatMap(branchesOf)]);
  const ours = stashes.filter((stash) => isOurs(stash, record, visited)).map(({ commit }) => commit);
  const names = [
    'HEAD',
    ...[...visited].map((name) => `refs/heads/${name}`),
    ...PSEUDO_REFS,
    ...refs.split('\n').filter(Boolean),
    ...ours,
    ...[...moves, ...own].map(({ commit }) => commit),
  ];
  const { count, tips: found } = await reduce(git, record, await commitsOf(git, path, [...new Set(names)]));
  const tips = found.map(({ commit, name }) => ({ commit, name: nameOf(commit, name, ours) }));
  return {
    ...(head !== undefined && { head }),
    ...(branch !== undefined && { branch }),
    ...(operation !== undefined && { operation }),
    count,
    tips,
  };
}

/** A commit that nothing names any more is known by the log it was found in. */
function nameOf(commit: string, name: string, stashes: readonly string[]): string {
  if (name !== commit) return name;
  return stashes.includes(commit) ? 'refs/stash' : 'reflog';
}

/**
 * Stashes belong to the whole repository; each names the branch it was made on, and ours did not exist before. Before 2.36 git named only
 * what stands behind the last slash.
 */
function isOurs({ subject, at }: Move, record: WorktreeRecord, visited: ReadonlySet<string>): boolean {
  const on = /^(?:WIP on|On) (.+?): /.exec(subject)?.[1];
  if (on === undefined) return false;
  if (on === record.branch || on === lastOf(record.branch)) return true;
  const since = at >= Math.floor(record.madeAt / 1000);
  return since && (on === '(no branch)' || visited.has(on) || [...visited].some((name) => lastOf(name) === on));
}

function lastOf(branch: string): string {
  return branch.slice(branch.lastIndexOf('/') + 1);
}

interface Move {
  commit: string;
  /** Epoch seconds of the commit. */
  at: number;
  subject: string;
}

/** Where a ref has been; nothing when it is not there or has no log. */
async function reflog(git: Git, folder: string, ref: string): Promise<Move[]> {
  const args = ['log', '--walk-reflogs', '-z', '--format=%H %ct %gs', ref, '--'];
  const { stdout, exitCode } = await git.run(folder, args, { accept: [1, 128] });
  if (exitCode !== 0) return [];
  return stdout
    .toString('utf8')
    .split('\0')
    .flatMap((line) => {
      const [, commit, at, subject] = /^(\S+) (\d+) ([\s\S]*)$/.exec(line) ?? [];
      return commit === undefined || subject === undefined ? [] : [{ commit, at: Number(at), subject }];
    });
}

/** Where HEAD has been. Git shows no log of a HEAD that is on a branch without a commit, so the file is read where there is one. */
async function movesOfHead(git: Git, record: WorktreeRecord): Promise<Move[]> {
  const text = await readRegular(join(record.gitFolder, 'logs', 'HEAD')).catch(() => undefined);
  if (text === undefined) return reflog(git, record.path, 'HEAD');
  return text.split('\n').flatMap((line) => {
    const [, commit, at, subject] = /^[0-9a-f]+ ([0-9a-f]+) .*> (\d+) [-+]\d+\t([\s\S]*)$/.exec(line) ?? [];
    return commit === undefined || subject === undefined ? [] : [{ commit, at: Number(at), subject }];
  });
}

function branchesOf({ subject }: Move): string[] {
  return /^checkout: moving from (\S+) to (\S+)$/.exec(subject)?.slice(1) ?? [];
}

/** Those of the names that stand for a commit that is there, each commit under the first of its names. */
async function commitsOf(git: Git, folder: string, names: readonly string[]): Promise<Map<string, string>> {
  const input = names.map((name) => `${name}^{commit}\n`).join('');
  const lines = (await git.line(folder, ['cat-file', '--batch-check=%(objectname)'], { input })).split('\n');
  const found = new Map<string, string>();
  for (const [at, name] of names.entries()) {
    const commit = /^[0-9a-f]{40,64}$/.exec(lines[at] ?? '')?.[0];
    if (commit !== undefined && !found.has(commit)) found.set(commit, name);
  }
  return found;
}

/** Of all commits those that are not in the base, and the fewest that reach them. */
async function reduce(
  git: Git,
  { path, base }: WorktreeRecord,
  named: ReadonlyMap<string, string>,
): Promise<{ count: number; tips: Tip[] }> {
  if (named.size === 0) return { count: 0, tips: [] };
  const input = `${[...named.keys()].join('\n')}\n^${base}\n`;
  const listed = await git.line(path, ['rev-list', '--parents', '--stdin'], { input, timeoutMs: LONG_MS });
  const lines = listed.split('\n').filter(Boolean);
  const commits = new Set(lines.map((line) => line.split(' ')[0] ?? ''));
  const parents = new Set(lines.flatMap((line) => line.split(' ').slice(1)));
  const tips = [...named].flatMap(([commit, name]) =>
    commits.has(commit) && !parents.has(commit) ? [{ commit, name }] : [],
  );
  return { count: commits.size, tips };
}

async function operationIn(gitFolder: string): Promise<string | undefined> {
  for (const [name, operation] of OPERATIONS) {
    const there = await access(join(gitFolder, name)).then(
      () => true,
      () => false,
    );
    if (there) return operation;
  }
  return undefined;
}

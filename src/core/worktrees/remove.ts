/** Removing a worktree whose content is kept. Whatever is uncertain, or has changed since, keeps it. */
import { copyFile, mkdtemp, rm, rmdir, unlink, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describeError, type ErrorValue, type WorktreeRecord, wordsOf } from '../../protocol/index.ts';
import { discard, replaceFile } from '../files/index.ts';
import { type Git, listWorktrees, type RegisteredWorktree } from '../git/index.ts';
import type { CaptureOptions } from './capture.ts';
import { DISPOSABLE } from './disposable.ts';
import { keepsAll } from './keep.ts';
import { copyFault, type KeptCapture, listOf, readList } from './kept-capture.ts';
import type { Snapshot } from './snapshot.ts';
import { type Survey, surveyWorktree } from './survey.ts';
import { inFolder, isThere, keyOf, walkFiles } from './walk.ts';

const REMOVE_TIMEOUT_MS = 10 * 60_000;

export interface Removal {
  worktreeRemoved: boolean;
  branchRemoved: boolean;
  /** Why the worktree was left, or what went wrong. Each names the commands that do it by hand. */
  reasons: ErrorValue[];
}

/**
 * Looks once more, and removes worktree and branch when everything in them is in the capture. No process of the child may be at
 * work any more, and nobody may go on in the worktree later. Throws only when the repository cannot be locked.
 */
export async function removeWorktree(
  record: WorktreeRecord,
  kept: KeptCapture,
  options: CaptureOptions,
): Promise<Removal> {
  return options.lock.run(`removing the worktree ${record.branch}`, () => remove(record, kept, options), {
    signal: options.signal,
  });
}

/**
 * Goes on with a removal that died on the way: of a folder that is gone only what git knows of it is taken away, and the branch at
 * exactly the commit that is kept. What is still there is looked at once more, as if nothing had been done.
 */
export async function finishRemoval(
  record: WorktreeRecord,
  kept: KeptCapture,
  options: CaptureOptions,
): Promise<Removal> {
  const { git, lock, signal } = options;
  if (await isThere(Buffer.from(record.path))) return removeWorktree(record, kept, options);
  return lock.run(
    `removing the worktree ${record.branch}`,
    async () => {
      const entry = (await listWorktrees(git, record.repository)).find(({ path }) => path === record.path);
      const fault = entry && (await otherFault(git, record, kept, entry));
      if (fault !== undefined) {
        const left = describeError('worktree_left', { what: record.path, reason: fault });
        return { worktreeRemoved: false, branchRemoved: false, reasons: [left] };
      }
      // The folder is gone, so no file is at stake; only this one entry is dropped, never all that git could prune.
      if (entry) await git.run(record.repository, ['worktree', 'remove', '--force', record.path]);
      const branch = await removeBranch(git, record, kept);
      await rmdir(dirname(record.path)).catch(() => undefined);
      return { worktreeRemoved: true, branchRemoved: branch === undefined, reasons: branch ? [branch] : [] };
    },
    { signal },
  );
}

/** Why what git has registered at the path of a folder that is gone is not ours to drop. */
async function otherFault(
  git: Git,
  record: WorktreeRecord,
  { capture }: KeptCapture,
  entry: RegisteredWorktree,
): Promise<string | undefined> {
  if (entry.locked !== undefined) return `it is locked. ${entry.locked}`;
  if (entry.branch !== undefined && entry.branch !== `refs/heads/${record.branch}`)
    return `git has it on ${entry.branch}`;
  if (!(await isThere(Buffer.from(record.gitFolder)))) return 'git has another worktree there';
  const within = capture.kept?.commit ?? capture.base;
  if (entry.head === undefined) return undefined;
  const asked = await git.run(record.repository, ['merge-base', '--is-ancestor', entry.head, within], {
    accept: 'any',
  });
  return asked.exitCode === 0 ? undefined : `it stands at ${entry.head}, which is not kept`;
}

async function remove(record: WorktreeRecord, kept: KeptCapture, options: CaptureOptions): Promise<Removal> {
  const { git, signal } = options;
  const disposable = options.disposable ?? DISPOSABLE;
  const left = (reason: ErrorValue): Removal => ({ worktreeRemoved: false, branchRemoved: false, reasons: [reason] });
  const [blocker] = kept.capture.blockers;
  if (blocker) return { ...left(blocker), reasons: kept.capture.blockers };
  const scratch = await mkdtemp(join(kept.folder, '.look-'));
  try {
    const survey = await surveyWorktree(git, record, { scratch, disposable, signal });
    const fault = survey.blockers[0] ?? (await faultOf(git, record, kept, survey));
    if (fault) return left(fault);
    await clearOwn(record, survey);
    await letGo(git, record, kept, survey, scratch);
  } catch (error) {
    return left(describeError('worktree_preserved:failed', { path: record.path, reason: wordsOf(error) }));
  } finally {
    await discard(scratch);
  }
  const branch = await removeBranch(git, record, kept);
  await rmdir(dirname(record.path)).catch(() => undefined);
  return { worktreeRemoved: true, branchRemoved: branch === undefined, reasons: branch ? [branch] : [] };
}

/** What is in the worktree and not in the capture. */
async function faultOf(
  git: Git,
  record: WorktreeRecord,
  kept: KeptCapture,
  survey: Survey,
): Promise<ErrorValue | undefined> {
  const { capture } = kept;
  const { snapshot, commits, outside } = survey;
  const { path } = record;
  const entry = (await listWorktrees(git, record.repository)).find((one) => one.path === path);
  if (!entry) return describeError('worktree_lost', { path, reason: 'git has not registered it' });
  if (entry.locked !== undefined) return describeError('worktree_preserved:locked', { path, reason: entry.locked });
  const changedSince = describeError('worktree_preserved:changed', { path });
  const same =
    snapshot.tree === capture.tree &&
    snapshot.staged === capture.staged &&
    commits.head === capture.head &&
    commits.branch === capture.branch;
  if (!same) return changedSince;
  const broken = await copyFault(kept);
  if (broken !== undefined) return describeError('worktree_preserved:copy', { reason: broken });
  if (!isDeepStrictEqual(await readList(kept.folder), listOf(outside))) return changedSince;
  const wanted = [
    capture.base,
    ...(commits.head === undefined ? [] : [commits.head]),
    ...commits.tips.map((tip) => tip.commit),
  ];
  if (!capture.kept) return commits.count > 0 ? changedSince : undefined;
  const at = await git.lineIfAny(record.repository, ['rev-parse', '--verify', '--quiet', capture.kept.ref]);
  const keeps = at !== undefined && (await keepsAll(git, record.repository, at, capture.tree, wanted));
  if (!keeps) return describeError('worktree_preserved:ref', { ref: capture.kept.ref });
  return undefined;
}

/**
 * On Windows a junction would be followed into the folder it leads to, so links go first; those that git has made are its own to
 * remove. Then what was put there besides the checkout.
 */
async function clearOwn(record: WorktreeRecord, { snapshot }: Survey): Promise<void> {
  for (const { path, link } of (await walkFiles(record.path)).leaves) {
    if (!link || snapshot.entries.has(keyOf(path))) continue;
    const full = inFolder(record.path, path);
    await unlink(full);
    if (await isThere(full)) throw new Error(`${full} could not be unlinked`);
  }
  for (const { path, link } of record.synthetic) {
    if (!link && !isTracked(snapshot, path)) await rm(join(record.path, path), { recursive: true, force: true });
  }
}

function isTracked({ entries }: Snapshot, path: string): boolean {
  const key = keyOf(Buffer.from(path));
  return entries.has(key) || [...entries.keys()].some((one) => one.startsWith(`${key}/`));
}

/**
 * Makes what is kept the state that git compares the files with, and lets git remove the worktree without force: it looks for
 * itself, and refuses when anything has changed since.
 */
async function letGo(
  git: Git,
  record: WorktreeRecord,
  { capture }: KeptCapture,
  { snapshot, commits }: Survey,
  scratch: string,
): Promise<void> {
  const { path, gitFolder, repository } = record;
  const [index, saved] = [join(gitFolder, 'index'), join(scratch, 'saved')];
  await copyFile(index, saved);
  try {
    await replaceFile(await copyBeside(snapshot.index, index), index);
    await git.run(path, ['update-ref', '--no-deref', 'HEAD', capture.kept?.commit ?? capture.base]);
    // A worktree that ever had submodules is removed only by force; that they hold nothing was looked at.
    const force = (await isThere(Buffer.from(join(gitFolder, 'modules')))) ? ['--force'] : [];
    await git.run(repository, ['worktree', 'remove', ...force, path], { timeoutMs: REMOVE_TIMEOUT_MS });
  } catch (error) {
    // The person goes on where the child was.
    await copyFile(saved, index).catch(() => undefined);
    const back =
      commits.branch === undefined
        ? ['update-ref', '--no-deref', 'HEAD', commits.head ?? capture.base]
        : ['symbolic-ref', 'HEAD', `refs/heads/${commits.branch}`];
    await git.run(path, back, { accept: 'any' }).catch(() => undefined);
    throw error;
  }
}

async function copyBeside(from: string, target: string): Promise<string> {
  const beside = `${target}.pi-lanes`;
  await copyFile(from, beside);
  // As old as can be: git then reads every file once more instead of believing its date.
  await utimes(beside, 1, 1);
  return beside;
}

/** Deletes the branch at exactly the commit that is kept, when nobody has it checked out. */
async function removeBranch(
  git: Git,
  record: WorktreeRecord,
  { capture }: KeptCapture,
): Promise<ErrorValue | undefined> {
  const { repository } = record;
  const branch = `refs/heads/${record.branch}`;
  const left = (reason: string) => describeError('worktree_left', { what: record.branch, reason });
  try {
    const tip = await git.lineIfAny(repository, ['rev-parse', '--verify', '--quiet', branch]);
    if (tip === undefined) return undefined;
    const user = (await listWorktrees(git, repository)).find((one) => one.branch === branch);
    if (user) return left(`it is checked out in ${user.path}`);
    const within = capture.kept?.commit ?? capture.base;
    const { exitCode } = await git.run(repository, ['merge-base', '--is-ancestor', tip, within], { accept: [1] });
    if (exitCode !== 0) return left(`it stands at ${tip}, which is not kept`);
    const deleted = await git.run(repository, ['update-ref', '-d', branch, tip], { accept: 'any' });
    return deleted.exitCode === 0 ? undefined : left(deleted.stderr.trim());
  } catch (error) {
    return left(wordsOf(error));
  }
}

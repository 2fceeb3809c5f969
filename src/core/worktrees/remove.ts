/** Removing a worktree whose content is kept. Whatever is uncertain, or has changed since, keeps it. */
import { copyFile, mkdtemp, rmdir, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describeError, type ErrorValue, type WorktreeRecord, wordsOf } from '../../protocol/index.ts';
import { discard, replaceFile } from '../files/index.ts';
import { type Git, listWorktrees, type RegisteredWorktree } from '../git/index.ts';
import type { CaptureOptions } from './capture.ts';
import { DISPOSABLE } from './disposable.ts';
import { keepBase, keepsAll } from './keep.ts';
import { copyFault, type KeptCapture, listOf, readList } from './kept-capture.ts';
import { LONG_MS, ownPaths } from './snapshot.ts';
import { type Survey, surveyWorktree } from './survey.ts';
import { deleteFolder, givenUp, giveUp, leavingPath } from './tombstone.ts';
import { isThere, keyOf, walkFiles } from './walk.ts';

export interface Removal {
  worktreeRemoved: boolean;
  branchRemoved: boolean;
  /** Why the worktree was left, or what went wrong. Each names the commands that do it by hand. */
  reasons: ErrorValue[];
}

export interface RemovalOptions extends CaptureOptions {
  /** Files of what was removed are deleted until this is aborted; `deleteGivenUp` goes on with them. Default: until all are. */
  deleting?: AbortSignal | undefined;
  /** What no capture can hold is given up: a person was told what that is, and wants it so. */
  despiteBlockers?: boolean;
}

/**
 * Looks once more, and removes worktree and branch when everything in them is in the capture. No process of the child may be at
 * work any more, and nobody may go on in the worktree later. Throws only when the repository cannot be locked.
 */
export async function removeWorktree(
  record: WorktreeRecord,
  kept: KeptCapture,
  options: RemovalOptions,
): Promise<Removal> {
  const removal = await takeOut(record, kept, options);
  if (removal.worktreeRemoved) await deleteGivenUp(record, options.deleting);
  return removal;
}

/** As `removeWorktree`; its files are out of the way then and not deleted. */
export function takeOut(record: WorktreeRecord, kept: KeptCapture, options: RemovalOptions): Promise<Removal> {
  return options.lock.run(`removing the worktree ${record.branch}`, () => remove(record, kept, options), {
    signal: options.signal,
  });
}

/**
 * Deletes the files of a worktree that was removed, as far as the signal lets it come.
 * @returns folders that are left, with the reason where it is not the signal
 */
export async function deleteGivenUp(
  record: Pick<WorktreeRecord, 'path'>,
  signal?: AbortSignal,
): Promise<{ path: string; reason?: string }[]> {
  const left: { path: string; reason?: string }[] = [];
  for (const path of await givenUp(record)) {
    try {
      if (signal?.aborted || !(await deleteFolder(path, signal))) left.push({ path });
    } catch (error) {
      left.push({ path, reason: wordsOf(error) });
    }
  }
  // Only when it is empty: others may have worktrees there.
  if (left.length === 0) await rmdir(dirname(record.path)).catch(() => undefined);
  return left;
}

/**
 * Goes on with a removal that died on the way: of a folder that is gone only what git knows of it is taken away, and the branch at
 * exactly the commit that is kept. What is still there, or was on its way out, is looked at once more, as if nothing had been done.
 */
export async function finishRemoval(
  record: WorktreeRecord,
  kept: KeptCapture,
  options: RemovalOptions,
): Promise<Removal> {
  const removal = await finishTakingOut(record, kept, options);
  if (removal.worktreeRemoved) await deleteGivenUp(record, options.deleting);
  return removal;
}

/** As `finishRemoval`; its files are out of the way then and not deleted. */
export async function finishTakingOut(
  record: WorktreeRecord,
  kept: KeptCapture,
  options: CaptureOptions,
): Promise<Removal> {
  const { git, lock, signal } = options;
  const isBack = await lock.run('putting a worktree back', () => putBack(git, record), { signal });
  if (isBack) return takeOut(record, kept, options);
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

/** Whether the worktree is where it belongs. One that git still knows comes back there; one that it does not is given up. */
async function putBack(git: Git, record: WorktreeRecord): Promise<boolean> {
  const isHere = await isThere(Buffer.from(record.path));
  if (!(await isThere(Buffer.from(leavingPath(record))))) return isHere;
  const isKnown = (await listWorktrees(git, record.repository)).some(({ path }) => path === record.path);
  if (!isKnown) await giveUp(record);
  else if (!isHere) await replaceFile(leavingPath(record), record.path);
  return isHere || isKnown;
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

async function remove(record: WorktreeRecord, kept: KeptCapture, options: RemovalOptions): Promise<Removal> {
  const { git, signal } = options;
  const disposable = options.disposable ?? DISPOSABLE;
  const left = (reason: ErrorValue): Removal => ({ worktreeRemoved: false, branchRemoved: false, reasons: [reason] });
  const [blocker] = kept.capture.blockers;
  if (blocker && !options.despiteBlockers) return { ...left(blocker), reasons: kept.capture.blockers };
  const scratch = await mkdtemp(join(tmpdir(), 'pi-lanes-look-'));
  try {
    const survey = await surveyWorktree(git, record, { scratch, disposable, signal });
    const stop = options.despiteBlockers ? undefined : survey.blockers[0];
    const fault = stop ?? (await faultOf(git, record, kept, survey));
    if (fault) return left(fault);
    const late = await letGo(git, record, survey, scratch);
    if (late) return left(late);
  } catch (error) {
    return left(describeError('worktree_preserved:failed', { path: record.path, reason: wordsOf(error) }));
  } finally {
    await discard(scratch);
  }
  const branch = await removeBranch(git, record, kept);
  await rmdir(dirname(record.path)).catch(() => undefined);
  return { worktreeRemoved: true, branchRemoved: branch === undefined, reasons: branch ? [branch] : [] };
}

/** Why a removal would leave the worktree now; empty when it would not. Nothing is changed. */
export async function lookOver(
  record: WorktreeRecord,
  kept: KeptCapture,
  options: Omit<CaptureOptions, 'lock'>,
): Promise<ErrorValue[]> {
  if (kept.capture.blockers.length > 0) return kept.capture.blockers;
  const { git, signal, disposable = DISPOSABLE } = options;
  const scratch = await mkdtemp(join(tmpdir(), 'pi-lanes-look-'));
  try {
    const survey = await surveyWorktree(git, record, { scratch, disposable, signal });
    const fault = await faultOf(git, record, kept, survey);
    return [...survey.blockers, ...(fault ? [fault] : [])];
  } catch (error) {
    return [describeError('worktree_preserved:failed', { path: record.path, reason: wordsOf(error) })];
  } finally {
    await discard(scratch);
  }
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
  const at = await git.tipOf(record.repository, capture.kept.ref);
  const keeps = at !== undefined && (await keepsAll(git, record.repository, at, capture.tree, wanted));
  if (!keeps) return describeError('worktree_preserved:ref', { ref: capture.kept.ref });
  return undefined;
}

/**
 * Takes the folder out of reach, looks at it there, where nobody comes after the look, and has git forget exactly this worktree. When
 * something has come into it meanwhile, or git refuses, it is where it was, as it was.
 */
async function letGo(
  git: Git,
  record: WorktreeRecord,
  survey: Survey,
  scratch: string,
): Promise<ErrorValue | undefined> {
  const { path, repository } = record;
  const leaving = leavingPath(record);
  if (await isThere(Buffer.from(leaving))) throw new Error(`${leaving} is in the way`);
  await replaceFile(path, leaving);
  try {
    if (await hasComeLate(git, record, survey, scratch)) {
      await replaceFile(leaving, path);
      return describeError('worktree_preserved:changed', { path });
    }
    // There is no folder at its path, so git has nothing to delete but what it knows of it.
    await git.run(repository, ['worktree', 'remove', '--force', path]);
  } catch (error) {
    await replaceFile(leaving, path);
    throw error;
  }
  await giveUp(record);
  return undefined;
}

/** Whether a file that git takes is not as it was surveyed, or there is one more of any kind. */
async function hasComeLate(
  git: Git,
  record: WorktreeRecord,
  { snapshot, outside }: Survey,
  scratch: string,
): Promise<boolean> {
  const leaving = leavingPath(record);
  const index = join(scratch, 'last look');
  await copyFile(snapshot.index, index);
  // As old as can be: git then reads every file once more instead of believing its date.
  await utimes(index, 1, 1);
  // Named by itself: found through the folder, git would write down that the worktree has moved.
  const env = { GIT_DIR: record.gitFolder, GIT_WORK_TREE: leaving, GIT_INDEX_FILE: index };
  const diff = ['diff-files', '-z', '--name-only', '--no-renames', '--ignore-submodules=all'];
  const changed = await git.records(leaving, diff, { env, timeoutMs: LONG_MS });
  if (changed.length > 0) return true;
  const known = new Set([...outside.files.map(({ bytesOfPath }) => bytesOfPath), ...outside.disposable].map(keyOf));
  const isOwn = ownPaths(record);
  const { leaves } = await walkFiles(leaving);
  return leaves.some(({ path }) => {
    const key = keyOf(path);
    return !snapshot.entries.has(key) && !known.has(key) && !isOwn(key);
  });
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
    const tip = await git.tipOf(repository, branch);
    if (tip === undefined) return undefined;
    const user = (await listWorktrees(git, repository)).find((one) => one.branch === branch);
    if (user) return left(`it is checked out in ${user.path}`);
    const within = capture.kept?.commit ?? capture.base;
    const { exitCode } = await git.run(repository, ['merge-base', '--is-ancestor', tip, within], { accept: [1] });
    if (exitCode !== 0) return left(`it stands at ${tip}, which is not kept`);
    // Where nothing was changed there is no ref yet, and the branch may be the last that leads to its base.
    if (!capture.kept && !(await keepBase(git, record, capture.base))) return left(`nothing else keeps ${tip}`);
    const deleted = await git.run(repository, ['update-ref', '-d', branch, tip], { accept: 'any' });
    return deleted.exitCode === 0 ? undefined : left(deleted.stderr.trim());
  } catch (error) {
    return left(wordsOf(error));
  }
}

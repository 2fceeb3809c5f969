/** Bringing a removed worktree back from what was kept of it: its files, what was staged, HEAD, its branch, and what git did not have. */
import { constants } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, mkdtemp, readlink, rm, rmdir, symlink, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describeError, type ErrorValue, lanesError, type WorktreeRecord } from '../../protocol/index.ts';
import { discard, makeFolders } from '../files/index.ts';
import { type Git, listWorktrees, type RepositoryLock } from '../git/index.ts';
import { DISPOSABLE } from './disposable.ts';
import { gitFolderOf } from './identity.ts';
import { keepsAll } from './keep.ts';
import { type KeptCapture, listOf, readList } from './kept-capture.ts';
import { digestOf } from './outside.ts';
import { type Provisions, provisionWorktree } from './provision.ts';
import { LONG_MS } from './snapshot.ts';
import { surveyWorktree } from './survey.ts';
import { deleteFolder } from './tombstone.ts';
import { inFolder, isThere, keyOf, walkFiles } from './walk.ts';

export interface RestoreOptions {
  git: Git;
  lock: RepositoryLock;
  /** What made it ready when it was made: submodules, links to dependencies, copies. */
  provisions?: Provisions;
  /** Where its own branch stood; absent: there was none. */
  branchTip?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface Restored {
  record: WorktreeRecord;
  /** What is not as it was, although nothing of the work is missing. */
  warnings: ErrorValue[];
}

/**
 * Makes the worktree at its path again, and proves that everything that was kept is in it. What there is of an earlier try is
 * taken away before. Throws `restore_refused` when something is in the way or not whole; then nothing is changed, and what git refuses
 * after everything was taken back.
 */
export function restoreWorktree(record: WorktreeRecord, kept: KeptCapture, options: RestoreOptions): Promise<Restored> {
  return options.lock.run(`bringing back the worktree ${record.branch}`, () => restore(record, kept, options), {
    signal: options.signal,
  });
}

async function restore(record: WorktreeRecord, kept: KeptCapture, options: RestoreOptions): Promise<Restored> {
  const { git } = options;
  const hadBranch = await requireRoom(git, record, kept, options.branchTip);
  const warnings: ErrorValue[] = [];
  try {
    await makeAgain(git, record, kept, options, warnings);
    const gitFolder = await gitFolderOf(record.path, record.repository);
    const bare: WorktreeRecord = { ...record, gitFolder, synthetic: [], warnings: [] };
    await fill(git, bare, kept);
    // In front of links to what lies elsewhere: nothing is ever written through one.
    await copyOutside(bare, kept);
    await keepAgain(git, record, kept);
    const ready = await provisionWorktree(git, bare, options.provisions ?? {}, options.signal);
    await prove(git, ready, kept, options.signal);
    return { record: ready, warnings: [...warnings, ...ready.warnings] };
  } catch (error) {
    await takeAway(git, record);
    if (!hadBranch && options.branchTip !== undefined)
      await git.run(record.repository, ['update-ref', '-d', `refs/heads/${record.branch}`, options.branchTip], {
        accept: 'any',
      });
    throw error;
  }
}

/** Nothing of a person's may be at its path, and its branch must be free or stand where it stood. @returns whether it is there */
async function requireRoom(
  git: Git,
  record: WorktreeRecord,
  { capture }: KeptCapture,
  branchTip: string | undefined,
): Promise<boolean> {
  const { path, repository, branch } = record;
  if (await isThere(Buffer.from(path))) throw lanesError('restore_refused:path', { path });
  const entry = (await listWorktrees(git, repository)).find((one) => one.path === path);
  if (entry) throw lanesError('restore_refused:registered', { path });
  const tip = await git.tipOf(repository, `refs/heads/${branch}`);
  if (tip !== undefined && tip !== branchTip) throw lanesError('restore_refused:branch', { branch, tip });
  const wanted = [
    capture.base,
    ...(capture.head === undefined ? [] : [capture.head]),
    ...(branchTip ? [branchTip] : []),
  ];
  const { kept } = capture;
  const holds = kept
    ? await keepsAll(git, repository, kept.commit, capture.tree, wanted).catch(() => false)
    : (await git.lineIfAny(repository, ['rev-parse', '--verify', '--quiet', `${capture.base}^{tree}`])) ===
      capture.tree;
  if (!holds) throw lanesError('restore_refused:commits', { path, ref: kept?.ref ?? capture.base });
  return tip !== undefined;
}

/** Worktree and branch as git has them, without files. */
async function makeAgain(
  git: Git,
  record: WorktreeRecord,
  { capture }: KeptCapture,
  { branchTip }: RestoreOptions,
  warnings: ErrorValue[],
): Promise<void> {
  const { path, repository, branch } = record;
  const { head, base } = capture;
  await makeFolders(dirname(path));
  const add = ['worktree', 'add', '--quiet', '--no-checkout', '--detach', '--', path, head ?? base];
  await git.run(repository, add, { retry: false, timeoutMs: LONG_MS });
  const ref = `refs/heads/${branch}`;
  if (branchTip !== undefined) {
    const there = await git.tipOf(repository, ref);
    if (there === undefined) await git.run(repository, ['update-ref', ref, branchTip, '0'.repeat(branchTip.length)]);
  }
  if (capture.branch === undefined) return;
  const fault = await headFault(git, record, capture.branch, head);
  if (fault === undefined) await git.run(path, ['symbolic-ref', 'HEAD', `refs/heads/${capture.branch}`]);
  else warnings.push(describeError('restore_incomplete:head', { path, branch: capture.branch, reason: fault }));
}

/** Why HEAD cannot stand on the branch again. */
async function headFault(
  git: Git,
  { repository, path }: WorktreeRecord,
  branch: string,
  head: string | undefined,
): Promise<string | undefined> {
  const ref = `refs/heads/${branch}`;
  const tip = await git.tipOf(repository, ref);
  if (tip !== head) return tip === undefined ? 'it is not there any more' : `it stands at ${tip} now`;
  const user = (await listWorktrees(git, repository)).find((one) => one.branch === ref && one.path !== path);
  return user && `it is checked out in ${user.path}`;
}

/** Somebody may have deleted the ref; while the commit is there it keeps everything again. */
async function keepAgain(git: Git, { repository }: WorktreeRecord, { capture: { kept } }: KeptCapture): Promise<void> {
  if (!kept) return;
  const at = await git.tipOf(repository, kept.ref);
  if (at === undefined)
    await git.run(repository, [
      'update-ref',
      '-m',
      'Pi Lanes: kept',
      kept.ref,
      kept.commit,
      '0'.repeat(kept.commit.length),
    ]);
}

/** Files of the tree as git writes them, then the index as it was. */
async function fill(git: Git, { path }: WorktreeRecord, { capture }: KeptCapture): Promise<void> {
  const call = { timeoutMs: LONG_MS };
  await git.run(path, ['read-tree', capture.tree], call);
  await git.run(path, ['checkout-index', '--all', '--force', '--quiet', '-u'], call);
  if (capture.staged !== undefined) {
    await git.run(path, ['read-tree', capture.staged], call);
    await git.run(path, ['update-index', '-q', '--refresh'], { ...call, accept: 'any' });
  }
}

/** What git did not have, over what it has written. */
async function copyOutside({ path: folder }: WorktreeRecord, { folder: from }: KeptCapture): Promise<void> {
  for (const { path, raw, kind, digest } of await readList(from)) {
    const bytes = raw === undefined ? Buffer.from(path) : Buffer.from(raw, 'base64');
    const [source, target] = [inFolder(join(from, 'files'), bytes), inFolder(folder, bytes)];
    const slash = target.lastIndexOf(0x2f);
    await mkdir(target.subarray(0, slash), { recursive: true });
    const there = await lstat(target).catch(() => undefined);
    if (there) await rm(target, { recursive: there.isDirectory() });
    if (kind === 'link') {
      await symlink(await readlink(source, { encoding: 'buffer' }), target);
    } else {
      const { mode, atime, mtime } = await lstat(source);
      await copyFile(source, target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
      await chmod(target, mode & 0o777);
      await utimes(target, atime, mtime);
    }
    if ((await digestOf(target, kind)) !== digest)
      throw new Error(`${join(folder, path)} could not be written as it was`);
  }
}

/** Looks at it as at any worktree: the same tree, the same files besides it. */
async function prove(
  git: Git,
  record: WorktreeRecord,
  { capture, folder }: KeptCapture,
  signal: AbortSignal | undefined,
): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'pi-lanes-look-'));
  try {
    const { snapshot, outside } = await surveyWorktree(git, record, { scratch, disposable: DISPOSABLE, signal });
    const kept = await readList(folder);
    const known = new Map(listOf(outside).map((file) => [file.raw ?? file.path, file]));
    const missing = kept.find((file) => !isDeepStrictEqual(known.get(file.raw ?? file.path), file));
    // A filter that was changed since gives other bytes for a file that git itself takes for the same.
    if (snapshot.tree !== capture.tree) throw new Error('its files are not those that were kept');
    if (missing) throw new Error(`${missing.path} is not as it was kept`);
  } finally {
    await discard(scratch);
  }
}

/** Exactly what was made here: whoever fails leaves nothing that looks like the worktree. */
async function takeAway(git: Git, { path, repository }: WorktreeRecord): Promise<void> {
  const entry = (await listWorktrees(git, repository)).find((one) => one.path === path);
  if (!entry) return;
  await deleteFolder(path);
  // A git that was killed while it made the worktree leaves it locked by that word. No other lock is broken.
  const force = entry.locked === 'initializing' ? ['--force', '--force'] : ['--force'];
  await git.run(repository, ['worktree', 'remove', ...force, path]);
  await rmdir(dirname(path)).catch(() => undefined);
}

/**
 * What a try that died has left at the path: `nothing`; all that was kept, and perhaps more, `whole`; only what was kept and not all of it,
 * `half`; something that was never kept, `worked`.
 */
export async function leftOfRestoring(
  git: Git,
  record: WorktreeRecord,
  kept: KeptCapture,
): Promise<{ state: 'nothing' | 'half' | 'worked' } | { state: 'whole'; record: WorktreeRecord }> {
  const { path, repository } = record;
  const entry = (await listWorktrees(git, repository)).find((one) => one.path === path);
  const isHere = await isThere(Buffer.from(path));
  if (!entry) return { state: isHere ? 'worked' : 'nothing' };
  if (!isHere) return { state: 'half' };
  const gitFolder = await gitFolderOf(path, repository).catch(() => undefined);
  if (gitFolder === undefined) return { state: (await walkFiles(path)).leaves.length === 0 ? 'half' : 'worked' };
  const bare: WorktreeRecord = { ...record, gitFolder, synthetic: [], warnings: [] };
  const isWhole = await prove(git, bare, kept, undefined).then(
    () => true,
    () => false,
  );
  if (isWhole) return { state: 'whole', record: bare };
  return { state: (await holdsOnlyKept(git, bare, kept)) ? 'half' : 'worked' };
}

async function holdsOnlyKept(git: Git, record: WorktreeRecord, { capture, folder }: KeptCapture): Promise<boolean> {
  const tree = new Map<string, string>();
  for (const line of await git.records(record.path, ['ls-tree', '-r', '-z', '--full-tree', capture.tree])) {
    const tab = line.indexOf(0x09);
    tree.set(keyOf(line.subarray(tab + 1)), line.subarray(0, tab).toString());
  }
  const scratch = await mkdtemp(join(tmpdir(), 'pi-lanes-look-'));
  try {
    const { snapshot, outside, commits, blockers } = await surveyWorktree(git, record, {
      scratch,
      disposable: DISPOSABLE,
    });
    const kept = new Map((await readList(folder)).map((file) => [file.raw ?? file.path, file]));
    const isKept = (at: string | undefined) => at === undefined || at === capture.base || at === capture.head;
    return (
      blockers.length === 0 &&
      isKept(commits.head) &&
      [...snapshot.entries].every(([key, { mode, hash }]) => {
        const there = tree.get(key);
        return there?.startsWith(`${mode} `) === true && there.endsWith(` ${hash}`);
      }) &&
      listOf(outside).every((file) => isDeepStrictEqual(kept.get(file.raw ?? file.path), file))
    );
  } catch {
    return false;
  } finally {
    await discard(scratch);
  }
}

/** Takes away what `leftOfRestoring` calls `half`. */
export function takeHalfAway(
  record: WorktreeRecord,
  { git, lock }: Pick<RestoreOptions, 'git' | 'lock'>,
): Promise<void> {
  return lock.run(`taking back the worktree ${record.branch}`, () => takeAway(git, record));
}

/** Keeping what is in a worktree: files, commits, and what git does not take. The worktree itself is not changed. */
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describeError, PATCH_NAME, type WorktreeCapture, type WorktreeRecord } from '../../protocol/index.ts';
import { discard, makePrivateFolder, readRegular, syncFolder, writeFileAtomic } from '../files/index.ts';
import type { Git, RepositoryLock } from '../git/index.ts';
import { DISPOSABLE } from './disposable.ts';
import { keepCommits, keptRef } from './keep.ts';
import { captureNumbers, type KeptCapture, listOf, readCapture } from './kept-capture.ts';
import { keepOutside } from './outside.ts';
import { patchGives, writePatch } from './patch.ts';
import { type Survey, surveyWorktree } from './survey.ts';
import { textOfPath } from './walk.ts';

export interface CaptureOptions {
  git: Git;
  lock: RepositoryLock;
  /** Patterns of `.gitignore` of files that can be made again. */
  disposable?: readonly string[];
  /** Files outside of the tree beyond this are not copied, and the worktree stays. Default 1 GiB. */
  maxOutsideBytes?: number;
  signal?: AbortSignal | undefined;
}

const MAX_OUTSIDE_BYTES = 1024 ** 3;
/** As many are named in the capture itself. */
const LISTED = 100;

/**
 * Captures a worktree into a new folder `capture-<n>` below `directory`; one that says the same as the newest gives that one. Of
 * a half-made capture nothing is left that looks whole. No process of the child may be at work any more.
 *
 * Throws `worktree_lost` when the worktree is not there, and what went wrong: then nothing is kept, and it must stay.
 */
export async function captureWorktree(
  directory: string,
  record: WorktreeRecord,
  options: CaptureOptions,
): Promise<KeptCapture> {
  const { git, signal } = options;
  await makePrivateFolder(directory);
  const numbers = await captureNumbers(directory);
  const target = join(directory, `capture-${(numbers.at(-1) ?? 0) + 1}`);
  const fresh = `${target}.new`;
  const scratch = `${target}.scratch`;
  await rm(fresh, { recursive: true, force: true });
  await rm(scratch, { recursive: true, force: true });
  await mkdir(fresh, { mode: 0o700 });
  await mkdir(scratch, { mode: 0o700 });
  try {
    const disposable = options.disposable ?? DISPOSABLE;
    const survey = await surveyWorktree(git, record, { scratch, disposable, signal });
    const capture = await writeCapture(fresh, scratch, record, survey, options);
    const newest = numbers.at(-1);
    const earlier = newest === undefined ? undefined : await readCapture(join(directory, `capture-${newest}`));
    if (earlier && isDeepStrictEqual(earlier.capture, capture) && (await sameFiles(fresh, earlier.folder)))
      return earlier;
    await syncFolder(fresh);
    await rename(fresh, target);
    await syncFolder(directory);
    return { capture, folder: target };
  } finally {
    await discard(scratch);
    await discard(fresh);
  }
}

async function sameFiles(a: string, b: string): Promise<boolean> {
  const lists = await Promise.all(
    [a, b].map((folder) => readRegular(join(folder, 'files.json')).catch(() => undefined)),
  );
  return lists[0] !== undefined && lists[0] === lists[1];
}

async function writeCapture(
  folder: string,
  scratch: string,
  record: WorktreeRecord,
  survey: Survey,
  options: CaptureOptions,
): Promise<WorktreeCapture> {
  const { git, lock, signal } = options;
  const { snapshot, commits, outside } = survey;
  const { base } = record;
  const { tree } = snapshot;
  const blockers = [...survey.blockers];
  const baseTree = await git.line(record.path, ['rev-parse', `${base}^{tree}`]);
  const changed = tree !== baseTree || commits.count > 0 || snapshot.staged !== undefined;
  const commit = changed
    ? await lock.run('keeping a worktree', () => keepCommits(git, record, survey), { signal })
    : undefined;
  let patch: WorktreeCapture['patch'];
  if (tree !== baseTree) {
    patch = await writePatch(git, record.path, { base, tree, directory: folder, name: PATCH_NAME }, signal);
    const proof = { base, tree, patch: join(folder, PATCH_NAME), scratch };
    if (!(await patchGives(git, record.path, proof, signal))) blockers.push(describeError('worktree_preserved:patch'));
  }
  const bytes = outside.files.reduce((sum, file) => sum + file.bytes, 0);
  const listed = listOf(outside);
  if (bytes > (options.maxOutsideBytes ?? MAX_OUTSIDE_BYTES)) {
    blockers.push(
      describeError('worktree_preserved:outside', { files: listed.length, megabytes: Math.ceil(bytes / 1e6) }),
    );
  } else {
    await keepOutside(record.path, outside.files, join(folder, 'files'));
  }
  const capture: WorktreeCapture = {
    version: 1,
    base,
    tree,
    ...(snapshot.staged !== undefined && { staged: snapshot.staged }),
    ...(commits.head !== undefined && { head: commits.head }),
    ...(commits.branch !== undefined && { branch: commits.branch }),
    changed,
    ...(commit !== undefined && { kept: { ref: keptRef(record), commit } }),
    commits: commits.count,
    tips: commits.tips.filter((tip) => tip.commit !== commits.head),
    ...(patch && { patch }),
    outside: { files: listed.length, bytes, listed: listed.slice(0, LISTED) },
    disposable: {
      files: outside.disposable.length,
      listed: outside.disposable.slice(0, LISTED).map((path) => textOfPath(path).path),
    },
    blockers,
  };
  await writeFileAtomic(join(folder, 'files.json'), `${JSON.stringify(listed, null, 1)}\n`);
  await writeFileAtomic(join(folder, 'capture.json'), `${JSON.stringify(capture, null, 2)}\n`);
  return capture;
}

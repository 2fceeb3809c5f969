/**
 * All files of a worktree that git takes, as a tree. It is made in an index of our own: neither the worktree nor what the child
 * has staged is changed, and what the child has hidden from git (`assume-unchanged`, `skip-worktree`) is seen.
 */
import { copyFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorktreeRecord } from '../../protocol/index.ts';
import { errnoOf } from '../files/index.ts';
import { type Git, type GitCall, splitRecords } from '../git/index.ts';
import { inFolder, isThere, keyOf } from './walk.ts';

export interface TreeEntry {
  path: Buffer;
  /** As git has it: 100644, 100755, 120000 (link), 160000 (submodule). */
  mode: string;
  hash: string;
}

export interface Snapshot {
  tree: string;
  /** The index that was made; git can be given it with `GIT_INDEX_FILE`. */
  index: string;
  /** By `keyOf` their path. */
  entries: Map<string, TreeEntry>;
  /** Files whose content was read: changed or new. */
  read: Buffer[];
  /** What the child had staged, where that is neither in a commit nor in the files. */
  staged?: string;
}

/** Reading and storing many or large files takes its time. */
export const LONG_MS = 30 * 60_000;

/** @param scratch a folder for the index, of this call alone */
export async function takeSnapshot(
  git: Git,
  record: WorktreeRecord,
  scratch: string,
  signal?: AbortSignal,
): Promise<Snapshot> {
  const index = join(scratch, 'index');
  await copyIndex(record, index);
  const call = { env: { GIT_INDEX_FILE: index }, timeoutMs: LONG_MS, signal };
  const staged = await stagedTree(git, record, scratch, call);
  await showHidden(git, record, call);
  const [changed, untracked] = await Promise.all([
    git.records(record.path, ['diff-files', '-z', '--name-only', '--no-renames', '--ignore-submodules=all'], call),
    git.records(record.path, ['ls-files', '-z', '--others', '--exclude-standard'], call),
  ]);
  const isOwn = ownPaths(record);
  // With a slash at its end it is a repository, of which git would take no more than a hash.
  const added = untracked.filter((path) => path.at(-1) !== 0x2f && !isOwn(keyOf(path)));
  const read = [...changed, ...added];
  if (read.length > 0) {
    const input = Buffer.concat(read.flatMap((path) => [path, Buffer.from([0])]));
    await git.run(record.path, ['update-index', '-z', '--add', '--remove', '--replace', '--stdin'], { ...call, input });
  }
  const tree = await git.line(record.path, ['write-tree'], call);
  const entries = parseEntries(await git.records(record.path, ['ls-files', '-z', '--stage'], call));
  return { tree, index, entries, read, ...(staged !== undefined && staged !== tree && { staged }) };
}

/**
 * Whether a path, by its `keyOf`, was put there when the worktree was made. A link counts by itself: what lies in a folder that has
 * taken its place is work.
 */
export function ownPaths({ synthetic }: WorktreeRecord): (path: string) => boolean {
  const [links, others] = [true, false].map(
    (wanted) =>
      new Set(synthetic.flatMap(({ path, link = false }) => (link === wanted ? keyOf(Buffer.from(path)) : []))),
  );
  return (path) => {
    if (links?.has(path)) return true;
    if (!others?.size) return false;
    for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) if (others.has(at)) return true;
    return false;
  };
}

async function copyIndex(record: WorktreeRecord, index: string): Promise<void> {
  await rm(index, { force: true });
  const own = join(record.gitFolder, 'index');
  try {
    const { mtimeMs } = await stat(own);
    await copyFile(own, index);
    // Git compares a file again that may have been changed after the index was written, within the same second: a copy must not
    // look newer than what it is a copy of.
    const seconds = Math.floor(mtimeMs / 1000);
    await utimes(index, seconds, seconds);
  } catch (error) {
    // Without an index every file is new.
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

/** The tree of the index as the child left it. With unsettled conflicts there is none: then a tree of all that stands in it, by stage. */
async function stagedTree(
  git: Git,
  record: WorktreeRecord,
  scratch: string,
  call: GitCall,
): Promise<string | undefined> {
  const listed = await git.records(record.path, ['ls-files', '-z', '--stage'], call);
  const stages = listed.map((line) => line.subarray(0, line.indexOf(0x09)).toString().split(' ')[2]);
  if (stages.every((stage) => stage === '0')) return git.line(record.path, ['write-tree'], call);
  const own = { ...call, env: { GIT_INDEX_FILE: join(scratch, 'stages') } };
  const input = Buffer.concat(
    listed.flatMap((line, at) => {
      const tab = line.indexOf(0x09);
      const [mode, hash] = line.subarray(0, tab).toString().split(' ');
      return [Buffer.from(`${mode} ${hash} 0\tstage-${stages[at]}/`), line.subarray(tab + 1), Buffer.from([0])];
    }),
  );
  await git.run(record.path, ['read-tree', '--empty'], own);
  await git.run(record.path, ['update-index', '-z', '--index-info'], { ...own, input });
  return git.line(record.path, ['write-tree'], own);
}

/** Takes the marks off that keep git from looking at files. In a sparse checkout those of files that are not there stay. */
async function showHidden(git: Git, record: WorktreeRecord, call: GitCall): Promise<void> {
  const listed = await git.records(record.path, ['ls-files', '-z', '-v'], call);
  const tagged = listed.map((line) => ({ tag: String.fromCharCode(line[0] ?? 0), path: line.subarray(2) }));
  const assumed = tagged.filter(({ tag }) => tag !== tag.toUpperCase()).map(({ path }) => path);
  const skipped = tagged.filter(({ tag }) => tag.toUpperCase() === 'S').map(({ path }) => path);
  const sparse = (await git.lineIfAny(record.path, ['config', '--bool', 'core.sparseCheckout'], call)) === 'true';
  const shown: Buffer[] = [];
  for (const path of skipped) if (!sparse || (await isThere(inFolder(record.path, path)))) shown.push(path);
  for (const [flag, paths] of [
    ['--no-assume-unchanged', assumed],
    ['--no-skip-worktree', shown],
  ] as const) {
    if (paths.length === 0) continue;
    const input = Buffer.concat(paths.flatMap((path) => [path, Buffer.from([0])]));
    await git.run(record.path, ['update-index', '-z', flag, '--stdin'], { ...call, input });
  }
}

function parseEntries(lines: readonly Buffer[]): Map<string, TreeEntry> {
  return new Map(
    lines.map((line) => {
      const tab = line.indexOf(0x09);
      const [mode = '', hash = ''] = line.subarray(0, tab).toString().split(' ');
      const path = line.subarray(tab + 1);
      return [keyOf(path), { path, mode, hash }];
    }),
  );
}

/** Submodules of a commit, with the commit each is at, by `keyOf` their path. */
export async function submodulesOf(git: Git, folder: string, commit: string): Promise<Map<string, string>> {
  const { stdout } = await git.run(folder, ['ls-tree', '-r', '-z', '--full-tree', commit], { timeoutMs: LONG_MS });
  const found = new Map<string, string>();
  for (const line of splitRecords(stdout)) {
    const tab = line.indexOf(0x09);
    const [mode, , hash] = line.subarray(0, tab).toString().split(' ');
    if (mode === '160000' && hash !== undefined) found.set(keyOf(line.subarray(tab + 1)), hash);
  }
  return found;
}

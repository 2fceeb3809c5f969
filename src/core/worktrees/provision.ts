/** What children need in a worktree and no commit has: files that git ignores, dependencies, submodules. */
import { constants } from 'node:fs';
import { copyFile, lstat, readdir, stat, symlink } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { describeError, type ErrorValue, type WorktreeRecord, wordsOf } from '../../protocol/index.ts';
import { makeFolders } from '../files/index.ts';
import type { Git } from '../git/index.ts';
import { digestOf } from './outside.ts';
import { runSetupHook, type SetupHook } from './setup-hook.ts';
import { submodulesOf } from './snapshot.ts';

export interface Provisions {
  /** Patterns of `.gitignore` of ignored files to copy, `.env`. */
  copies?: readonly string[];
  /** Ignored folders to link to, relative to the root. */
  links?: readonly string[];
  setupHook?: SetupHook | undefined;
  /** Name of the agent, for the hook. */
  agent?: string | undefined;
  /** Copies beyond this are left out, with a warning. Default 100 MiB. */
  maxCopyBytes?: number;
  /** How long submodules may take. Default one minute. */
  submodulesMs?: number;
}

type Synthetic = WorktreeRecord['synthetic'][number];

export const LINKED: readonly string[] = ['node_modules'];

const MAX_COPY_BYTES = 100 * 1024 * 1024;
const SUBMODULES_MS = 60_000;

/**
 * Makes a new worktree ready. What is missing afterwards is a warning; only a setup hook that fails is an error
 * (`worktree_setup_failed`). Everything that was put there is in `synthetic` of the record that is returned.
 */
export async function provisionWorktree(
  git: Git,
  record: WorktreeRecord,
  provisions: Provisions = {},
  signal?: AbortSignal,
): Promise<WorktreeRecord> {
  const warnings: ErrorValue[] = [];
  warnings.push(...(await fillSubmodules(git, record, provisions.submodulesMs ?? SUBMODULES_MS, signal)));
  const copied = await copyIgnored(git, record, provisions);
  const linked = await linkFolders(git, record, provisions.links ?? LINKED);
  if (copied.left > 0) {
    const megabytes = Math.ceil((provisions.maxCopyBytes ?? MAX_COPY_BYTES) / 1e6);
    warnings.push(describeError('worktree_incomplete:budget', { files: copied.left, megabytes }));
  }
  const { setupHook, agent } = provisions;
  const made = setupHook ? await runSetupHook(git, record, { ...setupHook, agent }, signal) : [];
  warnings.push(...(await inactiveHooks(git, record)));
  const known = new Set([...copied.files, ...linked].map(({ path }) => path));
  const synthetic = [...copied.files, ...linked, ...made.filter((path) => !known.has(path)).map((path) => ({ path }))];
  return { ...record, synthetic: [...record.synthetic, ...synthetic], warnings: [...record.warnings, ...warnings] };
}

/** Fills those submodules that the source has filled. */
async function fillSubmodules(
  git: Git,
  record: WorktreeRecord,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<ErrorValue[]> {
  const paths: string[] = [];
  for (const key of (await submodulesOf(git, record.path, record.base)).keys()) {
    const path = Buffer.from(key, 'latin1').toString('utf8');
    if (await isThere(join(record.root, path, '.git'))) paths.push(path);
  }
  if (paths.length === 0) return [];
  try {
    const args = ['submodule', '--quiet', 'update', '--init', '--recursive', '--', ...paths];
    await git.run(record.path, args, { timeoutMs, signal });
    return [];
  } catch (error) {
    if (signal?.aborted) throw error;
    // Half a submodule would keep the worktree from being removed.
    await git.run(record.path, ['submodule', '--quiet', 'deinit', '--force', '--', ...paths], { accept: 'any' });
    return [describeError('worktree_incomplete:submodules', { reason: wordsOf(error) })];
  }
}

/** The source is clean, so what is untracked in it is ignored. */
async function copyIgnored(
  git: Git,
  record: WorktreeRecord,
  { copies = [], links = LINKED, maxCopyBytes = MAX_COPY_BYTES }: Provisions,
): Promise<{ files: Synthetic[]; left: number }> {
  const files: Synthetic[] = [];
  let left = 0;
  if (copies.length === 0) return { files, left };
  const args = ['ls-files', '-z', '--others', '--ignored', ...copies.map((pattern) => `--exclude=${pattern}`)];
  let bytes = 0;
  for (const path of (await git.records(record.root, args)).map(String)) {
    const [from, to] = [join(record.root, path), join(record.path, path)];
    const info = await lstat(from).catch(() => undefined);
    // What lies in a folder that is linked comes with it.
    const comes = links.some((folder) => path.startsWith(`${folder}/`));
    if (comes || !info?.isFile() || (await isThere(to))) continue;
    if (bytes + info.size > maxCopyBytes) {
      left++;
      continue;
    }
    bytes += info.size;
    await makeFolders(dirname(to));
    await copyFile(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    files.push({ path, digest: await digestOf(Buffer.from(to), 'file') });
  }
  return { files, left };
}

/**
 * Links to folders of dependencies, where nothing of them is tracked, and the worktree starts from the commit that they were installed
 * for. The pattern `node_modules/` does not hold for a link, which a child would commit: there the folder is made, with a link for
 * each entry.
 */
async function linkFolders(git: Git, record: WorktreeRecord, folders: readonly string[]): Promise<Synthetic[]> {
  const linked: Synthetic[] = [];
  if ((await git.line(record.root, ['rev-parse', 'HEAD'])) !== record.base) return linked;
  for (const path of folders) {
    const [from, to] = [join(record.root, path), join(record.path, path)];
    const info = await stat(from).catch(() => undefined);
    if (!info?.isDirectory() || (await isThere(to))) continue;
    // A link that cannot be made is no error: the child can install what it needs.
    if (await isIgnored(git, record.path, path)) {
      await makeFolders(dirname(to));
      const made = await symlink(from, to, 'junction').then(
        () => true,
        () => false,
      );
      if (made) linked.push({ path, link: true });
    } else if (await isIgnored(git, record.path, `${path}/x`)) {
      await makeFolders(to);
      for (const name of await readdir(from))
        await symlink(join(from, name), join(to, name), 'junction').catch(() => undefined);
    }
  }
  return linked;
}

async function isIgnored(git: Git, folder: string, path: string): Promise<boolean> {
  return (await git.run(folder, ['check-ignore', '--quiet', '--', path], { accept: [1] })).exitCode === 0;
}

/** Git passes over a folder of hooks that is not there without a word. */
async function inactiveHooks(git: Git, record: WorktreeRecord): Promise<ErrorValue[]> {
  // Our own calls have no hooks: what is configured is asked of the files.
  const path = await git.lineIfAny(record.path, ['config', '--path', '--get', 'core.hooksPath'], { hooks: true });
  if (!path || isAbsolute(path) || (await isThere(join(record.path, path)))) return [];
  return [describeError('worktree_incomplete:hooks', { path })];
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

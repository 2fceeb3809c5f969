/** The checkout that worktrees are made from, and what must be true of it before anything starts. */
import { realpath } from 'node:fs/promises';
import { basename, dirname, relative, resolve } from 'node:path';
import { baseRefReason, lanesError } from '../../protocol/index.ts';
import type { Git } from '../git/index.ts';
import { placeFor } from './place.ts';
import { findSetupHook } from './setup-hook.ts';

export interface WorktreeWish {
  /** What the child is called in refusals. */
  key: string;
  /** An existing folder. */
  cwd: string;
}

export interface WorktreeSource {
  /** The git common folder, real path. */
  repository: string;
  /** Top folder of the checkout, real path. */
  root: string;
  /** Folder below the root that the launch came from; empty at the root. */
  subfolder: string;
  /** The commit to start from. */
  base: string;
  /** Folder that the worktree will be made in. */
  place: string;
}

export interface SourceOptions {
  /** `HEAD` or the name of a branch or tag. */
  baseRef?: string | undefined;
  /** Configured folder for worktrees. */
  folder?: string | undefined;
  /** Folders in which no worktree may be: those Pi loads extensions from. */
  refused?: readonly string[];
  /** Path of the hook that makes worktrees ready. */
  setupHook?: string | undefined;
  /** All children must work in this folder. */
  shared?: string;
  signal?: AbortSignal | undefined;
}

/** What runs write into a checkout themselves. */
const OWN_STATE = '.pi/subagents/';

/**
 * Checks a whole group, once for each distinct folder, and finds where each child starts from. Nothing is changed. Throws
 * `worktree_refused` naming children, folder and reason.
 */
export async function checkSources(
  git: Git,
  wishes: readonly WorktreeWish[],
  options: SourceOptions = {},
): Promise<WorktreeSource[]> {
  const folders = await Promise.all(wishes.map(({ cwd }) => realpath(cwd)));
  if (options.shared !== undefined) {
    const shared = await realpath(options.shared);
    const other = folders.findIndex((folder) => folder !== shared);
    const wish = wishes[other];
    if (wish) throw lanesError('worktree_refused:other-folder', { children: wish.key, folder: wish.cwd, shared });
  }
  const checked = new Map<string, WorktreeSource>();
  for (const folder of new Set(folders)) {
    const children = wishes.flatMap(({ key }, index) => (folders[index] === folder ? [key] : [])).join(', ');
    checked.set(folder, await checkSource(git, folder, children, options));
  }
  return folders.flatMap((folder) => checked.get(folder) ?? []);
}

async function checkSource(
  git: Git,
  folder: string,
  children: string,
  options: SourceOptions,
): Promise<WorktreeSource> {
  const { signal } = options;
  await requireCheckout(git, folder, children, signal);
  const [root, common] = await Promise.all([
    git.line(folder, ['rev-parse', '--show-toplevel'], { signal }).then((path) => realpath(path)),
    git.line(folder, ['rev-parse', '--git-common-dir'], { signal }).then((path) => realpath(resolve(folder, path))),
  ]);
  await requireClean(git, root, { children, folder }, signal);
  const base = await resolveBase(git, root, { children, folder }, options);
  const home = await homeOf(git, root, common);
  const place = await placeFor(
    { root, home, repository: common },
    { folder: options.folder, refused: options.refused ?? [], children },
  );
  if (options.setupHook !== undefined) await findSetupHook(root, options.setupHook);
  return { repository: common, root, subfolder: relative(root, folder), base, place };
}

interface Where {
  children: string;
  folder: string;
}

async function requireCheckout(git: Git, folder: string, children: string, signal?: AbortSignal): Promise<void> {
  const asked = await git.run(folder, ['rev-parse', '--is-inside-work-tree'], { accept: 'any', signal });
  if (asked.exitCode === 0 && asked.stdout.toString().trim() === 'true') return;
  if (asked.exitCode !== 0) {
    if (/not a git repository \(or any/.test(asked.stderr)) {
      throw lanesError('worktree_refused:no-repository', { children, folder });
    }
    throw lanesError('worktree_refused:unreadable', {
      children,
      folder,
      reason: asked.stderr.trim().split('\n')[0] ?? '',
    });
  }
  const bare = (await git.line(folder, ['rev-parse', '--is-bare-repository'], { signal })) === 'true';
  throw lanesError(bare ? 'worktree_refused:bare' : 'worktree_refused:git-folder', { children, folder });
}

const SHOWN = 3;

async function requireClean(git: Git, root: string, where: Where, signal?: AbortSignal): Promise<void> {
  const status = ['status', '--porcelain', '-z', '--no-renames', '--ignore-submodules=none'];
  const entries = (await git.records(root, [...status, '--untracked-files=normal'], { signal })).map(String);
  const own = (path: string) => path.startsWith(OWN_STATE);
  let changed = entries.map((entry) => entry.slice(3)).filter((path) => !own(path));
  if (changed.includes('.pi/')) {
    // Git names the topmost folder that it does not know.
    const inside = (
      await git.records(root, ['ls-files', '-z', '-o', '--exclude-standard', '--', '.pi'], { signal })
    ).map(String);
    changed = [...changed.filter((path) => path !== '.pi/'), ...inside.filter((path) => !own(path))];
  }
  if (changed.length === 0) return;
  const more = changed.length - SHOWN;
  const files = `${changed.slice(0, SHOWN).join(', ')}${more > 0 ? ` (+${more})` : ''}`;
  throw lanesError('worktree_refused:dirty', { ...where, files });
}

/** The commit that a name of a branch, of a tag, or `HEAD` stands for now. */
async function resolveBase(git: Git, root: string, where: Where, options: SourceOptions): Promise<string> {
  const { baseRef: ref = 'HEAD', signal } = options;
  const refused = lanesError('worktree_refused:base', { ...where, ref });
  if (baseRefReason(ref) || ref.startsWith('-')) throw refused;
  // Hashes in short, and what `git describe` says, are no names of refs, and say nothing here.
  const name = await git.lineIfAny(root, ['rev-parse', '--symbolic-full-name', ref], { signal });
  const commit = await git.lineIfAny(root, ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`], { signal });
  if (ref === 'HEAD' && commit === undefined) throw lanesError('worktree_refused:unborn', { ...where });
  if (!name || commit === undefined) throw refused;
  return commit;
}

/** The main checkout of the repository, of the outermost superproject where it is a submodule. */
async function homeOf(git: Git, root: string, repository: string): Promise<string> {
  const above = await git.lineIfAny(root, ['rev-parse', '--show-superproject-working-tree']);
  if (above) {
    const outer = await realpath(above);
    const common = await git.line(outer, ['rev-parse', '--git-common-dir']);
    return homeOf(git, outer, await realpath(resolve(outer, common)));
  }
  const own = await realpath(resolve(root, await git.line(root, ['rev-parse', '--git-dir'])));
  // A checkout whose git folder lies elsewhere (`--separate-git-dir`) is told by having no folder of its own.
  if (own === repository) return root;
  return basename(repository) === '.git' ? dirname(repository) : repository.replace(/\.git$/, '');
}

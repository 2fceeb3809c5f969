/** The folder that a repository's worktrees are made in. */
import { constants } from 'node:fs';
import { access, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { lanesError, wordsOf } from '../../protocol/index.ts';
import { errnoOf } from '../files/index.ts';

export interface PlaceOptions {
  /** As configured: absolute, `~/…`, or relative to the main checkout. */
  folder?: string | undefined;
  refused: readonly string[];
  children: string;
}

/**
 * `<repository>.worktrees` beside the main checkout, or a folder named like it below the one that is configured. Nothing is
 * made yet. Throws `worktree_refused` for a place where a worktree would be in the way or cannot be made.
 */
export async function placeFor(
  source: { root: string; home: string; repository: string },
  { folder, refused, children }: PlaceOptions,
): Promise<string> {
  const { root, home, repository } = source;
  const wanted = folder === undefined ? `${home}.worktrees` : join(resolve(home, expandHome(folder)), basename(home));
  const { path: place, existing } = await realPlace(wanted);
  const forbidden = [
    { inside: root, text: 'worktree_refused:inside-checkout' },
    { inside: home, text: 'worktree_refused:inside-checkout' },
    { inside: repository, text: 'worktree_refused:inside-checkout' },
    ...(await Promise.all(refused.map(async (path) => (await realPlace(path)).path))).map((inside) => ({
      inside,
      text: 'worktree_refused:inside-extensions' as const,
    })),
  ] as const;
  for (const { inside, text } of forbidden) {
    if (isWithin(place, inside)) throw lanesError(text, { children, path: place, inside });
  }
  await access(existing, constants.W_OK | constants.X_OK).catch((error: unknown) => {
    throw placeUnwritable(place, error);
  });
  return place;
}

/** The system refuses to make something in the folder for worktrees. */
export function placeUnwritable(path: string, error: unknown) {
  return lanesError('worktree_refused:unwritable', { path, reason: wordsOf(error) }, { cause: error });
}

function expandHome(path: string): string {
  return /^~(?=$|[/\\])/.test(path) ? join(homedir(), path.slice(1)) : path;
}

/** A path with the links of its existing part resolved, and that part. */
async function realPlace(path: string): Promise<{ path: string; existing: string }> {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      const existing = await realpath(at);
      return { path: join(existing, ...missing), existing };
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT' || dirname(at) === at) throw placeUnwritable(path, error);
      missing.unshift(basename(at));
    }
  }
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

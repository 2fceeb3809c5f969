/** Files that can be made again: they are not kept when a worktree goes. */
import type { Git } from '../git/index.ts';
import { keyOf } from './walk.ts';

/** What package managers, interpreters and systems make by themselves, as patterns of `.gitignore`. Results of a build are not among them. */
export const DISPOSABLE: readonly string[] = [
  'node_modules',
  '__pycache__/',
  '*.pyc',
  '.venv/',
  '.mypy_cache/',
  '.pytest_cache/',
  '.ruff_cache/',
  '.DS_Store',
  'Thumbs.db',
];

/** @returns whether an untracked file of the folder, by `keyOf` its path, is one of the patterns', or lies below one */
export async function findDisposable(
  git: Git,
  folder: string,
  patterns: readonly string[],
): Promise<(path: string) => boolean> {
  if (patterns.length === 0) return () => false;
  const args = ['ls-files', '-z', '--others', '--ignored', '--directory', ...patterns.map((one) => `--exclude=${one}`)];
  const listed = (await git.records(folder, args)).map(keyOf);
  const files = new Set(listed.filter((path) => !path.endsWith('/')));
  const folders = new Set(listed.filter((path) => path.endsWith('/')));
  return (path) => {
    if (files.has(path)) return true;
    for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
      if (folders.has(path.slice(0, slash + 1))) return true;
    }
    return false;
  };
}

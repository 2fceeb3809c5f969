/** What is in a worktree, and what of it comes back from what was kept. */
import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { KeptCapture } from '../../src/core/worktrees/index.ts';
import { git } from './repository.ts';

/** Every file and link by its path, with its content and whether it may be run; nothing of what is git's. */
export async function contentOf(folder: string, path = ''): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const entry of await readdir(join(folder, path), { withFileTypes: true })) {
    const at = path === '' ? entry.name : `${path}/${entry.name}`;
    if (at === '.git') continue;
    if (entry.isDirectory()) for (const [name, what] of await contentOf(folder, at)) found.set(name, what);
    else found.set(at, await describeFile(join(folder, at)));
  }
  return found;
}

async function describeFile(path: string): Promise<string> {
  const link = await readlink(path).catch(() => undefined);
  if (link !== undefined) return `link ${link}`;
  const { mode } = await stat(path);
  const kind = process.platform !== 'win32' && mode & 0o100 ? 'run' : 'file';
  return `${kind} ${(await readFile(path)).toString('base64')}`;
}

/**
 * What base, patch and archive of a capture give together; the tree of the first two must be the one that was captured.
 * @param path of a worktree that is made for it and removed again
 */
export async function restored(
  repository: string,
  { capture, folder }: KeptCapture,
  path: string,
): Promise<Map<string, string>> {
  await git(repository, 'worktree', 'add', '--quiet', '--detach', path, capture.base);
  if (capture.patch) await git(path, 'apply', '--index', '--whitespace=nowarn', join(folder, capture.patch.path));
  expect(await git(path, 'write-tree')).toBe(capture.tree);
  const content = await contentOf(path);
  if (capture.outside.files > 0)
    for (const [name, what] of await contentOf(join(folder, 'files'))) content.set(name, what);
  await git(repository, 'worktree', 'remove', '--force', path);
  return content;
}

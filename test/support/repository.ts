/** Repositories for tests with real git, made by a git with a configuration of its own. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gitEnvironment } from '../../src/core/git/index.ts';

const CONFIG = {
  'user.name': 'Test',
  'user.email': 'test@example.com',
  'init.defaultBranch': 'main',
  'protocol.file.allow': 'always',
  'commit.gpgSign': 'false',
};

/** What git printed, with its last line break gone. Rejects with what it complained about. */
export async function git(cwd: string, ...args: string[]): Promise<string> {
  const options = Object.entries(CONFIG).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const { stdout } = await promisify(execFile)('git', [...options, ...args], {
    cwd,
    env: gitEnvironment(),
    maxBuffer: 1024 ** 3,
  });
  return stdout.replace(/\n$/, '');
}

export type Files = Record<string, string | Buffer | { link: string } | { content: string | Buffer; mode: number }>;

/** Writes files, folders included. */
export async function write(folder: string, files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const full = join(folder, path);
    await mkdir(dirname(full), { recursive: true });
    if (typeof content === 'string' || Buffer.isBuffer(content)) await writeFile(full, content);
    else if ('link' in content) await symlink(content.link, full);
    else {
      await writeFile(full, content.content);
      await chmod(full, content.mode);
    }
  }
}

/** A repository with the files in one commit on `main`. */
export async function makeRepository(
  path: string,
  files: Files = { 'a.txt': 'one\n', 'src/b.txt': 'two\n' },
): Promise<string> {
  await mkdir(path, { recursive: true });
  await git(path, 'init', '--quiet');
  await write(path, files);
  await commitAll(path, 'first');
  return path;
}

/** @returns the commit */
export async function commitAll(folder: string, message: string): Promise<string> {
  await git(folder, 'add', '--all');
  await git(folder, 'commit', '--quiet', '--allow-empty', '--message', message);
  return git(folder, 'rev-parse', 'HEAD');
}

/** Everything a rollback must leave as it was: branches with their tips, and worktrees. */
export async function stateOf(repository: string): Promise<string[]> {
  const refs = await git(repository, 'for-each-ref', '--format=%(refname) %(objectname)');
  const worktrees = await git(repository, 'worktree', 'list', '--porcelain');
  return [...refs.split('\n'), ...worktrees.split('\n')].filter(Boolean);
}

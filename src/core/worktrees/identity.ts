/**
 * Whether a folder is the worktree that was recorded. Git is not asked: without its `.git` file a folder inside another repository
 * belongs to that one, and git would change the wrong one.
 */
import { lstat, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { describeError, type ErrorValue, type WorktreeRecord, wordsOf } from '../../protocol/index.ts';
import { readRegular } from '../files/index.ts';

/** Git's own folder of the worktree at a path. Throws when it is no whole linked worktree of the repository. */
export async function gitFolderOf(path: string, repository: string): Promise<string> {
  const info = await lstat(path);
  if (!info.isDirectory()) throw new Error(`${path} is not a folder`);
  const link = /^gitdir: ([\s\S]*?)\r?\n?$/.exec(await readRegular(join(path, '.git')))?.[1];
  if (link === undefined) throw new Error(`${join(path, '.git')} does not name a git folder`);
  const gitFolder = await realpath(resolve(path, link));
  const common = await realpath(resolve(gitFolder, lineOf(await readRegular(join(gitFolder, 'commondir')))));
  if (common !== repository) throw new Error(`it belongs to ${common}`);
  const back = resolve(gitFolder, lineOf(await readRegular(join(gitFolder, 'gitdir'))));
  const [named, real] = await Promise.all([realpath(dirname(back)), realpath(path)]);
  if (named !== real) throw new Error(`git has it at ${named}`);
  return gitFolder;
}

function lineOf(text: string): string {
  return text.replace(/\r?\n$/, '');
}

/** Why the recorded worktree is not there any more, or is another one; `undefined` when it is. */
export async function identityFault(record: WorktreeRecord): Promise<ErrorValue | undefined> {
  const { path } = record;
  try {
    const gitFolder = await gitFolderOf(path, record.repository);
    return gitFolder === record.gitFolder ? undefined : describeError('worktree_lost:other', { path });
  } catch (error) {
    return describeError('worktree_lost', { path, reason: wordsOf(error) });
  }
}

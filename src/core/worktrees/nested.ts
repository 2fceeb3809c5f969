/** Repositories inside a worktree. A submodule that is as it was checked out loses nothing; anything else no capture can hold. */
import { describeError, type ErrorValue, type WorktreeRecord, wordsOf } from '../../protocol/index.ts';
import type { Git } from '../git/index.ts';
import { findDisposable } from './disposable.ts';
import { submodulesOf } from './snapshot.ts';
import { inFolder, keyOf, textOfPath, walkFiles } from './walk.ts';

/** Why the repositories below a worktree keep it from being removed. */
export async function nestedFaults(
  git: Git,
  record: WorktreeRecord,
  repositories: readonly Buffer[],
  disposable: readonly string[],
): Promise<ErrorValue[]> {
  if (repositories.length === 0) return [];
  const submodules = await submodulesOf(git, record.path, record.base);
  const faults: ErrorValue[] = [];
  for (const bytes of repositories) {
    const { path } = textOfPath(bytes);
    const expected = submodules.get(keyOf(bytes));
    if (expected === undefined) {
      faults.push(describeError('worktree_preserved:nested', { path }));
      continue;
    }
    const reason = await submoduleFault(git, inFolder(record.path, bytes).toString(), expected, disposable).catch(
      wordsOf,
    );
    if (reason !== undefined) faults.push(describeError('worktree_preserved:submodule', { path, reason }));
  }
  return faults;
}

async function submoduleFault(
  git: Git,
  folder: string,
  expected: string,
  disposable: readonly string[],
): Promise<string | undefined> {
  const head = await git.tipOf(folder, 'HEAD');
  if (head !== expected) return `HEAD is at ${head ?? 'no commit'}`;
  const status = ['status', '--porcelain', '-z', '--no-renames', '--untracked-files=all', '--ignore-submodules=none'];
  const changed = (await git.records(folder, status)).map((entry) => entry.subarray(3).toString());
  if (changed.length > 0) return `changed: ${changed.slice(0, 3).join(', ')}`;
  const hidden = (await git.records(folder, ['ls-files', '-z', '-v'])).filter((line) => line[0] !== 0x48);
  if (hidden.length > 0) return `hidden from git: ${hidden[0]?.subarray(2)}`;
  const own = await git.line(folder, [
    'rev-list',
    '--count',
    '--all',
    '--reflog',
    'HEAD',
    '--not',
    '--remotes',
    expected,
  ]);
  if (own !== '0') return `${own} commits of its own`;
  const walk = await walkFiles(folder);
  const tracked = new Set((await git.records(folder, ['ls-files', '-z'])).map(keyOf));
  const isDisposable = await findDisposable(git, folder, disposable);
  const outside = walk.leaves.find(({ path }) => !tracked.has(keyOf(path)) && !isDisposable(keyOf(path)));
  if (outside) return `ignored: ${outside.path}`;
  const inner = await submodulesOf(git, folder, expected);
  for (const repository of walk.repositories) {
    const commit = inner.get(keyOf(repository));
    if (commit === undefined) return `a repository in it: ${repository}`;
    const fault = await submoduleFault(git, inFolder(folder, repository).toString(), commit, disposable);
    if (fault !== undefined) return `${repository}: ${fault}`;
  }
  return undefined;
}

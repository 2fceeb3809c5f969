/** Discarding says what is lost, keeps what can be kept, and does nothing by itself. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { discardCommand } from '../../src/cli/commands/discard.ts';
import { discardWorktree, foreseeDiscard, restore, WorktreeDoor } from '../../src/client/index.ts';
import { commitAll, git, makeRepository, write } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { contentOf } from '../support/worktree-content.ts';
import { WorktreeProject } from '../support/worktree-project.ts';
import { me, writeRun } from '../unit/builders/run.ts';

let folder: TempDir;
let project: WorktreeProject;
let door: WorktreeDoor;

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  project = await WorktreeProject.make(folder.path, { 'a.txt': 'one\n', '.gitignore': '*.log\n' });
  door = await WorktreeDoor.open(project.store, project.toolbox.root);
});

afterEach(() => folder.remove());

it('a repository inside is told, and goes only when that is wanted; all else can come back', async () => {
  const tree = await project.make();
  await commitAll(tree.path, 'work');
  await write(tree.path, { 'a.txt': 'changed\n', 'debug.log': 'log' });
  const content = await contentOf(tree.path);
  await makeRepository(join(tree.path, 'inner'));
  await project.finish(tree);
  expect(await foreseeDiscard(door, tree)).toMatchObject({
    path: tree.path,
    lost: [{ text: 'worktree_preserved:nested' }],
    kept: { commits: 1, outside: { files: 1, bytes: 3 } },
    disposable: 0,
  });
  const none = { yes: undefined, json: undefined };
  expect(await discardCommand(project.context, tree.runId, none)).toBe(0);
  expect(project.out.join('\n')).toMatch(
    /Lost for good:\n.*inner in it is a repository[\s\S]*It stays: nothing was removed/,
  );
  expect(existsSync(join(tree.path, 'inner', '.git'))).toBe(true);
  expect(await discardCommand(project.context, `${tree.runId}/1`, { ...none, yes: true })).toBe(0);
  expect(existsSync(tree.path)).toBe(false);
  expect(await project.ledger.read(tree)).toMatchObject({ state: 'removed', branchRemoved: true });
  await restore(door, tree);
  expect(await contentOf(tree.path)).toEqual(content);
  await git(project.bench.path, 'fsck', '--strict', '--no-dangling');
});

it('one that was never kept is kept first; one in use, locked or on another branch is left alone', async () => {
  const [live, locked, elsewhere, uncaptured] = [
    await project.make('live'),
    await project.make('locked'),
    await project.make('elsewhere'),
    await project.make('uncaptured'),
  ];
  await writeRun(project.project.layout.directory, { record: { runId: live.runId }, events: [], lease: await me() });
  for (const tree of [locked, elsewhere, uncaptured]) await project.finish(tree);
  await git(project.bench.path, 'worktree', 'lock', locked.path);
  await git(elsewhere.path, 'checkout', '--quiet', '-b', 'own');
  await write(uncaptured.path, { late: 'late' });
  for (const [tree, text] of [
    [live, 'users'],
    [locked, 'locked'],
    [elsewhere, 'replaced'],
  ] as const) {
    await expect(discardWorktree(door, tree)).rejects.toMatchObject({ code: 'worktree_preserved' });
    await expect(foreseeDiscard(door, tree), text).rejects.toMatchObject({ code: 'worktree_preserved' });
    expect(existsSync(join(tree.path, 'a.txt'))).toBe(true);
  }
  expect(await discardWorktree(door, uncaptured)).toEqual({ worktreeRemoved: true, branchRemoved: true, reasons: [] });
  await restore(door, uncaptured);
  expect(existsSync(join(uncaptured.path, 'late'))).toBe(true);
});

/** Commits of a worktree are kept wherever they are; what no capture can hold is said. */
import { mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KeptCapture } from '../../src/core/worktrees/index.ts';
import type { WorktreeRecord } from '../../src/protocol/index.ts';
import { commitAll, git, makeRepository, write } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { Bench } from '../support/worktrees.ts';

let folder: TempDir;
let bench: Bench;
let tree: WorktreeRecord;
const at = (...parts: string[]) => join(folder.path, ...parts);
const inTree = (...parts: string[]) => join(tree.path, ...parts);

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  await mkdir(at('store'));
  bench = await Bench.make(at('repo'), at('store'), {
    'a.txt': 'one\n',
    'src/b.txt': 'two\n',
    '.gitignore': 'build/\n*.log\nnode_modules\n',
  });
  tree = await bench.one();
});

afterEach(() => folder.remove());

const blockers = ({ capture }: KeptCapture) => capture.blockers.map(({ text }) => text?.split(':')[1]);
const parentsOf = async (commit: string | undefined) =>
  (await git(bench.path, 'rev-list', '--parents', '--max-count=1', commit ?? '')).split(' ').slice(1);

/** Whether a commit is still there when nothing but the refs speaks for it. */
async function isReachable(commit: string): Promise<boolean> {
  return (await git(bench.path, 'rev-list', '--all')).split('\n').includes(commit);
}

describe('commits', () => {
  it('B02 are kept under a ref, whatever branch they are on and wherever HEAD was moved', async () => {
    await write(tree.path, { y: 'y' });
    const own = await commitAll(tree.path, 'own');
    await git(tree.path, 'checkout', '--quiet', '-b', 'other');
    const other = await commitAll(tree.path, 'other');
    await git(tree.path, 'checkout', '--quiet', '--detach');
    const detached = await commitAll(tree.path, 'detached');
    await git(tree.path, 'reset', '--quiet', '--hard', tree.base);
    const kept = await bench.capture(tree);
    expect(kept.capture).toMatchObject({ changed: true, commits: 3, head: tree.base, blockers: [] });
    expect(kept.capture.branch).toBeUndefined();
    expect(kept.capture.patch).toBeUndefined();
    expect((await bench.remove(tree, kept)).worktreeRemoved).toBe(true);
    await git(bench.path, 'branch', '-D', 'other');
    for (const commit of [own, other, detached]) expect(await isReachable(commit)).toBe(true);
  });

  it('that were amended or dropped are kept too', async () => {
    await write(tree.path, { y: 'first try' });
    const first = await commitAll(tree.path, 'try');
    await write(tree.path, { y: 'second try' });
    await git(tree.path, 'commit', '--quiet', '--all', '--amend', '-m', 'again');
    const kept = await bench.capture(tree);
    expect(kept.capture).toMatchObject({ commits: 2, tips: [{ commit: first, name: 'reflog' }] });
    await bench.remove(tree, kept);
    expect(await isReachable(first)).toBe(true);
  });

  it('of a branch that was begun anew are kept beside the old ones', async () => {
    await write(tree.path, { y: 'y' });
    const own = await commitAll(tree.path, 'own');
    await git(tree.path, 'checkout', '--quiet', '--orphan', 'fresh');
    const unborn = await bench.capture(tree);
    expect(unborn.capture.head).toBeUndefined();
    expect(unborn.capture).toMatchObject({ branch: 'fresh', commits: 1 });
    const fresh = await commitAll(tree.path, 'fresh');
    const kept = await bench.capture(tree);
    await bench.remove(tree, kept);
    await git(bench.path, 'branch', '-D', 'fresh');
    for (const commit of [own, fresh]) expect(await isReachable(commit)).toBe(true);
  });

  it('in stashes of this worktree are kept, those of others are not taken for its', async () => {
    await write(bench.path, { 'a.txt': 'of the person' });
    await git(bench.path, 'stash', 'push', '--quiet');
    await write(tree.path, { 'a.txt': 'stashed', 'untracked.txt': 'too' });
    await git(tree.path, 'stash', 'push', '--quiet', '--include-untracked');
    const [stash = '', untracked = ''] = (await git(tree.path, 'rev-parse', 'stash@{0}', 'stash@{0}^3')).split('\n');
    const kept = await bench.capture(tree);
    expect(kept.capture).toMatchObject({
      changed: true,
      commits: 3,
      tips: [{ commit: stash, name: 'refs/stash' }],
    });
    await git(bench.path, 'stash', 'clear');
    for (const commit of [stash, untracked]) expect(await isReachable(commit)).toBe(true);
  });

  it('in a stash that names its branch as git before 2.36 did are kept', async () => {
    await write(tree.path, { 'a.txt': 'stashed' });
    const stash = await git(tree.path, 'stash', 'create');
    const name = tree.branch.split('/').at(-1);
    await git(tree.path, 'stash', 'store', '--message', `WIP on ${name}: 0123456 first`, stash);
    const other = await git(bench.path, 'commit-tree', '-m', 'another', 'HEAD^{tree}');
    await git(bench.path, 'stash', 'store', '--message', 'WIP on elsewhere: 0123456 first', other);
    await git(tree.path, 'reset', '--quiet', '--hard');
    const { capture } = await bench.capture(tree);
    expect(capture.tips).toEqual([{ commit: stash, name: 'refs/stash' }]);
  });

  it('also what was only staged is kept', async () => {
    await write(tree.path, { 'staged.txt': 'staged and then deleted' });
    await git(tree.path, 'add', '--all');
    await rm(inTree('staged.txt'));
    const { capture } = await bench.capture(tree);
    expect(capture.changed).toBe(true);
    const commit = capture.kept?.commit ?? '';
    const [, staged = ''] = await parentsOf(commit);
    expect(await git(bench.path, 'show', `${staged}:staged.txt`)).toBe('staged and then deleted');
  });
});

describe('what no capture can hold', () => {
  it('is a repository inside, wherever git would not look', async () => {
    for (const path of ['untracked repo', 'build/ignored', 'src/inner', 'node_modules/pkg']) {
      await makeRepository(inTree(path), { 'mine.txt': 'x' });
      const kept = await bench.capture(tree);
      expect(kept.capture.blockers, path).toMatchObject([{ text: 'worktree_preserved:nested', params: { path } }]);
      expect(await bench.remove(tree, kept)).toMatchObject({ worktreeRemoved: false });
      expect(await readFile(inTree(path, 'mine.txt'), 'utf8')).toBe('x');
      await rm(inTree(path), { recursive: true });
    }
    await git(tree.path, 'worktree', 'add', '--quiet', '--detach', inTree('another'));
    expect(blockers(await bench.capture(tree))).toEqual(['nested']);
  });

  it('is another worktree of the repository inside of it', async () => {
    await git(tree.path, 'worktree', 'add', '--quiet', '-b', 'inner', inTree('inner tree'));
    const made = await commitAll(inTree('inner tree'), 'in the inner one');
    await write(inTree('inner tree'), { 'new.txt': 'not committed' });
    const kept = await bench.capture(tree);
    expect(kept.capture.blockers).toMatchObject([{ code: 'worktree_preserved' }]);
    expect(kept.capture.blockers[0]?.message).toContain('inner tree');
    expect((await bench.remove(tree, kept)).worktreeRemoved).toBe(false);
    expect(await readFile(inTree('inner tree', 'new.txt'), 'utf8')).toBe('not committed');
    expect(await git(bench.path, 'rev-parse', 'inner')).toBe(made);
  });

  it('is an operation of git that is not finished', async () => {
    await git(tree.path, 'checkout', '--quiet', '-b', 'theirs');
    await write(tree.path, { 'a.txt': 'theirs\n' });
    await commitAll(tree.path, 'theirs');
    await git(tree.path, 'checkout', '--quiet', tree.branch);
    await write(tree.path, { 'a.txt': 'ours\n' });
    await commitAll(tree.path, 'ours');
    await git(tree.path, 'merge', '--quiet', 'theirs').catch(() => undefined);
    const kept = await bench.capture(tree);
    expect(kept.capture.blockers).toMatchObject([{ params: { operation: 'merge' } }]);
    // Conflicts and all: the file with its marks, and each side.
    expect(await git(bench.path, 'show', `${kept.capture.kept?.commit}:a.txt`)).toContain('<<<<<<<');
    const staged = (await parentsOf(kept.capture.kept?.commit)).at(-1);
    expect(await git(bench.path, 'show', `${staged}:stage-3/a.txt`)).toBe('theirs');
    await git(tree.path, 'merge', '--abort');
    expect(blockers(await bench.capture(tree))).toEqual([]);
  });

  it('is work in a submodule; one that is as it was checked out is no reason to stay', async () => {
    const lib = await makeRepository(at('lib'), { 'lib.txt': 'lib', '.gitignore': '*.log\nnode_modules\n' });
    await git(bench.path, 'submodule', '--quiet', 'add', lib, 'vendor/lib');
    await commitAll(bench.path, 'submodule');
    tree = await bench.one();
    // Nobody has filled it: its folder is empty.
    expect(blockers(await bench.capture(tree))).toEqual([]);
    await git(tree.path, 'submodule', '--quiet', 'update', '--init');
    expect(blockers(await bench.capture(tree))).toEqual([]);
    const inside = inTree('vendor', 'lib');
    const steps: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
      ['a change', () => write(inside, { 'lib.txt': 'changed' }), () => git(inside, 'checkout', '--', '.')],
      ['a new file', () => write(inside, { new: 'x' }), () => rm(join(inside, 'new'))],
      ['an ignored file', () => write(inside, { 'x.log': 'x' }), () => rm(join(inside, 'x.log'))],
      [
        'a hidden change',
        () => git(inside, 'update-index', '--skip-worktree', 'lib.txt'),
        () => git(inside, 'update-index', '--no-skip-worktree', 'lib.txt'),
      ],
    ];
    for (const [what, make, undo] of steps) {
      await make();
      expect(blockers(await bench.capture(tree)), what).toEqual(['submodule']);
      await undo();
      expect(blockers(await bench.capture(tree)), what).toEqual([]);
    }
    await write(inside, { 'node_modules/x': 'x' });
    const clean = await bench.capture(tree);
    expect(blockers(clean)).toEqual([]);
    const away = await bench.remove(tree, clean);
    expect(away).toEqual({ worktreeRemoved: true, branchRemoved: true, reasons: [] });
    tree = await bench.one();
    await git(tree.path, 'submodule', '--quiet', 'update', '--init');
    await write(inTree('vendor', 'lib'), { 'lib.txt': 'committed' });
    await commitAll(inTree('vendor', 'lib'), 'work');
    expect(blockers(await bench.capture(tree))).toEqual(['submodule']);
    await git(inTree('vendor', 'lib'), 'reset', '--quiet', '--hard', 'HEAD~1');
    expect(blockers(await bench.capture(tree))).toEqual(['submodule']);
  });

  it('is nothing of pipes and empty folders: they have no content', async () => {
    await mkdir(inTree('empty', 'deep'), { recursive: true });
    const { capture } = await bench.capture(tree);
    expect(capture).toMatchObject({ changed: false, blockers: [] });
    await symlink('a.txt', inTree('link.log'));
    expect((await bench.capture(tree)).capture.outside.listed).toMatchObject([{ kind: 'link', path: 'link.log' }]);
  });
});

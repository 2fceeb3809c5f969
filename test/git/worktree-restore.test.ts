/** What was removed comes back as it was: files, modes, links, what was staged, HEAD, branches, and what git did not have. */
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { restoreCommand } from '../../src/cli/commands/restore.ts';
import { applyCleanup, planCleanup, restore, WorktreeDoor } from '../../src/client/index.ts';
import { keptRef, removeTracked } from '../../src/core/worktrees/index.ts';
import { toErrorValue, type WorktreeRecord } from '../../src/protocol/index.ts';
import { numbersFrom } from '../support/random-numbers.ts';
import { act, BEGINNING, type Facts } from '../support/random-work.ts';
import { commitAll, git, stateOf, write } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { contentOf } from '../support/worktree-content.ts';
import { WorktreeProject } from '../support/worktree-project.ts';

const SOAK = process.env['PI_LANES_SOAK'] !== undefined;
const ROUNDS = SOAK ? 500 : 50;

let folder: TempDir;
let project: WorktreeProject;
let door: WorktreeDoor;
const at = (...parts: string[]) => join(folder.path, ...parts);

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  project = await WorktreeProject.make(folder.path, BEGINNING);
  door = await WorktreeDoor.open(project.store, project.toolbox.root);
});

afterEach(() => folder.remove());

async function remove(...trees: WorktreeRecord[]): Promise<void> {
  const { plan } = await planCleanup(door);
  const results = await applyCleanup(door, plan.planId, { only: trees.map(({ path }) => path) });
  for (const one of results)
    expect(one).toMatchObject({ removed: true, branchRemoved: true, reasons: [], clearing: [] });
}

/** Everything that is to be the same again, besides the content of files. */
async function standOf(tree: WorktreeRecord): Promise<string[]> {
  const ask = (...args: string[]) => git(tree.path, ...args).catch(() => 'none');
  return Promise.all([
    ask('rev-parse', 'HEAD'),
    ask('symbolic-ref', '--quiet', 'HEAD'),
    ask('rev-parse', '--verify', '--quiet', `refs/heads/${tree.branch}`),
    ask('write-tree'),
    ask('rev-parse', '--absolute-git-dir'),
  ]);
}

async function wholeWork(tree: WorktreeRecord): Promise<void> {
  await write(tree.path, { a: 'committed\n', 'new ü.txt': 'new' });
  await commitAll(tree.path, 'work');
  await write(tree.path, { a: 'staged\n', 'only staged': 'x' });
  await git(tree.path, 'add', '--all');
  await write(tree.path, { a: 'and more\n', 'debug.log': 'log', 'build/out': 'built', untracked: 'x' });
  await rm(join(tree.path, 'only staged'));
  await rm(join(tree.path, 'b c.txt'));
  await chmod(join(tree.path, 'src/файл'), 0o755);
  await chmod(join(tree.path, 'debug.log'), 0o640);
  await symlink('/etc/passwd', join(tree.path, 'build/link'));
}

it('comes back whole, and can go and come back again', async () => {
  const tree = await project.make();
  await wholeWork(tree);
  await project.finish(tree);
  const [content, stand, status] = [
    await contentOf(tree.path),
    await standOf(tree),
    await git(tree.path, 'status', '--porcelain'),
  ];
  for (let again = 0; again < 2; again++) {
    await remove(tree);
    expect(existsSync(tree.path)).toBe(false);
    const { record, warnings } = await restore(door, tree);
    expect(warnings).toEqual([]);
    expect(record).toMatchObject({ path: tree.path, branch: tree.branch, gitFolder: tree.gitFolder, synthetic: [] });
    expect(await contentOf(tree.path)).toEqual(content);
    expect(await standOf(tree)).toEqual(stand);
    expect(await git(tree.path, 'status', '--porcelain')).toBe(status);
    expect(await project.ledger.read(tree)).toMatchObject({ state: 'captured' });
  }
  await git(project.bench.path, 'fsck', '--strict', '--no-dangling');
});

it('one without a change, one on no branch, and one on another branch come back as they were', async () => {
  const [same, detached, other] = [
    await project.make('same'),
    await project.make('detached'),
    await project.make('other'),
  ];
  await git(detached.path, 'checkout', '--quiet', '--detach');
  await commitAll(detached.path, 'loose');
  await git(other.path, 'checkout', '--quiet', '-b', 'own');
  await commitAll(other.path, 'own work');
  for (const tree of [same, detached, other]) {
    await project.finish(tree);
    const stand = await standOf(tree);
    await remove(tree);
    await restore(door, tree);
    expect(await standOf(tree)).toEqual(stand);
  }
});

describe('what is in the way', () => {
  const removed = async () => {
    const tree = await project.make();
    await wholeWork(tree);
    await project.finish(tree);
    await remove(tree);
    return tree;
  };

  it.each<[string, (tree: WorktreeRecord) => Promise<unknown>, string]>([
    ['a folder', (tree) => mkdir(tree.path, { recursive: true }), 'path'],
    ['a branch that stands elsewhere', (tree) => git(project.bench.path, 'branch', tree.branch), 'branch'],
    [
      'a commit that is gone',
      async (tree) => {
        const commit = await git(project.bench.path, 'rev-parse', keptRef(tree));
        await git(project.bench.path, 'update-ref', '-d', keptRef(tree));
        await rm(join(project.bench.path, '.git', 'objects', commit.slice(0, 2), commit.slice(2)));
      },
      'commits',
    ],
    [
      'a copy that is damaged',
      async (tree) => {
        const entry = await project.ledger.read(tree);
        if (entry && 'capture' in entry) await writeFile(join(entry.capture, 'files', 'debug.log'), 'LOG');
      },
      'copy',
    ],
  ])('%s: it is refused, and nothing is changed', async (_what, change, text) => {
    const tree = await removed();
    await change(tree);
    const before = await stateOf(project.bench.path);
    const error = await restore(door, tree).catch(toErrorValue);
    expect(error).toMatchObject({ code: 'restore_refused', text: `restore_refused:${text}` });
    expect(await stateOf(project.bench.path)).toEqual(before);
    expect(await project.ledger.read(tree)).toMatchObject({ state: 'removed', branchRemoved: true });
  });

  it('nothing but the ref that keeps it: it comes back, and is kept again', async () => {
    const tree = await removed();
    const commit = await git(project.bench.path, 'rev-parse', keptRef(tree));
    await git(project.bench.path, 'update-ref', '-d', keptRef(tree));
    await restore(door, tree);
    expect(await git(project.bench.path, 'rev-parse', keptRef(tree))).toBe(commit);
  });

  it('one that was never removed is not brought back; without a name the only one is meant', async () => {
    const tree = await project.make();
    await project.finish(tree);
    await expect(restoreCommand(project.context, tree.runId, {})).rejects.toThrow('it was not removed, it is captured');
    await remove(tree);
    expect(await restoreCommand(project.context, `${tree.runId}/1`, {})).toBe(0);
    expect(project.out.at(-1)).toBe(`back  ${tree.branch}  ${tree.runId}/1\n    ${tree.path}`);
    await expect(restoreCommand(project.context, `${tree.runId}/nobody`, {})).rejects.toMatchObject({
      code: 'child_unknown',
    });
  });
});

describe('a try that died', () => {
  const dying = async () => {
    const tree = await project.make();
    await wholeWork(tree);
    const kept = await project.finish(tree);
    const content = await contentOf(tree.path);
    await remove(tree);
    await project.ledger.change(tree, (entry) => {
      if (entry.state !== 'removed') throw new Error(entry.state);
      const { branchRemoved: _, reasons: __, ...own } = entry;
      return { ...own, state: 'restoring' };
    });
    return { tree, kept, content };
  };

  it('before git was asked, or with the worktree half there: it is done anew', async () => {
    const { tree, content } = await dying();
    const stand = (await project.ledger.read(tree)) as { branchTip?: string };
    await git(
      project.bench.path,
      'worktree',
      'add',
      '--quiet',
      '--no-checkout',
      '--detach',
      tree.path,
      stand.branchTip ?? '',
    );
    await write(tree.path, { 'src/файл': { content: Buffer.from([0, 1, 2, 255]), mode: 0o755 } });
    await git(tree.path, 'read-tree', '--empty');
    await restore(door, tree);
    expect(await contentOf(tree.path)).toEqual(content);
    expect(await project.ledger.read(tree)).toMatchObject({ state: 'captured' });
  });

  it('behind the last step: what is there is adopted, with what somebody has added since', async () => {
    const { tree, content } = await dying();
    await restore(door, tree);
    await project.ledger.change(tree, (entry) => {
      if (entry.state !== 'captured') throw new Error(entry.state);
      return { ...entry, state: 'restoring' };
    });
    await write(tree.path, { 'later.log': 'later' });
    await restore(door, tree);
    const now = await contentOf(tree.path);
    expect(now.get('later.log')).toBeDefined();
    for (const [path, what] of content) expect(now.get(path), path).toBe(what);
  });

  it('and somebody has worked in what was half there: it is left alone', async () => {
    const { tree } = await dying();
    await git(project.bench.path, 'worktree', 'add', '--quiet', '--detach', tree.path);
    await write(tree.path, { mine: 'mine' });
    await expect(restore(door, tree)).rejects.toThrow('somebody has worked in');
    expect(await readFile(join(tree.path, 'mine'), 'utf8')).toBe('mine');
    expect(await project.ledger.read(tree)).toMatchObject({ state: 'restoring' });
  });
});

const SEEDS = [20_261_202, Math.floor(Math.random() * 2 ** 31)];

it.each(SEEDS)(
  'whatever a child has done comes back after capture and clean-up (seed %i)',
  async (seed) => {
    const random = numbersFrom(seed);
    const mine = at('mine');
    await git(project.bench.path, 'worktree', 'add', '--quiet', '-b', 'mine', mine);
    await write(mine, { stashed: 'x' });
    await git(mine, 'stash', 'push', '--quiet', '--include-untracked');
    await write(mine, { dirty: 'x' });
    const stash = await git(mine, 'rev-parse', 'refs/stash');
    for (let round = 0; round < ROUNDS / SEEDS.length; round++) {
      const where = `seed ${seed}, round ${round}`;
      const tree = await project.make(`round ${round}`);
      const facts: Facts = { commits: new Set(), nested: false };
      for (let step = 2 + Math.floor(random() * 6); step > 0; step--) await act(random, tree, facts);
      if (facts.nested) continue;
      const [content, stand] = [await contentOf(tree.path), await standOf(tree)];
      await project.finish(tree);
      const options = { git: door.git, lock: project.lock, ledger: project.ledger, handOver: async () => undefined };
      const removal = await removeTracked(tree, { ...options, livenessOf: async () => 'ended' });
      expect(removal, where).toEqual({ worktreeRemoved: true, branchRemoved: true, reasons: [] });
      expect(existsSync(tree.path), where).toBe(false);
      await restore(door, tree);
      expect(await contentOf(tree.path), where).toEqual(content);
      expect(await standOf(tree), where).toEqual(stand);
      const reachable = new Set((await git(project.bench.path, 'rev-list', '--all')).split('\n'));
      // Where a child had nothing to stash, it was told that of the person.
      facts.commits.delete(stash);
      for (const made of facts.commits) expect(reachable.has(made), `${where}, commit ${made}`).toBe(true);
    }
    await git(project.bench.path, 'fsck', '--strict', '--no-dangling');
    expect(await git(mine, 'status', '--porcelain')).toBe('?? dirty');
    expect((await git(mine, 'reflog', 'show', '--format=%H', 'refs/stash')).split('\n')).toContain(stash);
  },
  SOAK ? 3_600_000 : 240_000,
);

/** A plan says what may go and changes nothing; applied, it removes exactly that, and whatever has changed since stays. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  cleanupApplyCommand,
  cleanupFinishCommand,
  cleanupPlanCommand,
} from '../../src/cli/commands/cleanup-worktrees.ts';
import {
  type ApplyOptions,
  applyCleanup,
  cleanupAction,
  finishCleanup,
  planCleanup,
  readOverview,
  recordMerge,
  WorktreeDoor,
} from '../../src/client/index.ts';
import { keptRef } from '../../src/core/worktrees/index.ts';
import { type CleanupEntry, type CleanupPlan, PLAN_MS, type WorktreeRecord } from '../../src/protocol/index.ts';
import { commitAll, git, makeRepository, stateOf, write } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { WorktreeProject } from '../support/worktree-project.ts';
import { me, writeRun } from '../unit/builders/run.ts';

const SOAK = process.env['PI_LANES_SOAK'] !== undefined;
const FILES = SOAK ? 200_000 : 5000;

let folder: TempDir;
let project: WorktreeProject;
let door: WorktreeDoor;
const at = (...parts: string[]) => join(folder.path, ...parts);

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  project = await WorktreeProject.make(folder.path, { 'a.txt': 'one\n', '.gitignore': '*.log\nnode_modules\n' });
  door = await WorktreeDoor.open(project.store, project.toolbox.root);
});

afterEach(() => folder.remove());

const plan = async () => (await planCleanup(door, { folder: project.bench.path })).plan;
const entryOf = ({ entries }: CleanupPlan, tree: WorktreeRecord): CleanupEntry => {
  const found = entries.find(({ path }) => path === tree.path);
  if (!found) throw new Error(`the plan says nothing of ${tree.path}`);
  return found;
};
const verdict = async (tree: WorktreeRecord) => {
  const { decision, state, selected, reasons } = entryOf(await plan(), tree);
  return [decision, state, selected, reasons[0]?.text ?? reasons[0]?.code];
};
const overviewed = async () => (await readOverview(project.store)).flatMap(({ worktrees }) => worktrees);
const apply = ({ planId }: CleanupPlan, options: ApplyOptions = {}) => applyCleanup(door, planId, options);

async function worked(label = 'fix'): Promise<WorktreeRecord> {
  const tree = await project.make(label);
  await write(tree.path, { 'a.txt': 'changed\n' });
  await commitAll(tree.path, 'work');
  await write(tree.path, { 'new.txt': 'new', 'debug.log': 'log', 'node_modules/x': 'x' });
  await project.finish(tree);
  return tree;
}

const attest = (tree: WorktreeRecord) =>
  recordMerge(project.store, tree.runId, {
    prNumber: 1,
    reviewedHead: 'a'.repeat(40),
    mergeCommit: 'b'.repeat(40),
    treeEquivalent: true,
    postMergeChecks: 'recorded',
    attestedBy: 'me',
    attestedAt: '2026-01-31T12:00:00Z',
  });

describe('a plan', () => {
  it('says of each what it would lose and where that is kept, and changes nothing', async () => {
    const tree = await worked();
    const before = await stateOf(project.bench.path);
    const { plan: made, path } = await planCleanup(door, { folder: project.bench.path });
    expect(await stateOf(project.bench.path)).toEqual(before);
    expect(existsSync(join(tree.path, 'debug.log'))).toBe(true);
    expect(made.expiresAt - made.createdAt).toBe(30 * 60_000);
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(made);
    const entry = entryOf(made, tree);
    expect(entry).toMatchObject({ decision: 'remove', state: 'safe', source: 'both', willDeleteBranch: true });
    expect(entry.losses).toMatchObject([
      { kind: 'commits', count: 1, keptAt: keptRef(tree) },
      { kind: 'files', count: 2, keptAt: expect.stringContaining('changes.patch') },
      { kind: 'outside', count: 1, bytes: 3, keptAt: expect.stringMatching(/files$/) },
      { kind: 'disposable', count: 1, keptAt: null },
      { kind: 'branch', count: 1, keptAt: keptRef(tree) },
    ]);
    for (const { keptAt } of entry.losses) if (keptAt?.startsWith('/')) expect(existsSync(keptAt), keptAt).toBe(true);
  });

  it('chooses by itself what holds nothing, and what was attested as merged; other work only when it is named', async () => {
    const [empty, open, merged] = [await project.make('empty'), await worked('open'), await worked('merged')];
    await project.finish(empty);
    await attest(merged);
    const made = await plan();
    expect([empty, open, merged].map((tree) => entryOf(made, tree).selected)).toEqual([true, false, true]);
    expect(entryOf(made, open).reasons).toMatchObject([{ text: 'worktree_preserved:unattested' }]);
  });

  it('keeps what may be worked in, was interrupted, is not kept as it is, or is not certain', async () => {
    const live = await project.make('live');
    await writeRun(project.project.layout.directory, { record: { runId: live.runId }, events: [], lease: await me() });
    const paused = await project.make('paused');
    await project.finish(paused, 'paused');
    const changed = await worked('changed');
    await write(changed.path, { late: 'late' });
    const nested = await project.make('nested');
    await makeRepository(join(nested.path, 'inner'));
    await project.finish(nested);
    const locked = await worked('locked');
    await git(project.bench.path, 'worktree', 'lock', locked.path);
    const missing = await worked('missing');
    await rm(missing.path, { recursive: true });
    const link = await worked('link');
    await rm(link.path, { recursive: true });
    await symlink(project.bench.path, link.path);
    const damaged = await worked('damaged');
    await writeFile(join(project.ledger.directoryOf(damaged.runId), '1.json'), '{');
    expect(await verdict(live)).toEqual(['keep', 'active', false, 'worktree_preserved:users']);
    expect(await verdict(paused)).toEqual(['keep', 'ineligible', false, 'worktree_preserved:resumable']);
    expect(await verdict(changed)).toEqual(['keep', 'dirty', false, 'worktree_preserved:changed']);
    expect(await verdict(nested)).toEqual(['keep', 'ineligible', false, 'worktree_preserved:nested']);
    expect(await verdict(locked)).toEqual(['keep', 'ineligible', false, 'worktree_preserved:locked']);
    expect(await verdict(missing)).toEqual(['unknown', 'stale', false, 'worktree_preserved:missing']);
    expect(await verdict(link)).toEqual(['unknown', 'unknown', false, 'worktree_preserved:replaced']);
    const made = await plan();
    expect(made.entries.find(({ runId }) => runId === damaged.runId)).toMatchObject({
      decision: 'unknown',
      reasons: [{ code: 'worktree_ledger_unreadable' }],
    });
    expect(made.entries.filter(({ decision }) => decision === 'remove')).toEqual([]);
    for (const tree of [paused, changed, nested, locked])
      await expect(apply(made, { only: [tree.path] })).rejects.toMatchObject({ code: 'cleanup_refused' });
  });

  it('names those of the person, and none of them can be chosen', async () => {
    await git(project.bench.path, 'worktree', 'add', '--quiet', '-b', 'mine', at('mine'));
    await git(project.bench.path, 'worktree', 'add', '--quiet', '-b', 'pi-lanes/lost', at('lost'));
    const made = await plan();
    expect(made.entries.map(({ branch, decision, source }) => [branch, decision, source])).toEqual([
      ['pi-lanes/lost', 'unknown', 'git'],
      ['mine', 'keep', 'git'],
    ]);
    await expect(apply(made, { only: ['mine'] })).rejects.toThrow('never touched');
    expect(await apply(made)).toEqual([]);
    expect(existsSync(at('mine', 'a.txt'))).toBe(true);
  });

  it('applied by two at once removes each once, and it stays removed', async () => {
    const trees = [await worked('one'), await worked('two'), await worked('three')];
    for (const tree of trees) await attest(tree);
    const made = await plan();
    const other = await WorktreeDoor.open(project.store, project.toolbox.root);
    await Promise.all([apply(made), applyCleanup(other, made.planId, {}), apply(made)]);
    expect((await project.ledger.list()).map(({ entry }) => entry?.state)).toEqual(['removed', 'removed', 'removed']);
    for (const { path } of trees) expect(existsSync(path)).toBe(false);
  });

  it('that is changed, unknown or too old is refused, and nothing is removed', async () => {
    const tree = await project.make();
    await project.finish(tree);
    const { plan: made, path } = await planCleanup(door);
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('"selected": true', '"selected": false'));
    await expect(apply(made)).rejects.toThrow('not as it was written');
    await writeFile(path, text);
    await expect(apply(made, { now: made.expiresAt + 1 })).rejects.toThrow('too long ago');
    await expect(applyCleanup(door, '../../x')).rejects.toThrow('no plan');
    await expect(apply(made, { only: ['other'] })).rejects.toThrow('says nothing of');
    expect(existsSync(tree.path)).toBe(true);
    expect(await apply(made, { now: made.createdAt + PLAN_MS })).toMatchObject([{ removed: true }]);
  });

  it('of a tool is a plan and nothing else', async () => {
    for (const input of [{}, { mode: 'apply' }, { mode: 'plan', planId: 'x' }])
      await expect(cleanupAction(door, input)).rejects.toMatchObject({ code: 'cleanup_refused' });
    expect((await cleanupAction(door, { mode: 'plan' })).plan.entries).toEqual([]);
  });
});

describe('applied', () => {
  it('removes what was chosen with its branch; what it held is kept; others and the repository are as they were', async () => {
    const before = await stateOf(project.bench.path);
    const [tree, other] = [await worked('one'), await worked('other')];
    const otherBefore = await git(other.path, 'status', '--porcelain', '--branch', '--ignored');
    const result = await apply(await plan(), { only: [`${tree.runId}/1`] });
    expect(result).toEqual([
      {
        path: tree.path,
        branch: tree.branch,
        runId: tree.runId,
        child: 1,
        removed: true,
        branchRemoved: true,
        reasons: [],
        clearing: [],
      },
    ]);
    expect(existsSync(tree.path)).toBe(false);
    expect(await project.ledger.read(tree)).toMatchObject({ state: 'removed', branchRemoved: true });
    expect(await git(project.bench.path, 'show', `${keptRef(tree)}:new.txt`)).toBe('new');
    expect(await git(other.path, 'status', '--porcelain', '--branch', '--ignored')).toBe(otherBefore);
    await apply(await plan(), { only: [other.branch] });
    const after = (await stateOf(project.bench.path)).filter((line) => !line.startsWith('refs/pi-lanes/kept/'));
    expect(after).toEqual(before);
    expect(existsSync(at('repo.worktrees'))).toBe(false);
  });

  it('asks each once more: what has changed since the plan stays with what has changed, and the others go', async () => {
    const trees = {
      commit: await worked('commit'),
      file: await worked('file'),
      ignored: await worked('ignored'),
      kept: await worked('kept'),
      ref: await worked('ref'),
      joined: await worked('joined'),
      attested: await worked('attested'),
      same: await worked('same'),
    };
    const made = await plan();
    await commitAll(trees.commit.path, 'late');
    await write(trees.file.path, { late: 'late' });
    await write(trees.ignored.path, { 'late.log': 'late' });
    await write(trees.kept.path, { late: 'late' });
    await project.keep(trees.kept);
    await git(project.bench.path, 'update-ref', '-d', keptRef(trees.ref));
    await project.ledger.join(trees.joined, { runId: trees.same.runId, child: 1 });
    await attest(trees.attested);
    const results = await apply(made, { only: Object.values(trees).map(({ path }) => path) });
    const told = Object.fromEntries(
      Object.keys(trees).map((name, n) => [name, results[n]?.removed || `${results[n]?.reasons[0]?.text}`]),
    );
    expect(told).toEqual({
      commit: 'worktree_preserved:other-now',
      file: 'worktree_preserved:changed',
      ignored: 'worktree_preserved:changed',
      kept: 'worktree_preserved:other-now',
      ref: 'worktree_preserved:other-now',
      joined: 'worktree_preserved:other-now',
      attested: 'worktree_preserved:other-now',
      same: true,
    });
    const changes = results.map(({ reasons }) => String(reasons[0]?.params?.['changes'] ?? ''));
    expect(changes[0]).toMatch(/^HEAD was [0-9a-f]{40}, and is [0-9a-f]{40}; the tip of its branch was/);
    expect(changes[4]).toContain('the commit that keeps it was');
    expect(changes[5]).toContain('its state was captured, and is made');
    expect(changes[6]).toContain('what was attested was terminal-blocked, and is terminal-eligible');
    for (const [name, { path }] of Object.entries(trees)) expect(existsSync(path), name).toBe(name !== 'same');
    expect(await readFile(join(trees.file.path, 'late'), 'utf8')).toBe('late');
  });

  it('what is not handed over stays', async () => {
    const tree = await worked();
    const made = await plan();
    await rm(join(project.store.directoryOf(tree.runId), 'handoff.json'));
    // Without a manifest its eligibility is another one.
    expect(await apply(made, { only: [tree.path] })).toMatchObject([{ removed: false }]);
    expect(await apply(await plan(), { only: [tree.path] })).toMatchObject([
      { removed: false, reasons: [{ text: 'worktree_preserved:handoff' }] },
    ]);
    expect(await project.ledger.read(tree)).toMatchObject({ state: 'captured' });
  });

  it('applied twice says the same', async () => {
    const tree = await worked();
    const made = await plan();
    const once = await apply(made, { only: [tree.path] });
    expect(await apply(made, { only: [tree.path] })).toEqual(once);
  });

  it('B18 a worktree with submodules goes, and its submodule stays as it is in the repository', async () => {
    const inner = await makeRepository(at('inner'));
    await git(project.bench.path, '-c', 'protocol.file.allow=always', 'submodule', 'add', '--quiet', inner, 'sub');
    await commitAll(project.bench.path, 'with a submodule');
    const tree = await project.make();
    await git(tree.path, '-c', 'protocol.file.allow=always', 'submodule', 'update', '--init', '--quiet');
    expect(existsSync(join(tree.path, 'sub', 'a.txt'))).toBe(true);
    await write(tree.path, { 'a.txt': 'changed' });
    await project.finish(tree);
    expect(await apply(await plan(), { only: [tree.path] })).toMatchObject([{ removed: true, reasons: [] }]);
    expect(existsSync(join(project.bench.path, 'sub', 'a.txt'))).toBe(true);
    await git(project.bench.path, 'fsck', '--strict', '--no-dangling');
  });

  it('B08 what a link leads to is not followed when the files are deleted', async () => {
    await write(at('shared'), { sentinel: 'alive', 'deep/sentinel': 'alive' });
    const tree = await project.make();
    await symlink(at('shared'), join(tree.path, 'node_modules'), 'junction');
    await mkdir(join(tree.path, 'deep'));
    await symlink(at('shared'), join(tree.path, 'deep', 'linked.log'), 'junction');
    await project.finish(tree);
    expect(await apply(await plan(), { only: [tree.path] })).toMatchObject([{ removed: true, clearing: [] }]);
    for (const path of ['sentinel', 'deep/sentinel']) expect(await readFile(at('shared', path), 'utf8')).toBe('alive');
  });
});

describe('B24 many files and little time', () => {
  it(
    'the worktree is gone at once; its files go as time allows, and whoever comes later goes on',
    async () => {
      const tree = await project.make();
      for (let n = 0; n < FILES / 500; n++) {
        await mkdir(join(tree.path, `node_modules/${n}`), { recursive: true });
        const names = Array.from({ length: 500 }, (_, m) => join(tree.path, `node_modules/${n}/${m}`));
        await Promise.all(names.map((name) => writeFile(name, 'x')));
      }
      await project.finish(tree);
      const other = await worked('other');
      const made = await plan();
      // Hardly any time at all: even so the first is taken out of the way.
      const [first, second] = await apply(made, { only: [tree.path, other.path], timeoutMs: 1 });
      expect(first).toMatchObject({ removed: true, branchRemoved: true, clearing: [expect.stringMatching(/\.gone$/)] });
      expect(second).toMatchObject({ removed: false, reasons: [{ text: 'worktree_preserved:time' }] });
      expect(existsSync(tree.path)).toBe(false);
      expect(await project.ledger.read(tree)).toMatchObject({ state: 'removed' });
      expect((await git(project.bench.path, 'worktree', 'list')).includes(tree.path)).toBe(false);
      expect((await finishCleanup(door, AbortSignal.abort())).left).toEqual([{ path: first?.clearing[0] }]);
      expect((await overviewed()).find(({ path }) => path === tree.path)).toMatchObject({
        state: 'removed',
        clearing: true,
      });
      const counts: number[] = [];
      for (let left = 1; left > 0; ) {
        ({ length: left } = (await finishCleanup(door, AbortSignal.timeout(1000))).left);
        counts.push(left === 0 ? 0 : (await readdir(first?.clearing[0] ?? '', { recursive: true })).length);
      }
      expect(counts.at(-1)).toBe(0);
      expect(counts).toEqual([...new Set(counts)].toSorted((a, b) => b - a));
      expect(await readdir(at('repo.worktrees'))).toEqual([basename(other.path)]);
      expect(await finishCleanup(door)).toEqual({ finished: [], left: [] });
    },
    SOAK ? 1_800_000 : 120_000,
  );
});

describe('the command line', () => {
  const run = async (work: () => Promise<number>) => {
    project.out.length = 0;
    const code = await work();
    return { code, text: project.out.join('\n') };
  };

  it('shows the plan by sections, applies it, and says what came of each', async () => {
    const [empty, open] = [await project.make('empty'), await worked('open')];
    await project.finish(empty);
    await git(project.bench.path, 'worktree', 'add', '--quiet', '-b', 'mine', at('mine'));
    const planned = await run(() => cleanupPlanCommand(project.context, {}));
    expect(planned.code).toBe(0);
    const order = [
      'Will be removed:',
      empty.path,
      'May be removed when you choose it',
      open.path,
      'Stays:',
      at('mine'),
    ];
    const places = order.map((part) => planned.text.indexOf(part));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
    expect(planned.text).toContain('1 file(s) that can be made again: not kept');
    expect(planned.text).toContain('Nothing was removed.');
    const planId = /cleanup apply (\S+)$/.exec(planned.text)?.[1] ?? '';
    const none = { only: undefined, timeout: undefined, json: undefined };
    const applied = await run(() => cleanupApplyCommand(project.context, planId, none));
    expect(applied).toMatchObject({ code: 0, text: expect.stringContaining(`removed  ${empty.branch}`) });
    expect(existsSync(open.path)).toBe(true);
    await write(open.path, { late: 'late' });
    const stayed = await run(() => cleanupApplyCommand(project.context, planId, { ...none, only: [open.branch] }));
    expect(stayed).toMatchObject({ code: 1, text: expect.stringContaining('something has changed in it') });
    const finished = await run(() => cleanupFinishCommand(project.context, none));
    expect(finished).toEqual({ code: 0, text: 'Nothing is left to be finished.' });
    await expect(cleanupApplyCommand(project.context, planId, { ...none, timeout: '0' })).rejects.toThrow('--timeout');
  });
});

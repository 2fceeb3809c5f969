/** Worktrees in the Runs view: whose row they stand below, what it says of them, and what can be done with them. */
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunSnapshot } from '../../../src/client/index.ts';
import { projectLayout } from '../../../src/core/projects/index.ts';
import { Ledger } from '../../../src/core/worktrees/index.ts';
import { ITEM } from '../../../src/extension/command-ids.ts';
import { ActiveFilter } from '../../../src/extension/runs/active-filter.ts';
import type { RunsModel } from '../../../src/extension/runs/runs-model.ts';
import { SeenRuns } from '../../../src/extension/runs/seen-runs.ts';
import { type RunsNode, RunsTree } from '../../../src/extension/trees/runs/runs-tree.ts';
import { describeError, type LedgerEntry, type WorktreeView } from '../../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../../support/temp.ts';
import { somePlan } from '../builders/events.ts';
import { aWorktreeView } from '../builders/worktree-view.ts';
import { MemoryRuns } from './memory-runs.ts';
import { aSnapshot } from './snapshots.ts';
import * as editor from './vscode-stand-in.ts';
import { announced, aWorkflowSnapshot, begun, lane } from './workflows.ts';

vi.mock('vscode', async () => ({
  ...(await import('./vscode-stand-in.ts')),
  Uri: { file: (path: string) => ({ path }) },
}));

let folder: TempDir;
let model: MemoryRuns;
let tree: RunsTree;

beforeEach(async () => {
  folder = await tempDir();
  model = new MemoryRuns();
  const seen = new SeenRuns(new editor.Memento() as never);
  tree = new RunsTree(model as unknown as RunsModel, seen, new ActiveFilter(new editor.Memento() as never));
});
afterEach(async () => {
  tree.dispose();
  await folder[Symbol.asyncDispose]();
});

/** A worktree whose folder is there. */
async function made(over: Partial<WorktreeView> = {}): Promise<WorktreeView> {
  const path = join(folder.path, 'tool.worktrees', 'fix');
  await mkdir(path, { recursive: true });
  return aWorktreeView({ path, folder: path, outside: 0, ...over });
}

/** The same run in a project that can have a ledger, with worktrees for some of its children. */
function withWorktrees(snapshot: RunSnapshot, worktrees: Record<number, WorktreeView>): RunSnapshot {
  const { view, runId } = snapshot;
  if (!view) throw new Error('the run has no view');
  const children = view.children.map((child) => {
    const worktree = worktrees[child.index];
    return worktree ? { ...child, worktree } : child;
  });
  const put = { ...snapshot, directory: join(folder.path, 'project', 'runs', runId), view: { ...view, children } };
  model.put(put);
  return put;
}

async function remember({ runId, directory }: RunSnapshot, entry: Partial<LedgerEntry>): Promise<void> {
  const { worktrees } = projectLayout(dirname(dirname(directory)));
  await mkdir(dirname(worktrees), { recursive: true });
  const plan = { ...somePlan, runId, child: 1, gitFolder: '/git', madeAt: 1, synthetic: [], warnings: [] };
  const all = { version: 1, users: [{ runId, child: 1 }], plan, capture: '/kept', branchRemoved: true, reasons: [] };
  await new Ledger(worktrees).update({ runId, child: 1 }, () => ({ ...all, ...entry }) as LedgerEntry);
}

async function only(parent: RunsNode | undefined): Promise<RunsNode> {
  const [node, ...more] = await tree.getChildren(parent);
  if (!node || more.length > 0) throw new Error(`${more.length + 1} rows instead of one`);
  return node;
}

/** The row of the worktree of the only run. */
async function row() {
  const run = await only(await only(undefined));
  const node = await only(run);
  return { run, node, item: tree.getTreeItem(node) };
}

describe('the worktree of a run', () => {
  it('stands below it, folded away, with its branch, what was kept, its base and its path', async () => {
    const worktree = await made({
      capture: { file: 'children/1/worktree/capture-1/capture.json', bytes: 1, sha256: '' },
    });
    const { directory } = withWorktrees(aSnapshot('complete'), { 1: worktree });
    const { run, node, item } = await row();
    expect(tree.getTreeItem(run).collapsibleState).toBe(editor.TreeItemCollapsibleState.Collapsed);
    expect(item.label).toBe('fix');
    expect(item.description).toBe(`kept: 3 files, +4 -5, 2 commits · from aaaaaaaa · ${worktree.path}`);
    expect(item.accessibilityInformation?.label).toBe(
      `Worktree pi-lanes/fix: kept: 3 files, +4 -5, 2 commits. ${worktree.path}`,
    );
    expect(item.contextValue).toBe(ITEM.worktree);
    expect(item.iconPath).toMatchObject({ id: 'git-branch' });
    expect(item.command?.arguments).toEqual([
      { path: join(directory, 'children/1/worktree/capture-1', 'changes.patch') },
    ]);
    expect(tree.getParent(node)).toBe(run);
    expect(tree.worktreeOf(node)).toBe(worktree);
    expect(tree.worktreeOf(run)).toBeUndefined();
  });

  it('is not there for a run in the checkout, whose row opens nothing', async () => {
    withWorktrees(aSnapshot('complete'), {});
    const run = await only(await only(undefined));
    expect(tree.getTreeItem(run).collapsibleState).toBe(editor.TreeItemCollapsibleState.None);
    expect(await tree.getChildren(run)).toEqual([]);
  });

  it.each([
    ['planned', 'being made', 'git-branch', ITEM.absentWorktree],
    ['made', 'being made ready', 'git-branch', ITEM.worktree],
    ['ready', 'in use', 'git-branch', ITEM.worktree],
    ['undone', 'taken back', 'circle-slash', ITEM.absentWorktree],
  ] as const)('says of one that is %s: %s', async (state, words, icon, context) => {
    withWorktrees(aSnapshot('running'), { 1: await made({ state }) });
    const { item } = await row();
    expect(item.description).toMatch(new RegExp(`^${words} · `));
    expect(item.iconPath).toMatchObject({ id: icon });
    expect(item.contextValue).toBe(context);
    expect(item.command).toBeUndefined();
  });

  it('warns of one that could not be kept, and says why', async () => {
    const faults = [describeError('git_failed', { command: 'git add', reason: 'the disk is full' })];
    withWorktrees(aSnapshot('failed'), { 1: await made({ state: 'capture-failed', faults }) });
    const { node, item } = await row();
    expect(item.description).toMatch(/^could not be kept · /);
    expect(item.iconPath).toMatchObject({ id: 'warning' });
    const { tooltip } = tree.resolveTreeItem(item, node);
    expect(tooltip).toMatchObject({ value: expect.stringMatching(/Note.*the disk is full/) });
  });

  it('warns of one whose folder somebody has deleted, and offers nothing that needs it', async () => {
    withWorktrees(aSnapshot('complete'), { 1: aWorktreeView({ path: join(folder.path, 'nowhere') }) });
    const { item } = await row();
    expect(item.description).toMatch(/^its folder is gone · /);
    expect(item.iconPath).toMatchObject({ id: 'warning' });
    expect(item.contextValue).toBe(ITEM.absentWorktree);
  });

  it('says of one that was removed what the ledger says, as soon as the rows are asked for again', async () => {
    const snapshot = withWorktrees(aSnapshot('complete'), { 1: await made() });
    expect((await row()).item.contextValue).toBe(ITEM.worktree);
    await remember(snapshot, {
      state: 'removed',
      reasons: [describeError('worktree_left', { what: 'pi-lanes/fix', reason: 'it is checked out' })],
    });
    const { node, item } = await row();
    expect(item.description).toMatch(/^removed · /);
    expect(item.iconPath).toMatchObject({ id: 'circle-slash' });
    expect(item.contextValue).toBe(ITEM.absentWorktree);
    const { tooltip } = tree.resolveTreeItem(item, node);
    expect(tooltip).toMatchObject({ value: expect.stringMatching(/Note.*it is checked out/) });
  });
});

describe('what the ledger says of a worktree counts before what its run has seen', () => {
  it.each([
    ['removing', 'being removed'],
    ['restoring', 'being brought back'],
  ] as const)('while it is %s', async (state, words) => {
    const snapshot = withWorktrees(aSnapshot('complete'), { 1: await made() });
    await remember(snapshot, { state });
    const { item } = await row();
    expect(item.description).toMatch(new RegExp(`^${words} · `));
    expect(item.contextValue).toBe(ITEM.worktree);
  });
});

describe('the worktrees of a workflow', () => {
  it('stand below the stages and children they were made for', async () => {
    const events = [
      announced(lane('north', 'draft', 'review')),
      ...begun(1, 'survey', 1),
      ...begun(2, 'north.draft', 2),
    ];
    const worktree = await made({ state: 'ready' });
    withWorktrees(aWorkflowSnapshot(events), { 1: worktree, 2: { ...worktree, branch: 'pi-lanes/north' } });
    const run = await only(await only(undefined));
    const [first, second] = await tree.getChildren(run);
    const rows = [first, second].toSorted((a, b) => Number(a?.kind === 'lane') - Number(b?.kind === 'lane'));
    const [survey, north] = rows;
    const [draft, review] = await tree.getChildren(north);
    if (!survey || !draft || !review) throw new Error('a row is missing');
    expect(tree.getTreeItem(survey).collapsibleState).toBe(editor.TreeItemCollapsibleState.Collapsed);
    expect(tree.getTreeItem(review).collapsibleState).toBe(editor.TreeItemCollapsibleState.None);
    expect(tree.getTreeItem(await only(survey)).label).toBe('fix');
    const node = await only(draft);
    expect(tree.getTreeItem(node).label).toBe('north');
    expect(tree.getParent(node)).toBe(draft);
    expect(await tree.getChildren(review)).toEqual([]);
  });
});

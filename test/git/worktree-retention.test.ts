/** What keeps a removed worktree stays for its time and goes then, by itself; what is still there keeps its run for ever. */
import { existsSync } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { applyCleanup, planCleanup, restore, WorktreeDoor } from '../../src/client/index.ts';
import { tidyWorktrees } from '../../src/client/tidy-worktrees.ts';
import { cleanStore } from '../../src/core/retention/index.ts';
import { keptRef } from '../../src/core/worktrees/index.ts';
import type { WorktreeRecord } from '../../src/protocol/index.ts';
import { git, write } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { WorktreeProject } from '../support/worktree-project.ts';

const DAY_MS = 24 * 60 * 60_000;

let folder: TempDir;
let project: WorktreeProject;
let door: WorktreeDoor;

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  project = await WorktreeProject.make(folder.path);
  door = await WorktreeDoor.open(project.store, project.toolbox.root);
});

afterEach(() => folder.remove());

async function removed(): Promise<WorktreeRecord> {
  const tree = await project.make();
  await write(tree.path, { 'work.txt': 'work' });
  await project.finish(tree);
  const { plan } = await planCleanup(door);
  const [result] = await applyCleanup(door, plan.planId, { only: [tree.path], timeoutMs: 1 });
  expect(result).toMatchObject({ removed: true, branchRemoved: true });
  return tree;
}

const clean = async (inDays: number) => {
  const now = Date.now() + inDays * DAY_MS;
  const report = await cleanStore({ root: project.toolbox.root, days: 30, isAsked: true, now: () => now });
  const { leftovers, problems } = await tidyWorktrees(project.toolbox.root, 30, now);
  return { removed: report.removed.length, reason: report.kept[0]?.kept.reason, leftovers, problems };
};
const hasRef = (tree: WorktreeRecord) =>
  git(project.bench.path, 'rev-parse', '--verify', '--quiet', keptRef(tree)).then(
    () => true,
    () => false,
  );

it('a run whose worktree is there is kept however old it is', async () => {
  const tree = await project.make();
  await project.finish(tree);
  expect(await clean(400)).toMatchObject({ removed: 0, reason: 'handoff-reference' });
  expect(existsSync(tree.path)).toBe(true);
});

it('of one that was removed everything is kept for its time, counted from then, and goes afterwards with its ref', async () => {
  const tree = await removed();
  const { journal } = { journal: join(project.store.directoryOf(tree.runId), 'journal.jsonl') };
  const old = (Date.now() - 100 * DAY_MS) / 1000;
  await utimes(journal, old, old);
  const first = await clean(0);
  expect(first).toMatchObject({ removed: 0, problems: [] });
  // Files that there was no time for.
  expect(first.leftovers.every((path) => path.endsWith('.gone'))).toBe(true);
  expect(existsSync(join(folder.path, 'repo.worktrees'))).toBe(false);
  expect(await clean(29)).toMatchObject({ removed: 0, leftovers: [] });
  expect(await hasRef(tree)).toBe(true);
  await restore(door, tree);
  expect(existsSync(join(tree.path, 'work.txt'))).toBe(true);
  const { plan } = await planCleanup(door);
  await applyCleanup(door, plan.planId, { only: [tree.path] });
  expect(await clean(40)).toMatchObject({ removed: 1, leftovers: [keptRef(tree)] });
  expect(await hasRef(tree)).toBe(false);
  await git(project.bench.path, 'fsck', '--strict', '--no-dangling');
});

it('kept for ever, nothing goes', async () => {
  const tree = await removed();
  await tidyWorktrees(project.toolbox.root, 0, Date.now() + 4000 * DAY_MS);
  expect(await hasRef(tree)).toBe(true);
});

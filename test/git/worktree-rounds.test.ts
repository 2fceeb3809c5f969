/** Worktrees in which anything may have happened: what comes out of the capture is what was in them. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { KeptCapture } from '../../src/core/worktrees/index.ts';
import type { WorktreeRecord } from '../../src/protocol/index.ts';
import { numbersFrom } from '../support/random-numbers.ts';
import { act, BEGINNING, contentOf, type Facts } from '../support/random-work.ts';
import { git } from '../support/repository.ts';
import { tempDir } from '../support/temp.ts';
import { Bench } from '../support/worktrees.ts';

const SOAK = process.env['PI_LANES_SOAK'] !== undefined;
const ROUNDS = SOAK ? 500 : 50;
/** Rounds in one repository. */
const BATCH = 25;

/** What patch, archive and base give together. */
async function restored(
  bench: Bench,
  tree: WorktreeRecord,
  kept: KeptCapture,
  path: string,
): Promise<Map<string, string>> {
  await git(bench.path, 'worktree', 'add', '--quiet', '--detach', path, tree.base);
  if (kept.capture.patch)
    await git(path, 'apply', '--index', '--whitespace=nowarn', join(kept.folder, kept.capture.patch.path));
  expect(await git(path, 'write-tree')).toBe(kept.capture.tree);
  const content = await contentOf(path);
  if (kept.capture.outside.files > 0)
    for (const [name, what] of await contentOf(join(kept.folder, 'files'))) content.set(name, what);
  await git(bench.path, 'worktree', 'remove', '--force', path);
  return content;
}

const SEEDS = [20_261_201, Math.floor(Math.random() * 2 ** 31)];

it.each(SEEDS)(
  'whatever a child does is in the capture, and goes only then (seed %i)',
  async (seed) => {
    await using folder = await tempDir({ name: 'awkward' });
    const random = numbersFrom(seed);
    let bench: Bench | undefined;
    for (let round = 0; round < ROUNDS / SEEDS.length; round++) {
      if (round % BATCH === 0) {
        const store = join(folder.path, `store ${round}`);
        await mkdir(store);
        bench = await Bench.make(join(folder.path, `repo ${round}`), store, BEGINNING);
      }
      if (!bench) throw new Error('no repository');
      const where = `seed ${seed}, round ${round}`;
      const tree = await bench.one();
      const facts: Facts = { commits: new Set(), nested: false };
      for (let step = 2 + Math.floor(random() * 8); step > 0; step--) await act(random, tree, facts);
      const before = await contentOf(tree.path);
      const kept = await bench.capture(tree);
      expect(await contentOf(tree.path), where).toEqual(before);
      if (facts.nested) {
        expect(kept.capture.blockers, where).not.toEqual([]);
        expect((await bench.remove(tree, kept)).worktreeRemoved, where).toBe(false);
        continue;
      }
      expect(kept.capture.blockers, where).toEqual([]);
      expect(await restored(bench, tree, kept, join(folder.path, `restored ${round}`)), where).toEqual(before);
      const removal = await bench.remove(tree, kept);
      expect(removal, where).toEqual({ worktreeRemoved: true, branchRemoved: true, reasons: [] });
      const { commit = tree.base } = kept.capture.kept ?? {};
      const reachable = new Set((await git(bench.path, 'rev-list', commit)).split('\n'));
      for (const made of facts.commits) expect(reachable.has(made), `${where}, commit ${made}`).toBe(true);
    }
  },
  SOAK ? 3_600_000 : 120_000,
);

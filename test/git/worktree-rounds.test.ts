/** Worktrees in which anything may have happened: what comes out of the capture is what was in them. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { numbersFrom, printedSeed } from '../support/random-numbers.ts';
import { act, BEGINNING, type Facts } from '../support/random-work.ts';
import { git } from '../support/repository.ts';
import { tempDir } from '../support/temp.ts';
import { contentOf, restored } from '../support/worktree-content.ts';
import { Bench } from '../support/worktrees.ts';

const SOAK = process.env['PI_LANES_SOAK'] !== undefined;
/** Rounds in one repository. Each repository has a seed of its own, so that what went wrong in it can be seen again by itself. */
const ROUNDS = 25;
const REPOSITORIES = SOAK ? 20 : 2;
/** The first is the same each time. */
const seed = printedSeed();
const SEEDS = [20_261_201, ...Array.from({ length: REPOSITORIES - 1 }, (_, n) => seed + n)];

it.concurrent.each(SEEDS)(
  'whatever a child does is in the capture, and goes only then (seed %i)',
  async (seed) => {
    await using folder = await tempDir({ name: 'awkward' });
    const random = numbersFrom(seed);
    const store = join(folder.path, 'store');
    await mkdir(store);
    const bench = await Bench.make(join(folder.path, 'repo'), store, BEGINNING);
    for (let round = 0; round < ROUNDS; round++) {
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
      expect(await restored(bench.path, kept, join(folder.path, `restored ${round}`)), where).toEqual(before);
      const removal = await bench.remove(tree, kept);
      expect(removal, where).toEqual({ worktreeRemoved: true, branchRemoved: true, reasons: [] });
      const { commit = tree.base } = kept.capture.kept ?? {};
      const reachable = new Set((await git(bench.path, 'rev-list', commit)).split('\n'));
      for (const made of facts.commits) expect(reachable.has(made), `${where}, commit ${made}`).toBe(true);
    }
  },
  SOAK ? 1_200_000 : 180_000,
);

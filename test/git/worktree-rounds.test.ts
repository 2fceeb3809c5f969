/** Worktrees in which anything may have happened: what comes out of the capture is what was in them. */
import { chmod, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import type { WorktreeRecord } from '../../src/protocol/index.ts';
import { numbersFrom, printedSeed } from '../support/random-numbers.ts';
import { commitAll, git, makeRepository } from '../support/repository.ts';
import { tempDir } from '../support/temp.ts';
import { contentOf, restored } from '../support/worktree-content.ts';
import { Bench } from '../support/worktrees.ts';

const SOAK = process.env['PI_LANES_SOAK'] !== undefined;
/** Rounds in one repository. Each repository has a seed of its own, so that what went wrong in it can be seen again by itself. */
const ROUNDS = 25;
const REPOSITORIES = SOAK ? 20 : 2;
const posix = process.platform !== 'win32';

const NAMES = [
  'a',
  'b c',
  'файл',
  'ü"q\'',
  '漢',
  '-x',
  'Case',
  'case',
  ...(posix ? ['n\nl', 'tab\t', 'back\\slash'] : []),
];
const FOLDERS = ['', 'src', 'src/deep er', 'build', 'дир', 'x/y/z'];

interface Facts {
  commits: Set<string>;
  nested: boolean;
}

/** One thing that a child may do. Some of them fail where they make no sense. */
async function act(random: () => number, tree: WorktreeRecord, facts: Facts): Promise<void> {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const path = () => join(tree.path, pick(FOLDERS), `${pick(NAMES)}${pick(['', '.txt', '.log', '.bin'])}`);
  const bytes = () => Buffer.from(Array.from({ length: Math.floor(random() * 300) }, () => Math.floor(random() * 256)));
  const text = () =>
    Array.from({ length: Math.floor(random() * 20) }, () => `${pick(NAMES)}${pick(['\n', '\r\n'])}`).join('');
  const put = async (at: string, content: string | Buffer) => {
    await mkdir(dirname(at), { recursive: true });
    await writeFile(at, content);
  };
  const known = async () => (await git(tree.path, 'ls-files', '-z')).split('\0').filter(Boolean);
  const commit = async () => facts.commits.add(await commitAll(tree.path, 'work'));
  const actions: (() => Promise<unknown>)[] = [
    () => put(path(), bytes()),
    () => put(path(), text()),
    async () => put(join(tree.path, pick(await known())), random() < 0.5 ? bytes() : text()),
    async () => {
      const at = join(tree.path, pick(await known()));
      const content = await readFile(at);
      await writeFile(
        at,
        content.map((byte) => byte ^ 1),
      );
    },
    async () => rm(join(tree.path, pick(await known()))),
    async () => {
      const to = path();
      await mkdir(dirname(to), { recursive: true });
      await rename(join(tree.path, pick(await known())), to);
    },
    async () => chmod(join(tree.path, pick(await known())), random() < 0.5 ? 0o755 : 0o644),
    async () => {
      const at = path();
      await mkdir(dirname(at), { recursive: true });
      await symlink(pick(['a', '../nowhere', '/etc/passwd', 'ü"q\'']), at);
    },
    async () => {
      const at = join(tree.path, pick(await known()));
      await rm(at);
      await put(join(at, 'inside'), text());
    },
    commit,
    commit,
    async () => git(tree.path, 'add', '--all'),
    async () =>
      git(tree.path, 'update-index', pick(['--skip-worktree', '--assume-unchanged']), '--', pick(await known())),
    async () => git(tree.path, 'rm', '--quiet', '--cached', '--', pick(await known())),
    async () => {
      await commit();
      await git(tree.path, 'reset', '--quiet', pick(['--hard', '--soft', '--mixed']), 'HEAD~1');
    },
    async () => git(tree.path, 'checkout', '--quiet', pick(['--detach', tree.branch])),
    async () => git(tree.path, 'checkout', '--quiet', '-b', `side-${Math.floor(random() * 1e9)}`),
    async () => {
      const newest = () => git(tree.path, 'rev-parse', '--verify', '--quiet', 'refs/stash').catch(() => undefined);
      const before = await newest();
      await git(tree.path, 'stash', 'push', '--quiet', '--include-untracked');
      const stash = await newest();
      // Where there is nothing to put aside git says so in words only: the newest one is another's.
      if (stash === undefined || stash === before) return;
      facts.commits.add(stash);
      if (random() < 0.5) await git(tree.path, 'stash', 'apply', '--quiet');
    },
    async () => put(join(tree.path, '.gitignore'), `*.log\nbuild/\n${pick(NAMES.slice(0, 4))}\n`),
    async () => {
      if (random() > 0.2) return;
      const at = join(tree.path, pick(['nested', 'build/nested']));
      await makeRepository(at, { inner: text() });
      facts.nested = true;
    },
  ];
  await pick(actions)().catch(() => undefined);
}

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
    const bench = await Bench.make(join(folder.path, 'repo'), store, {
      a: 'one\n',
      'b c.txt': 'two\r\n',
      'src/файл': Buffer.from([0, 1, 2, 255]),
      'src/deep er/run': { content: '#!/bin/sh\n', mode: 0o755 },
      ...(posix && { 'дир/link': { link: '../a' } }),
      '.gitignore': '*.log\nbuild/\n',
    });
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

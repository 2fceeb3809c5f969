/** Worktrees in which anything may have happened: what comes out of the capture is what was in them. */
import { chmod, mkdir, readdir, readFile, readlink, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import type { KeptCapture } from '../../src/core/worktrees/index.ts';
import type { WorktreeRecord } from '../../src/protocol/index.ts';
import { numbersFrom } from '../support/random-numbers.ts';
import { commitAll, git, makeRepository } from '../support/repository.ts';
import { tempDir } from '../support/temp.ts';
import { Bench } from '../support/worktrees.ts';

const SOAK = process.env['PI_LANES_SOAK'] !== undefined;
const ROUNDS = SOAK ? 500 : 50;
/** Rounds in one repository. */
const BATCH = 25;
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
      await git(tree.path, 'stash', 'push', '--quiet', '--include-untracked');
      facts.commits.add(await git(tree.path, 'rev-parse', 'refs/stash'));
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

/** Every file and link with its content, and whether it may be run; below a nested repository nothing. */
async function contentOf(folder: string, path = ''): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const entry of await readdir(join(folder, path), { withFileTypes: true })) {
    const at = path === '' ? entry.name : `${path}/${entry.name}`;
    if (at === '.git') continue;
    if (entry.isDirectory()) for (const [name, what] of await contentOf(folder, at)) found.set(name, what);
    else found.set(at, await describeFile(join(folder, at)));
  }
  return found;
}

async function describeFile(path: string): Promise<string> {
  const link = await readlink(path).catch(() => undefined);
  if (link !== undefined) return `link ${link}`;
  const { mode } = await stat(path);
  return `${posix && mode & 0o100 ? 'run' : 'file'} ${(await readFile(path)).toString('base64')}`;
}

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
        bench = await Bench.make(join(folder.path, `repo ${round}`), store, {
          a: 'one\n',
          'b c.txt': 'two\r\n',
          'src/файл': Buffer.from([0, 1, 2, 255]),
          'src/deep er/run': { content: '#!/bin/sh\n', mode: 0o755 },
          ...(posix && { 'дир/link': { link: '../a' } }),
          '.gitignore': '*.log\nbuild/\n',
        });
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

/** What a child may do in a worktree, at random. */
import { chmod, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { WorktreeRecord } from '../../src/protocol/index.ts';
import { commitAll, git, makeRepository } from './repository.ts';

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

export interface Facts {
  commits: Set<string>;
  nested: boolean;
}

/** One thing that a child may do. Some of them fail where they make no sense. */
export async function act(random: () => number, tree: WorktreeRecord, facts: Facts): Promise<void> {
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

/** Files the rounds begin with. */
export const BEGINNING = {
  a: 'one\n',
  'b c.txt': 'two\r\n',
  'src/файл': Buffer.from([0, 1, 2, 255]),
  'src/deep er/run': { content: '#!/bin/sh\n', mode: 0o755 },
  ...(posix && { 'дир/link': { link: '../a' } }),
  '.gitignore': '*.log\nbuild/\n',
};

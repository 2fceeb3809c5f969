/** Clean-ups beside live work leave the repository whole; a death at any call of git on the way out and back loses nothing. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applyCleanup, finishCleanup, planCleanup, restore, WorktreeDoor } from '../../src/client/index.ts';
import { folderLock } from '../../src/core/git/index.ts';
import { givenUp } from '../../src/core/worktrees/index.ts';
import type { WorktreeRecord } from '../../src/protocol/index.ts';
import { numbersFrom, printedSeed } from '../support/random-numbers.ts';
import { commitAll, git, write } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { contentOf } from '../support/worktree-content.ts';
import { WorktreeProject } from '../support/worktree-project.ts';

const SOAK = process.env['PI_LANES_SOAK'] !== undefined;
const CLEANUPS = SOAK ? 50 : 10;
/** Clean-ups of one plan. */
const BATCH = 5;
/** Calls tried of each way, beside the last one; in soak runs all of them. */
const TRIED = 4;

let folder: TempDir;
let project: WorktreeProject;
let door: WorktreeDoor;
const at = (...parts: string[]) => join(folder.path, ...parts);

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  project = await WorktreeProject.make(folder.path, { 'a.txt': 'one\n', '.gitignore': '*.log\n' });
  door = await WorktreeDoor.open(project.store, project.toolbox.root);
});

afterEach(() => folder.remove());

it(
  `B07 ${CLEANUPS} clean-ups while others commit: the repository is whole, and what is the person's is as it was`,
  async () => {
    const { path } = project.bench;
    const mine = at('mine');
    await git(path, 'worktree', 'add', '--quiet', '-b', 'mine', mine);
    await write(mine, { 'a.txt': 'stashed\n' });
    await git(mine, 'stash', 'push', '--quiet');
    await write(mine, { dirty: 'dirty', 'ignored.log': 'log' });
    await git(path, 'worktree', 'add', '--quiet', '--detach', at('away'));
    const loose = await commitAll(at('away'), 'only here');
    const live = [await project.make('live 1'), await project.make('live 2')];
    const made = live.map((): string[] => []);
    /** Each of the others commits something while this is done. */
    const beside = async <T>(work: () => Promise<T>): Promise<T> => {
      const commits = live.map(async (tree, n) => {
        await write(tree.path, { [`file ${made[n]?.length}`]: `${n}` });
        made[n]?.push(await commitAll(tree.path, `live ${n}`));
      });
      const [result] = await Promise.all([work(), ...commits]);
      return result;
    };
    for (let round = 0; round < CLEANUPS; ) {
      const trees: WorktreeRecord[] = [];
      for (let n = 0; n < BATCH; n++, round++) {
        const tree = await project.make(`round ${round}`);
        await write(tree.path, { 'a.txt': `${round}\n`, 'x.log': 'log' });
        await commitAll(tree.path, 'work');
        await write(tree.path, { later: 'later' });
        await beside(() => project.finish(tree));
        trees.push(tree);
      }
      const { plan } = await beside(() => planCleanup(door));
      for (const tree of trees) {
        const results = await beside(() => applyCleanup(door, plan.planId, { only: [tree.path] }));
        const gone = { removed: true, branchRemoved: true, reasons: [], clearing: [] };
        expect(results, `round ${round}`).toMatchObject([gone]);
      }
    }
    for (const [n, tree] of live.entries()) {
      expect((await git(tree.path, 'rev-list', `${tree.base}..HEAD`)).split('\n').reverse()).toEqual(made[n]);
      expect(await git(tree.path, 'status', '--porcelain')).toBe('');
    }
    expect(await git(path, 'fsck', '--full', '--strict', '--no-dangling')).toBe('');
    expect(await git(mine, 'status', '--porcelain', '--ignored')).toBe('?? dirty\n!! ignored.log');
    expect(await git(mine, 'show', 'stash@{0}:a.txt')).toBe('stashed');
    expect(await git(at('away'), 'rev-parse', 'HEAD')).toBe(loose);
    expect(await git(path, 'rev-parse', 'mine')).toBe(await git(path, 'rev-parse', 'main'));
    const listed = (await git(path, 'worktree', 'list', '--porcelain'))
      .split('\n')
      .filter((line) => line.startsWith('worktree '));
    expect(listed).toHaveLength(1 + 2 + live.length);
    expect((await readdir(dirname(live[0]?.path ?? ''))).length).toBe(live.length);
  },
  SOAK ? 900_000 : 240_000,
);

const WAYS = {
  'dies before it': { at: '-ge', what: 'die' },
  'dies after it': { at: '-ge', what: '/usr/bin/env git "$@" >/dev/null 2>&1; die' },
  'is told that it failed': { at: '-eq', what: 'echo "fatal: broken" >&2; exit 128' },
};
type Way = (typeof WAYS)[keyof typeof WAYS];

const quoted = (path: string) => `'${path.replaceAll("'", "'\\''")}'`;

describe.runIf(process.platform !== 'win32')('a way out and back on which at some call of git the process', () => {
  const SCRIPT = join(import.meta.dirname, '..', 'support', 'cleanup-life.ts');
  let count = 0;

  const live = async (runId: string, call: number, way: Way) => {
    count++;
    const [file, calls, journal] = [at(`git ${count}`), at(`count ${count}`), at(`journal ${count}`)];
    const lines = [
      '#!/bin/sh',
      `die() { kill -9 "$(cat ${quoted(`${journal}.pid`)})"; exit 1; }`,
      `echo x >> ${quoted(calls)}`,
      `if [ "$(wc -l < ${quoted(calls)})" ${way.at} ${call} ]; then`,
      way.what,
      'fi',
      'exec /usr/bin/env git "$@"',
    ];
    await writeFile(file, `${lines.join('\n')}\n`);
    await chmod(file, 0o755);
    const lock = folderLock(project.toolbox.root.repositories, project.project.key);
    const args = [SCRIPT, file, lock, project.project.layout.worktrees, runId, journal];
    const died = await promisify(execFile)(process.execPath, args).then(
      () => false,
      (error: { signal?: string }) => error.signal === 'SIGKILL',
    );
    return { died, calls: (await readFile(calls, 'utf8')).length / 2 };
  };

  it.each(Object.entries(WAYS))(
    '%s loses nothing, and comes to its end',
    async (_way, way) => {
      const tree = await project.make();
      await write(tree.path, { 'a.txt': 'committed\n' });
      await commitAll(tree.path, 'work');
      await write(tree.path, { 'a.txt': 'changed\n', 'new ü.txt': 'new', 'debug.log': 'log' });
      await project.finish(tree);
      const content = await contentOf(tree.path);
      const head = await git(tree.path, 'rev-parse', 'HEAD');
      const { calls } = await live(tree.runId, 0, WAYS['is told that it failed']);
      expect(await contentOf(tree.path)).toEqual(content);
      const random = numbersFrom(printedSeed());
      const tried = SOAK
        ? Array.from({ length: calls }, (_, n) => n + 1)
        : Array.from({ length: TRIED }, (_, n) => 1 + Math.floor(((n + random()) * calls) / TRIED));
      for (const call of tried) {
        const { died } = await live(tree.runId, call, way);
        expect(died, `call ${call} of ${calls}`).toBe(way.at === '-ge');
        const where = `call ${call} of ${calls}, left as ${(await project.ledger.read(tree))?.state}`;
        const { finished, left } = await finishCleanup(door);
        expect(left, where).toEqual([]);
        for (const { reasons } of finished) expect(reasons, where).toEqual([]);
        const entry = await project.ledger.read(tree);
        if (entry?.state !== 'captured') await restore(door, tree);
        expect(await project.ledger.read(tree), where).toMatchObject({ state: 'captured' });
        expect(await contentOf(tree.path), where).toEqual(content);
        expect(await git(tree.path, 'rev-parse', 'HEAD'), where).toBe(head);
        expect(await git(tree.path, 'symbolic-ref', '--short', 'HEAD'), where).toBe(tree.branch);
        expect(await givenUp(tree), where).toEqual([]);
        expect(existsSync(join(dirname(tree.path), `.${tree.path.split('/').at(-1)}.leaving`)), where).toBe(false);
      }
      expect(await git(project.bench.path, 'fsck', '--full', '--strict', '--no-dangling')).toBe('');
    },
    SOAK ? 1_800_000 : 240_000,
  );
});

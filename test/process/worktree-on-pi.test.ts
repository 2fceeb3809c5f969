/** Real Pis in worktrees: what they edit, commit and leave lying is kept as a whole, and the checkout of the person is not touched. */
import { readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { KeptCapture } from '../../src/core/worktrees/index.ts';
import { type WorktreeView, worktreeCapture } from '../../src/protocol/index.ts';
import { endLeftovers, TestRun } from '../support/control-matrix-runs.ts';
import { git, makeRepository, stateOf } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { TestWorkflow } from '../support/workflow-runs.ts';
import { contentOf, restored } from '../support/worktree-content.ts';
import { createWorld, type World } from '../support/world.ts';

/** Milliseconds in which a few Pis are started and ended on a small machine. */
const WITHIN_MS = 120_000;

const stack = new AsyncDisposableStack();
let world: World;
let temp: TempDir;
let repository: string;
let count = 0;

beforeAll(async () => {
  world = stack.use(await createWorld({ git: false }));
  temp = stack.use(await tempDir({ name: 'awkward' }));
});
beforeEach(async () => {
  // A name that git, a shell and a pattern would each read otherwise.
  repository = await makeRepository(join(await realpath(temp.path), `目录 "${++count}"`), {
    'a.txt': 'one\ntwo\n',
    'gone.txt': 'is removed\n',
    'src/файл ü.txt': 'three\n',
    '.gitignore': '*.log\nbuild/\n',
  });
});
afterAll(async () => {
  const left = await endLeftovers(world);
  await stack.disposeAsync();
  expect(left).toEqual([]);
});

const bash = (command: string) => ({ tool: 'bash', args: { command } });
const edit = (path: string, oldText: string, newText: string) => ({
  tool: 'edit',
  args: { path, edits: [{ oldText, newText }] },
});
const commit = (message: string) =>
  `git add --all && git -c user.name=Child -c user.email=child@example.com commit --quiet -m '${message}'`;
const script = (...steps: object[]) => `SCRIPT:steps ${JSON.stringify(steps)}`;

/** Edits and commits; then changes, removes, and leaves files that are untracked and ignored. */
const works = (key: string) => [
  { calls: [edit('src/файл ü.txt', 'three', `three of ${key}`)] },
  { calls: [bash(commit(`work of ${key}`))] },
  { calls: [edit('a.txt', 'two', `two of ${key}`), { tool: 'write', args: { path: 'новый.txt', content: key } }] },
  {
    calls: [
      bash(
        `rm gone.txt && mkdir -p build/deep && printf '%s\\0' '${key}' > build/deep/out.bin && echo '${key}' > x.log`,
      ),
    ],
  },
  { text: `done: ${key}` },
];

/** A capture is read as whoever brings work home reads it. */
async function keptOf(directory: string, worktree: WorktreeView | undefined): Promise<KeptCapture> {
  const file = join(directory, worktree?.capture?.file ?? '');
  return { capture: worktreeCapture.parse(JSON.parse(await readFile(file, 'utf8'))), folder: dirname(file) };
}

async function expectWhole(directory: string, worktree: WorktreeView | undefined, key: string): Promise<void> {
  expect(worktree).toMatchObject({ state: 'captured', changed: true, commits: 1, files: 4, outside: 2, faults: [] });
  const path = worktree?.path ?? '';
  const kept = await keptOf(directory, worktree);
  const content = await contentOf(path);
  expect([...content.keys()].sort()).toEqual(
    ['.gitignore', 'a.txt', 'build/deep/out.bin', 'src/файл ü.txt', 'x.log', 'новый.txt'].sort(),
  );
  expect(await restored(repository, kept, join(temp.path, `restored ${count} ${key}`))).toEqual(content);
  expect(kept.capture.blockers).toEqual([]);
  expect(await git(repository, 'log', '--format=%s', kept.capture.kept?.commit ?? '')).toMatch(
    new RegExp(`^work of ${key}$`, 'm'),
  );
  expect(await git(repository, 'rev-parse', kept.capture.kept?.ref ?? '')).toBe(kept.capture.kept?.commit);
  expect(await readFile(join(kept.folder, 'files', 'build', 'deep', 'out.bin'), 'utf8')).toBe(`${key}\0`);
}

/** What the person has: files, index, branch and its commit. */
async function checkout() {
  const [files, status, head] = await Promise.all([
    contentOf(repository),
    git(repository, 'status', '--porcelain', '--ignored'),
    git(repository, 'log', '-1', '--format=%H %D'),
  ]);
  return { files, status, head };
}

const ours = (state: readonly string[]) => state.filter((line) => /^refs\/heads\//.test(line)).length;

describe('in a worktree', () => {
  test('B03 B91 a Pi edits, commits and leaves files: all of it is kept, and the checkout is as it was', {
    timeout: WITHIN_MS,
  }, async () => {
    const before = await checkout();
    const run = await TestRun.start(world, script(...works('single')), { cwd: repository, worktree: true });
    const { state, view } = await run.end();
    expect([state, await run.text()]).toEqual(['complete', 'done: single']);
    await expectWhole(run.directory, view?.children[0]?.worktree, 'single');
    expect(await checkout()).toEqual(before);
    expect(ours(await stateOf(repository))).toBe(2);
    const shown = await world.cli(['worktrees'], { cwd: repository });
    expect(shown.stdout).toContain(view?.children[0]?.worktree?.path);
  });

  test('Pis in two lanes of a workflow each have their own, which the next stage goes on in; all of it is kept', {
    timeout: 2 * WITHIN_MS,
  }, async () => {
    const before = await checkout();
    const lane = (key: string) => ({
      key,
      stages: [
        { key: 'write', agent: 'worker', task: script(...works(key)) },
        {
          key: 'more',
          resume: 'previous',
          task: script({ calls: [bash("cat новый.txt && printf more >> 'новый.txt'")] }, { text: 'more: {{tool}}' }),
        },
      ],
    });
    const source = `
      const board = await runs.lanes(${JSON.stringify([lane('left'), lane('right')])});
      return board.map(({ key, state }) => key + ' ' + state);`;
    const run = await TestWorkflow.start(world, source, { cwd: repository, worktree: true });
    const { state, view } = await run.end(WITHIN_MS);
    expect([state, (await run.result())?.value]).toEqual(['complete', ['left complete', 'right complete']]);
    for (const key of ['left', 'right']) {
      const worktreeOf = (stage: string) => view?.children.find((one) => one.key === `${key}.${stage}`)?.worktree;
      const last = worktreeOf('more');
      expect(last?.path).toBe(worktreeOf('write')?.path);
      await expectWhole(run.directory, last, key);
      expect(await readFile(join(last?.path ?? '', 'новый.txt'), 'utf8')).toBe(`${key}more`);
    }
    expect(await checkout()).toEqual(before);
    expect(ours(await stateOf(repository))).toBe(3);
  });
});

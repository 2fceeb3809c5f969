/** Worktrees of runs in bad company: questions that nobody answers yet, runs that are gone on with in any order, odd names, disks. */
import { mkdir, readFile, realpath, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { answerQuestion, resumeRun, waitForEnd } from '../../src/client/index.ts';
import { readJournal } from '../../src/core/journal/index.ts';
import { runLayout } from '../../src/core/projects/index.ts';
import { type WorktreeView, worktreeCapture } from '../../src/protocol/index.ts';
import { endLeftovers, owner, TestRun } from '../support/control-matrix-runs.ts';
import { fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, type FakeWorld, fakeWorld } from '../support/fake-world.ts';
import { numbersFrom, printedSeed } from '../support/random-numbers.ts';
import { refusedFiles } from '../support/refused-files.ts';
import { commitAll, git, makeRepository, stateOf } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';
import { TestWorkflow } from '../support/workflow-runs.ts';
import { contentOf, restored } from '../support/worktree-content.ts';
import { createWorld } from '../support/world.ts';

const stack = new AsyncDisposableStack();
let fakes: FakeWorld;
let temp: TempDir;
let repository: string;
let count = 0;

beforeAll(async () => {
  fakes = await fakeWorld(stack);
  await fakes.fake.planLaunches({ remembers: true });
  temp = stack.use(await tempDir());
});
beforeEach(async () => {
  repository = await makeRepository(join(await realpath(temp.path), `repository ${++count}`));
});
afterAll(() => expectNobodyLeft(stack, fakes));

const worktreesOf = async (cwd: string) => {
  const { stdout } = await fakes.world.cli(['worktrees', '--json'], { cwd });
  return JSON.parse(stdout).worktrees;
};

async function captureOf(directory: string, worktree: WorktreeView | undefined) {
  const file = join(directory, worktree?.capture?.file ?? '');
  return { capture: worktreeCapture.parse(JSON.parse(await readFile(file, 'utf8'))), folder: dirname(file) };
}

describe('a child that asks', () => {
  test('B01 is at work in its worktree: that stays its own, and what is written after the answer is kept', async () => {
    const gate = `answered-${count}`;
    const asks = [{ dialog: 'input' as const, title: 'Which way?' }, { gate }, { write: 'late.txt', text: 'late' }];
    const script = `return (await runs.all(${JSON.stringify([
      { key: 'asks', agent: 'worker', task: fakeTask({ steps: [...asks, { say: 'answered' }] }) },
      { key: 'other', agent: 'worker', task: fakeTask({ steps: [{ write: 'other.txt' }, { say: 'done' }] }) },
    ])})).map(({ output }) => output);`;
    const run = await TestWorkflow.start(fakes.world, script, { cwd: repository, worktree: true });
    const asked = await run.event('question.asked');
    await run.event('worktree.captured');
    const { state, view } = await run.snapshot();
    expect([state, view?.children.map((child) => child.worktree?.state)]).toEqual(['waiting', ['ready', 'captured']]);
    const waiting = view?.children[0]?.worktree;
    // Whoever cleans up finds somebody living there.
    expect((await fakes.world.cli(['cleanup', '--days', '0'], { cwd: repository })).code).toBe(0);
    expect(await worktreesOf(repository)).toMatchObject([
      { child: 1, state: 'made', present: true, registered: true, users: [{ child: 1, liveness: 'live' }] },
      { child: 2, state: 'captured', users: [{ child: 2 }] },
    ]);
    await answerQuestion(run.toolbox(), run.directory, owner, asked.questionId, { value: 'north' });
    await fakes.fake.arrivedAt(gate);
    expect((await run.all('worktree.captured')).map(({ child }) => child)).toEqual([2]);
    await fakes.fake.open(gate);
    const end = await run.end();
    expect([end.state, (await run.result())?.value]).toEqual(['complete', ['answered', 'done']]);
    const kept = end.view?.children[0]?.worktree;
    expect(kept).toMatchObject({ path: waiting?.path, state: 'captured', files: 1 });
    const { folder } = await captureOf(run.directory, kept);
    expect(await readFile(join(folder, 'changes.patch'), 'utf8')).toContain('+++ b/late.txt');
  });
});

describe('runs that are gone on with', () => {
  const RUNS = 10;

  test('B06 each are in their own worktree again, in whatever order; one that is not there any more is refused', {
    timeout: 180_000,
  }, async () => {
    const runs: { run: TestRun; path: string }[] = [];
    for (let n = 1; n <= RUNS; n++) {
      const task = fakeTask({ steps: [{ write: 'mine.txt', text: `of ${n}` }, { say: 'done' }] });
      const run = await TestRun.start(fakes.world, task, { cwd: repository, worktree: true });
      const { view } = await run.end();
      runs.push({ run, path: view?.children[0]?.worktree?.path ?? '' });
    }
    expect(new Set(runs.map(({ path }) => path)).size).toBe(RUNS);
    // Two change places: at the path of each there is a worktree, and it is that of the other.
    const [first, second, ...others] = runs;
    if (!first || !second) throw new Error('too few runs');
    const aside = `${first.path}-aside`;
    await rename(first.path, aside);
    await rename(second.path, first.path);
    await rename(aside, second.path);
    await git(repository, 'worktree', 'repair', first.path, second.path);
    const random = numbersFrom(printedSeed());
    const shuffled = others.map((one) => ({ one, at: random() })).sort((a, b) => a.at - b.at);
    const goOn = async ({ run }: { run: TestRun }) => {
      const task = fakeTask({ steps: [{ write: 'where.txt', text: '{{cwd}}' }, { say: '{{cwd}}' }] });
      const { runId } = await resumeRun(run.toolbox(), { directory: run.directory, owner, task });
      const end = await waitForEnd(run.store, runId, { signal: AbortSignal.timeout(40_000) });
      const { lines } = await readJournal(runLayout(run.store.directoryOf(runId)).journal);
      return { ...end, lines };
    };
    for (const { one } of shuffled) {
      const { state, view } = await goOn(one);
      expect([state, view?.children[0]?.worktree?.path]).toEqual(['complete', one.path]);
      expect(view?.children[0]?.cwd).toBe(one.path);
      const n = runs.indexOf(one) + 1;
      expect(await readFile(join(one.path, 'mine.txt'), 'utf8')).toBe(`of ${n}`);
      expect(await readFile(join(one.path, 'where.txt'), 'utf8')).toBe(one.path);
    }
    for (const one of [first, second]) {
      const { state, error, lines } = await goOn(one);
      expect([state, error?.code]).toEqual(['failed', 'worktree_lost']);
      expect(error?.message).toContain(one.path);
      expect(lines.filter(({ type }) => type === 'child.spawn.intended')).toEqual([]);
    }
    expect(await readFile(join(first.path, 'mine.txt'), 'utf8')).toBe('of 2');
  });
});

describe('a repository', () => {
  test.runIf(process.platform !== 'win32')(
    'B91 with odd names, its own and those in it, is worked on from the launch to what is kept',
    async () => {
      const odd = await makeRepository(join(await realpath(temp.path), `目录 with\n"space" ${count}`), {
        'файл ü.txt': 'one\n',
        'line\nbreak and "quote".txt': 'two\n',
        ' leads': 'three\n',
      });
      const steps = [
        { write: 'line\nbreak and "quote".txt', text: 'changed' },
        { write: 'neu "ß"\n漢.txt', text: 'new' },
        { say: 'done' },
      ];
      const run = await TestRun.start(fakes.world, fakeTask({ steps }), { cwd: odd, worktree: true });
      const { state, view } = await run.end();
      const worktree = view?.children[0]?.worktree;
      expect([state, worktree?.state, worktree?.files]).toEqual(['complete', 'captured', 2]);
      expect(worktree?.path.startsWith(`${odd}.worktrees/`)).toBe(true);
      const kept = await captureOf(run.directory, worktree);
      const content = await contentOf(worktree?.path ?? '');
      expect(await restored(odd, kept, join(temp.path, 'restored'))).toEqual(content);
      expect(content.get('neu "ß"\n漢.txt')).toBe(`file ${Buffer.from('new').toString('base64')}`);
      expect(await worktreesOf(odd)).toMatchObject([{ path: worktree?.path, state: 'captured', registered: true }]);
      // On a terminal a line stays a line.
      for (const args of [['worktrees'], ['status', run.runId]]) {
        const { code, stdout } = await fakes.world.cli(args, { cwd: odd });
        expect(code).toBe(0);
        expect(stdout).toContain(`目录 with␊"space" ${count}`);
        expect(stdout).not.toMatch(/^"space"/m);
      }
      expect(await git(odd, 'status', '--porcelain')).toBe('');
    },
  );

  test('B17 B21 whose hooks and submodules are not active in a worktree is worked on all the same, and told of', async () => {
    const lib = await makeRepository(join(await realpath(temp.path), `lib ${count}`), { 'agents/scout.md': 'scout' });
    await git(repository, 'submodule', '--quiet', 'add', lib, 'vendor/lib');
    await git(repository, 'config', 'core.hooksPath', '.husky/_');
    await mkdir(join(repository, '.husky', '_'), { recursive: true });
    await writeFile(join(repository, '.husky', '_', 'pre-commit'), '#!/bin/sh\n', { mode: 0o755 });
    await writeFile(join(repository, '.gitignore'), '.husky/_\n');
    await commitAll(repository, 'hooks and a submodule');
    const task = fakeTask({ steps: [{ write: 'made.txt' }, { say: 'done' }] });
    const run = await TestRun.start(fakes.world, task, { cwd: repository, worktree: true });
    expect((await run.end()).state).toBe('complete');
    const single = (await fakes.world.cli(['status', run.runId], { cwd: repository })).stdout;
    const script = `await runs.run('fix', ${JSON.stringify({ agent: 'worker', task, worktree: true })});`;
    const workflow = await TestWorkflow.start(fakes.world, script, { cwd: repository });
    expect((await workflow.end()).state).toBe('complete');
    const several = (await fakes.world.cli(['status', workflow.runId], { cwd: repository })).stdout;
    for (const word of ['submodule', '.husky/_']) {
      expect(single).toMatch(new RegExp(`^(?:noticed)? +\\S.*${word}`, 'm'));
      expect(several).toMatch(new RegExp(`^(?:noticed)? +fix: .*${word}`, 'm'));
    }
  });

  test.runIf(process.platform === 'linux')(
    'whose folder for worktrees cannot be written is refused before there is a run, with the way out',
    async () => {
      const config = join(fakes.world.agent.agentDir, 'pi-lanes', 'config.json');
      await mkdir(dirname(config), { recursive: true });
      await writeFile(config, JSON.stringify({ worktrees: { folder: '/proc/sys/trees' } }));
      try {
        const before = await stateOf(repository);
        const args = ['run', '--agent', 'worker', '--task', 'x', '--worktree'];
        const { code, stderr } = await fakes.world.cli(args, { cwd: repository });
        expect(code).toBe(2);
        expect(stderr).toMatch(/No worktree can be made in \/proc\/sys\/trees.*\n.*choose another one/);
        expect(await stateOf(repository)).toEqual(before);
      } finally {
        await writeFile(config, '{}');
      }
    },
  );
});

describe.runIf(process.platform === 'linux')('a disk that is full', () => {
  test('when a child has ended is waited for: then everything is kept, and the result is what it was', async () => {
    const files = await refusedFiles(temp.path);
    await using world = await createWorld({ piPath: fakes.fake.folder, git: false, node: files.node });
    const gate = `full-${count}`;
    const steps = [{ write: 'made.txt', text: 'made' }, { write: 'x.log', text: 'log' }, { gate }, { say: 'the end' }];
    await writeFile(join(repository, '.git', 'info', 'exclude'), '*.log\n');
    const run = await TestRun.start(world, fakeTask({ steps }), { cwd: repository, worktree: true });
    await fakes.fake.arrivedAt(gate);
    await files.refuse({ code: 'ENOSPC', path: '/worktree/capture-' });
    await fakes.fake.open(gate);
    const { state: settled } = await run.event('child.settled');
    const folder = join(run.directory, 'children', '1', 'worktree');
    await run.event('child.ended');
    await waitFor('the capture to be tried twice', async () => (await files.refused()).length >= 2);
    expect([settled, (await run.snapshot()).state]).toEqual(['complete', 'running']);
    expect(await run.all('worktree.captured')).toEqual([]);
    await files.refuse();
    const { state, view } = await run.end();
    const worktree = view?.children[0]?.worktree;
    expect([state, await run.text(), worktree?.state]).toEqual(['complete', 'the end', 'captured']);
    expect(await readFile(join(folder, 'capture-1', 'files', 'x.log'), 'utf8')).toBe('log');
    expect(await restored(repository, await captureOf(run.directory, worktree), join(temp.path, 'room'))).toEqual(
      await contentOf(worktree?.path ?? ''),
    );
    expect(await endLeftovers(world)).toEqual([]);
  });
});

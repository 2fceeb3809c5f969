/** Runs in worktrees of their own, on real git: made before the child starts, kept when it has ended, whatever its end. */
import { readFile, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { resumeRun, startRun, stopRun, waitForEnd } from '../../src/client/index.ts';
import { worktreeCapture, worktreeRecord } from '../../src/protocol/index.ts';
import { owner, TestRun } from '../support/control-matrix-runs.ts';
import { type FakePi, type FakeTask, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { commitAll, git, makeRepository } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import type { World } from '../support/world.ts';

const stack = new AsyncDisposableStack();
let fake: FakePi;
let world: World;
let temp: TempDir;
let repository: string;
let count = 0;

beforeAll(async () => {
  ({ fake, world } = await fakeWorld(stack));
  temp = stack.use(await tempDir());
});
beforeEach(async () => {
  repository = await makeRepository(join(await realpath(temp.path), `repository ${++count}`));
});
afterAll(() => expectNobodyLeft(stack, { fake, world }));

const WRITES: FakeTask = { steps: [{ write: 'made.txt', text: 'made\n' }, { say: 'done' }] };

async function viewOf(run: TestRun) {
  const { view } = await run.end();
  return view?.children[0]?.worktree;
}

async function captureOf(run: TestRun) {
  const file = (await viewOf(run))?.capture?.file ?? '';
  return worktreeCapture.parse(JSON.parse(await readFile(join(run.directory, file), 'utf8')));
}

describe('a run in a worktree', () => {
  test('run-123 works beside the checkout, and what it has made is kept', async () => {
    const run = await TestRun.start(world, fakeTask(WRITES), { cwd: repository, worktree: true });
    expect((await run.end()).state).toBe('complete');
    const worktree = await viewOf(run);
    expect(worktree).toMatchObject({ state: 'captured', changed: true, files: 1, insertions: 1, faults: [] });
    expect(worktree?.path.startsWith(`${repository}.worktrees/`)).toBe(true);
    // Neither the checkout nor the branch it is on have changed, and the worktree stays.
    expect(await git(repository, 'status', '--porcelain')).toBe('');
    expect(await git(repository, 'worktree', 'list')).toContain(worktree?.path);
    expect(await readFile(join(worktree?.path ?? '', 'made.txt'), 'utf8')).toBe('made\n');
    const capture = await captureOf(run);
    expect(await git(repository, 'show', `${capture.kept?.ref}:made.txt`)).toBe('made');
    const types = (await run.lines()).map(({ type }) => type);
    const order = ['worktree.planned', 'worktree.made', 'worktree.provisioned', 'child.spawn.intended'] as const;
    expect(types.filter((type) => (order as readonly string[]).includes(type))).toEqual(order);
    const last = ['child.settled', 'child.ended', 'worktree.captured', 'run.ended'] as const;
    expect(types.filter((type) => (last as readonly string[]).includes(type))).toEqual(last);
    const { stdout } = await world.cli(['worktrees', '--json'], { cwd: repository });
    expect(JSON.parse(stdout).worktrees).toMatchObject([
      {
        runId: run.runId,
        child: 1,
        state: 'captured',
        path: worktree?.path,
        registered: true,
        users: [{ runId: run.runId, child: 1, liveness: 'ended' }],
        capture: { changed: true, patch: { files: 1 } },
      },
    ]);
    const status = await world.cli(['status', run.runId], { cwd: repository });
    expect(status.stdout).toContain(`worktree   ${worktree?.path}\n`);
    expect(status.stdout).toContain('kept       1 changed file(s), 0 commit(s), 0 file(s) outside of git\n');
    const lane = await world.cli(['lanes', 'status', run.runId, '--json'], { cwd: repository });
    expect(JSON.parse(lane.stdout)).toMatchObject({
      eligibility: { state: 'terminal-blocked', reason: 'no evidence is recorded' },
      manifest: {
        mode: 'single',
        cwd: repository,
        groups: [
          {
            children: [
              { child: 1, agent: 'worker', status: 'complete', worktree: { path: worktree?.path }, kept: capture.kept },
            ],
          },
        ],
      },
    });
    const hash = 'a'.repeat(40);
    const merged = ['--pr', '7', '--reviewed-head', hash, '--merge-commit', hash, '--by', 'me', '--checks', 'recorded'];
    const evidence = ['lanes', 'record-merge', run.runId, ...merged, '--tree-equivalent', 'true', '--json'];
    const attested = await world.cli(evidence, { cwd: repository });
    expect(JSON.parse(attested.stdout), attested.stderr).toMatchObject({ eligibility: { state: 'terminal-eligible' } });
    const record = await readFile(join(run.directory, worktree?.record?.file ?? ''), 'utf8');
    expect(worktreeRecord.parse(JSON.parse(record))).toMatchObject({ runId: run.runId, child: 1 });
  });

  test('run-120 starts from the named branch, in the subfolder that it was launched from', async () => {
    await git(repository, 'checkout', '--quiet', '-b', 'other');
    await writeFile(join(repository, 'src', 'other.txt'), 'other\n');
    const other = await commitAll(repository, 'other');
    await git(repository, 'checkout', '--quiet', 'main');
    const run = await TestRun.start(world, fakeTask(WRITES), {
      cwd: join(repository, 'src'),
      isolation: 'worktree',
      baseRef: 'other',
    });
    const worktree = await viewOf(run);
    expect(worktree).toMatchObject({ base: other, folder: join(worktree?.path ?? '', 'src') });
    expect(await readFile(join(worktree?.folder ?? '', 'made.txt'), 'utf8')).toBe('made\n');
    expect((await run.snapshot()).view?.children[0]?.cwd).toBe(worktree?.folder);
  });

  test.for([
    ['fails', { steps: [{ write: 'made.txt' }, { exit: 3 }] }, 'failed'],
    ['is stopped', { steps: [{ write: 'made.txt' }, { hang: true }] }, 'stopped'],
  ] as const)('keeps what there is when it %s', async ([, task, state]) => {
    const fakes = { ...task, steps: [...task.steps] };
    const run = await TestRun.start(world, fakeTask(fakes), { cwd: repository, worktree: true });
    if (state === 'stopped') {
      await run.working();
      await stopRun(run.toolbox(), run.directory, owner);
    }
    expect((await run.end()).state).toBe(state);
    expect(await viewOf(run)).toMatchObject({ state: 'captured', changed: true });
  });

  test('run-118 is refused before there is a run when the checkout is not clean', async () => {
    await writeFile(join(repository, 'a.txt'), 'changed\n');
    const refused = TestRun.plan(world, fakeTask(WRITES), { cwd: repository, worktree: true });
    await expect(refused).rejects.toMatchObject({ code: 'worktree_refused' });
    await expect(TestRun.plan(world, 'x', { cwd: repository, baseRef: 'main' })).rejects.toThrow('no worktree');
    const both = TestRun.plan(world, 'x', { cwd: repository, worktree: true, isolation: 'none' });
    await expect(both).rejects.toThrow('different things');
  });

  test('that became unclean after it was planned fails by name, with nothing made', async () => {
    const run = await TestRun.plan(world, fakeTask(WRITES), { cwd: repository, worktree: true });
    await writeFile(join(repository, 'a.txt'), 'changed\n');
    await startRun(run.toolbox(), run.plan).catch(() => undefined);
    const { state, error } = await run.end();
    expect([state, error?.code]).toEqual(['failed', 'worktree_refused']);
    expect(await git(repository, 'worktree', 'list')).not.toContain('.worktrees');
    expect(await run.all('worktree.planned')).toEqual([]);
  });

  test('run-134 is gone on with in its worktree by a run that resumes it', async () => {
    const run = await TestRun.start(world, fakeTask(WRITES), { cwd: repository, worktree: true });
    const first = await viewOf(run);
    const more = fakeTask({ steps: [{ write: 'more.txt' }, { say: 'more' }] });
    const resumed = await resumeRun(run.toolbox(), { directory: run.directory, owner, task: more });
    const view = (await run.store.read(resumed.runId)).view;
    expect(view?.runId).toBe(resumed.runId);
    const next = await waitForRun(run, resumed.runId);
    expect(next).toMatchObject({
      state: 'captured',
      path: first?.path,
      of: { runId: run.runId, child: 1 },
      files: 2,
    });
  });
});

async function waitForRun(run: TestRun, runId: string) {
  const { state, view, error } = await waitForEnd(run.store, runId, { signal: AbortSignal.timeout(40_000) });
  expect([state, error]).toEqual(['complete', null]);
  return view?.children[0]?.worktree;
}

/** Runs that cannot be ended as usual: what tells of them is damaged or gone, or their runner does not come to the end. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forceStopRun, resumeRun, steerRun, stopRun } from '../../src/client/index.ts';
import { runLayout } from '../../src/core/projects/index.ts';
import { owner, TestRun } from '../support/control-matrix-runs.ts';
import { hideRunner } from '../support/control-matrix-situations.ts';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { hasPendingSignals, isAlive } from '../support/process-state.ts';
import { waitFor } from '../support/wait-for.ts';
import type { World } from '../support/world.ts';

const stack = new AsyncDisposableStack();
let fake: FakePi;
let world: World;

beforeAll(async () => {
  ({ fake, world } = await fakeWorld(stack));
});
afterAll(() => expectNobodyLeft(stack, { fake, world }));

/** At work, with a process of its own, and as stubborn as can be. */
async function stubborn(): Promise<TestRun> {
  const run = await TestRun.start(world, fakeTask({ steps: [{ say: 'begun' }, { hang: 'deaf' }] }));
  await run.working(1);
  return run;
}

const force = (run: TestRun) => forceStopRun(run.toolbox(), run.directory, owner);
const pipeAt = async (path: string) => {
  await rm(path);
  await promisify(execFile)('mkfifo', [path]);
};

describe.concurrent('a lease that cannot be read, of a runner that does not answer', () => {
  test.each([
    ['damaged', (path: string) => writeFile(path, '{"version":1,')],
    ['a folder', (path: string) => rm(path).then(() => mkdir(path))],
    ['a pipe', pipeAt],
  ])('%s: Force Stop ends runner and child by what the journal says', async (_, spoil) => {
    const run = await stubborn();
    const runner = await run.runner();
    process.kill(runner, 'SIGSTOP');
    await spoil(`${runLayout(run.directory).lease}.1`);
    await run.until('it to be told from a lease being written', ({ state }) => state === 'unresponsive');
    expect(await force(run)).toEqual({ outcome: 'done', note: null });
    expect(isAlive(runner)).toBe(false);
    expect((await run.snapshot()).state).toBe('stopped');
    await run.expectNothingLeft();
  });
});

describe.concurrent('a record that is gone or damaged', () => {
  test.each([
    ['removed', (path: string) => rm(path)],
    ['damaged', (path: string) => writeFile(path, '{"version":1,')],
    ['a folder', (path: string) => rm(path).then(() => mkdir(path))],
    ['a pipe', pipeAt],
  ])('%s: it is written again by a runner that lives', async (kind, spoil) => {
    const gate = `record-${kind}`;
    const run = await TestRun.start(world, fakeTask({ steps: [{ gate }, { say: 'done' }] }));
    await fake.arrivedAt(gate);
    const { record } = runLayout(run.directory);
    const before = await readFile(record, 'utf8');
    await spoil(record);
    expect(await run.snapshot()).toMatchObject({ state: 'unknown', error: { code: 'run_unreadable' } });
    await run.until('the record', ({ state }) => state === 'running');
    expect(await readFile(record, 'utf8')).toBe(before);
    await fake.open(gate);
    expect((await run.end()).state).toBe('complete');
    await run.expectNothingLeft();
  });

  test('does not keep a run from being stopped', async () => {
    const run = await TestRun.start(world, fakeTask({ steps: [{ say: 'begun' }, { hang: true }] }));
    await run.working(1);
    await rm(runLayout(run.directory).record);
    expect(await stopRun(run.toolbox(), run.directory, owner)).toEqual({ outcome: 'done' });
    await run.runnerGone();
    expect((await run.all('run.ended')).map(({ state }) => state)).toEqual(['stopped']);
    await run.expectNothingLeft();
  });

  test('does not keep a lost run’s processes from being ended, which is all that can be done', async () => {
    const run = await stubborn();
    const runner = await run.runner();
    process.kill(runner, 'SIGSTOP');
    await rm(runLayout(run.directory).record);
    expect(await run.snapshot()).toMatchObject({ state: 'unknown', error: { code: 'run_unreadable' } });
    expect(await force(run)).toMatchObject({
      outcome: 'done',
      note: { code: 'run_unreadable', message: expect.stringMatching(/processes of the run were ended.*run\.json/s) },
    });
    expect(isAlive(runner)).toBe(false);
    await run.childGone();
    expect((await run.snapshot()).state).toBe('unknown');
    // Its marks are those of a run that never ended; whoever mends the record can end it.
    await writeFile(runLayout(run.directory).record, JSON.stringify(run.plan.record));
    expect((await run.snapshot()).state).toBe('lost');
    expect(await stopRun(run.toolbox(), run.directory, owner)).toEqual({ outcome: 'done' });
    await run.expectNothingLeft();
  });

  test('and no journal either: the run is named as what it is, and nothing is done', async () => {
    const run = await TestRun.start(world, fakeTask({ steps: [{ say: 'x' }] }));
    await run.end();
    const layout = runLayout(run.directory);
    await run.runnerGone();
    for (const path of [layout.record, layout.journal, layout.status]) await rm(path);
    await expect(force(run)).rejects.toMatchObject({ code: 'run_unreadable' });
  });
});

test('unknown: a run whose runner cannot be told is neither lost nor running, and nothing is done to a stranger', async () => {
  const run = await TestRun.start(world, fakeTask({ steps: [{ say: 'begun' }, { hang: true }] }));
  await run.working(1);
  const runner = await run.runner();
  const putRight = await hideRunner(run);
  const next = { code: 'runner_unreachable', hint: expect.stringContaining('Force Stop') };
  expect(await run.snapshot()).toMatchObject({ state: 'unknown', error: next });
  const by = [run.toolbox(), run.directory, owner] as const;
  await expect(steerRun(...by, 'hello')).rejects.toMatchObject({ code: 'runner_unreachable' });
  await expect(stopRun(...by)).rejects.toMatchObject({ code: 'runner_unreachable' });
  await expect(resumeRun(run.toolbox(), { directory: run.directory, owner })).rejects.toMatchObject({
    code: 'resume_refused',
  });
  // The child is ended by its identity; of the runner nothing is proven, so it gets no signal.
  await expect(force(run)).rejects.toMatchObject({
    code: 'processes_unproven',
    message: expect.stringContaining(String(process.pid)),
  });
  await run.childGone();
  expect(isAlive(runner)).toBe(true);
  await putRight();
  expect(await force(run)).toEqual({ outcome: 'done', note: null });
  expect(isAlive(runner)).toBe(false);
  await run.expectNothingLeft();
});

describe.concurrent('a runner that is told to terminate again while it leaves', () => {
  test.each([
    ['by the same signal', ['SIGTERM', 'SIGTERM']],
    ['by another', ['SIGTERM', 'SIGINT', 'SIGTERM']],
  ] as const)('%s still ends its child', async (_, signals) => {
    const run = await TestRun.start(
      world,
      fakeTask({ steps: [{ grandchild: 'none', ownSession: true }, { say: 'begun' }, { hang: 'stuck' }] }),
    );
    await run.working(1);
    const runner = await run.runner();
    for (const signal of signals) {
      process.kill(runner, signal);
      // Signals that wait are taken together: each is sent when the one before it was taken.
      await waitFor('the signal to be taken', () => !hasPendingSignals(runner));
    }
    await run.runnerGone();
    expect(await run.processes()).toEqual([]);
    expect((await run.snapshot()).state).toBe('lost');
    await run.recover('stop');
    expect((await run.end()).state).toBe('stopped');
    await run.expectNothingLeft();
  });
});

describe.concurrent('a runner that is told to terminate while its run is ending', () => {
  test.each([
    ['once', ['SIGTERM']],
    ['twice', ['SIGTERM', 'SIGINT']],
  ] as const)('%s: a run that was asked to stop is stopped, with proof', async (times, signals) => {
    // Only a kill ends it: every rung of the ladder is waited on, unless there is no time.
    const run = await TestRun.start(
      world,
      fakeTask({ steps: [{ say: 'begun' }, { hang: 'deaf' }], ignoreSignals: 'all', onStdinClose: [{ hang: 'deaf' }] }),
    );
    await run.working(1);
    const runner = await run.runner();
    const stopped = stopRun(run.toolbox(), run.directory, owner);
    await run.event('control.requested');
    for (const signal of signals) process.kill(runner, signal);
    expect(await stopped).toEqual({ outcome: 'done' });
    await run.runnerGone();
    expect((await run.all('run.ended')).map(({ state }) => state)).toEqual(['stopped']);
    const [end, ...more] = await run.all('child.ended');
    expect(more).toEqual([]);
    expect(end).toMatchObject({
      tree: 'gone',
      note: expect.stringContaining(times === 'once' ? 'ignored' : 'no time'),
    });
    await run.expectNothingLeft();
  });

  test('a run whose work is done is complete', async () => {
    // The answer is there; its process does not go by itself.
    const run = await TestRun.start(
      world,
      fakeTask({ steps: [{ say: 'done' }], ignoreSignals: 'all', onStdinClose: [{ hang: 'deaf' }] }),
    );
    await run.event('child.settled');
    process.kill(await run.runner(), 'SIGTERM');
    await run.runnerGone();
    expect((await run.all('run.ended')).map(({ state }) => state)).toEqual(['complete']);
    expect(await run.text()).toBe('done');
    await run.expectNothingLeft();
  });
});

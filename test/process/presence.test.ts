/** A living run whose marks are removed: by a cleaner of temporary files, or by mistake. */
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forceStopRun, RunWatcher, resumeKind, steerRun, stopRun } from '../../src/client/index.ts';
import { inspectLock } from '../../src/core/locks/index.ts';
import { runLayout } from '../../src/core/projects/index.ts';
import type { LockOwner, RunState } from '../../src/protocol/index.ts';
import { owner, TestRun } from '../support/control-matrix-runs.ts';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { isAlive } from '../support/process-state.ts';
import { waitFor } from '../support/wait-for.ts';
import type { World } from '../support/world.ts';

const stack = new AsyncDisposableStack();
let fake: FakePi;
let world: World;

beforeAll(async () => {
  ({ fake, world } = await fakeWorld(stack));
});
afterAll(() => expectNobodyLeft(stack, { fake, world }));

/** A run whose child waits at the gate. */
async function atGate(gate: string): Promise<TestRun> {
  const run = await TestRun.start(world, fakeTask({ steps: [{ say: 'begun' }, { gate }, { say: 'the end' }] }));
  await fake.arrivedAt(gate);
  // Nothing more is written until the gate is opened.
  await run.working(1);
  return run;
}

const lease = (run: TestRun) => inspectLock(runLayout(run.directory).lease);

async function ownerOf(run: TestRun): Promise<LockOwner> {
  const { owner: found } = await lease(run);
  if (!found) throw new Error('the run has no owner');
  return found;
}

async function finishes(run: TestRun, gate: string): Promise<void> {
  await fake.open(gate);
  expect(await run.end()).toMatchObject({ state: 'complete', error: null });
  expect(await run.text()).toBe('the end');
  expect(await run.all('runner.started')).toHaveLength(1);
  await run.expectNothingLeft();
}

describe.concurrent('the lease of a living run', () => {
  test('that is removed is written again; meanwhile the run is not lost, and nobody can take it over', async () => {
    const gate = 'lease-removed';
    const run = await atGate(gate);
    const before = await ownerOf(run);
    const seen = new Set<RunState>();
    const watcher = new RunWatcher(run.store, ({ runId, state }) => void (runId === run.runId && seen.add(state)));
    try {
      await watcher.refresh();
      await rm(`${runLayout(run.directory).lease}.${before.epoch}`);
      expect((await run.snapshot()).state).toBe('unresponsive');
      await expect(resumeKind(run.directory)).rejects.toMatchObject({ code: 'resume_refused' });
      await expect(run.recover()).rejects.toMatchObject({ code: 'lock_held' });
      await expect(stopRun(run.toolbox(), run.directory, owner)).rejects.toMatchObject({ code: 'runner_unreachable' });
      await run.until('the run to be found again', ({ state }) => state === 'running');
      expect(await ownerOf(run)).toEqual(before);
      await watcher.refresh();
      expect([...seen]).not.toContain('lost');
    } finally {
      watcher.dispose();
    }
    await finishes(run, gate);
  });

  test('that is damaged is written again', async () => {
    const gate = 'lease-damaged';
    const run = await atGate(gate);
    const before = await ownerOf(run);
    await writeFile(`${runLayout(run.directory).lease}.${before.epoch}`, '{"version":1,');
    await waitFor('the whole lease', async () => (await lease(run)).owner);
    expect(await ownerOf(run)).toEqual(before);
    await finishes(run, gate);
  });

  test('is never taken back from another owner: the runner leaves without another word', async () => {
    const run = await atGate('lease-taken');
    const before = await ownerOf(run);
    const runner = await run.runner();
    const lines = await run.lines();
    // As a taker leaves it that could not know that this runner lives.
    const taken = { ...before, epoch: before.epoch + 1, token: 'another', process: { pid: 1, start: 'gone:1' } };
    await writeFile(`${runLayout(run.directory).lease}.${taken.epoch}`, JSON.stringify(taken));
    await waitFor('the runner to leave', () => !isAlive(runner));
    await run.childGone();
    expect(await run.lines()).toEqual(lines);
    expect(await readFile(runLayout(run.directory).log, 'utf8')).toContain('another owner');
    await run.recover('stop');
    expect((await run.end()).state).toBe('stopped');
    expect((await run.all('runner.started')).map((line) => line.epoch)).toEqual([1, 3]);
    await run.expectNothingLeft();
  });

  test('that is gone while its runner does not answer: Force Stop still finds and ends both', async () => {
    const run = await TestRun.start(world, fakeTask({ steps: [{ say: 'begun' }, { hang: 'deaf' }] }));
    await run.working(1);
    const runner = await run.runner();
    process.kill(runner, 'SIGSTOP');
    for (const name of await readdir(run.directory)) if (name.startsWith('lease.')) await rm(join(run.directory, name));
    expect((await run.snapshot()).state).toBe('unresponsive');
    expect(await forceStopRun(run.toolbox(), run.directory, owner)).toEqual({ outcome: 'done', note: null });
    expect(isAlive(runner)).toBe(false);
    expect((await run.all('runner.started')).map((line) => line.epoch)).toEqual([1, 2]);
    await run.expectNothingLeft();
  });
});

test.concurrent('the mark of a living run that is removed is made again', async () => {
  const gate = 'mark-removed';
  const run = await atGate(gate);
  await rm(join(run.store.layout.active, run.runId));
  await waitFor('the mark', async () => (await run.store.activeIds()).includes(run.runId));
  await finishes(run, gate);
});

describe.runIf(process.platform !== 'win32')('the socket of a living run', () => {
  test.each([
    ['alone', (path: string) => rm(path)],
    ['with its folder', (path: string) => rm(dirname(path), { recursive: true })],
  ])('that is removed %s is made again, for its owner only', async (how, remove) => {
    const gate = `socket-removed-${how.length}`;
    const run = await atGate(gate);
    const { socket = '' } = await ownerOf(run);
    await remove(socket);
    expect((await run.snapshot()).state).toBe('unresponsive');
    await run.until('the run to answer', ({ state }) => state === 'running');
    expect((await stat(dirname(socket))).mode & 0o777).toBe(0o700);
    const receipt = await steerRun(run.toolbox(), run.directory, owner, 'hello again');
    expect(receipt.state).toBe('queued');
    await fake.open(gate);
    expect((await run.end()).state).toBe('complete');
    await run.expectNothingLeft();
    await expect(stat(socket)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe.concurrent('the journal of a living run', () => {
  test.each([
    ['removed', (path: string) => rm(path)],
    ['replaced by a copy', (path: string) => readFile(path).then((text) => rm(path).then(() => writeFile(path, text)))],
    ['emptied', (path: string) => writeFile(path, '')],
  ])('that is %s is written again, and what comes next follows in it', async (name, change) => {
    const gate = `journal-${name.split(' ')[0]}`;
    const run = await atGate(gate);
    const { journal } = runLayout(run.directory);
    const before = await run.lines();
    await change(journal);
    await waitFor('the journal', async () =>
      (await readFile(runLayout(run.directory).log, 'utf8')).includes('written again'),
    );
    expect(await run.lines()).toEqual(before);
    expect(await run.snapshot()).toMatchObject({ state: 'running', skipped: 0 });
    await finishes(run, gate);
    expect((await run.lines()).slice(0, before.length)).toEqual(before);
  });
});

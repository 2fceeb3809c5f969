/** What happens to the processes and the run when something breaks under a runner. */
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launch, RunStore, recoverRun, waitForEnd } from '../../src/client/index.ts';
import { readJournal } from '../../src/core/journal/index.ts';
import { runLayout } from '../../src/core/projects/index.ts';
import type { Owner } from '../../src/protocol/index.ts';
import { createFakePi, type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { isAlive } from '../support/process-state.ts';
import { tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';
import { createWorld, type World } from '../support/world.ts';

const owner: Owner = { kind: 'cli', id: 'test' };
const stack = new AsyncDisposableStack();
let fake: FakePi;
let world: World;

beforeAll(async () => {
  fake = stack.use(await createFakePi({ dir: stack.use(await tempDir()).path }));
  world = stack.use(await createWorld({ piPath: fake.folder, git: false }));
});
afterAll(() => stack.disposeAsync());

async function start(plan: Parameters<typeof fakeTask>[0]) {
  const task = fakeTask(plan);
  const run = await launch(world.toolbox, { agent: 'worker', task, cwd: world.project, owner, trust: 'no-approve' });
  const store = new RunStore(run.project);
  const runner = await waitFor('the runner', async () => {
    const { lines } = await readJournal(runLayout(run.directory).journal);
    const line = lines.findLast((one) => one.type === 'runner.started');
    return line?.type === 'runner.started' ? line.process.pid : undefined;
  });
  return { ...run, store, runner };
}

const gone = () =>
  waitFor('every process to be gone', async () => (await fake.running()).length === 0, { timeoutMs: 15_000 });

test('a run folder that is removed under the runner leaves no process behind', async () => {
  const run = await start({ steps: [{ grandchild: 'none', ownSession: true }, { gate: 'removed' }, { say: 'done' }] });
  await fake.arrivedAt('removed');
  await rm(run.directory, { recursive: true, force: true });
  await fake.open('removed');
  await gone();
  await waitFor('the runner to be gone', () => !isAlive(run.runner), { timeoutMs: 15_000 });
});

test('a runner that is told to terminate ends its child and leaves a run that can be continued', async () => {
  const run = await start({
    steps: [{ grandchild: 'none', ownSession: true }, { gate: 'terminated' }, { say: 'never' }],
  });
  await fake.arrivedAt('terminated');
  process.kill(run.runner, 'SIGTERM');
  await waitFor('the runner to be gone', () => !isAlive(run.runner));
  await gone();
  expect((await run.store.read(run.runId)).state).toBe('lost');
  await recoverRun(world.toolbox, run.directory, 'stop', owner);
  expect((await waitForEnd(run.store, run.runId)).state).toBe('stopped');
});

test('a Pi that dies at its start or while it is asked is reported with its exit and what it printed', async () => {
  await fake.planLaunches({ start: [{ wait: 2500 }, { stderr: 'no such library\n' }, { exit: 9 }] });
  const early = await start({ steps: [] });
  const first = await waitForEnd(early.store, early.runId);
  expect(first).toMatchObject({ state: 'failed', error: { code: 'child_exited' } });
  expect(first.error?.message).toContain('code 9');
  expect(first.error?.message).toContain('no such library');
  await fake.planLaunches({});
  const asked = await start({ accepting: [{ wait: 2500 }, { stderr: 'out of luck\n' }, { exit: 7 }] });
  const second = await waitForEnd(asked.store, asked.runId);
  expect(second).toMatchObject({ state: 'failed', error: { code: 'child_exited' } });
  expect(second.error?.message).toContain('out of luck');
  await gone();
});

test('a run started from inside an agent is not taken for a process of that agent', async () => {
  const outer = await start({ steps: [{ gate: 'outer' }, { say: 'outer done' }] });
  await fake.arrivedAt('outer');
  const env = { ...world.env, PI_LANES_CHILD: `${outer.runId}/1` };
  const task = fakeTask({ steps: [{ gate: 'inner' }, { say: 'inner done' }] });
  const { stdout } = await world.cli(['run', '--agent', 'worker', '--task', task], { env });
  await fake.arrivedAt('inner');
  await fake.open('outer');
  expect((await waitForEnd(outer.store, outer.runId)).state).toBe('complete');
  await fake.open('inner');
  const inner = await waitForEnd(outer.store, stdout.trim());
  expect(inner.state).toBe('complete');
  await gone();
});

test('a message with odd side fields still counts', async () => {
  const run = await start({
    steps: [
      { say: 'kept', usage: { input: 9e300, output: 9e300, cost: 9e300 } },
      { say: 'kept too', usage: { input: 9e300, output: 9e300, cost: 9e300 } },
    ],
  });
  const snapshot = await waitForEnd(run.store, run.runId);
  expect(snapshot).toMatchObject({ state: 'complete', skipped: 0 });
  expect(snapshot.view?.usage.cost).toBe(Number.MAX_SAFE_INTEGER);
  await gone();
});

/** One child at a time changes files in a checkout, among all runs and processes. */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type LaunchPlan, stopRun } from '../../src/client/index.ts';
import { journalEvent, type SingleRecord } from '../../src/protocol/index.ts';
import { owner, TestRun } from '../support/control-matrix-runs.ts';
import { type FakeTask, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, type FakeWorld, fakeWorld } from '../support/fake-world.ts';
import { makeRepository } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';
import { TestWorkflow } from '../support/workflow-runs.ts';

const stack = new AsyncDisposableStack();
let fakes: FakeWorld;
let temp: TempDir;
let repository: string;
let count = 0;

beforeAll(async () => {
  fakes = await fakeWorld(stack, { writers: 'wait' });
  temp = stack.use(await tempDir());
});
beforeEach(async () => {
  repository = await makeRepository(join(await realpath(temp.path), `repository-${++count}`));
});
afterAll(() => expectNobodyLeft(stack, fakes));

const HANGS: FakeTask = { steps: [{ say: 'begun' }, { hang: true }] };
const SAYS: FakeTask = { steps: [{ say: 'done' }] };

const start = (task: FakeTask, change?: (record: SingleRecord) => SingleRecord, cwd = repository) =>
  TestRun.start(fakes.world, fakeTask(task), {
    cwd,
    ...(change ? { change: (plan: LaunchPlan<SingleRecord>) => ({ ...plan, record: change(plan.record) }) } : {}),
  });

const stop = (run: TestRun) => stopRun(run.toolbox(), run.directory, owner);

describe('two agents that may change files', () => {
  test('in one checkout work one after the other, from whatever folder of it', async () => {
    const first = await start(HANGS);
    await first.working();
    const second = await start(SAYS, undefined, join(repository, 'src'));
    const awaited = await second.event('checkout.awaited');
    expect(awaited).toMatchObject({ folder: repository, owner: `run ${first.runId}` });
    const awaits = { folder: repository, owner: `run ${first.runId}`, since: awaited.t };
    const json = await fakes.world.cli(['status', second.runId, '--json'], { cwd: repository });
    expect(JSON.parse(json.stdout)).toMatchObject({
      state: 'running',
      run: { children: [{ state: 'queued', awaits }] },
    });
    expect(await second.all('child.spawn.intended')).toEqual([]);
    const { stdout } = await fakes.world.cli(['status', second.runId], { cwd: repository });
    expect(stdout).toContain(`for run ${first.runId} to be done with changing files in ${repository}\n`);
    await stop(first);
    const end = await second.end();
    expect([end.state, end.view?.children[0]?.awaits]).toEqual(['complete', undefined]);
    expect(await second.all('checkout.taken')).toHaveLength(1);
  });

  test('do not wait when the second is to be refused: it names the first', async () => {
    const first = await start(HANGS);
    await first.working();
    const second = await start(SAYS, (record) => ({ ...record, writers: 'refuse' }));
    const { state, error } = await second.end();
    expect([state, error?.code, error?.message]).toEqual([
      'failed',
      'checkout_in_use',
      expect.stringContaining(`run ${first.runId}`),
    ]);
    await stop(first);
  });

  test('are not kept waiting by one whose runner was killed', async () => {
    const first = await start(HANGS);
    await first.working();
    await first.killRunner();
    await first.childGone();
    const second = await start(SAYS);
    expect((await second.end()).state).toBe('complete');
    await first.recover('stop');
    await first.end();
  });

  test('can be stopped while they wait', async () => {
    const first = await start(HANGS);
    await first.working();
    const second = await start(SAYS);
    await second.event('checkout.awaited');
    await stop(second);
    const { state, view } = await second.end();
    expect([state, view?.children[0]?.awaits]).toEqual(['stopped', undefined]);
    expect(await second.all('child.spawn.intended')).toEqual([]);
    await stop(first);
  });

  test('and one that only reads, or has a worktree of its own, do not wait', async () => {
    const first = await start(HANGS);
    await first.working();
    const reads = await start(SAYS, (record) => {
      const agent = { ...record.child.agent, tools: ['read', 'grep'] };
      return { ...record, child: { ...record.child, agent } };
    });
    expect((await reads.end()).state).toBe('complete');
    const apart = await TestRun.start(fakes.world, fakeTask(SAYS), { cwd: repository, worktree: true });
    expect((await apart.end()).state).toBe('complete');
    await stop(first);
  });

  test('use up none of their time while they wait', async () => {
    const first = await start(HANGS);
    await first.working();
    const limitMs = 5000;
    const second = await TestRun.start(fakes.world, fakeTask(SAYS), { cwd: repository, timeoutMs: limitMs });
    const { t: since } = await second.event('checkout.awaited');
    await waitFor('more than its time to pass', () => Date.now() > since + limitMs + 1500, { timeoutMs: 30_000 });
    expect(await second.snapshot()).toMatchObject({ state: 'running', view: { children: [{ state: 'queued' }] } });
    await stop(first);
    const { state, view } = await second.end();
    expect([state, view?.children[0]?.timedOut]).toEqual(['complete', false]);
  });

  test('of a workflow have their whole time when their turn comes, and no more; status tells what they wait for', async () => {
    const first = await start(HANGS);
    await first.working();
    const limitMs = 2000;
    const item = { agent: 'worker', task: fakeTask(HANGS), timeoutMs: limitMs };
    const script = `return (await runs.all(${JSON.stringify([{ key: 'late', ...item }])})).map(({ ok }) => ok);`;
    const second = await TestWorkflow.start(fakes.world, script, { cwd: repository });
    const { t: since } = await second.event('checkout.awaited');
    const owner = `run ${first.runId}`;
    const json = await fakes.world.cli(['status', second.runId, '--json'], { cwd: repository });
    expect(JSON.parse(json.stdout)).toMatchObject({
      run: { children: [{ key: 'late', state: 'queued', awaits: { folder: repository, owner, since } }] },
      workflowChildren: { children: [{ childId: 'late', state: 'pending', activity: `waits for ${owner}` }] },
    });
    await waitFor('more than its time to pass', () => Date.now() > since + limitMs + 1000, { timeoutMs: 30_000 });
    expect(await second.all('timeout.reached')).toEqual([]);
    await stop(first);
    expect((await second.end()).state).toBe('complete');
    expect((await second.result())?.value).toEqual([false]);
    const [[taken], [reached]] = await Promise.all([second.all('checkout.taken'), second.all('timeout.reached')]);
    // Had the wait counted, it would be over at once; what passed before it and until it was written down does count.
    expect((reached?.t ?? 0) - (taken?.t ?? 0)).toBeGreaterThan(limitMs / 2);
  });

  test('of one workflow take turns', async () => {
    const item = (key: string) => ({ key, agent: 'worker', task: fakeTask({ steps: [{ wait: 300 }, { say: key }] }) });
    const script = `return (await runs.all(${JSON.stringify([item('a'), item('b'), item('c')])})).map(({ output }) => output);`;
    const run = await TestWorkflow.start(fakes.world, script, { cwd: repository });
    expect((await run.end()).state).toBe('complete');
    expect((await run.result())?.value).toEqual(['a', 'b', 'c']);
    let living = 0;
    for (const { type } of await run.lines()) {
      if (type === 'child.spawned') living += 1;
      if (type === 'child.ended') living -= 1;
      expect(living).toBeLessThanOrEqual(1);
    }
    expect((await run.all('checkout.awaited')).length).toBeGreaterThan(0);
  });
});

const TYPES = journalEvent.def.options
  .flatMap((option) => option.shape.type.def.values)
  .filter((type) => type.startsWith('checkout.'));

describe('an agent whose runner dies while it waits its turn', () => {
  const points = TYPES.flatMap((type) => (['before', 'after'] as const).map((when) => ({ type, when })));

  test('has a test for each event of checkouts', () => {
    expect(TYPES).toEqual(['checkout.awaited', 'checkout.taken']);
  });

  test.each(points)('$when $type', async ({ type, when }) => {
    const first = await start(HANGS);
    await first.working();
    const second = await TestRun.plan(fakes.world, fakeTask(SAYS), { cwd: repository });
    // The first fact of a run says that it has begun: without it nobody was told so.
    const isBegun = !(type === 'checkout.awaited' && when === 'before');
    const started = second.start(`${type}:${when}`).then(
      () => true,
      () => false,
    );
    if (type === 'checkout.taken') {
      await second.event('checkout.awaited');
      await stop(first);
    }
    await second.runnerGone();
    expect(await second.all('child.spawn.intended')).toEqual([]);
    if (!isBegun) expect(await started).toBe(false);
    if (type === 'checkout.awaited') await stop(first);
    await second.recover();
    const { state, error, view } = await second.end();
    expect([state, error?.code]).toEqual(isBegun ? ['complete', undefined] : ['failed', 'start_not_confirmed']);
    expect(view?.children[0]?.awaits).toBeUndefined();
    expect(await second.all('child.spawned')).toHaveLength(isBegun ? 1 : 0);
    // Nobody holds the checkout any more.
    expect((await (await start(SAYS)).end()).state).toBe('complete');
  });
});

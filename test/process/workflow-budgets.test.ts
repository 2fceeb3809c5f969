/** What all agents of a workflow may use together, in money and in time, and going on with one that is over. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stopRun } from '../../src/client/index.ts';
import { childRunId } from '../../src/core/runs/index.ts';
import { owner, TestRun } from '../support/control-matrix-runs.ts';
import { type FakePi, type FakeTask, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { isAlive } from '../support/process-state.ts';
import { waitFor } from '../support/wait-for.ts';
import { TestWorkflow } from '../support/workflow-runs.ts';
import type { World } from '../support/world.ts';

const stack = new AsyncDisposableStack();
let fake: FakePi;
let world: World;

beforeAll(async () => {
  ({ fake, world } = await fakeWorld(stack));
});
afterAll(() => expectNobodyLeft(stack, { fake, world }));

const launchOf = (task: FakeTask, more: object = {}) =>
  JSON.stringify({ agent: 'worker', task: fakeTask(task), ...more });
const says = (text: string) => launchOf({ steps: [{ say: text }] });
const hangs = (key: string, more: object = {}) => launchOf({ key, steps: [{ say: 'begun' }, { hang: true }] }, more);
const costs = (text: string, tokens: number) =>
  launchOf({ steps: [{ say: text, usage: { input: tokens - 10, output: 10, cost: tokens / 1000 } }] });

/** Keys of the children that were started, as often as they were. */
const started = async (run: TestWorkflow) => {
  const keys = new Map((await run.all('child.planned')).map(({ child, key }) => [child, key]));
  return (await run.all('child.spawn.intended')).map(({ child }) => keys.get(child)).sort();
};

describe('the budget of a workflow', () => {
  test('wf-78 used up: nothing more is started, who is at work goes on, and what there is is kept', async () => {
    const long = launchOf({ key: 'wf-78', steps: [{ gate: 'wf-78' }, { say: 'worth it' }] });
    const script = `
      const all = await runs.all([
        { key: 'long', ...${long} }, { key: 'dear', ...${costs('done', 2000)} },
        { key: 'third', ...${says('never')} }, { key: 'fourth', ...${says('never')} },
      ]);
      emit(all.map((one) => [one.key, one.ok, one.terminalOutcome ?? null]));
      const missing = all.filter((one) => !one.ok).map((one) => one.key);
      if (missing.length > 0) throw new Error('not all is there: ' + missing);`;
    const run = await TestWorkflow.start(world, script, {
      globalConcurrencyLimit: 2,
      usageBudget: { costUsd: { soft: 1, hard: 2 } },
    });
    // The second one has ended, and the step that follows is written down.
    await run.event('child.settled');
    const { step } = await run.event('workflow.delivered', ({ facts }) => facts.some(({ key }) => key === 'dear'));
    await run.event('workflow.stepped', (line) => line.step === step);
    await fake.open('wf-78');
    const { state, error, view } = await run.end();
    expect({ state, message: error?.message }).toEqual({
      state: 'partial',
      message: expect.stringContaining('not all is there: third,fourth'),
    });
    expect(await started(run)).toEqual(['dear', 'long']);
    expect(view?.children.map((child) => child.state)).toEqual(['complete', 'complete']);
    const { emits, trace } = (await run.result()) ?? {};
    const refused = { state: 'partial', reason: 'budget_exhausted' };
    expect(emits).toEqual([
      [
        ['long', true, null],
        ['dear', true, null],
        ['third', false, refused],
        ['fourth', false, refused],
      ],
    ]);
    expect(trace?.findLast(({ key }) => key === 'third')).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('2 of 2 US dollars'),
    });
    expect(await run.receipt()).toMatchObject({ state: 'partial', terminalOutcome: refused });
    expect((await world.cli(['status', run.runId])).stdout).toMatch(/^budget +past its limit: \$2\.00 of \$2\.00$/m);
  });

  test('wf-78 used up by a script that ends well all the same is no failure', async () => {
    const run = await TestWorkflow.start(world, `return (await runs.run('a', ${costs('enough', 500)})).output`, {
      usageBudget: { tokens: { soft: 100, hard: 500 } },
    });
    expect((await run.end()).state).toBe('complete');
    expect(await run.receipt()).not.toHaveProperty('terminalOutcome');
  });
});

describe('the time of a workflow', () => {
  test('B72 wf-75 passed: all at work are ended with proof, nothing that waited is started, and what was done is kept', async () => {
    const keys = ['a', 'b', 'c', 'd', 'e'];
    const script = `
      const first = await runs.run('first', ${says('done')});
      emit(first.output);
      await runs.all(${JSON.stringify(keys)}.map((key) => ({ key, ...${hangs('b72')} })));`;
    const run = await TestWorkflow.start(world, script, { timeoutMs: 6000, globalConcurrencyLimit: 3 });
    const { state, error, view } = await run.end();
    expect({ state, message: error?.message }).toEqual({
      state: 'partial',
      message: expect.stringContaining('6000 ms'),
    });
    expect(await started(run)).toEqual(['a', 'b', 'c', 'first']);
    expect(view?.children.map(({ state: of, exit }) => `${of} ${exit?.tree}`)).toEqual([
      'complete gone',
      ...Array(3).fill('paused gone'),
    ]);
    for (const { process } of await run.all('child.spawned')) expect(isAlive(process.pid)).toBe(false);
    expect((await run.result())?.emits).toEqual(['done']);
    const outcome = { state: 'partial', reason: 'timeout' };
    expect(await run.receipt()).toMatchObject({
      state: 'partial',
      terminalOutcome: outcome,
      entries: { first: { resumability: { state: 'resumable' } }, a: { resumability: { state: 'resumable' } } },
    });
  });

  test('of one child is its own: the script is told and goes on', async () => {
    const script = `
      const [slow] = await runs.all([{ key: 'slow', ...${hangs('own-time', { timeoutMs: 1500 })} }]);
      return [slow.ok, slow.terminalOutcome, (await runs.run('after', ${says('fine')})).output];`;
    const run = await TestWorkflow.start(world, script);
    expect((await run.end()).state).toBe('complete');
    expect((await run.result())?.value).toEqual([false, { state: 'partial', reason: 'timeout' }, 'fine']);
  });
});

describe('an agent that is over', () => {
  /** Says how many messages of people its session has. */
  const counts = fakeTask({ steps: [{ say: 'message {{users}}' }] });

  test('wf-52 wf-54 is gone on with in its session, by its run id, and spends no place', async () => {
    const script = `
      const a = await runs.run('a', { agent: 'worker', task: ${JSON.stringify(counts)} });
      const b = await runs.run('b', { resume: a.runId, task: ${JSON.stringify(counts)} });
      const c = await runs.run('c', { resume: b.runId, task: ${JSON.stringify(counts)}, label: 'once more' });
      return [a, b, c].map((one) => [one.output, one.agent, one.runId, one.continuation?.runIds ?? null]);`;
    const run = await TestWorkflow.start(world, script, { maxSubagentSpawnsPerRun: 1 });
    const { state, error, view } = await run.end();
    expect({ state, error }).toEqual({ state: 'complete', error: null });
    const [a, b, c] = [1, 2, 3].map((child) => childRunId(run.runId, child));
    expect((await run.result())?.value).toEqual([
      ['message 1', 'worker', a, null],
      ['message 2', 'worker', b, [a, b]],
      ['message 3', 'worker', c, [a, b, c]],
    ]);
    expect(new Set(view?.children.map(({ session }) => session?.file)).size).toBe(1);
    expect(view?.children[2]?.label).toBe('once more');
    expect(await run.receipt()).toMatchObject({
      entries: { c: { latestRunId: c, continuation: { runIds: [a, b, c] } } },
    });
  });

  test('wf-53 of another workflow is found by its key, through the receipt', async () => {
    const first = await TestWorkflow.start(
      world,
      `return (await runs.run('a', { agent: 'worker', task: ${JSON.stringify(counts)} })).output`,
    );
    expect((await first.end()).state).toBe('complete');
    const reference = (key: string, workflowRunId = first.runId) =>
      JSON.stringify({ workflowRunId, key, latest: true });
    const again = (key: string, resume: string) =>
      `await runs.all([{ key: '${key}', resume: ${resume}, task: ${JSON.stringify(counts)} }])`;
    const script = `
      const [b] = ${again('b', reference('a'))};
      const [other] = ${again('other', reference('z'))};
      const [unknown] = ${again('unknown', reference('a', '01900000-0000-7000-8000-000000000000'))};
      return [b.output, b.agent, other.error, unknown.error];`;
    const second = await TestWorkflow.start(world, script);
    expect((await second.end()).state).toBe('complete');
    expect((await second.result())?.value).toEqual([
      'message 2',
      'worker',
      expect.stringContaining('no agent "z"'),
      expect.stringContaining('no run'),
    ]);
  });

  test('of a run of its own is gone on with as well', async () => {
    const single = await TestRun.start(world, counts);
    await single.end();
    const script = `return (await runs.run('b', { resume: '${single.runId}', task: ${JSON.stringify(counts)} })).output`;
    const run = await TestWorkflow.start(world, script);
    expect((await run.end()).state).toBe('complete');
    expect((await run.result())?.value).toBe('message 2');
  });

  test('is not gone on with while it works, or when a person stopped it', async () => {
    const script = `
      const work = runs.all([{ key: 'a', ...${hangs('retained')} }]);
      await runs.run('between', ${says('now')});
      const again = (key) => runs.all([{ key, resume: args + '.1', task: 'go on' }]).then(([one]) => one.error);
      const alive = await again('while-it-works');
      emit('alive');
      const [a] = await work;
      return [alive, a.stopped, await again('after-its-stop')];`;
    const run = await TestWorkflow.plan(world, script, { args: 'later' });
    run.plan.record.workflow.args = JSON.stringify(run.runId);
    await run.start();
    await run.event('workflow.said');
    await waitFor('the first to be at work', async () => (await run.all('child.prompted')).length > 0);
    await stopRun(run.toolbox(), run.directory, owner, 1);
    expect((await run.end()).state).toBe('complete');
    expect((await run.result())?.value).toEqual([
      expect.stringMatching(/cannot be resumed: it is (queued|running)/),
      true,
      expect.stringContaining('it was stopped'),
    ]);
    expect(await started(run)).toEqual(['a', 'between']);
  });
});

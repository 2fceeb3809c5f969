/** Workflows in a runner, with real processes as children. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { continueWorkflow } from '../../src/client/index.ts';
import { owner } from '../support/control-matrix-runs.ts';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { TestWorkflow } from '../support/workflow-runs.ts';
import type { World } from '../support/world.ts';

const stack = new AsyncDisposableStack();
let fake: FakePi;
let world: World;

beforeAll(async () => {
  ({ fake, world } = await fakeWorld(stack));
});
afterAll(() => expectNobodyLeft(stack, { fake, world }));

/** A launch of a child that says this. */
const says = (text: string, more: object = {}) =>
  JSON.stringify({ agent: 'worker', task: fakeTask({ steps: [{ say: text }] }), ...more });

describe('a workflow', () => {
  test('runs its children and returns what they said', async () => {
    const script = `
      const [a, b] = await runs.all([{ key: 'a', ...${says('first')} }, { key: 'b', ...${says('second')} }]);
      emit({ done: 2 });
      console.log('both are there');
      const c = await runs.run('c', ${says('third')});
      return [a.output, b.output, c.output];`;
    const run = await TestWorkflow.start(world, script);
    const { state, error, view } = await run.end();
    expect({ state, error }).toEqual({ state: 'complete', error: null });
    expect(await run.result()).toMatchObject({ ok: true, value: ['first', 'second', 'third'], emits: [{ done: 2 }] });
    expect(view?.children.map(({ key, state: of }) => `${key} ${of}`)).toEqual([
      'a complete',
      'b complete',
      'c complete',
    ]);
    expect(await run.receipt()).toMatchObject({
      workflowRunId: run.runId,
      state: 'complete',
      entries: { a: {}, b: {}, c: {} },
    });
  });
});

/** A child that never ends when it is begun first, and says this when it is begun again. */
const hangsOnce = (key: string) =>
  fakeTask({ key, steps: [{ say: 'begun' }, { hang: true }], attempts: [{}, { steps: [{ say: 'slow' }] }] });

/** How often each child was started, by key. */
async function starts(run: TestWorkflow): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const names = new Map((await run.all('child.planned')).map(({ child, key }) => [child, key]));
  for (const { child } of await run.all('child.spawn.intended')) {
    const key = names.get(child) ?? String(child);
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

describe('a workflow whose runner is killed', () => {
  test('goes on where it stood: what had ended is not started again', async () => {
    const slow = hangsOnce('killed');
    const script = `
      const a = await runs.run('a', ${says('first')});
      emit(a.output);
      const [b, c] = await runs.all([{ key: 'b', ...${says('second')} }, { key: 'c', agent: 'worker', task: ${JSON.stringify(slow)} }]);
      const d = await runs.run('d', ${says('last')});
      return [a, b, c, d].map((one) => one.output);`;
    const run = await TestWorkflow.start(world, script);
    await run.event('child.settled', ({ child }) => child === 2 || child === 3);
    await run.event('child.prompted', ({ child }) => child === 3);
    await run.killRunner();
    expect((await run.snapshot()).state).toBe('lost');
    await run.recover();
    const { state, error } = await run.end();
    expect({ state, error }).toEqual({ state: 'complete', error: null });
    const { value, emits } = (await run.result()) ?? {};
    expect(value).toMatchObject(['first', 'second', expect.any(String), 'last']);
    expect(emits).toEqual(['first']);
    expect(await starts(run)).toEqual({ a: 1, b: 1, c: 2, d: 1 });
  });
});

describe('a workflow that a limit has ended', () => {
  test('B51 goes on with a higher one: what had ended is not started again', async () => {
    const script = `
      const keys = ['a', 'b', 'c', 'd'];
      const all = [];
      for (const key of keys) all.push((await runs.run(key, ${says('done')})).output);
      return all;`;
    const run = await TestWorkflow.start(world, script, { maxSubagentSpawnsPerRun: 3 });
    const ended = await run.end();
    expect(ended.state).toBe('failed');
    expect(ended.view?.workflow?.failure?.message).toContain('3 of 3');
    await expect(continueWorkflow(run.toolbox(), run.directory, owner, { timeoutMs: 1 })).rejects.toMatchObject({
      code: 'resume_refused',
    });
    await continueWorkflow(run.toolbox(), run.directory, owner, { maxSubagentSpawnsPerRun: 10 });
    const again = await run.end();
    expect({ state: again.state, error: again.error }).toEqual({ state: 'complete', error: null });
    expect((await run.result())?.value).toEqual(['done', 'done', 'done', 'done']);
    expect(await starts(run)).toEqual({ a: 1, b: 1, c: 1, d: 1 });
    expect(again.view?.workflow?.continued).toBe(1);
  });

  test('B72 a deadline ends script and children; continued, the child goes on in its session', async () => {
    const slow = hangsOnce('deadline');
    const script = `
      const a = await runs.run('a', ${says('first')});
      const b = await runs.run('b', { agent: 'worker', task: ${JSON.stringify(slow)} });
      return [a.output, b.output];`;
    const run = await TestWorkflow.start(world, script, { timeoutMs: 8000 });
    const ended = await run.end();
    expect(ended.state).toBe('partial');
    expect(ended.view?.children.map(({ state }) => state)).toEqual(['complete', 'paused']);
    const count = (await run.all('child.spawn.intended')).length;
    expect(count).toBe(2);
    await continueWorkflow(run.toolbox(), run.directory, owner, { timeoutMs: null });
    const again = await run.end();
    expect({ state: again.state, error: again.error }).toEqual({ state: 'complete', error: null });
    expect(await starts(run)).toEqual({ a: 1, b: 2 });
  });
});

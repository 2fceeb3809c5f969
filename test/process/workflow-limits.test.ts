/** What bounds a workflow: how many children at once and in all, what they may use, and when it is over. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { continueWorkflow } from '../../src/client/index.ts';
import { owner } from '../support/control-matrix-runs.ts';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
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
  await fake.planLaunches({ remembers: true });
});
afterAll(() => expectNobodyLeft(stack, { fake, world }));

const says = (text: string) => fakeTask({ steps: [{ say: text }] });

describe('how many children', () => {
  test('64 children work in one run, 20 of them at the same time', { timeout: 120_000 }, async () => {
    const script = `
      const task = (index) => args.task.replace('NUMBER', index);
      const all = await runs.all(
        Array.from({ length: 64 }, (_, index) => ({ key: 'child-' + index, agent: 'worker', task: task(index) })));
      return all.map(({ ok, output }) => ok && output);`;
    const task = fakeTask({ steps: [{ gate: 'twenty' }, { say: 'answer NUMBER' }] });
    const run = await TestWorkflow.start(world, script, { args: { task } });
    await waitFor('twenty to be at work', async () => (await run.all('child.prompted')).length === 20, {
      timeoutMs: 60_000,
      everyMs: 100,
    });
    expect(await run.all('child.spawn.intended')).toHaveLength(20);
    await fake.open('twenty');
    const { state, error, view } = await run.end(100_000);
    expect({ state, error }).toEqual({ state: 'complete', error: null });
    expect((await run.result())?.value).toEqual(Array.from({ length: 64 }, (_, index) => `answer ${index}`));
    expect(view?.children.map((child) => child.state)).toEqual(Array.from({ length: 64 }, () => 'complete'));
    let atWork = 0;
    let most = 0;
    for (const { type } of await run.lines()) {
      if (type === 'child.spawn.intended') atWork += 1;
      if (type === 'child.settled') atWork -= 1;
      most = Math.max(most, atWork);
    }
    expect(most).toBe(20);
  });

  test('B86 1,620 children that only a run can count do not start: the hard limit holds and says by how much', async () => {
    const script = `
      const reviews = args.items.flatMap((item) =>
        args.checks.map((check) => ({ key: item + '.' + check, agent: 'reviewer', task: 'Check ' + check + ' of ' + item })));
      const all = await runs.all(reviews);
      return { done: all.filter(({ ok }) => ok).length, why: [...new Set(all.map(({ error }) => error))] };`;
    const items = Array.from({ length: 540 }, (_, index) => `item-${index}`);
    const run = await TestWorkflow.start(world, script, { args: { items, checks: ['style', 'safety', 'tests'] } });
    const { state, error } = await run.end();
    expect({ state, error }).toEqual({ state: 'complete', error: null });
    expect((await run.result())?.value).toEqual({
      done: 0,
      why: [expect.stringMatching(/and 1610 more was refused: 0 of 64 .* 1620 more were requested, 64 remain/)],
    });
    expect(await run.all('child.planned')).toEqual([]);
  });

  test('B86 one after the other, they stop at the limit', async () => {
    const script = `
      const seen = [];
      for (const item of args.items) seen.push((await runs.run(item, { agent: 'worker', task: args.task })).output);
      return seen;`;
    const items = Array.from({ length: 540 }, (_, index) => `item-${index}`);
    const run = await TestWorkflow.start(world, script, {
      args: { items, task: says('seen') },
      maxSubagentSpawnsPerRun: 3,
    });
    expect((await run.end()).state).toBe('failed');
    expect((await run.all('child.spawn.intended')).map(({ child }) => child)).toEqual([1, 2, 3]);
  });

  test('B51 a number that is known before is refused before anything starts', async () => {
    const children = Array.from({ length: 13 }, (_, index) => ({ key: `k${index}`, agent: 'worker', task: 'x' }));
    const script = `return await runs.all(${JSON.stringify(children)});`;
    await expect(TestWorkflow.plan(world, script, { maxSubagentSpawnsPerRun: 12 })).rejects.toMatchObject({
      code: 'script_invalid',
      message: expect.stringMatching(/13.*12|12.*13/),
    });
  });
});

describe('what children use', () => {
  /** Each uses 110 tokens. */
  const script = `
    const work = ['a', 'b', 'c', 'd'].map((key) => ({ key, agent: 'worker', task: args.tasks[key] }));
    const all = await runs.all(work);
    emit(all.map(({ key, ok }) => key + ' ' + ok));
    const missing = all.filter(({ ok }) => !ok);
    if (missing.length > 0) throw new Error('missing: ' + missing.map(({ key }) => key));
    return all.map(({ output }) => output);`;

  test('B87 a budget for two of four: no more start, who is at work is told to wrap up, results stay, more of it goes on', async () => {
    const tasks = {
      a: says('a is done'),
      b: fakeTask({ steps: [{ say: 'begun' }, { await: 'steering' }, { say: 'handed back, told: {{steers}}' }] }),
      c: says('c is done'),
      d: says('d is done'),
    };
    const run = await TestWorkflow.start(world, script, {
      args: { tasks },
      globalConcurrencyLimit: 2,
      usageBudget: { tokens: { hard: 100 } },
    });
    const { state, view } = await run.end();
    expect(state).toBe('partial');
    expect(view?.workflow?.failure?.message).toContain('missing: c,d');
    expect(view?.children.map((child) => `${child.key} ${child.state}`)).toEqual(['a complete', 'b complete']);
    const { emits, trace } = (await run.result()) ?? {};
    expect(emits).toEqual([['a true', 'b true', 'c false', 'd false']]);
    const refused = trace?.filter((row) => row.state === 'failed');
    expect(refused?.map(({ key, error }) => `${key}: ${error}`)).toEqual([
      expect.stringMatching(/^c: The usage budget is exhausted: \d+ of 100 tokens/),
      expect.stringMatching(/^d: The usage budget is exhausted/),
    ]);
    const told = await run.all('control.requested');
    expect(told.map(({ child, action }) => [child, action])).toEqual([[2, 'steer']]);
    expect(await run.receipt()).toMatchObject({
      state: 'partial',
      terminalOutcome: { state: 'partial', reason: 'budget_exhausted' },
      entries: { a: { resumability: { state: 'resumable' } }, b: { resumability: { state: 'resumable' } } },
    });
    await continueWorkflow(run.toolbox(), run.directory, owner, { usageBudget: { tokens: { hard: 10_000 } } });
    expect((await run.end()).state).toBe('complete');
    expect((await run.result())?.value).toEqual([
      'a is done',
      expect.stringMatching(/^handed back, told: The usage budget of this workflow is used up/),
      'c is done',
      'd is done',
    ]);
    // Which of two that start together is first is nobody's promise.
    expect((await run.all('child.spawn.intended')).map(({ child }) => child).sort()).toEqual([1, 2, 3, 4]);
  });
});

describe('a deadline', () => {
  const hangs = fakeTask({ steps: [{ say: 'begun' }, { hang: true }] });

  test('B72 ends ten children that are at work, and nothing starts after it', async () => {
    const script = `
      const work = Array.from({ length: 10 }, (_, index) => ({ key: 'k' + index, agent: 'worker', task: args.task }));
      const all = await runs.all(work);
      await runs.run('after', { agent: 'worker', task: args.task });
      return all.length;`;
    const run = await TestWorkflow.start(world, script, { args: { task: hangs }, timeoutMs: 6000 });
    const { state, view } = await run.end();
    expect(state).toBe('partial');
    expect(view?.children.map(({ key }) => key)).not.toContain('after');
    const pids = (await run.all('child.spawned')).map(({ process }) => process.pid);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(view?.children.every(({ exit }) => exit === null || exit.tree === 'gone')).toBe(true);
  });

  test.each([
    ['that computes for ever', 'while (true) {}'],
    ['that waits for nothing for ever', 'for (;;) await null;'],
  ])('B72 ends a script %s', async (_, endless) => {
    const run = await TestWorkflow.start(
      world,
      `const work = runs.run('a', { agent: 'worker', task: args.task }); ${endless} return work;`,
      {
        args: { task: hangs },
        timeoutMs: 1000,
      },
    );
    const { state, view } = await run.end();
    expect(state).toBe('partial');
    expect(view?.workflow?.failure?.message).toContain('timed out after 1000 ms');
    expect(await run.all('child.spawn.intended')).toEqual([]);
  });
});

/** A workflow whose next runner dies while it takes it up again: nothing is lost, and nothing that had ended is started again. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { continueWorkflow, stopRun } from '../../src/client/index.ts';
import { owner } from '../support/control-matrix-runs.ts';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
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

const says = (text: string) => JSON.stringify({ agent: 'worker', task: fakeTask({ steps: [{ say: text }] }) });
const SCRIPT = `
  const all = [];
  for (const key of ['a', 'b', 'c']) all.push((await runs.run(key, ${says('done')})).output);
  return all.join(' ');`;
const MORE = { maxSubagentSpawnsPerRun: 5 };

describe.each(['before', 'after'] as const)('%s its new limits are written down', (when) => {
  test('an ended one can be continued again', async () => {
    const run = await TestWorkflow.start(world, SCRIPT, { maxSubagentSpawnsPerRun: 2 });
    expect((await run.end()).state).toBe('failed');
    const dies = continueWorkflow(run.toolbox(`run.continued:${when}`), run.directory, owner, MORE);
    // Whoever asked may have been told before, or not any more.
    await dies.catch(() => undefined);
    const { state } = await waitFor('its runner to be gone', async () => {
      const snapshot = await run.snapshot();
      return snapshot.state === (when === 'before' ? 'failed' : 'lost') ? snapshot : undefined;
    });
    await continueWorkflow(run.toolbox(), run.directory, owner, state === 'failed' ? MORE : {});
    expect((await run.end()).state).toBe('complete');
    expect((await run.result())?.value).toBe('done done done');
    expect((await run.all('child.spawn.intended')).map(({ child }) => child)).toEqual([1, 2, 3]);
    expect(await run.all('run.continued')).toHaveLength(1);
  });

  test('a lost one can be continued again', async () => {
    const run = await TestWorkflow.plan(world, SCRIPT, { maxSubagentSpawnsPerRun: 2 });
    await run.start('child.settled:after:2');
    await waitFor('its runner to be gone', async () => (await run.snapshot()).state === 'lost');
    const dies = continueWorkflow(run.toolbox(`run.continued:${when}`), run.directory, owner, MORE);
    await dies.catch(() => undefined);
    const epochs = async () => (await run.all('runner.started')).length;
    await waitFor(
      'the next one to be gone',
      async () => (await epochs()) === 2 && (await run.snapshot()).state === 'lost',
    );
    await continueWorkflow(run.toolbox(), run.directory, owner, MORE);
    const { state, view } = await run.end();
    expect([state, view?.workflow?.bounds?.limits.maxSubagentSpawnsPerRun]).toEqual(['complete', 5]);
    expect((await run.result())?.value).toBe('done done done');
    expect((await run.all('child.spawn.intended')).map(({ child }) => child)).toEqual([1, 2, 3]);
  });
});

test('what a person stopped is not taken up by new limits while its runner is gone', async () => {
  const hangs = JSON.stringify({ agent: 'worker', task: fakeTask({ steps: [{ say: 'begun' }, { hang: true }] }) });
  const run = await TestWorkflow.plan(world, `return (await runs.run('a', ${hangs})).output`);
  await run.start('control.requested:after');
  await run.event('child.prompted');
  await stopRun(run.toolbox(), run.directory, owner).catch(() => undefined);
  await waitFor('its runner to be gone', async () => (await run.snapshot()).state === 'lost');
  await continueWorkflow(run.toolbox(), run.directory, owner, { maxSubagentSpawnsPerRun: 100 });
  expect((await run.end()).state).toBe('stopped');
  expect(await run.all('run.continued')).toEqual([]);
});

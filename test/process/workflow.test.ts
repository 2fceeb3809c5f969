/** Workflows in a runner, with real processes as children. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

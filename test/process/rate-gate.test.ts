/** One child whose provider answers 429 slows all children of that provider, on real Pis. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectNobodyLeft, type FakeWorld, fakeWorld } from '../support/fake-world.ts';
import { TestWorkflow } from '../support/workflow-runs.ts';
import { createWorld, type World } from '../support/world.ts';

const stack = new AsyncDisposableStack();
let fakes: FakeWorld;
let world: World;
beforeAll(async () => {
  fakes = await fakeWorld(stack);
  world = stack.use(await createWorld({ git: false }));
});
afterAll(() => expectNobodyLeft(stack, { ...fakes, others: [world] }));

const steps = (...all: object[]) => `SCRIPT:steps ${JSON.stringify(all)}`;
const read = { calls: [{ tool: 'read', args: { path: 'README.md' } }], waitMs: 100 };
/** Seconds that the provider wants to be left alone. */
const RETRY_AFTER = 3;
/** Milliseconds in which what one child was told is known to all. */
const KNOWN_MS = 500;

test('while a provider wants to be left alone, no child asks it; then all go on', async () => {
  const tasks = {
    limited: steps(
      { calls: [{ tool: 'bash', args: { command: 'sleep 1' } }] },
      { text: 'limited is done', fail: { status: 429, retryAfter: RETRY_AFTER, times: 1 } },
    ),
    busy: steps(...Array.from({ length: 25 }, () => read), { text: 'busy is done' }),
    also: steps(...Array.from({ length: 25 }, () => read), { text: 'also is done' }),
  };
  const script = `
    const all = await runs.all(Object.keys(args).map((key) => ({ key, agent: 'worker', task: args[key] })));
    return all.map(({ output }) => output);`;
  const run = await TestWorkflow.start(world, script, { args: tasks });
  const { state, error } = await run.end();
  expect({ state, error }).toEqual({ state: 'complete', error: null });
  expect((await run.result())?.value).toEqual(['limited is done', 'busy is done', 'also is done']);
  const { requests } = world.model;
  const refused = requests.find(({ status }) => status === 429);
  const from = Date.parse(refused?.time ?? '');
  const after = requests.map(({ time }) => Date.parse(time) - from).filter((ms) => ms > KNOWN_MS);
  expect(Math.min(...after)).toBeGreaterThanOrEqual(RETRY_AFTER * 1000 - 50);
  // They were in the middle of their work.
  expect(requests.filter(({ time }) => Date.parse(time) < from).length).toBeGreaterThan(5);
  expect(after.length).toBeGreaterThan(5);
});

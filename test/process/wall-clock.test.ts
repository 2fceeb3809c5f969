/** Runs during which the wall clock is set: nothing that is measured or proven may hang on it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { elapsedMs } from '../../src/protocol/index.ts';
import { TestRun } from '../support/control-matrix-runs.ts';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { type MovedClock, movedClock } from '../support/moved-clock.ts';
import { tempDir } from '../support/temp.ts';
import type { World } from '../support/world.ts';

const DAY_MS = 86_400_000;
/** Long enough for a busy machine, far shorter than the day. */
const LIMIT_MS = 60_000;

const stack = new AsyncDisposableStack();
let fake: FakePi;
let world: World;
let clock: MovedClock;

beforeAll(async () => {
  clock = await movedClock(stack.use(await tempDir()).path);
  ({ fake, world } = await fakeWorld(stack, { node: clock.node }));
});
afterAll(() => expectNobodyLeft(stack, { fake, world }));

describe.each([
  ['a day forward', DAY_MS],
  ['a day back', -DAY_MS],
])('the wall clock is set %s', (name, offsetMs) => {
  const gate = `at-work-${offsetMs}`;

  async function atWork(task: Parameters<typeof fakeTask>[0]): Promise<TestRun> {
    await clock.move(0);
    const run = await TestRun.start(world, fakeTask(task), { timeoutMs: LIMIT_MS });
    await fake.arrivedAt(task.key ?? gate);
    await clock.move(offsetMs);
    return run;
  }

  test('in the middle of the work: no limit is reached, the run lives, and it comes to its end', async () => {
    const run = await atWork({ key: gate, steps: [{ say: 'begun' }, { gate }, { say: 'the end' }] });
    expect((await run.snapshot()).state).toBe('running');
    await fake.open(gate);
    const { state, error, view } = await run.end();
    expect({ state, error }).toEqual({ state: 'complete', error: null });
    expect(await run.text()).toBe('the end');
    expect(await run.all('timeout.reached')).toEqual([]);
    // The journal says what the clock said; what is counted is never less than nothing.
    const [first, last] = [(await run.lines()).at(0), (await run.lines()).at(-1)];
    expect(Math.abs((last?.t ?? 0) - (first?.t ?? 0) - offsetMs)).toBeLessThan(LIMIT_MS);
    expect(view && elapsedMs(view, state, Date.now())).toBeGreaterThanOrEqual(0);
    await run.expectNothingLeft();
  });

  test('and the runner is killed: it is lost at once, and taken over where it stood', async () => {
    const key = `${gate}-killed`;
    const run = await atWork({ key, steps: [{ say: 'begun' }, { gate: key }, { say: 'the end' }] });
    await run.signalRunner('SIGKILL');
    await run.until(`the run to be lost with the clock set ${name}`, ({ state }) => state === 'lost');
    await fake.open(key);
    await run.recover();
    expect(await run.end()).toMatchObject({ state: 'complete', error: null });
    expect(await run.all('timeout.reached')).toEqual([]);
    await run.expectNothingLeft();
  });
});

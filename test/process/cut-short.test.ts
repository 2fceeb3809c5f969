/** Work that ends before it is done: what is kept of it, and what is said about messages at its very end. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectRunner } from '../../src/client/connect.ts';
import { interruptRun, steerRun, stopRun } from '../../src/client/index.ts';
import { owner, TestRun } from '../support/control-matrix-runs.ts';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { waitFor } from '../support/wait-for.ts';
import { createWorld, type World } from '../support/world.ts';

const stack = new AsyncDisposableStack();
let fake: FakePi;
let world: World;
let real: World;

beforeAll(async () => {
  ({ fake, world } = await fakeWorld(stack));
  real = stack.use(await createWorld({ git: false }));
});
afterAll(() => expectNobodyLeft(stack, { fake, world, others: [real] }));

/** Says something, then runs a command that does not end by itself. */
const WORDS = 'I look at the fence first.';
const inTool = `SCRIPT:steps ${JSON.stringify([
  { text: WORDS, calls: [{ tool: 'bash', args: { command: 'sleep 600' } }] },
  { text: 'done' },
])}`;
/** The tool of a real Pi runs. */
const working = (run: TestRun) => run.until('the tool to run', ({ view }) => view?.children[0]?.tool === 'bash');

describe.concurrent('between two messages of a real Pi', () => {
  test('an interrupt leaves the last words as the result', async () => {
    const run = await TestRun.start(real, inTool);
    await working(run);
    expect(await interruptRun(run.toolbox(), run.directory, owner)).toEqual({ outcome: 'done' });
    expect((await run.end()).state).toBe('paused');
    expect(await run.text()).toBe(WORDS);
    await run.expectNothingLeft();
  });

  test('a stop does as well', async () => {
    const run = await TestRun.start(real, inTool);
    await working(run);
    expect(await stopRun(run.toolbox(), run.directory, owner)).toEqual({ outcome: 'done' });
    expect(await run.text()).toBe(WORDS);
    await run.expectNothingLeft();
  });

  test('run-65 and so does a time limit', async () => {
    // Counted from the start of the tool, however long Pi needs for its own.
    const run = await TestRun.start(real, inTool, { toolTimeoutMs: 300 });
    expect(await run.end()).toMatchObject({ state: 'failed', error: { code: 'tool_timed_out' } });
    expect(await run.text()).toBe(WORDS);
    await run.expectNothingLeft();
  });

  test.each(['SIGTERM', 'SIGHUP'] as const)(
    'run-19 %s from outside: stopped with the signal, its words kept',
    async (signal) => {
      const run = await TestRun.start(real, inTool);
      await working(run);
      const pid = (await run.snapshot()).view?.children[0]?.process?.pid ?? 0;
      process.kill(pid, signal);
      const { state, error } = await run.end();
      expect([state, error?.code]).toEqual(['stopped', 'child_exited']);
      expect(error?.message).toContain(`ended from outside by ${signal}`);
      expect(await run.text()).toBe(WORDS);
      await run.expectNothingLeft();
    },
  );
});

test('a message that Pi expands is delivered when the model is asked with what it became', async () => {
  const prompts = join(real.toolbox.agentDir, 'prompts');
  await mkdir(prompts, { recursive: true });
  await writeFile(join(prompts, 'look.md'), '---\ndescription: Looks\n---\nLook at $1 with both eyes.\n');
  const gate = join(real.project, 'looked');
  const calls = [{ tool: 'bash', args: { command: `until [ -e '${gate}' ]; do sleep 0.05; done` } }];
  const run = await TestRun.start(real, `SCRIPT:steps ${JSON.stringify([{ text: WORDS, calls }, { text: 'done' }])}`);
  await working(run);
  const receipt = steerRun(run.toolbox(), run.directory, owner, '/look gates');
  await run.event('control.settled', (line) => line.outcome === 'queued');
  await writeFile(gate, '');
  expect(await receipt).toEqual({ state: 'delivered', reason: null });
  expect((await run.end()).state).toBe('complete');
  expect(JSON.stringify(real.model.requests.at(-1)?.messages)).toContain('Look at gates with both eyes.');
  await run.expectNothingLeft();
});

describe.concurrent('a message that reaches the child just after its end', () => {
  /** From the first prompt on it takes this long until a message is looked at. */
  const commands = { prompt: { delayMs: 400 } };
  const late = (run: TestRun, message: string) => steerRun(run.toolbox(), run.directory, owner, message);

  /** The runner has written the message down, synced, and then gives it to the child before it does anything else. */
  const handedOver = (run: TestRun) =>
    waitFor('the message to be handed over', async () => {
      const peer = await connectRunner(run.directory, run.toolbox().client);
      try {
        return (await peer.request('status', {}, { deadlineMs: 5000 })).steering.length > 0;
      } finally {
        peer.close();
      }
    });

  test('begins more work, and is delivered: the run ends with the answer to it', async () => {
    const gate = 'late-message';
    const run = await TestRun.start(world, fakeTask({ commands, steps: [{ say: 'first' }, { gate }] }));
    await fake.arrivedAt(gate);
    const receipt = late(run, 'and the roof?');
    await handedOver(run);
    await fake.open(gate);
    expect(await receipt).toEqual({ state: 'delivered', reason: null });
    expect((await run.end()).state).toBe('complete');
    expect(await run.text()).toBe('You said: and the roof?');
    expect((await run.all('control.settled')).map((line) => line.outcome).at(-1)).toBe('delivered');
    await run.expectNothingLeft();
  });

  test('a stop while it is on its way is not held up by it', async () => {
    const gate = 'late-stopped';
    const slow = { prompt: { delayMs: 60_000 } };
    const run = await TestRun.start(world, fakeTask({ commands: slow, steps: [{ say: 'first' }, { gate }] }));
    await fake.arrivedAt(gate);
    const receipt = late(run, 'and the roof?').catch((error: unknown) => error);
    await handedOver(run);
    await fake.open(gate);
    await run.until('the child to be idle', ({ view }) => view?.children[0]?.phase === 'idle');
    expect(await stopRun(run.toolbox(), run.directory, owner)).toEqual({ outcome: 'done' });
    expect(await receipt).toMatchObject({ state: 'missed' });
    expect(await run.text()).toBe('first');
    await run.expectNothingLeft();
  });
});

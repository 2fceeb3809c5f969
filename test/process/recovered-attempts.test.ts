/** What a new runner knows of the attempts of the one before: the process that may be there, the model, the prompt. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forceStopRun, stopRun } from '../../src/client/index.ts';
import { processProof } from '../../src/core/runs/index.ts';
import { owner, TestRun } from '../support/control-matrix-runs.ts';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
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

const proofOf = async (run: TestRun) => {
  const { view } = await run.snapshot();
  return view && processProof(view);
};

describe.concurrent('a child whose start nobody could write down', () => {
  // It does not see that its runner is gone.
  const launch = { start: [{ hang: 'deaf' as const }], ignoreSignals: 'all' as const };

  test.each([
    ['stop', (run: TestRun) => stopRun(run.toolbox(), run.directory, owner)],
    ['force stop', (run: TestRun) => forceStopRun(run.toolbox(), run.directory, owner)],
  ])('is found by its mark and ended: %s', async (way, end) => {
    const run = await TestRun.plan(world, fakeTask({ steps: [{ say: `never ${way}` }] }), { launch });
    await run.start('child.spawned:before').catch(() => undefined);
    await run.runnerGone();
    expect(await run.all('child.spawned')).toEqual([]);
    expect(await run.processes()).toHaveLength(1);
    expect(await proofOf(run)).toEqual({ state: 'pending', reason: null });
    await end(run);
    expect((await run.end()).state).toBe('stopped');
    expect(await run.processes()).toEqual([]);
    expect(await run.all('child.ended')).toMatchObject([
      { attempt: 1, tree: 'gone', note: expect.stringContaining('start was not seen') },
    ]);
    expect(await proofOf(run)).toEqual({ state: 'observed', reason: null });
    await run.expectNothingLeft();
  });
});

describe.concurrent('another model', () => {
  const fallbackModels = ['fake/scripted-b', 'fake/scripted-c'];
  const models = ['fake/scripted', ...fallbackModels];

  test.each([
    ['while it works', 'child.prompted:after:2'],
    ['before it was started', 'child.attempt.failed:after'],
  ])('stays the one that is used when the runner dies %s', async (when, fault) => {
    const task = fakeTask({
      key: `model ${when}`,
      attempts: [
        { steps: [{ error: '529 overloaded' }] },
        ...(fault.startsWith('child.prompted') ? [{ steps: [{ hang: true as const }] }] : []),
        { steps: [{ say: '{{model}}' }] },
      ],
    });
    const run = await TestRun.plan(world, task, {
      launch: { models, task: { steps: [{ say: '{{model}}' }] } },
      change: (plan) => {
        const { child } = plan.record;
        const fallbacks = fallbackModels.map((model) => ({ model }));
        return { ...plan, record: { ...plan.record, child: { ...child, fallbacks } } };
      },
    });
    await run.start(fault).catch(() => undefined);
    await run.runnerGone();
    await run.childGone();
    await run.recover();
    const { state, view } = await run.end();
    expect(state).toBe('complete');
    expect(await run.text()).toBe('fake/scripted-b');
    expect(view).toMatchObject({
      model: 'fake/scripted-b',
      children: [{ model: 'fake/scripted-b', attemptedModels: ['fake/scripted'] }],
    });
    const meant = (await run.all('child.spawn.intended')).map((line) => line.model);
    expect(new Set(meant)).toEqual(new Set([null, 'fake/scripted-b']));
    await run.expectNothingLeft();
  });
});

describe.concurrent('a task that Pi expands', () => {
  const requestsWith = (words: string) =>
    real.model.requests.filter(({ messages }) => JSON.stringify(messages).includes(words)).length;

  beforeAll(async () => {
    const prompts = join(real.toolbox.agentDir, 'prompts');
    await mkdir(prompts, { recursive: true });
    await writeFile(join(prompts, 'answer.md'), '---\ndescription: Answers\n---\nSCRIPT:say {"text":"$1"}\n');
  });

  test('is found in its session by its place: the answer is adopted, nothing is asked again', async () => {
    const run = await TestRun.plan(real, '/answer adopted-words');
    await run.start('child.settled:before');
    await run.runnerGone();
    expect(requestsWith('adopted-words')).toBe(1);
    await run.recover();
    expect((await run.end()).state).toBe('complete');
    expect((await run.all('recovery.decided')).map((line) => line.decision)).toEqual(['adopt']);
    expect(await run.text()).toBe('adopted-words');
    expect(requestsWith('adopted-words')).toBe(1);
    await run.expectNothingLeft();
  });

  test('is not taken for one that was never sent, when the session it goes on with has an answer to another', async () => {
    const first = await TestRun.start(real, '/answer first-words');
    const session = (await first.end()).view?.children[0]?.session?.file ?? '';
    const run = await TestRun.plan(real, '/answer second-words', {
      change: (plan) => ({
        ...plan,
        record: {
          ...plan.record,
          resume: { sourceRunId: first.runId, sourceChild: 1, session, how: 'continue' },
        },
      }),
    });
    await run.start('child.prompt.intended:after');
    await run.runnerGone();
    await run.childGone();
    await run.recover();
    expect((await run.end()).state).toBe('complete');
    expect((await run.all('recovery.decided')).map((line) => line.decision)).toEqual(['ask-again']);
    expect(await run.text()).toBe('second-words');
    await run.expectNothingLeft();
  });
});

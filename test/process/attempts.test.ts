/** A child that fails before its work is over: tried again, continued, or given another model, by a real runner. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { planLaunch, RunStore, startRun, stopRun } from '../../src/client/index.ts';
import { readJournal } from '../../src/core/journal/index.ts';
import { changeExclusions } from '../../src/core/models/index.ts';
import { rootLayout, runLayout } from '../../src/core/projects/index.ts';
import { CONTINUE_PROMPT } from '../../src/core/runs/index.ts';
import { sessionHolder } from '../../src/core/sessions/index.ts';
import type { ChildPlan } from '../../src/protocol/index.ts';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { atGate, ended as endOf, ofType, owner, type Started } from '../support/started-run.ts';
import { waitFor } from '../support/wait-for.ts';
import type { World } from '../support/world.ts';
import { definition, write } from '../unit/agents/definitions.ts';

let fake: FakePi;
let world: World;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  ({ fake, world } = await fakeWorld(stack));
});
/** Starts of children before this test. */
let earlier = 0;
beforeEach(async () => {
  await fake.planLaunches({});
  earlier = (await fake.launches('child')).length;
});
afterAll(() => expectNobodyLeft(stack, { fake, world }));

type Plan = Parameters<typeof fakeTask>[0];

/** The children of this test, in order. */
const launches = async () => (await fake.launches('child')).slice(earlier);

interface Options {
  fallbackModels?: string[];
  /** Over the plan of the child. */
  child?: Partial<ChildPlan>;
}

async function start(plan: Plan, { fallbackModels, child }: Options = {}) {
  const request = { agent: 'worker', task: fakeTask(plan), cwd: world.project, owner, trust: 'no-approve' } as const;
  const launchPlan = await planLaunch(world.toolbox, request);
  const planned = launchPlan.record.child;
  const fallbacks = fallbackModels ? { fallbacks: fallbackModels.map((model) => ({ model })) } : {};
  const record = { ...launchPlan.record, child: { ...planned, ...fallbacks, ...child } };
  const run = await startRun(world.toolbox, { ...launchPlan, record });
  return { ...run, store: new RunStore(run.project) };
}

async function ended(run: Started) {
  const { child: view, ...rest } = await endOf(run);
  expect(await fake.running()).toEqual([]);
  return { ...run, ...rest, view };
}

const play = async (plan: Plan, options?: Options) => ended(await start(plan, options));

describe('run-14 a child that exits at its start', () => {
  const cold = { start: [{ exit: 1, stderr: 'cold {{launch}}\n' }] };

  test('is started again up to three times, each time later, with the same model', async () => {
    await fake.planLaunches({ launches: [cold, cold, cold, {}] });
    const from = performance.now();
    const { snapshot, view, lines, text } = await play({ steps: [{ say: 'warm at last' }] });
    expect(snapshot).toMatchObject({ state: 'complete', error: null });
    expect(text).toBe('warm at last');
    expect(performance.now() - from).toBeGreaterThanOrEqual(250 + 750 + 1500);
    expect(ofType(lines, 'child.attempt.failed')).toMatchObject(
      [250, 750, 1500].map((delayMs, index) => ({
        attempt: index + 1,
        next: 'retry',
        delayMs,
        error: { code: 'child_exited', message: expect.stringContaining('cold ') },
      })),
    );
    expect(ofType(lines, 'child.spawned').map((line) => line.attempt)).toEqual([1, 2, 3, 4]);
    expect(ofType(lines, 'child.ended').map((line) => line.exitCode)).toEqual([1, 1, 1, 0]);
    expect(view).toMatchObject({ attempt: 4, attemptedModels: [], error: null });
    const args = (await launches()).map((one) => one.args.join(' '));
    expect(args).toHaveLength(4);
    expect(new Set(args).size).toBe(1);
  });

  test('four times fails with its own words', async () => {
    await fake.planLaunches(cold);
    const { snapshot, lines } = await play({ steps: [{ say: 'never' }] });
    expect(snapshot).toMatchObject({ state: 'failed', error: { code: 'child_exited' } });
    expect(snapshot.error?.message).toMatch(/code 1[\s\S]*cold \d/);
    expect(await launches()).toHaveLength(4);
    expect(ofType(lines, 'child.attempt.failed')).toHaveLength(3);
  });

  test('after it began to work, or later than two seconds, is not started again', async () => {
    const active = await play({ steps: [{ exit: 3 }] });
    expect(active.snapshot).toMatchObject({ state: 'failed', error: { code: 'child_exited' } });
    expect(await launches()).toHaveLength(1);
    await fake.planLaunches({ start: [{ wait: 2100 }, { exit: 1 }] });
    const late = await play({ steps: [{ say: 'never' }] });
    expect(late.snapshot).toMatchObject({ state: 'failed', error: { code: 'child_exited' } });
    expect(await launches()).toHaveLength(2);
    expect(ofType(late.lines, 'child.attempt.failed')).toEqual([]);
  });

  test('is not started again after a stop', async () => {
    await fake.planLaunches(cold);
    const run = await start({ steps: [{ say: 'never' }] });
    await waitFor('the longest pause', async () => {
      const { lines } = await readJournal(runLayout(run.directory).journal);
      return ofType(lines, 'child.attempt.failed').length === 3;
    });
    expect(await stopRun(world.toolbox, run.directory, owner)).toEqual({ outcome: 'done' });
    const { snapshot } = await ended(run);
    expect(snapshot).toMatchObject({ state: 'stopped', error: null });
    expect(await launches()).toHaveLength(3);
  });
});

describe('run-15 a child that exits while a tool runs', () => {
  test('is failed with the name of the tool, and not started again, however soon it was', async () => {
    const { snapshot, view, lines } = await play(
      {
        steps: [{ say: 'Editing.', tools: [{ name: 'edit', during: [{ exit: 9, stderr: 'out of luck\n' }] }] }],
      },
      { fallbackModels: ['fake/scripted-b'] },
    );
    expect(snapshot).toMatchObject({ state: 'failed', error: { code: 'child_mid_tool' } });
    expect(snapshot.error?.message).toBe(
      'The child exited (code 9) while its tool edit was running.\nLast lines of its error output:\nout of luck',
    );
    expect(view).toMatchObject({ state: 'failed', turns: 1, toolCalls: 1, exit: { exitCode: 9, tree: 'gone' } });
    expect(ofType(lines, 'child.attempt.failed')).toEqual([]);
    expect(await launches()).toHaveLength(1);
  });
});

describe('run-19 a child that is killed from outside', () => {
  test('while it works is stopped, with the signal; what it had said is kept', async () => {
    const run = await start({ steps: [{ say: ['The first half, ', { gate: 'killed' }, 'the rest.'] }] });
    await fake.arrivedAt('killed');
    const pid = (await launches())[0]?.pid ?? 0;
    process.kill(pid, 'SIGKILL');
    const { snapshot, view, text, lines } = await ended(run);
    expect(snapshot.state).toBe('stopped');
    expect(snapshot.error).toMatchObject({
      code: 'child_exited',
      message: 'The child was ended from outside by SIGKILL.',
    });
    expect(view?.exit).toMatchObject({ exitCode: null, signal: 'SIGKILL', tree: 'gone' });
    expect(text).toBe('The first half, ');
    expect(ofType(lines, 'control.requested')).toEqual([]);
    expect(ofType(lines, 'child.attempt.failed')).toEqual([]);
  });

  test('between two turns takes with it what it had started', async () => {
    const run = await start({ steps: [{ grandchild: 'none', ownSession: true }, { say: 'one' }, { gate: 'orphan' }] });
    await fake.arrivedAt('orphan');
    process.kill((await launches())[0]?.pid ?? 0, 'SIGKILL');
    const { snapshot, view } = await ended(run);
    expect(snapshot.state).toBe('stopped');
    expect(view?.exit).toMatchObject({ signal: 'SIGKILL', tree: 'gone' });
  });
});

describe('an abort that nobody asked for', () => {
  const work: Plan['steps'] = [{ say: 'Looking.', tools: [{ name: 'read', output: 'seen' }] }];
  const aborted = { say: '', stop: 'aborted' as const, usage: { input: 0, output: 0, cost: 0 } };

  test('is continued once, by the same child in the same session', async () => {
    const { snapshot, view, lines, text } = await play({ steps: [...work, aborted] });
    expect(snapshot).toMatchObject({ state: 'complete', error: null });
    expect(text).toBe(`You said: ${CONTINUE_PROMPT}`);
    expect(ofType(lines, 'child.attempt.failed')).toMatchObject([
      { attempt: 1, next: 'continue', delayMs: 0, error: { message: 'The child was aborted from outside.' } },
    ]);
    expect(ofType(lines, 'child.prompt.intended')).toHaveLength(2);
    expect(ofType(lines, 'child.ready')).toHaveLength(1);
    expect(view).toMatchObject({ attempt: 1, turns: 3, sessionState: 'ok' });
    expect(await launches()).toHaveLength(1);
  });

  test('and again is the end', async () => {
    await fake.planLaunches({ task: { steps: [aborted] } });
    const { snapshot, lines } = await play({ steps: [...work, aborted] });
    expect(snapshot.state).toBe('stopped');
    expect(ofType(lines, 'child.attempt.failed')).toHaveLength(1);
    expect(ofType(lines, 'child.prompt.intended')).toHaveLength(2);
    expect(await launches()).toHaveLength(1);
  });

  test('before any useful work is the end', async () => {
    const { snapshot, lines } = await play({ steps: [aborted] });
    expect(snapshot.state).toBe('stopped');
    expect(ofType(lines, 'child.attempt.failed')).toEqual([]);
  });

  test('is not continued when a stop was asked for', async () => {
    const run = await start({ steps: [...work, { gate: 'stop-me' }] });
    await fake.arrivedAt('stop-me');
    await stopRun(world.toolbox, run.directory, owner);
    const { snapshot, lines } = await ended(run);
    expect(snapshot.state).toBe('stopped');
    expect(ofType(lines, 'child.attempt.failed')).toEqual([]);
    expect(ofType(lines, 'child.prompt.intended')).toHaveLength(1);
  });
});

describe('another model', () => {
  const first = { models: ['fake/first', 'fake/second', 'fake/third'] };
  const fallbackModels = ['fake/second', 'fake/third'];
  const twice = (key: string, failing: Plan, then: Plan): Plan => ({ key, attempts: [failing, then] });
  beforeEach(() => fake.planLaunches(first));

  test('is used when the provider fails, in a session of its own', async () => {
    const { snapshot, view, lines, text } = await play(
      twice('provider', { steps: [{ error: '529 overloaded' }] }, { steps: [{ say: '{{model}} {{users}}' }] }),
      { fallbackModels },
    );
    expect(snapshot).toMatchObject({ state: 'complete', error: null, view: { model: 'fake/second' } });
    expect(text).toBe('fake/second 1');
    expect(view).toMatchObject({
      model: 'fake/second',
      attempt: 2,
      attemptedModels: ['fake/first'],
      sessionState: 'ok',
    });
    expect(ofType(lines, 'child.attempt.failed')).toMatchObject([
      {
        attempt: 1,
        next: 'fallback',
        model: 'fake/first',
        delayMs: 0,
        error: { code: 'child_model_error', message: expect.stringContaining('529 overloaded') },
      },
    ]);
    const [before, after] = await launches();
    expect(before?.args).not.toContain('--model');
    expect(after?.args.join(' ')).toContain('--model fake/second');
    const sessions = ofType(lines, 'child.ready').map((line) => line.session.file);
    expect(new Set(sessions).size).toBe(2);
  });

  test('B54 guards its session as the first one was', async () => {
    const run = await start(
      twice('guard', { steps: [{ error: '529' }] }, { steps: [{ gate: 'second-session' }, { say: 'done' }] }),
      { fallbackModels },
    );
    await atGate(fake, run, 'second-session', 2);
    const { lines } = await readJournal(runLayout(run.directory).journal);
    const locks = rootLayout(world.toolbox.agentDir).sessionLocks;
    const files = ofType(lines, 'child.ready').map((line) => line.session.file ?? '');
    expect(files).toHaveLength(2);
    await waitFor('both leases', async () => {
      const holders = await Promise.all(files.map((file) => sessionHolder(locks, file)));
      return holders.every((holder) => holder?.message.includes(`run ${run.runId}`));
    });
    await fake.open('second-session');
    await ended(run);
    expect(await Promise.all(files.map((file) => sessionHolder(locks, file)))).toEqual([undefined, undefined]);
  });

  test('is used for an empty answer', async () => {
    const { snapshot, text } = await play(twice('empty', { steps: [{ say: '' }] }, { steps: [{ say: '{{model}}' }] }), {
      fallbackModels,
    });
    expect(snapshot.state).toBe('complete');
    expect(text).toBe('fake/second');
    // It may have to do with the task.
    expect(JSON.stringify(await world.toolbox.exclusions())).not.toContain('empty');
  });

  test('agent-79 agent-80 agent-81 is what an agent names for that; the model that failed is left out afterwards', async () => {
    const models = ['fake/scripted', 'fake/scripted-b'];
    await fake.planLaunches({ models });
    await write(world.agent.agentDir, {
      'agents/flexible.md': definition('flexible', 'b', 'model: fake/scripted', 'fallbackModels: fake/scripted-b'),
    });
    const plan = twice('flexible', { steps: [{ error: '529 overloaded' }] }, { steps: [{ say: '{{model}}' }] });
    const request = {
      agent: 'flexible',
      task: fakeTask(plan),
      cwd: world.project,
      owner,
      trust: 'no-approve',
    } as const;
    const run = await startRun(world.toolbox, await planLaunch(world.toolbox, request));
    const { text } = await ended({ ...run, store: new RunStore(run.project) });
    expect(text).toBe('fake/scripted-b');
    expect(await world.toolbox.exclusions()).toContainEqual(
      expect.objectContaining({ model: 'fake/scripted', evidence: expect.stringContaining('529') }),
    );
    const next = await planLaunch(world.toolbox, request);
    expect(next.record.child.model).toBe('fake/scripted-b');
    await expect(planLaunch(world.toolbox, { ...request, model: 'fake/scripted' })).rejects.toMatchObject({
      code: 'model_excluded',
    });
    await changeExclusions(world.toolbox.exclusionsFile, () => []);
    expect((await planLaunch(world.toolbox, request)).record.child.model).toBe('fake/scripted');
  });

  test('is tried in order, each once; the last error is the run’s', async () => {
    const { snapshot, view, lines } = await play({ steps: [{ error: '503 for {{model}}' }] }, { fallbackModels });
    expect(snapshot).toMatchObject({ state: 'failed', error: { code: 'child_model_error' } });
    expect(snapshot.error?.message).toContain('503');
    expect(ofType(lines, 'child.attempt.failed').map((line) => [line.model, line.next])).toEqual([
      ['fake/first', 'fallback'],
      ['fake/second', 'fallback'],
    ]);
    expect(view).toMatchObject({ model: 'fake/third', attemptedModels: ['fake/first', 'fake/second'] });
    expect(await launches()).toHaveLength(3);
  });

  test.each<[string, Plan, Options]>([
    ['the model was named', { steps: [{ error: '529' }] }, { child: { model: 'fake/first', modelIsExplicit: true } }],
    ['a tool was called', { steps: [{ say: 'x', tools: [{ name: 'edit' }] }, { error: '529' }] }, {}],
    ['the context is full', { steps: [{ error: '400 prompt is too long: 529000 tokens' }] }, {}],
    ['the request was wrong', { steps: [{ error: '400 bad request' }] }, {}],
  ])('is not used when %s', async (_, plan, options) => {
    const { snapshot, lines } = await play(plan, { fallbackModels, ...options });
    expect(snapshot).toMatchObject({ state: 'failed', error: { code: 'child_model_error' } });
    expect(ofType(lines, 'child.attempt.failed')).toEqual([]);
    expect(await launches()).toHaveLength(1);
  });

  test('what the child wrote with the first model does not pass for the answer of the second', async () => {
    const output = { path: `${world.project}/fallback.md`, mode: 'inline' as const };
    const failing: Plan = { steps: [{ write: 'fallback.md', text: 'half done' }, { error: '529' }] };
    const { view, text } = await play(twice('output', failing, { steps: [{ say: 'whole' }] }), {
      fallbackModels,
      child: { output },
    });
    expect(text).toBe('whole');
    expect(view?.output).toEqual({ path: output.path, outcome: 'saved', error: null });
  });
});

describe('attention', () => {
  const failingTool = { tools: [{ name: 'bash', output: 'no', isError: true }] };

  test('three commands that fail are marked once, and a success clears the mark', async () => {
    const { lines, view } = await play({
      steps: [
        failingTool,
        failingTool,
        failingTool,
        failingTool,
        { tools: [{ name: 'edit', output: 'yes' }] },
        { say: 'done' },
      ],
    });
    expect(ofType(lines, 'attention.raised')).toMatchObject([
      { kind: 'failing_tools', text: '3 edits or commands in a row have failed.' },
    ]);
    expect(ofType(lines, 'attention.cleared')).toMatchObject([{ kind: 'failing_tools' }]);
    expect(view?.attention).toEqual([]);
  });

  test('a mark is seen while the run lives and is gone at its end', async () => {
    const steps = [failingTool, failingTool, failingTool, { gate: 'marked' }, { say: 'gave up' }];
    const run = await start({ steps });
    await fake.arrivedAt('marked');
    await waitFor('the mark', async () => {
      const attention = (await run.store.read(run.runId)).view?.children[0]?.attention;
      return attention?.length === 1 && attention[0] === 'failing_tools';
    });
    await fake.open('marked');
    const { snapshot, view } = await ended(run);
    expect(snapshot.state).toBe('complete');
    expect(view?.attention).toEqual([]);
  });
});

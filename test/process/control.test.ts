/** Control of single runs: messages, interrupt, stop, time limits, questions, from any client, in any state. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectRunner } from '../../src/client/connect.ts';
import {
  answerQuestion,
  interruptRun,
  type RunSnapshot,
  RunStore,
  RunWatcher,
  readResultText,
  resumeKind,
  resumeRun,
  steerRun,
  stopRun,
  waitForEnd,
} from '../../src/client/index.ts';
import { isTerminal, type JournalLine, LanesError, MAX_STEER_BYTES } from '../../src/protocol/index.ts';
import { CONTROLS, controlPage, MATRIX, type Outcome, type Row } from '../support/control-matrix.ts';
import { endLeftovers, owner, type RunOptions, TestRun } from '../support/control-matrix-runs.ts';
import { ask, bringInto, type Situation } from '../support/control-matrix-situations.ts';
import { type FakePi, type FakeStep, type FakeTask, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { isAlive } from '../support/process-state.ts';
import { projectRoot } from '../support/project-root.ts';
import { tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';
import { createWorld, type World } from '../support/world.ts';

const stack = new AsyncDisposableStack();
let fake: FakePi;
let world: World;

beforeAll(async () => {
  ({ fake, world } = await fakeWorld(stack));
});
afterAll(() => expectNobodyLeft(stack, { fake, world }));

const start = (plan: FakeTask, options?: RunOptions) => TestRun.start(world, fakeTask(plan), options);

/** A name that no other test uses. */
const unique = (name: string) => `${name}-${randomUUID().slice(0, 8)}`;

/** A turn with a tool that goes on until the gate is opened. */
const inTool = (gate: string, name = 'bash') => ({ tools: [{ name, during: [{ gate }] }] });

const steer = (run: TestRun, message: string, mode: 'steer' | 'follow-up' = 'steer') =>
  steerRun(run.toolbox(), run.directory, owner, message, mode);
const stop = (run: TestRun) => stopRun(run.toolbox(), run.directory, owner);
const interrupt = (run: TestRun) => interruptRun(run.toolbox(), run.directory, owner);

/** What became of a message so far, oldest first. */
async function receipts(run: TestRun, preview: string): Promise<string[]> {
  const request = (await run.all('control.requested')).find((line) => line.preview === preview);
  const settled = (await run.all('control.settled')).filter((line) => line.requestId === request?.requestId);
  return settled.map((line) => line.outcome);
}

const caught = (error: unknown) => {
  if (error instanceof LanesError) return error;
  throw error;
};

/** Milliseconds in the journal between two events. */
function between(lines: readonly JournalLine[], from: JournalLine['type'], to: JournalLine['type']): number {
  const at = (type: JournalLine['type']) => lines.find((line) => line.type === type)?.t ?? Number.NaN;
  return at(to) - at(from);
}

/** Asking a child to stop, twice a second for an answer, and the ladder that ends it: 2 s + 2 s + 1 s + 1 s. */
const ABORT_MS = 2000;
const LADDER_MS = 4000;
/** What a busy machine may add. */
const SLACK_MS = 3000;

describe.concurrent('messages', () => {
  test('B45 a message in a long tool call is queued; ended before it is read, it is missed', async () => {
    const run = await start({ steps: [inTool(unique('never'))] });
    await run.working(1);
    expect(await steer(run, 'look here')).toEqual({ state: 'queued', reason: null });
    expect(await receipts(run, 'look here')).toEqual(['queued']);
    expect(await stop(run)).toEqual({ outcome: 'done' });
    expect(await receipts(run, 'look here')).toEqual(['queued', 'missed']);
    expect((await run.snapshot()).view?.steering).toMatchObject([
      { preview: 'look here', state: 'missed', reason: expect.stringContaining('ended before') },
    ]);
    await run.expectNothingLeft();
  });

  test('B45 a message between the end of the work and its report is missed, and the sender hears it', async () => {
    const gate = unique('closing');
    // The loop of the model is over; nothing that is queued now is ever taken up.
    const run = await start({ steps: [{ say: 'all done' }], ended: [{ gate }] });
    await fake.arrivedAt(gate);
    const receipt = steer(run, 'too late');
    await run.event('control.settled', (line) => line.outcome === 'queued');
    await fake.open(gate);
    expect(await receipt).toMatchObject({ state: 'missed' });
    expect(await receipts(run, 'too late')).toEqual(['queued', 'missed']);
    expect((await run.end()).state).toBe('complete');
    expect(await run.text()).toBe('all done');
    await run.expectNothingLeft();
  });

  test('a message is delivered between two steps, a follow-up when nothing else is left to do', async () => {
    const gate = unique('tool');
    const run = await start({ steps: [inTool(gate), { say: 'after the tool' }] });
    await fake.arrivedAt(gate);
    const asked = [steer(run, 'first'), steer(run, 'afterwards', 'follow-up')];
    await waitFor('both to be queued', async () => (await run.all('control.settled')).length === 2);
    await fake.open(gate);
    expect(await Promise.all(asked)).toEqual([
      { state: 'delivered', reason: null },
      { state: 'delivered', reason: null },
    ]);
    expect((await run.end()).state).toBe('complete');
    expect(await receipts(run, 'first')).toEqual(['queued', 'delivered']);
    expect(await receipts(run, 'afterwards')).toEqual(['queued', 'delivered']);
    // What was said last was answered last.
    expect(await run.text()).toBe('You said: afterwards');
    const requests = await run.all('control.requested');
    expect(requests.map((line) => line.action).sort()).toEqual(['follow-up', 'steer']);
    for (const { message } of requests) {
      const stored = await readFile(join(run.directory, message?.file ?? ''));
      expect(createHash('sha256').update(stored).digest('hex')).toBe(message?.sha256);
    }
    await run.expectNothingLeft();
  });

  test('a message that the child refuses has failed, with its words', async () => {
    const gate = unique('tool');
    const run = await start({
      steps: [inTool(gate), { say: 'unmoved' }],
      commands: { prompt: { error: 'no room in the queue' } },
    });
    await fake.arrivedAt(gate);
    expect(await steer(run, 'please')).toEqual({
      state: 'failed',
      reason: expect.stringContaining('no room in the queue'),
    });
    expect(await receipts(run, 'please')).toEqual(['failed']);
    await fake.open(gate);
    expect((await run.end()).state).toBe('complete');
    await run.expectNothingLeft();
  });

  test('an empty message and one over 128 KiB are refused, one of 128 KiB arrives', async () => {
    const gate = unique('tool');
    const run = await start({ steps: [inTool(gate), { say: 'done' }] });
    await fake.arrivedAt(gate);
    await expect(steer(run, ' \n\t')).rejects.toMatchObject({ code: 'steer_empty' });
    const most = 'ä'.repeat(MAX_STEER_BYTES / 2);
    await expect(steer(run, `${most}.`)).rejects.toMatchObject({
      code: 'steer_too_large',
      message: expect.stringContaining(String(MAX_STEER_BYTES + 1)),
    });
    expect(await run.all('control.requested')).toEqual([]);
    const receipt = steer(run, most);
    await run.event('control.settled', (line) => line.outcome === 'queued');
    await fake.open(gate);
    expect(await receipt).toMatchObject({ state: 'delivered' });
    const [request] = await run.all('control.requested');
    expect(request?.message?.bytes).toBe(MAX_STEER_BYTES);
    expect(request?.preview?.length).toBe(160);
    expect((await run.end()).state).toBe('complete');
    await expect(steer(run, 'hello?')).rejects.toMatchObject({ code: 'run_not_running' });
    await run.expectNothingLeft();
  });

  test('a stop that comes while an interrupt is still ending the work wins, also after a crash', async () => {
    const slow: FakeTask = { steps: [{ say: 'hi' }, { hang: true }], onStdinClose: [{ hang: true }] };
    for (const crash of [false, true]) {
      const run = await start(slow);
      await run.working(1);
      const interrupted = interrupt(run).catch((error: unknown) => error);
      expect((await run.event('child.settled')).state).toBe('paused');
      const stopped = stop(run).catch((error: unknown) => error);
      if (crash) {
        await run.event('control.requested', ({ action }) => action === 'stop');
        await run.killRunner();
        await Promise.all([interrupted, stopped]);
        await run.recover();
      } else {
        expect(await stopped).toEqual({ outcome: 'done' });
        expect(await interrupted).toEqual({ outcome: 'too-late' });
      }
      expect((await run.end()).state).toBe('stopped');
      await expect(resumeKind(run.directory)).rejects.toMatchObject({ code: 'resume_refused' });
      await run.expectNothingLeft();
    }
  });

  test('a message to a child that is still starting waits for it, and is delivered behind the task', async () => {
    const gate = unique('starting');
    const run = await start({ steps: [{ await: 'steering' }, { say: 'task' }] }, { launch: { start: [{ gate }] } });
    // At once: the runner may not even have begun with the child.
    expect(await steer(run, 'early')).toEqual({ state: 'queued', reason: 'the agent is still starting' });
    await fake.arrivedAt(gate);
    expect(await receipts(run, 'early')).toEqual([]);
    await fake.open(gate);
    expect((await run.end()).state).toBe('complete');
    // A model that is asked at once has it before its place in the queue could be written down.
    expect([['queued', 'delivered'], ['delivered']]).toContainEqual(await receipts(run, 'early'));
    const session = (await run.snapshot()).view?.children[0]?.session?.file ?? '';
    const said = (await readFile(session, 'utf8')).split('\n').filter((line) => line.includes('"role":"user"'));
    expect(said.map((line) => line.includes('early'))).toEqual([false, true]);
    await run.expectNothingLeft();
  });

  test('a message between two attempts waits for the next child, as does one that the first did not take up', async () => {
    const [first, second, last] = [unique('first'), unique('second'), unique('last')];
    const launch = { launches: [{}, { start: [{ gate: second }] }] };
    const attempts = [
      { steps: [{ await: 'steering' as const }, { gate: first }, { error: '529 overloaded' }], keepQueue: true },
      { steps: [inTool(last), { say: 'heard' }] },
    ];
    const change: RunOptions['change'] = (plan) => {
      const { child } = plan.record;
      const fallbacks = [{ model: 'fake/scripted-b' }];
      return { ...plan, record: { ...plan.record, child: { ...child, fallbacks } } };
    };
    const run = await start({ attempts, key: unique('key') }, { launch, change });
    const early = steer(run, 'to the first');
    await fake.arrivedAt(first);
    await fake.open(first);
    await fake.arrivedAt(second);
    expect(await early).toMatchObject({ state: 'queued' });
    expect(await steer(run, 'in between')).toEqual({ state: 'queued', reason: 'the agent is still starting' });
    await fake.open(second);
    await fake.arrivedAt(last);
    // One was queued twice, with either child.
    await waitFor('both to be queued', async () => (await run.all('control.settled')).length === 3);
    await fake.open(last);
    expect(await run.end()).toMatchObject({ state: 'complete', view: { model: 'fake/scripted-b' } });
    expect(await receipts(run, 'to the first')).toEqual(['queued', 'queued', 'delivered']);
    expect(await receipts(run, 'in between')).toEqual(['queued', 'delivered']);
    await run.expectNothingLeft();
  });

  test('run-71 one request over two connections is carried out once', async () => {
    const gate = unique('tool');
    const run = await start({ steps: [inTool(gate), { say: 'heard: {{steers}}' }] });
    await fake.arrivedAt(gate);
    const [one, two] = await Promise.all([
      connectRunner(run.directory, { kind: 'cli', version: 'one' }),
      connectRunner(run.directory, { kind: 'cli', version: 'two' }),
    ]);
    try {
      const message = { requestId: randomUUID(), by: owner, mode: 'steer' as const, message: 'only once' };
      const both = [one, two].map((peer) => peer.request('steer', message, { deadlineMs: 15_000 }));
      await run.event('control.settled', (line) => line.outcome === 'queued');
      await fake.open(gate);
      expect(await Promise.all(both)).toEqual([
        { state: 'delivered', reason: null },
        { state: 'delivered', reason: null },
      ]);
    } finally {
      for (const peer of [one, two]) peer.close();
    }
    expect((await run.end()).state).toBe('complete');
    expect(await run.all('control.requested')).toHaveLength(1);
    expect(await receipts(run, 'only once')).toEqual(['queued', 'delivered']);
    expect(await run.text()).toBe('heard: only once');
    await run.expectNothingLeft();
  });

  test('the name of a request leads nowhere but into the folder of the run', async () => {
    const run = await start({ steps: [{ hang: true }] });
    await run.working();
    const peer = await connectRunner(run.directory, { kind: 'cli', version: 'test' });
    try {
      const message = { requestId: '../../../escaped', by: owner, mode: 'steer' as const, message: 'x' };
      await expect(peer.request('steer', message, { deadlineMs: 15_000 })).rejects.toMatchObject({
        code: 'runner_refused',
        message: expect.stringContaining('requestId'),
      });
    } finally {
      peer.close();
    }
    expect(await run.all('control.requested')).toEqual([]);
    expect(await stop(run)).toEqual({ outcome: 'done' });
    await run.expectNothingLeft();
  });
});

describe.concurrent('interrupt and stop', () => {
  test('run-66 an interrupted run is paused and keeps its session, which a new run goes on with', async () => {
    const run = await start({ steps: [{ say: 'the beginning' }, { hang: true }] });
    await run.working(1);
    expect(await interrupt(run)).toEqual({ outcome: 'done' });
    const paused = await run.snapshot();
    expect(paused).toMatchObject({ state: 'paused', error: null });
    const session = paused.view?.children[0]?.session?.file ?? '';
    expect(await readFile(session, 'utf8')).toContain('the beginning');
    await run.expectNothingLeft();
    const task = fakeTask({ steps: [{ say: 'the end; said so far: {{users}}' }] });
    const resumed = await resumeRun(run.toolbox(), { directory: run.directory, task, owner });
    expect(resumed.kind).toBe('resumed');
    expect(resumed.runId).not.toBe(run.runId);
    const end = await waitForEnd(run.store, resumed.runId);
    expect(end).toMatchObject({ state: 'complete', view: { resumedFrom: run.runId } });
    expect(end.view?.children[0]?.session?.file).toBe(session);
    expect(await readResultText(resumed.directory, 1)).toBe('the end; said so far: 2');
    // The paused run stays what it was.
    expect((await run.snapshot()).state).toBe('paused');
  });

  test('run-66 a stopped run is stopped with all it started, proven, and is never resumed', async () => {
    const run = await start({
      steps: [{ grandchild: 'both', ownSession: true, ignoreTerm: true }, { say: 'working' }, { hang: 'stuck' }],
    });
    await run.working(1);
    const before = await run.processes();
    expect(before).toHaveLength(2);
    expect(await stop(run)).toEqual({ outcome: 'done' });
    expect(before.filter(isAlive)).toEqual([]);
    const snapshot = await run.snapshot();
    expect(snapshot).toMatchObject({ state: 'stopped', error: null, view: { children: [{ exit: { tree: 'gone' } }] } });
    await expect(resumeKind(run.directory)).rejects.toMatchObject({
      code: 'resume_refused',
      message: expect.stringContaining('stopped'),
    });
    const [request] = await run.all('control.requested');
    expect(request).toMatchObject({ action: 'stop', by: owner });
    expect(await run.all('control.settled')).toEqual([
      expect.objectContaining({ requestId: request?.requestId, outcome: 'done' }),
    ]);
    await run.expectNothingLeft();
  });

  test('run-70 a stop right behind the launch, before there is a child, is carried out', async () => {
    const gate = unique('never');
    const run = await start({ steps: [{ say: 'never' }] }, { launch: { start: [{ gate }] } });
    expect(await stop(run)).toEqual({ outcome: 'done' });
    expect((await run.snapshot()).state).toBe('stopped');
    expect(await run.all('child.prompt.intended')).toEqual([]);
    await run.expectNothingLeft();
  });

  test('run-70 a stop between two attempts at starting the child ends the wait', async () => {
    const launch = { launches: [{ start: [{ exit: 3 }] }] };
    const run = await start({ steps: [{ say: 'never' }] }, { launch });
    await run.event('child.attempt.failed', (line) => line.attempt === 3 && line.delayMs === 1500);
    expect(await stop(run)).toEqual({ outcome: 'done' });
    expect((await run.snapshot()).state).toBe('stopped');
    expect(await run.all('child.spawn.intended')).toHaveLength(3);
    await run.expectNothingLeft();
  });

  test('two clients control one run: each sees what the other did, and both are answered', async () => {
    const gate = unique('tool');
    const slow = { commands: { abort: { silent: true as const } } };
    const run = await start({ steps: [inTool(gate), { say: 'more' }, { hang: true }], ...slow });
    const [editor, terminal] = [run.toolbox(), run.toolbox()];
    const [person, script] = [
      { kind: 'vscode', id: 'window' },
      { kind: 'cli', id: 'shell' },
    ] as const;
    await fake.arrivedAt(gate);
    const receipt = steerRun(editor, run.directory, person, 'from the window');
    await run.event('control.settled', (line) => line.outcome === 'queued');
    expect((await run.snapshot()).view?.steering).toMatchObject([{ preview: 'from the window', state: 'queued' }]);
    await fake.open(gate);
    expect(await receipt).toMatchObject({ state: 'delivered' });
    // Opposite wishes at the same time: stop wins, and whoever asked for less is told.
    const wishes = [
      interruptRun(editor, run.directory, person),
      stopRun(terminal, run.directory, script),
      stopRun(editor, run.directory, person),
    ];
    expect(await Promise.all(wishes)).toEqual([{ outcome: 'too-late' }, { outcome: 'done' }, { outcome: 'done' }]);
    expect((await run.snapshot()).state).toBe('stopped');
    const requests = await run.all('control.requested');
    expect(requests.filter((line) => line.action === 'stop')).toHaveLength(1);
    expect(requests.find((line) => line.action === 'steer')?.by).toEqual(person);
    await run.expectNothingLeft();
  });
});

describe.concurrent('time limits', () => {
  /** Does not answer when it is asked to abort, so that there is time for a second wish. */
  const SLOW_TO_END: FakeTask = {
    steps: [{ say: 'busy' }, { hang: true }],
    commands: { abort: { silent: true }, clear_queue: { silent: true } },
    onStdinClose: [{ hang: true }],
    ignoreSignals: 'all',
  };

  const SLOW_LIMIT_MS = 6000;
  /** At work, and soon at its limit: however long it took to begin, a wish of now is still being served then. */
  const nearItsLimit = async (run: TestRun) => {
    await run.working(1);
    const [proceeded] = await run.all('run.proceeded');
    await waitFor('the limit to be near', () => Date.now() - (proceeded?.t ?? 0) > SLOW_LIMIT_MS - 1000);
  };

  test('run-20 a stop while a time limit ends the run: stopped', async () => {
    const run = await start(SLOW_TO_END, { timeoutMs: 1500 });
    await run.event('timeout.reached');
    expect(await stop(run)).toEqual({ outcome: 'done' });
    expect(await run.snapshot()).toMatchObject({ state: 'stopped', error: null });
    await run.expectNothingLeft();
  });

  test('run-20 a time limit that passes while a stop ends the run: stopped', async () => {
    const run = await start(SLOW_TO_END, { timeoutMs: SLOW_LIMIT_MS });
    await nearItsLimit(run);
    expect(await stop(run)).toEqual({ outcome: 'done' });
    const order = (await run.lines()).map((line) => line.type);
    expect(order.indexOf('timeout.reached')).toBeGreaterThan(order.indexOf('control.requested'));
    expect(order.indexOf('timeout.reached')).toBeLessThan(order.indexOf('child.settled'));
    expect(await run.snapshot()).toMatchObject({ state: 'stopped', error: null });
    await run.expectNothingLeft();
  });

  test.each(['the limit first', 'the interrupt first'])(
    'run-20 timeout and interrupt, %s: timed out',
    async (which) => {
      const run = await start(SLOW_TO_END, { timeoutMs: which === 'the limit first' ? 1500 : SLOW_LIMIT_MS });
      if (which === 'the limit first') await run.event('timeout.reached');
      else await nearItsLimit(run);
      expect(await interrupt(run)).toEqual({ outcome: 'too-late' });
      const order = (await run.lines()).map((line) => line.type);
      expect(order.indexOf('timeout.reached') < order.indexOf('control.requested')).toBe(which === 'the limit first');
      expect(order.indexOf('timeout.reached')).toBeLessThan(order.indexOf('child.settled'));
      expect(await run.snapshot()).toMatchObject({ state: 'failed', error: { code: 'timed_out' } });
      await run.expectNothingLeft();
    },
  );

  const LIMIT_MS = 2000;
  const HANGS: [string, FakeTask, FakeStep[] | undefined, string][] = [
    ['start-up', { steps: [{ say: 'never' }] }, [{ hang: 'deaf' }], 'starting'],
    [
      'a tool',
      { steps: [{ tools: [{ name: 'bash', during: [{ hang: 'stuck' }] }] }] },
      undefined,
      'its tool bash was running',
    ],
    ['shutdown', { steps: [{ say: 'nearly done' }], ended: [{ hang: 'stuck' }] }, undefined, 'ending'],
  ];
  test.each(HANGS)(
    'B32 the time limit holds when the child hangs in %s, and names the phase',
    async (_, task, begin, phase) => {
      const run = await start(task, { timeoutMs: LIMIT_MS, ...(begin ? { launch: { start: begin } } : {}) });
      const end = await run.end();
      expect(end).toMatchObject({ state: 'failed', error: { code: 'timed_out' } });
      expect(end.error?.message).toContain(`after ${LIMIT_MS} ms`);
      expect(end.error?.message).toContain(`while ${phase}.`);
      const [reached] = await run.all('timeout.reached');
      expect(reached).toMatchObject({ scope: 'run', phase, limitMs: LIMIT_MS });
      const lines = await run.lines();
      const took = between(lines, 'run.proceeded', 'run.ended');
      expect(took).toBeGreaterThanOrEqual(LIMIT_MS);
      expect(took).toBeLessThan(LIMIT_MS + ABORT_MS + LADDER_MS + SLACK_MS);
      expect(end.view?.children[0]).toMatchObject({ timedOut: true, exit: { tree: 'gone' } });
      await run.expectNothingLeft();
    },
  );

  test('B32 a child that has reported its end and then hangs is ended as well; its result counts', async () => {
    const run = await start({ steps: [{ say: 'done' }], settled: [{ hang: 'stuck' }] }, { timeoutMs: LIMIT_MS });
    const end = await run.end();
    expect(end).toMatchObject({ state: 'complete', error: null });
    expect(await run.text()).toBe('done');
    expect(between(await run.lines(), 'child.settled', 'run.ended')).toBeLessThan(LADDER_MS + SLACK_MS);
    await run.expectNothingLeft();
  });

  test('run-17 a child that ignores SIGTERM is dead within the ladder', async () => {
    const run = await start(SLOW_TO_END, { timeoutMs: 1500 });
    const end = await run.end();
    expect(end).toMatchObject({ state: 'failed', error: { code: 'timed_out' } });
    expect(end.view?.children[0]?.exit).toMatchObject({ signal: 'SIGKILL', tree: 'gone' });
    const took = between(await run.lines(), 'timeout.reached', 'child.ended');
    expect(took).toBeGreaterThanOrEqual(LADDER_MS);
    expect(took).toBeLessThan(ABORT_MS + LADDER_MS + SLACK_MS);
    await run.expectNothingLeft();
  });

  test.each<[string, FakeStep]>([
    ['answers to the end', { hang: true }],
    ['does not answer any more', { hang: 'frozen' }],
  ])(
    'run-65 what a child had said is kept when its time is over, and no other model is tried: it %s',
    async (_, hang) => {
      const output = `${unique('partial')}.md`;
      const run = await start({ steps: [{ say: ['The first half ', hang] }] }, { timeoutMs: 5000, output });
      expect(await run.end()).toMatchObject({ state: 'failed', error: { code: 'timed_out' } });
      expect((await run.text())?.trim()).toBe('The first half');
      expect((await readFile(join(world.project, output), 'utf8')).trim()).toBe('The first half');
      expect(await run.all('child.attempt.failed')).toEqual([]);
      expect(await run.all('child.spawned')).toHaveLength(1);
      await run.expectNothingLeft();
    },
  );

  test('run-63 each tool call has its own limit; the end of another does not disarm it', async () => {
    const tools = [
      { name: 'read', ms: 100 },
      { name: 'read', during: [{ hang: true as const }] },
      { name: 'grep', ms: 200 },
    ];
    const run = await start({ steps: [{ tools }, { say: 'never' }] }, { toolTimeoutMs: 800 });
    const end = await run.end();
    expect(end).toMatchObject({ state: 'failed', error: { code: 'tool_timed_out' } });
    expect(end.error?.message).toContain('read');
    expect(await run.all('timeout.reached')).toMatchObject([{ scope: 'tool', tool: 'read', limitMs: 800 }]);
    await run.expectNothingLeft();
  });

  test('run-63 the shorter limit of the run wins; tools that wait for others have none', async () => {
    const hanging = { steps: [{ tools: [{ name: 'read', during: [{ hang: true as const }] }] }] };
    const short = await start(hanging, { toolTimeoutMs: 60_000, timeoutMs: 1500 });
    expect(await short.end()).toMatchObject({ state: 'failed', error: { code: 'timed_out' } });
    expect(await short.all('timeout.reached')).toMatchObject([{ scope: 'run' }]);
    const waiting = [
      { name: 'contact_supervisor', ms: 1200 },
      { name: 'intercom', ms: 1200 },
    ];
    const patient = await start({ steps: [{ tools: waiting }, { say: 'heard back' }] }, { toolTimeoutMs: 300 });
    expect((await patient.end()).state).toBe('complete');
    expect(await patient.all('timeout.reached')).toEqual([]);
    for (const run of [short, patient]) await run.expectNothingLeft();
  });

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])(
    'run-64 a time limit of %s is refused by name',
    async (ms) => {
      for (const name of ['timeoutMs', 'toolTimeoutMs']) {
        await expect(TestRun.plan(world, 'x', { [name]: ms })).rejects.toMatchObject({
          code: 'launch_invalid',
          message: `${name} is ${ms}.`,
          hint: expect.stringContaining('whole number'),
        });
      }
    },
  );
});

describe.concurrent('questions', () => {
  const answer = (run: TestRun, questionId: string, given: Parameters<typeof answerQuestion>[4]) =>
    answerQuestion(run.toolbox(), run.directory, owner, questionId, given);
  /** The question that is open, other than those that were. */
  async function asked(run: TestRun, but: readonly string[] = []) {
    const { view } = await run.until('a question', ({ state, view }) => {
      return state === 'waiting' && view?.questions.some((question) => !but.includes(question.id)) === true;
    });
    const question = view?.questions.find((one) => !but.includes(one.id));
    if (!question) throw new Error('there is no question');
    return question;
  }

  test('a run that asks is waiting; of two clients the first answer wins, and the run goes on', async () => {
    const dialog: FakeStep = { dialog: 'select', title: 'Which one?', options: ['red', 'blue'] };
    const run = await start({ steps: [dialog, { say: 'You chose {{answer}}' }] });
    const question = await asked(run);
    expect(question).toMatchObject({ child: 1, method: 'select', title: 'Which one?', options: ['red', 'blue'] });
    const answers = await Promise.all([
      answer(run, question.id, { value: 'red' }),
      answer(run, question.id, { value: 'blue' }),
    ]);
    expect(answers.filter((one) => one.accepted)).toEqual([{ accepted: true, reason: null }]);
    expect(answers.filter((one) => !one.accepted)).toEqual([
      { accepted: false, reason: expect.stringContaining('answered already') },
    ]);
    const taken = answers[0]?.accepted ? 'red' : 'blue';
    expect((await run.end()).state).toBe('complete');
    expect(await run.text()).toBe(`You chose value:${taken}`);
    expect(await run.all('question.answered')).toMatchObject([{ questionId: question.id, by: owner, answer: taken }]);
    await run.expectNothingLeft();
  });

  test('a choice, a yes or no, a text and a refusal reach the child as they were given', async () => {
    const run = await start({
      steps: [
        { dialog: 'select', title: 'a', options: ['x', 'y'] },
        { dialog: 'confirm', title: 'b', message: 'Sure?' },
        { dialog: 'confirm', title: 'c' },
        { dialog: 'input', title: 'd', placeholder: 'type' },
        { dialog: 'editor', title: 'e', prefill: 'draft' },
        { say: '{{answers}}' },
      ],
    });
    const given = [
      { value: 'y' },
      { confirmed: true },
      { confirmed: false },
      { value: 'größer\nzwei' },
      { cancelled: true },
    ] as const;
    const done: string[] = [];
    for (const one of given) {
      const question = await asked(run, done);
      expect(await answer(run, question.id, one)).toEqual({ accepted: true, reason: null });
      done.push(question.id);
    }
    expect((await run.end()).state).toBe('complete');
    expect(await run.text()).toBe('value:y | confirmed:true | confirmed:false | value:größer\nzwei | cancelled');
    expect((await run.all('question.answered')).map((line) => line.answer)).toEqual([
      'y',
      'yes',
      'no',
      'größer\nzwei',
      'cancelled',
    ]);
    await run.expectNothingLeft();
  });

  test('an answer of the wrong kind reaches nobody, and the question stays open for the right one', async () => {
    const run = await start({
      steps: [
        { dialog: 'confirm', title: 'Sure?' },
        { dialog: 'select', title: 'Which?', options: ['x', 'y'] },
        { say: '{{answers}}' },
      ],
    });
    const sure = await asked(run);
    const cli = (...args: string[]) => world.cli(['answer', run.runId, ...args]);
    const refused = await cli('--value', 'perhaps', '--json');
    expect(refused.code).toBe(2);
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: 'answer_invalid', hint: expect.any(String) } });
    expect((await run.snapshot()).view?.questions.map(({ id }) => id)).toEqual([sure.id]);
    expect(await cli('--value', 'yes')).toMatchObject({ code: 0, stdout: 'Answered.\n' });
    await asked(run, [sure.id]);
    for (const wrong of [['--yes'], ['--value', 'zzz']]) {
      const { code, stderr } = await cli(...wrong);
      expect(code).toBe(2);
      expect(stderr).toContain('"x", "y"');
    }
    expect((await cli('--value', 'y')).code).toBe(0);
    expect((await run.end()).state).toBe('complete');
    expect(await run.text()).toBe('confirmed:true | value:y');
    await run.expectNothingLeft();
  });

  test('a question expires when its own time is over: the child goes on by itself, a late answer is told so', async () => {
    const gate = unique('after');
    const run = await start({
      steps: [{ dialog: 'confirm', title: 'Quick?', timeout: 700 }, { gate }, { say: 'got {{answer}}' }],
    });
    const question = await asked(run);
    const left = question.expiresAt - Date.now();
    expect(left).toBeLessThanOrEqual(700);
    expect(await run.event('question.expired')).toMatchObject({
      questionId: question.id,
      reason: expect.stringContaining('in time'),
    });
    expect(await run.until('the run to go on', ({ state }) => state === 'running')).toMatchObject({
      view: { questions: [] },
    });
    expect(await answer(run, question.id, { confirmed: true })).toMatchObject({ accepted: false });
    await fake.open(gate);
    expect((await run.end()).state).toBe('complete');
    expect(await run.text()).toBe('got timeout');
    expect(await run.all('question.answered')).toEqual([]);
    await run.expectNothingLeft();
  });

  test('a question is cancelled when its run is ended, and cannot be answered any more', async () => {
    const run = await start({ steps: [{ dialog: 'input', title: 'Name?' }, { say: '{{answer}}' }] });
    const question = await asked(run);
    expect(await stop(run)).toEqual({ outcome: 'done' });
    expect(await run.all('question.expired')).toMatchObject([{ questionId: question.id, reason: 'the agent ended' }]);
    expect(await run.snapshot()).toMatchObject({ state: 'stopped', view: { questions: [] } });
    await expect(answer(run, question.id, { value: 'x' })).rejects.toMatchObject({ code: 'run_not_running' });
    await run.expectNothingLeft();
  });

  test('an answer to something that was never asked is not taken', async () => {
    const run = await start({ steps: [{ hang: true }] });
    await run.working();
    expect(await answer(run, 'no-such-question', { confirmed: true })).toMatchObject({ accepted: false });
    expect(await stop(run)).toEqual({ outcome: 'done' });
    await run.expectNothingLeft();
  });
});

describe.concurrent('the starter', () => {
  /** A program that starts a run as a client does, up to a point, says so, and waits to be killed. */
  async function starter(
    upTo: 'launched' | 'started' | 'spawned',
    task: string,
  ): Promise<{ process: ChildProcess; runId: string; project: string }> {
    const { build } = await import('esbuild');
    const { BUNDLED_AS } = await import('../../esbuild.mjs');
    const folder = stack.use(await tempDir());
    const outfile = join(folder.path, 'starter.mjs');
    await build({
      stdin: { contents: STARTER, resolveDir: projectRoot(), loader: 'ts' },
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      loader: { '.md': 'text' },
      alias: BUNDLED_AS,
      define: { PI_LANES_VERSION: '"test"' },
      banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
      logLevel: 'silent',
    });
    const request = { agent: 'worker', task, cwd: world.project, owner, trust: 'no-approve' };
    const child = spawn(process.execPath, [outfile, JSON.stringify({ upTo, dist: world.dist, request })], {
      env: world.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = await once(child.stdout, 'data');
    return { process: child, ...JSON.parse(String(said)) };
  }
  const STARTER = `
    import { planLaunch, startRun, Toolbox } from './src/client/index.ts';
    import { startRunner } from './src/client/runner-process.ts';
    import { ensureProject } from './src/core/projects/index.ts';
    const { upTo, dist, request } = JSON.parse(process.argv[2]);
    const toolbox = new Toolbox({ env: process.env, distDirectory: dist, client: { kind: 'cli', version: 'test' } });
    const plan = await planLaunch(toolbox, request);
    const { record, project, runtime } = plan;
    const { layout } = project;
    if (upTo === 'launched') await startRun(toolbox, plan);
    else {
      await ensureProject(project);
      const order = { kind: 'new', runId: record.runId, projectDirectory: layout.directory };
      const { peer } = await startRunner(toolbox, { node: record.node, runner: runtime.runner, electron: false }, layout, order);
      if (upTo === 'started') await peer.request('start', { record }, { deadlineMs: 20_000 });
    }
    console.log(JSON.stringify({ runId: record.runId, project: layout.directory }));
    setInterval(() => {}, 1000);
  `;
  async function killed(child: ChildProcess): Promise<void> {
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  test('is killed right after the launch: the run goes on to its end', async () => {
    const gate = unique('work');
    const { process: child, runId } = await starter('launched', fakeTask({ steps: [{ gate }, { say: 'done alone' }] }));
    const store = new RunStore((await TestRun.plan(world, 'x')).plan.project);
    await killed(child);
    await fake.arrivedAt(gate);
    expect((await store.read(runId)).state).toBe('running');
    await fake.open(gate);
    expect((await waitForEnd(store, runId)).state).toBe('complete');
    expect(await readResultText(store.directoryOf(runId), 1)).toBe('done alone');
  });

  test('a waiting command line is killed: the run goes on to its end', async () => {
    const gate = unique('work');
    const label = unique('label');
    const task = fakeTask({ steps: [{ gate }, { say: 'done alone' }] });
    const args = [join(world.dist, 'cli.mjs'), 'run', '--wait', '--agent', 'worker', '--label', label, '--task', task];
    const child = spawn(process.execPath, args, { cwd: world.project, env: world.env, stdio: 'ignore' });
    await fake.arrivedAt(gate);
    await killed(child);
    const store = new RunStore((await TestRun.plan(world, 'x')).plan.project);
    const run = (await store.list(1000)).find((snapshot) => snapshot.view?.label === label);
    expect(run?.state).toBe('running');
    await fake.open(gate);
    expect((await waitForEnd(store, run?.runId ?? '')).state).toBe('complete');
  });

  test('run-5 is killed before it confirmed: the run fails by itself, without a child', async () => {
    const { process: child, runId } = await starter('started', fakeTask({ steps: [{ say: 'never' }] }));
    const store = new RunStore((await TestRun.plan(world, 'x')).plan.project);
    expect((await store.read(runId)).state).toBe('queued');
    await killed(child);
    const end = await waitForEnd(store, runId, { signal: AbortSignal.timeout(45_000) });
    expect(end).toMatchObject({ state: 'failed', error: { code: 'start_not_confirmed' } });
    expect((await fake.launches('child')).filter((launch) => launch.args.some((arg) => arg.includes(runId)))).toEqual(
      [],
    );
    expect(await store.activeIds()).not.toContain(runId);
  });

  test('run-5 is killed before there was a run: the runner leaves, and nothing is left of it', async () => {
    const { process: child, runId, project } = await starter('spawned', 'never');
    const starting = join(project, 'starting');
    const log = (await readdir(starting)).find((name) => name.startsWith(runId));
    expect(log).toBeDefined();
    await killed(child);
    await waitFor('the log of the start to be gone', async () => !(await readdir(starting)).includes(log ?? ''), {
      timeoutMs: 45_000,
    });
    const store = new RunStore((await TestRun.plan(world, 'x')).plan.project);
    expect(await store.runIds()).not.toContain(runId);
  });
});

test('B43 after many finished runs, and with marks left by runners that were killed, none counts as active', async () => {
  const COUNT = 33;
  const runs: TestRun[] = [];
  const startOne = async () => {
    while (runs.length < COUNT) {
      const run = await TestRun.plan(world, fakeTask({ steps: [{ say: 'brief' }] }));
      runs.push(run);
      await run.start();
      await run.end();
    }
  };
  await Promise.all(Array.from({ length: 4 }, startOne));
  const { store } = runs[0] ?? {};
  if (!store) throw new Error('no run');
  await waitFor('the marks to be gone', async () => (await store.activeIds()).length === 0);
  // As after a kill between the last event and the removal of the mark.
  for (const run of runs.slice(0, 5)) await writeFile(join(store.layout.active, run.runId), '');
  const seen = new Map<string, RunSnapshot>();
  const watcher = new RunWatcher(new RunStore(store.layout), (snapshot) => seen.set(snapshot.runId, snapshot));
  try {
    await watcher.refresh();
    await watcher.refresh();
    expect([...seen.values()].filter((snapshot) => !isTerminal(snapshot.state))).toEqual([]);
  } finally {
    watcher.dispose();
  }
  const listed = await new RunStore(store.layout).list(1000);
  expect(listed.length).toBeGreaterThanOrEqual(COUNT);
  expect(listed.filter((snapshot) => !isTerminal(snapshot.state)).map((snapshot) => snapshot.state)).toEqual([]);
  for (const run of runs.slice(0, 5)) await rm(join(store.layout.active, run.runId));
  for (const run of runs) await run.expectNothingLeft();
});

describe.concurrent('every control in every state', () => {
  /** What the client is told when this comes of it. */
  const TOLD: Partial<Record<Outcome, readonly string[]>> = {
    delivered: ['queued', 'delivered'],
    paused: ['done'],
    stopped: ['done'],
    'too late': ['too-late'],
    answered: ['accepted'],
    'not asked': ['not accepted'],
    continued: ['continued'],
    'new run': ['resumed, complete'],
  };
  const told = (outcome: Outcome) => TOLD[outcome] ?? [outcome];
  /** Leaves the run in the state it is in. */
  const isQuiet = (outcome: Outcome) => !['paused', 'stopped', 'continued', 'answered', 'new run'].includes(outcome);

  test.each(MATRIX)('$state, runner $runner', async (row) => {
    const { outcomes } = row;
    const expected = row.runner === 'alive' || row.runner === 'ended' ? row.state : row.runner;
    const shared = await bringInto(row, world, fake);
    const before = await shared.run.lines();
    const quiet = CONTROLS.filter((control) => isQuiet(outcomes[control]));
    const answers = await Promise.all(quiet.map(async (control) => [control, await ask(control, shared.run)] as const));
    for (const [control, answer] of answers) expect(told(outcomes[control]), control).toContain(answer);
    expect((await shared.run.snapshot()).state).toBe(expected);
    const asked = (await shared.run.lines()).filter((line) => line.type === 'control.requested');
    // What was refused has not even been noted.
    expect(asked.map((line) => line.action).sort()).toEqual(
      [
        ...before.filter((line) => line.type === 'control.requested').map((line) => line.action),
        ...quiet.filter((control) => outcomes[control] === 'delivered'),
      ].sort(),
    );
    if (outcomes.answer === 'answered') expect(await ask('answer', shared.run)).toBe('accepted');
    if (outcomes.resume === 'new run') expect(await ask('resume', shared.run)).toBe('resumed, complete');
    if (row.runner === 'alive') await finish(shared, outcomes);
    let reuse = row.runner === 'alive' ? undefined : shared;
    for (const control of CONTROLS) {
      const outcome = outcomes[control];
      if (outcome !== 'paused' && outcome !== 'stopped' && outcome !== 'continued') continue;
      const { run } = reuse ?? (await bringInto(row, world, fake));
      reuse = undefined;
      expect(told(outcome), control).toContain(await ask(control, run));
      expect(await endOf(run), control).toEqual(outcome === 'continued' ? endOfContinued(row) : [outcome, null]);
      await run.expectNothingLeft();
    }
    await shared.end?.();
    await shared.run.expectNothingLeft();
  });

  /** Messages that were queued are delivered when the run goes on. */
  async function finish({ run, goOn }: Situation, outcomes: Row['outcomes']): Promise<void> {
    await goOn();
    expect(await endOf(run)).toEqual(['complete', null]);
    for (const control of ['steer', 'follow-up'] as const) {
      if (outcomes[control] === 'delivered') expect((await receipts(run, `a ${control}`)).at(-1)).toBe('delivered');
    }
  }

  async function endOf(run: TestRun): Promise<[string, string | null]> {
    const { state, error } = await run.end();
    return [state, error?.code ?? null];
  }

  const endOfContinued = ({ state }: Row) =>
    state === 'queued' ? ['failed', 'start_not_confirmed'] : ['complete', null];

  test('docs/control.md is what the table says', async () => {
    // When this fails: node scripts/control-matrix.mjs
    expect(await readFile(join(projectRoot(), 'docs', 'control.md'), 'utf8')).toBe(controlPage());
    for (const { outcomes } of MATRIX) expect(Object.keys(outcomes).sort()).toEqual([...CONTROLS].sort());
  });
});

describe('a real Pi on the scripted model', () => {
  let real: World;
  beforeAll(async () => {
    real = await createWorld();
  });
  afterAll(async () => {
    const left = await endLeftovers(real);
    await real[Symbol.asyncDispose]();
    expect(left).toEqual([]);
  });

  /** Requests of a run's session, each as the texts of its user messages. */
  async function asked(run: TestRun): Promise<string[][]> {
    const id = (await run.snapshot()).view?.children[0]?.session?.id;
    return real.model.requests
      .filter((request) => request.session === id)
      .map((request) =>
        request.messages.filter((message) => message.role === 'user').map((message) => JSON.stringify(message.content)),
      );
  }

  test('B45 a message is delivered only when the next request to the model holds it', async () => {
    const run = await TestRun.start(real, 'SCRIPT:echo-steer seconds=4');
    await run.until('the tool', ({ view }) => view?.children[0]?.tool === 'bash');
    // The tool runs for longer than a sender waits.
    expect(await steer(run, 'mind the gap')).toEqual({ state: 'queued', reason: null });
    expect(await receipts(run, 'mind the gap')).toEqual(['queued']);
    expect((await asked(run)).flat().some((text) => text.includes('mind the gap'))).toBe(false);
    const delivered = await run.event('control.settled', (line) => line.outcome === 'delivered');
    const request = (await asked(run)).at(-1) ?? [];
    expect(request.some((text) => text.includes('mind the gap'))).toBe(true);
    expect((await run.end()).state).toBe('complete');
    expect(await run.text()).toBe('steered: mind the gap');
    const settled = (await run.all('child.settled'))[0];
    expect(delivered.seq).toBeLessThan(settled?.seq ?? 0);
    await run.expectNothingLeft();
  });

  test('a follow-up is taken up when the work is done, and a stop ends the tool it waits behind', async () => {
    const run = await TestRun.start(real, 'SCRIPT:echo-steer seconds=1');
    await run.until('the tool', ({ view }) => view?.children[0]?.tool === 'bash');
    expect(await steer(run, 'SCRIPT:say {"text":"and that too"}', 'follow-up')).toEqual({
      state: 'delivered',
      reason: null,
    });
    expect((await run.end()).state).toBe('complete');
    expect(await run.text()).toBe('and that too');
    const answers = (await asked(run)).map((texts) => texts.length);
    // Twice with the task alone, then with the follow-up.
    expect(answers).toEqual([1, 1, 2]);
    await run.expectNothingLeft();
  });

  test('B45 around the very end of the work a message is delivered or missed, and the model knows it accordingly', async () => {
    // The answer streams for about 0.4 s; messages come before, at and after its end.
    const outcomes = await Promise.all(
      [0, 1, 2, 3, 4, 5].map(async (index) => {
        const run = await TestRun.start(real, `SCRIPT:slow tokens=20 tokenMs=20 run ${index}`);
        await run.working();
        const from = performance.now();
        await waitFor('the moment', () => performance.now() - from > 200 + index * 60, { everyMs: 2 });
        const receipt = await steer(run, `last words ${index}`).catch(caught);
        expect((await run.end()).state).toBe('complete');
        const heard = (await asked(run)).some((texts) => texts.some((text) => text.includes(`last words ${index}`)));
        const final = (await receipts(run, `last words ${index}`)).at(-1);
        if (receipt instanceof LanesError) expect(receipt.code).toBe('run_not_running');
        else expect(final ?? receipt.state).toBe(receipt.state);
        if (final === 'delivered') expect(heard).toBe(true);
        await run.expectNothingLeft();
        return final ?? 'refused';
      }),
    );
    for (const outcome of outcomes) expect(['delivered', 'missed', 'refused']).toContain(outcome);
  });
});

/**
 * A runner that dies at any point of its journal: before or after any event. The points are made from the union of event
 * types, so that a new event is covered by itself; what must come of each is said by rules, not by what happens.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  answerQuestion,
  interruptRun,
  RunStore,
  RunWatcher,
  resumeKind,
  steerRun,
  stopRun,
} from '../../src/client/index.ts';
import { readJournal } from '../../src/core/journal/index.ts';
import { runLayout } from '../../src/core/projects/index.ts';
import { CONTINUE_PROMPT } from '../../src/core/runs/index.ts';
import {
  type ErrorCode,
  isTerminal,
  type JournalEventType,
  type JournalLine,
  journalEvent,
  LanesError,
  type RunState,
  type TerminalState,
} from '../../src/protocol/index.ts';
import { owner, type RunOptions, TestRun } from '../support/control-matrix-runs.ts';
import { type FakePi, type FakeTask, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { waitFor } from '../support/wait-for.ts';
import type { World } from '../support/world.ts';

type When = 'before' | 'after';
type Point = `${JournalEventType}:${When}`;

/** Every type of event there is, as the schema has them. */
const ALL: readonly JournalEventType[] = journalEvent.def.options.flatMap((option) => option.shape.type.def.values);
/** Without those that only a workflow has, and those of worktrees and checkouts, which have tests of their own. */
const TYPES = ALL.filter(
  (type) => !/^(?:workflow|host|worktree|checkout)\.|^child\.planned$|^run\.continued$/.test(type),
);

const ANSWER = 'the answer';
/** The work; also what is done when the child is asked to go on. */
const WORK: FakeTask = { steps: [{ say: ANSWER }] };
/** Begins the work and does not come to its end, the first time; asked again, it does. */
const HANGS = (...begun: NonNullable<FakeTask['steps']>): FakeTask => ({
  attempts: [{ steps: [...begun, { hang: true }] }, WORK],
});

interface Scenario {
  type: JournalEventType;
  /** Which of several ways to this event. */
  name?: string;
  task?: FakeTask;
  options?: RunOptions;
  /** Not the first runner dies there, but one that takes the run over from a first one that died at this point. */
  takenOverFrom?: Point;
  /** How many processes outlive the runner. */
  leaves?: number;
  /** What is asked of the run, to make it happen. */
  ask?: (run: TestRun) => Promise<unknown>;
  /** What comes of it, where the rules for the type do not fit. */
  ends?: Partial<Record<When, Ending>>;
}

interface Ending {
  state: TerminalState;
  code?: ErrorCode;
  /** What recovery decides about the child; `none`: the end is clear without looking at it. */
  decision: 'start' | 'ask-again' | 'continue' | 'adopt' | 'finish' | 'none';
  why: string;
}

const failingTool = { tools: [{ name: 'bash', isError: true, output: 'no' }] };
const question = { dialog: 'confirm', title: 'Sure?' } as const;
const asked = (run: TestRun) => run.until('the question', ({ state }) => state === 'waiting');

async function answer(run: TestRun): Promise<unknown> {
  const { view } = await asked(run);
  return answerQuestion(run.toolbox(), run.directory, owner, view?.questions[0]?.id ?? '', { confirmed: true });
}

const SCENARIOS: readonly Scenario[] = [
  { type: 'run.created' },
  { type: 'runner.started' },
  { type: 'runner.started', name: 'of a second one', task: HANGS(), takenOverFrom: 'child.prompted:after' },
  { type: 'run.proceeded' },
  { type: 'output.claimed', options: { output: 'claimed.md' } },
  { type: 'child.spawn.intended' },
  { type: 'child.spawned' },
  {
    type: 'child.spawn.failed',
    options: {
      change: (plan) => ({
        ...plan,
        record: { ...plan.record, pi: { ...plan.record.pi, command: { file: '/no/such/program', args: [] } } },
      }),
    },
  },
  {
    type: 'child.attempt.failed',
    name: 'exited at its start',
    options: { launch: { launches: [{ start: [{ exit: 3 }] }, {}], task: WORK } },
  },
  {
    type: 'child.attempt.failed',
    name: 'the provider failed',
    task: { attempts: [{ steps: [{ error: '529 overloaded' }] }, WORK] },
    options: {
      change: (plan) => {
        const { child } = plan.record;
        const fallbacks = [{ model: 'fake/scripted-b' }];
        return { ...plan, record: { ...plan.record, child: { ...child, fallbacks } } };
      },
    },
    ends: both({
      state: 'complete',
      decision: 'continue',
      why: 'the prompt stands in the session with an error of the provider behind it',
    }),
  },
  { type: 'child.ready' },
  { type: 'child.prompt.intended' },
  { type: 'child.prompted', task: HANGS() },
  { type: 'child.progress', task: HANGS() },
  { type: 'journal.truncated', task: HANGS(), options: { env: { PI_SUBAGENT_ASYNC_EVENTS_MAX_BYTES: '1' } } },
  {
    type: 'child.stdout',
    task: {
      attempts: [
        {
          steps: [{ grandchild: 'none', ownSession: true }, { line: 'npm warn' }, { hang: true }],
          // It notices neither the end of its input nor a signal: the new runner has to end it, and what it started.
          onStdinClose: [{ hang: true }],
          ignoreSignals: 'all',
        },
        WORK,
      ],
    },
    leaves: 2,
    ends: both({
      state: 'complete',
      decision: 'ask-again',
      why: 'the child is killed with nothing but the prompt in its session',
    }),
  },
  { type: 'attention.raised', task: HANGS(failingTool, failingTool, failingTool) },
  { type: 'attention.cleared', task: HANGS(failingTool, failingTool, failingTool, { tools: [{ name: 'bash' }] }) },
  { type: 'question.asked', task: { attempts: [{ steps: [question, { hang: true }] }, WORK] } },
  { type: 'question.answered', task: { attempts: [{ steps: [question, { hang: true }] }, WORK] }, ask: answer },
  {
    type: 'question.expired',
    task: { attempts: [{ steps: [{ ...question, timeout: 200 }, { hang: true }] }, WORK] },
  },
  {
    type: 'question.expired',
    name: 'by a second runner',
    task: { attempts: [{ steps: [question, { hang: true }] }, WORK] },
    takenOverFrom: 'question.asked:after',
  },
  {
    type: 'control.requested',
    name: 'stop',
    task: HANGS(),
    ask: (run) => stopRun(run.toolbox(), run.directory, owner),
    ends: {
      before: { state: 'complete', decision: 'continue', why: 'nobody knows of the stop, and who asked was told so' },
      after: { state: 'stopped', decision: 'none', why: 'a stop that is written down is never forgotten' },
    },
  },
  {
    type: 'control.requested',
    name: 'interrupt',
    task: HANGS(),
    ask: (run) => interruptRun(run.toolbox(), run.directory, owner),
    ends: {
      before: { state: 'complete', decision: 'continue', why: 'nobody knows of the wish, and who asked was told so' },
      after: { state: 'paused', decision: 'continue', why: 'the work is not taken up again, its session stays' },
    },
  },
  {
    type: 'control.requested',
    name: 'steer',
    task: HANGS(),
    ask: (run) => steerRun(run.toolbox(), run.directory, owner, 'listen'),
    ends: both({ state: 'complete', decision: 'continue', why: 'a message ends nothing' }),
  },
  {
    type: 'control.settled',
    name: 'a queued message',
    task: HANGS(),
    ask: (run) => steerRun(run.toolbox(), run.directory, owner, 'listen'),
    ends: both({ state: 'complete', decision: 'continue', why: 'a message ends nothing' }),
  },
  {
    type: 'control.settled',
    name: 'stop',
    task: HANGS(),
    ask: (run) => stopRun(run.toolbox(), run.directory, owner),
    ends: both({ state: 'stopped', decision: 'finish', why: 'the child had settled as stopped' }),
  },
  {
    type: 'control.settled',
    name: 'a message given up by a second runner',
    task: HANGS(),
    takenOverFrom: 'control.settled:after',
    ask: (run) => steerRun(run.toolbox(), run.directory, owner, 'listen'),
    ends: both({ state: 'complete', decision: 'continue', why: 'a message ends nothing' }),
  },
  {
    type: 'timeout.reached',
    name: 'of the run',
    task: { steps: [{ hang: true }] },
    options: { timeoutMs: 2500, launch: { task: { steps: [{ hang: true }] } } },
    ends: {
      before: { state: 'failed', code: 'timed_out', decision: 'continue', why: 'what is left of the limit runs out' },
      after: { state: 'failed', code: 'timed_out', decision: 'none', why: 'the limit has been reached' },
    },
  },
  {
    type: 'timeout.reached',
    name: 'of a tool',
    task: HANGS({ tools: [{ name: 'read', during: [{ hang: true }] }] }),
    options: { toolTimeoutMs: 300 },
    ends: {
      before: { state: 'complete', decision: 'continue', why: 'the tool ended with its runner' },
      after: { state: 'failed', code: 'tool_timed_out', decision: 'none', why: 'the limit has been reached' },
    },
  },
  { type: 'output.settled', options: { output: 'settled.md' } },
  { type: 'child.settled' },
  { type: 'child.ended' },
  {
    type: 'child.ended',
    name: 'by a second runner',
    task: HANGS(),
    takenOverFrom: 'child.prompted:after',
    ends: both({ state: 'complete', decision: 'continue', why: 'the session holds unfinished work' }),
  },
  { type: 'child.session.checked' },
  { type: 'recovery.begun', task: HANGS(), takenOverFrom: 'child.prompted:after' },
  { type: 'recovery.decided', task: HANGS(), takenOverFrom: 'child.prompted:after' },
  { type: 'run.ended' },
];

function both(ending: Ending): Record<When, Ending> {
  return { before: ending, after: ending };
}

/** What must come of a run whose runner died at these points, and why. The first that names the point counts. */
const RULES: readonly (Ending & { points: readonly (Point | JournalEventType)[] })[] = [
  {
    points: ['run.created', 'runner.started', 'run.proceeded:before'],
    state: 'failed',
    code: 'start_not_confirmed',
    decision: 'none',
    why: 'whoever started it was not told that it has begun, so nothing may begin any more',
  },
  {
    // These are written in one step with the fact that the run has begun, when they come first.
    points: ['child.spawn.intended:before', 'output.claimed:before'],
    state: 'failed',
    code: 'start_not_confirmed',
    decision: 'none',
    why: 'whoever started it was not told that it has begun, so nothing may begin any more',
  },
  {
    points: ['child.spawn.failed'],
    state: 'failed',
    code: 'child_spawn_failed',
    decision: 'start',
    why: 'it is tried once more, and fails for the same reason',
  },
  {
    points: [
      'run.proceeded:after',
      'output.claimed:after',
      'child.spawn.intended:after',
      'child.spawned',
      'child.attempt.failed',
      'child.ready:before',
      'child.prompt.intended:before',
    ],
    state: 'complete',
    decision: 'start',
    why: 'the child had not been asked anything: it is started as planned',
  },
  {
    // `child.ready` is written in one step with the intent to ask.
    points: ['child.ready:after', 'child.prompt.intended:after'],
    state: 'complete',
    decision: 'ask-again',
    why: 'the prompt may have been sent; its session shows that it never arrived',
  },
  {
    points: [
      'child.prompted',
      'child.progress',
      'journal.truncated',
      'attention.raised',
      'attention.cleared',
      'question.asked',
      'question.answered',
      'question.expired',
      'recovery.begun',
      'recovery.decided',
    ],
    state: 'complete',
    decision: 'continue',
    why: 'the child was in the middle of its work: it goes on in its session',
  },
  {
    points: ['output.settled', 'child.settled:before'],
    state: 'complete',
    decision: 'adopt',
    why: 'the answer stands in the session: it is the result, and nothing is asked again',
  },
  {
    points: ['child.settled:after', 'child.ended', 'child.session.checked', 'run.ended:before'],
    state: 'complete',
    decision: 'finish',
    why: 'the child had settled: only the end of the run is missing',
  },
  {
    points: ['run.ended:after'],
    state: 'complete',
    decision: 'none',
    why: 'the run has ended: it only has to be tidied up',
  },
];

function endingOf({ type, ends, takenOverFrom }: Scenario, when: When): Ending | undefined {
  const given = ends?.[when];
  if (given) return given;
  // A runner that only takes over decides by what the first one left.
  const point: Point = type === 'runner.started' && takenOverFrom ? 'child.prompted:after' : `${type}:${when}`;
  return RULES.find(({ points }) => points.includes(point) || points.includes(point.split(':')[0] as JournalEventType));
}

const stack = new AsyncDisposableStack();
let fake: FakePi;
let world: World;

beforeAll(async () => {
  ({ fake, world } = await fakeWorld(stack));
});
afterAll(() => expectNobodyLeft(stack, { fake, world }));

test('every type of event has a scenario, and every point a rule', () => {
  for (const type of TYPES) {
    const own = SCENARIOS.filter((scenario) => scenario.type === type);
    expect(own, `SCENARIOS needs one in which the event ${type} happens`).not.toEqual([]);
    for (const scenario of own)
      for (const when of ['before', 'after'] as const)
        expect(endingOf(scenario, when), `RULES must say what comes of a death ${when} ${type}`).toBeDefined();
  }
  expect(TYPES.length).toBeGreaterThanOrEqual(28);
  const unknown = SCENARIOS.filter((scenario) => !TYPES.includes(scenario.type)).map((scenario) => scenario.type);
  expect(unknown).toEqual([]);
});

const POINTS = SCENARIOS.flatMap((scenario) =>
  (['before', 'after'] as const).map((when) => ({
    scenario,
    when,
    title: [`${when} ${scenario.type}`, ...(scenario.name === undefined ? [] : [scenario.name])].join(', '),
  })),
);

describe.concurrent('a runner that dies', () => {
  test.for(POINTS)('$title', async ({ scenario, when }) => {
    const ending = endingOf(scenario, when);
    if (!ending) throw new Error(`no rule for ${scenario.type}:${when}`);
    const task = fakeTask({ ...(scenario.task ?? WORK), key: randomUUID() });
    const options = { ...scenario.options, launch: { task: WORK, ...scenario.options?.launch } };
    if (options.output !== undefined) options.output = `${randomUUID()}-${options.output}`;
    const run = await TestRun.plan(world, task, uniqueLaunches(options));
    const seen: RunState[] = [];
    const watcher = new RunWatcher(new RunStore(run.store.layout), (snapshot) => {
      if (snapshot.runId === run.runId) seen.push(snapshot.state);
    });
    try {
      await watcher.refresh();
      const wasStarted = await dieAt(run, scenario, when);
      // Nobody was told that a run has begun that then does not begin.
      if (ending.code === 'start_not_confirmed') expect(wasStarted).toBe(false);
      await expectSeen(run, scenario, when, seen);
    } finally {
      watcher.dispose();
    }
    if (scenario.leaves === undefined) await run.childGone();
    await run.recover();
    const { state, error } = await run.end();
    expect([state, error?.code ?? null], ending.why).toEqual([ending.state, ending.code ?? null]);
    await expectInOrder(run, scenario, when, ending);
  });
});

/** The counter of `launches` belongs to the text of the plan. */
function uniqueLaunches(options: RunOptions): RunOptions {
  const { launch } = options;
  return launch === undefined ? options : { ...options, launch: { match: `(?!${randomUUID()})`, ...launch } };
}

/** Lets the runner die at the point, and makes sure that it did. Whether the starter was told that the run has begun. */
async function dieAt(run: TestRun, { type, ask, takenOverFrom }: Scenario, when: When): Promise<boolean> {
  const fault = `${type}:${when}`;
  const wasStarted = await refusedAtMost(run.start(takenOverFrom ?? fault));
  if (ask) {
    await run.working();
    await refusedAtMost(ask(run));
  }
  await run.runnerGone();
  if (takenOverFrom) {
    await refusedAtMost(run.recover('continue', fault));
    await waitFor('the second runner', async () => (await epochs(run)) === 2);
    await run.runnerGone();
  }
  const { lines } = await readJournal(runLayout(run.directory).journal);
  const own = takenOverFrom ? lines.slice(lines.findIndex((line) => isEpoch(line, 2))) : lines;
  const there = own.some((line) => line.type === type);
  if (takenOverFrom && type === 'runner.started') expect(there).toBe(when === 'after');
  else expect(there, `${fault} was met`).toBe(when === 'after');
  return wasStarted;
}

/** What a client is told while a runner dies is a clear error, or nothing. Whether it was nothing. */
async function refusedAtMost(asked: Promise<unknown>): Promise<boolean> {
  try {
    await asked;
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(LanesError);
    if (error instanceof LanesError) expect(['runner_died', 'runner_unreachable']).toContain(error.code);
    return false;
  }
}

const isEpoch = (line: JournalLine, epoch: number) => line.type === 'runner.started' && line.epoch === epoch;

/** How many runners have owned the run: the newest lease counts. */
async function epochs(run: TestRun): Promise<number> {
  const names = (await readdir(run.directory)).filter((name) => /^lease\.\d+$/.test(name));
  return Math.max(0, ...names.map((name) => Number(name.slice('lease.'.length))));
}

/** Within five seconds every client knows: one that watches, one that only comes now, and one that wants to resume. */
async function expectSeen(run: TestRun, { type }: Scenario, when: When, seen: RunState[]): Promise<void> {
  const from = performance.now();
  const isOver = type === 'run.ended' && when === 'after';
  await waitFor('the watching client to know', () => seen.at(-1) === (isOver ? 'complete' : 'lost'), {
    timeoutMs: 5000,
    seen: () => seen,
  });
  expect(performance.now() - from).toBeLessThan(5000);
  expect((await new RunStore(run.store.layout).read(run.runId)).state).toBe(isOver ? 'complete' : 'lost');
  expect(await resumeKind(run.directory)).toBe(isOver ? 'resume' : 'continue');
  expect(seen.filter((state) => isTerminal(state))).toEqual(isOver ? ['complete'] : []);
}

/** Nothing is doubled, nothing is open, nothing is left. */
async function expectInOrder(run: TestRun, scenario: Scenario, when: When, ending: Ending): Promise<void> {
  const { type, takenOverFrom, options, leaves = 0 } = scenario;
  const lines = await run.lines();
  const all = <T extends JournalLine['type']>(wanted: T) =>
    lines.filter((line): line is Extract<JournalLine, { type: T }> => line.type === wanted);
  const wasOver = type === 'run.ended' && when === 'after';
  expect(lines[0]?.type).toBe('run.created');
  expect(all('run.created')).toHaveLength(1);
  expect(all('run.ended')).toHaveLength(1);
  expect(lines.at(-1)?.type).toBe(wasOver ? 'runner.started' : 'run.ended');
  const owners = all('runner.started').map((line) => line.epoch);
  expect(owners).toEqual([...new Set(owners)].sort((x, y) => x - y));
  expect(owners.at(-1)).toBe(takenOverFrom ? 3 : 2);
  if (!wasOver) expect(all('recovery.decided').at(-1)?.decision ?? 'none', ending.why).toBe(ending.decision);
  // A journal is cut once, however many runners write it.
  expect(all('journal.truncated').length).toBeLessThanOrEqual(type === 'journal.truncated' ? 1 : 0);
  // A run that recovery alone ended has no result of its own.
  const hasNoResult = (ending.decision === 'none' && !wasOver) || ending.state === 'paused';
  expect(all('child.settled')).toHaveLength(hasNoResult ? 0 : 1);
  // Also a start that nobody came to write down has its end.
  const started = all('child.spawn.intended').length - all('child.spawn.failed').length;
  expect(all('child.ended')).toHaveLength(started);
  for (const { tree } of all('child.ended')) expect(tree).toBe('gone');
  if (all('recovery.begun').length === 1) expect(all('recovery.begun')[0]?.ended).toBe(leaves);
  expectAllSettled(lines);
  await expectAskedOnce(run, ending);
  if (options?.output !== undefined && ending.state === 'complete') {
    expect(await readFile(run.plan.record.child.output?.path ?? '', 'utf8')).toBe(ANSWER);
  }
  if (ending.state === 'complete') expect(await run.text()).toBe(ANSWER);
  await run.expectNothingLeft();
  expect(existsSync(runLayout(run.directory).status)).toBe(true);
  const starts = (await fake.launches('child')).filter((launch) => launch.args.some((arg) => arg.includes(run.runId)));
  // One that was there, at most one new one per runner that came after; a failed start was tried again by the first.
  const most = (takenOverFrom ? 3 : 2) + (all('child.attempt.failed').length > 0 ? 1 : 0);
  expect(starts.length).toBeLessThanOrEqual(most);
  if (ending.decision === 'adopt' || ending.decision === 'finish') expect(starts).toHaveLength(1);
}

/** Every request and every question has come to one end. */
function expectAllSettled(lines: readonly JournalLine[]): void {
  for (const line of lines) {
    if (line.type === 'control.requested') {
      const ends = lines.filter(
        (one) => one.type === 'control.settled' && one.requestId === line.requestId && one.outcome !== 'queued',
      );
      expect(ends, `ends of ${line.action}`).toHaveLength(1);
    }
    if (line.type === 'question.asked') {
      const ends = lines.filter(
        (one) =>
          (one.type === 'question.answered' || one.type === 'question.expired') && one.questionId === line.questionId,
      );
      expect(ends, 'ends of the question').toHaveLength(1);
    }
  }
}

/** In all sessions together the work was answered once, and no prompt twice. */
async function expectAskedOnce(run: TestRun, ending: Ending): Promise<void> {
  const folder = run.sessionFolder();
  const answered: string[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const entries = (await readFile(join(folder, name), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const parents = entries.flatMap((entry) => (entry.parentId ? [entry.parentId] : []));
    expect(new Set(parents).size, 'one branch').toBe(parents.length);
    let prompt = '';
    for (const { message } of entries) {
      if (message?.role === 'user') prompt = textOf(message.content);
      if (message?.role === 'assistant' && message.stopReason === 'stop') answered.push(prompt);
    }
  }
  if (ending.state !== 'complete') return expect(answered).toEqual([]);
  expect(answered).toHaveLength(1);
  const { task } = run.plan.record.child;
  expect(answered[0]).toBe(ending.decision === 'continue' ? CONTINUE_PROMPT : task);
}

function textOf(content: string | { text?: string }[]): string {
  return typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('');
}

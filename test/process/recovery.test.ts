/** Runs whose runner was killed, stopped or replaced by a stranger: what is left of them, and how they go on. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  forceStopRun,
  interruptRun,
  type RunSnapshot,
  RunStore,
  RunWatcher,
  resumeKind,
  steerRun,
  stopRun,
} from '../../src/client/index.ts';
import { JournalWriter } from '../../src/core/journal/index.ts';
import { inspectLock } from '../../src/core/locks/index.ts';
import { childLayout, ensureProject, runLayout } from '../../src/core/projects/index.ts';
import { CONTINUE_PROMPT, MAX_EPOCHS, runnerLog } from '../../src/core/runs/index.ts';
import { isTerminal, type JournalEvent, type LockOwner, type ProcessIdentity } from '../../src/protocol/index.ts';
import { owner, TestRun } from '../support/control-matrix-runs.ts';
import { type FakePi, type FakeTask, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { isAlive } from '../support/process-state.ts';
import { numbersFrom, printedSeed } from '../support/random-numbers.ts';
import { waitFor } from '../support/wait-for.ts';
import { createWorld, type World } from '../support/world.ts';

const SOAK = process.env['PI_LANES_SOAK'] !== undefined;

const stack = new AsyncDisposableStack();
let fake: FakePi;
let world: World;
let real: World;

beforeAll(async () => {
  ({ fake, world } = await fakeWorld(stack));
  real = stack.use(await createWorld());
});
afterAll(() => expectNobodyLeft(stack, { fake, world, others: [real] }));

let names = 0;
/** A name that no other test uses. */
const unique = (name: string) => `${name}-${++names}`;

const stop = (run: TestRun) => stopRun(run.toolbox(), run.directory, owner);
const lost = (run: TestRun) => run.until('the run to be lost', ({ state }) => state === 'lost');

/** The processes of a child whose tool runs: itself and the tool. */
const withTool = (run: TestRun) =>
  waitFor('the process of the tool', async () => {
    const pids = await run.processes();
    return pids.length >= 2 && pids;
  });

/** How often the model was asked with these words in front of it. */
const requestsWith = (words: string) =>
  real.model.requests.filter(({ messages }) => JSON.stringify(messages).includes(words)).length;

/** A task for the scripted model. */
const script = (...steps: object[]) => `SCRIPT:steps ${JSON.stringify(steps)}`;
const bash = (command: string) => ({ calls: [{ tool: 'bash', args: { command } }] });

/** Every session file of the run: its messages, oldest first. No file has two branches. */
async function sessions(run: TestRun): Promise<{ role: string; text: string; stopReason?: string }[][]> {
  const files = (await readdir(run.sessionFolder())).sort();
  return Promise.all(
    files.map(async (name) => {
      const lines = (await readFile(join(run.sessionFolder(), name), 'utf8')).trim().split('\n');
      const entries = lines.map((line) => JSON.parse(line));
      const parents = entries.flatMap((entry) => (entry.parentId ? [entry.parentId] : []));
      expect(new Set(parents).size, 'one branch').toBe(parents.length);
      return entries.flatMap(({ message }) =>
        message ? [{ role: message.role, text: textOf(message.content), stopReason: message.stopReason }] : [],
      );
    }),
  );
}

function textOf(content: string | { text?: string }[]): string {
  return typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('');
}

const decisions = async (run: TestRun) => (await run.all('recovery.decided')).map((line) => line.decision);

/** What every recovered run has in common. */
async function expectOneEnd(run: TestRun): Promise<void> {
  const lines = await run.lines();
  const end = lines.findIndex((line) => line.type === 'run.ended');
  // Behind the end there is at most a runner that tidied up.
  expect(lines.slice(end).map((line) => line.type)).toEqual([
    'run.ended',
    ...lines.slice(end + 1).map(() => 'runner.started'),
  ]);
  for (const ended of await run.all('child.ended')) expect(ended.tree).toBe('gone');
  await run.expectNothingLeft();
}

describe.concurrent('a real Pi whose runner is killed', () => {
  test('in a tool call: the tool is ended, its effect is not repeated, the same session goes on', async () => {
    const file = `${unique('effects')}.txt`;
    const task = script(
      bash(`echo done >> ${file}; sleep 600`),
      { text: 'finished' },
      { text: 'finished' },
      { text: 'finished' },
    );
    const run = await TestRun.start(real, task);
    const path = join(real.project, file);
    await waitFor('the effect', async () => (await readFile(path, 'utf8')) === 'done\n');
    const before = await withTool(run);
    await run.killRunner();
    await lost(run);
    await run.recover();
    expect((await run.end()).state).toBe('complete');
    expect(before.filter(isAlive)).toEqual([]);
    expect(await decisions(run)).toEqual(['continue']);
    expect(await run.text()).toBe('finished');
    expect(await readFile(path, 'utf8')).toBe('done\n');
    const [messages, ...others] = await sessions(run);
    expect(others).toEqual([]);
    expect(messages?.filter(({ role }) => role === 'user').map(({ text }) => text)).toEqual([task, CONTINUE_PROMPT]);
    await expectOneEnd(run);
  });

  test('while an answer is streamed: the same session goes on, or the task is given again when nothing was saved', async () => {
    const task = script({ tokens: 150, tokenMs: 20 }, { text: 'finished' }, { text: 'finished' });
    const run = await TestRun.start(real, task);
    const { transcript } = childLayout(run.directory, 1);
    await waitFor('the first words', async () => (await readFile(transcript, 'utf8')).includes('"delta"'));
    await run.killRunner();
    await run.childGone();
    // Whether Pi could still save what it had is up to Pi; what follows from it is not.
    const hasBegun = (await sessions(run)).flat().some(({ role }) => role === 'assistant');
    await run.recover();
    expect((await run.end()).state).toBe('complete');
    expect(await decisions(run)).toEqual([hasBegun ? 'continue' : 'ask-again']);
    expect(await sessions(run)).toHaveLength(hasBegun ? 1 : 2);
    await expectOneEnd(run);
  });

  test('right after the prompt', async () => {
    const run = await TestRun.plan(real, 'SCRIPT:slow tokens=100 tokenMs=20');
    await run.start('child.prompted:after');
    await run.runnerGone();
    await run.childGone();
    await run.recover();
    expect((await run.end()).state).toBe('complete');
    const answered = (await sessions(run))
      .flat()
      .filter(({ role, stopReason }) => role === 'assistant' && stopReason === 'stop');
    expect(answered).toHaveLength(1);
    expect(await run.text()).toBe(answered[0]?.text);
    await expectOneEnd(run);
  });

  test('before the prompt was sent: it is asked again, once', async () => {
    const words = unique('asked for');
    const run = await TestRun.plan(real, `SCRIPT:say ${JSON.stringify({ text: words })}`);
    await run.start('child.prompt.intended:after');
    await run.runnerGone();
    await run.childGone();
    await run.recover();
    expect((await run.end()).state).toBe('complete');
    expect(await decisions(run)).toEqual(['ask-again']);
    expect(await run.text()).toBe(words);
    expect(requestsWith(words)).toBe(1);
    const prompts = (await sessions(run)).flat().filter(({ role }) => role === 'user');
    expect(prompts).toHaveLength(1);
    await expectOneEnd(run);
  });

  test('after the answer: it is the result, and nothing is asked', async () => {
    const words = unique('the very answer');
    const run = await TestRun.plan(real, `SCRIPT:say ${JSON.stringify({ text: words })}`);
    await run.start('child.settled:before');
    await run.runnerGone();
    expect(requestsWith(words)).toBe(1);
    await lost(run);
    await run.recover();
    expect((await run.end()).state).toBe('complete');
    expect(await decisions(run)).toEqual(['adopt']);
    expect(await run.text()).toBe(words);
    expect(requestsWith(words)).toBe(1);
    expect(await run.all('child.spawned')).toHaveLength(1);
    await expectOneEnd(run);
  });

  test.each(['deleted', 'without its header'])(
    'and whose session is %s: the task is given again, in a new one',
    async (how) => {
      const flag = unique('flag');
      // Only the first time does the tool wait.
      const command = `if mkdir ${flag} 2>/dev/null; then sleep 600; else echo second; fi`;
      const run = await TestRun.start(real, script(bash(command), { text: 'the tool said: {{tool}}' }));
      await waitFor('the tool', () => existsSync(join(real.project, flag)));
      await run.killRunner();
      await run.childGone();
      const session = (await run.snapshot()).view?.children[0]?.session?.file ?? '';
      if (how === 'deleted') await rm(session);
      else await writeFile(session, (await readFile(session, 'utf8')).replace(/^[^\n]*\n/, ''));
      await run.recover();
      const end = await run.end();
      expect(end.state).toBe('complete');
      const [decided] = await run.all('recovery.decided');
      expect(decided).toMatchObject({
        decision: 'ask-again',
        reason: expect.stringContaining(how === 'deleted' ? 'does not exist' : 'no session header'),
      });
      expect(await run.text()).toBe('the tool said: second');
      expect(end.view?.children[0]?.session?.file).not.toBe(session);
      await expectOneEnd(run);
    },
  );

  test('with a message that waits: nobody knows whether it was taken up, and that is said', async () => {
    const task = script(bash('sleep 600'), { text: 'finished' }, { text: 'finished' }, { text: 'finished' });
    const run = await TestRun.start(real, task);
    await run.until('the tool', ({ view }) => view?.children[0]?.tool === 'bash');
    const told = steerRun(run.toolbox(), run.directory, owner, 'are you there?').catch((error: unknown) => error);
    await run.event('control.settled', (line) => line.outcome === 'queued');
    await run.killRunner();
    expect(await told).toMatchObject({ code: 'runner_unreachable' });
    await run.recover();
    expect(await run.end()).toMatchObject({
      state: 'complete',
      view: {
        steering: [{ preview: 'are you there?', state: 'missed', reason: 'outcome unknown: the runner was lost' }],
      },
    });
    expect((await run.all('control.settled')).map((line) => line.outcome)).toEqual(['queued', 'missed']);
    await expectOneEnd(run);
  });

  test('five times in a row, the runners that took over as well: the work is still done once', async () => {
    const file = `${unique('effects')}.txt`;
    const done = { text: 'finished' };
    const task = script(bash(`echo done >> ${file}; sleep 600`), ...Array.from({ length: 16 }, () => done));
    const run = await TestRun.start(real, task);
    const path = join(real.project, file);
    await waitFor('the effect', async () => (await readFile(path, 'utf8')) === 'done\n');
    await run.killRunner();
    let owners = 1;
    // Each dies a little later than the one before it.
    for (const fault of [
      'recovery.begun:after',
      'recovery.decided:after',
      'child.spawned:before',
      'child.ready:after',
    ]) {
      await run.recover('continue', fault).catch(() => undefined);
      await waitFor('it to have been there', async () => (await run.all('runner.started')).length > owners);
      owners++;
      await run.runnerGone();
      await lost(run);
    }
    await run.recover();
    const end = await run.end();
    expect(end).toMatchObject({ state: 'complete', view: { epoch: 6 } });
    expect(await run.text()).toBe('finished');
    expect(await readFile(path, 'utf8')).toBe('done\n');
    const [messages, ...others] = await sessions(run);
    expect(others).toEqual([]);
    expect(messages?.filter(({ role, stopReason }) => role === 'assistant' && stopReason === 'stop')).toHaveLength(1);
    await expectOneEnd(run);
  });
});

describe.concurrent('a lost run', () => {
  const BUSY: FakeTask = { steps: [{ say: 'begun' }, { hang: true }] };
  const start = async (task: FakeTask = BUSY, options: Parameters<typeof TestRun.start>[2] = {}) => {
    const run = await TestRun.start(world, fakeTask(task), {
      launch: { task: { steps: [{ say: 'the answer' }] } },
      ...options,
    });
    await run.working(1);
    return run;
  };

  test('B26 is shown as lost within 5 s, with the way on; one client takes it over, the other is told', async () => {
    const gate = unique('gate');
    const run = await start(BUSY, { launch: { task: { steps: [{ gate }, { say: 'the answer' }] } } });
    const seen: RunSnapshot[] = [];
    const watcher = new RunWatcher(new RunStore(run.store.layout), (snapshot) => {
      if (snapshot.runId === run.runId) seen.push(snapshot);
    });
    try {
      await watcher.refresh();
      const socket = (await inspectLock(runLayout(run.directory).lease)).owner?.socket ?? '';
      expect(existsSync(socket)).toBe(true);
      const from = performance.now();
      await run.killRunner();
      await waitFor('the watching client to know', () => seen.at(-1)?.state === 'lost', { timeoutMs: 5000 });
      expect(performance.now() - from).toBeLessThan(5000);
      expect(seen.at(-1)?.error).toMatchObject({ code: 'run_lost', hint: expect.stringContaining('Resume') });
      const taken = await Promise.allSettled([run.recover(), run.recover()]);
      expect(taken.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
      expect(taken.find((one) => one.status === 'rejected')?.reason).toMatchObject({ code: 'lock_held' });
      await fake.arrivedAt(gate);
      await waitFor('the watching client to see it run', () => seen.at(-1)?.state === 'running');
      // Once told, not again and again.
      expect(seen.filter((snapshot) => snapshot.state === 'lost')).toHaveLength(1);
      // What the dead runner could not take away itself.
      expect(existsSync(socket)).toBe(false);
      await fake.open(gate);
      expect((await run.end()).state).toBe('complete');
    } finally {
      watcher.dispose();
    }
    expect(await run.all('child.spawned')).toHaveLength(2);
    expect((await run.all('runner.started')).map((line) => line.epoch)).toEqual([1, 2]);
    await expectOneEnd(run);
    expect(await readdir(run.store.layout.starting)).not.toContainEqual(expect.stringContaining(run.runId));
    expect(await readdir(run.directory)).toEqual(expect.arrayContaining(['runner.log', 'runner.2.log']));
  });

  test('is stopped by a new runner, which ends what the old one left; two who ask are both answered', async () => {
    const stubborn = {
      steps: [{ grandchild: 'none' as const, ownSession: true, ignoreTerm: true }, ...(BUSY.steps ?? [])],
    };
    const run = await start({ ...stubborn, onStdinClose: [{ hang: true }], ignoreSignals: 'all' });
    const before = await run.processes();
    expect(before).toHaveLength(2);
    await run.killRunner();
    await lost(run);
    expect(before.filter(isAlive)).toEqual(before);
    expect(await Promise.all([stop(run), stop(run)])).toEqual([{ outcome: 'done' }, { outcome: 'done' }]);
    expect((await run.snapshot()).state).toBe('stopped');
    expect(before.filter(isAlive)).toEqual([]);
    expect((await run.all('recovery.begun'))[0]).toMatchObject({ settle: 'stop', ended: 2 });
    // A person's stop is for good, whoever carried it out.
    await expect(resumeKind(run.directory)).rejects.toMatchObject({ code: 'resume_refused' });
    await expectOneEnd(run);
  });

  test('cannot be interrupted: there is nobody to ask, and that is said', async () => {
    const run = await start();
    await run.killRunner();
    await lost(run);
    await expect(interruptRun(run.toolbox(), run.directory, owner)).rejects.toMatchObject({ code: 'run_lost' });
    expect((await run.snapshot()).state).toBe('lost');
    expect(await stop(run)).toEqual({ outcome: 'done' });
    await expectOneEnd(run);
  });

  test('run-52 run-55 whose child had come to its result keeps it, also when it is stopped', async () => {
    const run = await TestRun.plan(world, fakeTask({ steps: [{ say: 'the result' }] }));
    await run.start('child.settled:after').catch(() => undefined);
    await run.runnerGone();
    const { result } = childLayout(run.directory, 1);
    const before = await readFile(result, 'utf8');
    await lost(run);
    expect(await stop(run)).toEqual({ outcome: 'too-late' });
    expect(await run.snapshot()).toMatchObject({ state: 'complete', error: null });
    expect(await readFile(result, 'utf8')).toBe(before);
    expect(await run.text()).toBe('the result');
    await expectOneEnd(run);
  });

  test('a file that the child wrote as its output is kept when the end was cut off', async () => {
    const output = `${unique('report')}.md`;
    const task = fakeTask({ steps: [{ write: output, text: 'a whole report' }, { say: 'See the report.' }] });
    const run = await TestRun.plan(world, task, { output });
    await run.start('output.settled:before').catch(() => undefined);
    await run.runnerGone();
    await run.recover();
    expect((await run.end()).state).toBe('complete');
    expect(await readFile(join(world.project, output), 'utf8')).toBe('a whole report');
    expect((await run.all('output.settled')).at(-1)).toMatchObject({ outcome: 'kept' });
    await expectOneEnd(run);
  });

  test('the time between two runners does not count against its limit', async () => {
    const LIMIT_MS = 5000;
    const run = await start(BUSY, { timeoutMs: LIMIT_MS, launch: { task: { steps: [{ say: 'the answer' }] } } });
    const from = performance.now();
    await run.killRunner();
    await waitFor('more than the limit to pass', () => performance.now() - from > LIMIT_MS, {
      timeoutMs: 2 * LIMIT_MS,
    });
    await run.recover();
    expect(await run.end()).toMatchObject({ state: 'complete', error: null });
    expect(await run.all('timeout.reached')).toEqual([]);
    await expectOneEnd(run);
  });

  test('the time of its earlier runners does count', async () => {
    const LIMIT_MS = 6000;
    const run = await start(
      { steps: [{ say: 'begun' }, { hang: true }] },
      { timeoutMs: LIMIT_MS, launch: { task: { steps: [{ hang: true }] } } },
    );
    const [proceeded] = await run.all('run.proceeded');
    // Something has to be written shortly before the death: the journal is all that tells how long the runner lived.
    await waitFor('half of it to pass', () => Date.now() - (proceeded?.t ?? 0) > LIMIT_MS / 2);
    void steerRun(run.toolbox(), run.directory, owner, 'still there?').catch(() => undefined);
    const { t: last } = await run.event('control.settled');
    await run.killRunner();
    await run.recover();
    expect(await run.end()).toMatchObject({ state: 'failed', error: { code: 'timed_out' } });
    const again = (await run.all('runner.started'))[1]?.t ?? 0;
    const reached = (await run.all('timeout.reached'))[0]?.t ?? 0;
    const lived = last - (proceeded?.t ?? 0) + (reached - again);
    expect(lived).toBeGreaterThan(LIMIT_MS - 500);
    expect(reached - again).toBeLessThan(LIMIT_MS - (last - (proceeded?.t ?? 0)) + 1000);
    await expectOneEnd(run);
  });

  test(`run-51 is not started any more when it has lost ${MAX_EPOCHS} runners, and says what the last one printed`, async () => {
    const run = await start();
    await run.killRunner();
    for (let epoch = 2; epoch <= MAX_EPOCHS; epoch++) {
      await run.recover('continue', 'recovery.begun:after').catch(() => undefined);
      await waitFor(
        'the runner to have owned it',
        async () => (await run.all('runner.started')).at(-1)?.epoch === epoch,
      );
      await run.runnerGone();
    }
    await appendFile(runnerLog(run.directory, MAX_EPOCHS), 'RangeError: out of memory\n');
    await run.recover();
    const { state, error } = await run.end();
    expect([state, error?.code]).toEqual(['failed', 'recovery_failed']);
    expect(error?.message).toContain(`has lost ${MAX_EPOCHS} runners`);
    expect(error?.message).toContain('The runner printed last:\nRangeError: out of memory');
    expect(await run.all('child.spawned')).toHaveLength(1);
    await expectOneEnd(run);
  });
});

describe.concurrent('a runner that is suspended', () => {
  test('is unresponsive; Force Stop ends it and all it started by verified identity', async () => {
    const run = await TestRun.start(real, 'SCRIPT:bash-sleep');
    await run.until('the tool', ({ view }) => view?.children[0]?.tool === 'bash');
    const runner = await run.runner();
    const before = await withTool(run);
    await run.signalRunner('SIGSTOP');
    const snapshot = await run.until('the run not to answer', ({ state }) => state === 'unresponsive');
    expect(snapshot.error).toMatchObject({ code: 'runner_unreachable', hint: expect.stringContaining('Force Stop') });
    await expect(stop(run)).rejects.toMatchObject({
      code: 'runner_unreachable',
      hint: expect.stringContaining('Force Stop'),
    });
    expect(await forceStopRun(run.toolbox(), run.directory, owner)).toEqual({ outcome: 'done', note: null });
    expect((await run.snapshot()).state).toBe('stopped');
    expect([runner, ...before].filter(isAlive)).toEqual([]);
    await expectOneEnd(run);
  });

  test('and goes on: the run goes on, and the time does not count against its limit', {
    timeout: 180_000,
  }, async () => {
    // A whole minute where the large counts are run.
    const LIMIT_MS = SOAK ? 60_000 : 6000;
    const gate = unique('gate');
    const run = await TestRun.start(world, fakeTask({ steps: [{ say: 'begun' }, { gate }, { say: 'the end' }] }), {
      timeoutMs: LIMIT_MS,
    });
    await fake.arrivedAt(gate);
    const from = performance.now();
    await run.signalRunner('SIGSTOP');
    await run.until('the run not to answer', ({ state }) => state === 'unresponsive');
    await waitFor('more than the limit to pass', () => performance.now() - from > LIMIT_MS + 500, {
      timeoutMs: 2 * LIMIT_MS,
    });
    await run.signalRunner('SIGCONT');
    await run.until('the run to answer', ({ state }) => state === 'running');
    await fake.open(gate);
    expect(await run.end()).toMatchObject({ state: 'complete', error: null });
    expect(await run.text()).toBe('the end');
    expect(await run.all('timeout.reached')).toEqual([]);
    await expectOneEnd(run);
  });
});

describe.concurrent('a process id that belongs to somebody else by now', () => {
  /** A process that has nothing to do with us. */
  async function stranger(): Promise<ChildProcess & { pid: number }> {
    const child = spawn(process.execPath, ['-e', 'console.log("here"); setInterval(() => {}, 1000)'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(child.stdout, 'data');
    const { pid } = child;
    if (pid === undefined) throw new Error('it has not started');
    return Object.assign(child, { pid });
  }

  /** A run as a runner left it whose process ids were given to somebody else since. */
  async function leftBehind(task: FakeTask, identity: ProcessIdentity): Promise<TestRun> {
    const run = await TestRun.plan(world, fakeTask(task));
    const { record, project } = run.plan;
    if (!('layout' in project)) throw new Error('a planned run has a whole project');
    await ensureProject(project);
    const layout = runLayout(run.directory);
    for (const folder of [run.directory, project.layout.active]) await mkdir(folder, { recursive: true });
    await writeFile(layout.record, JSON.stringify(record));
    await writeFile(join(project.layout.active, run.runId), '');
    const lease: LockOwner = {
      version: 1,
      process: identity,
      token: 'x',
      epoch: 1,
      acquiredAt: Date.now(),
      purpose: `run ${run.runId}`,
      socket: join(run.directory, 'no.sock'),
    };
    await writeFile(`${layout.lease}.1`, JSON.stringify(lease));
    const events: JournalEvent[] = [
      { type: 'run.created', runId: run.runId, digest: 'x' },
      { type: 'runner.started', epoch: 1, process: identity, node: '24', version: 'test', runtime: record.runtime },
      { type: 'run.proceeded' },
      { type: 'child.spawn.intended', child: 1, attempt: 1, agent: 'worker' },
      { type: 'child.spawned', child: 1, attempt: 1, process: identity },
    ];
    const journal = await JournalWriter.open(layout.journal);
    await journal.append(events, { sync: true });
    await journal.close();
    return run;
  }

  const WAYS: [string, string, (run: TestRun) => Promise<unknown>][] = [
    ['stop', 'stopped', stop],
    ['force stop', 'stopped', (run) => forceStopRun(run.toolbox(), run.directory, owner)],
    ['continue', 'complete', (run) => run.recover()],
  ];
  test.each(WAYS)('is never signalled: %s', async (_, end, act) => {
    const other = await stranger();
    try {
      const run = await leftBehind({ steps: [{ say: 'done' }] }, { pid: other.pid, start: 'another boot:1' });
      expect((await run.snapshot()).state).toBe('lost');
      await act(run);
      expect((await run.end()).state).toBe(end);
      expect((await run.all('child.ended'))[0]).toMatchObject({
        tree: 'gone',
        note: expect.stringContaining('took over'),
      });
      expect(isAlive(other.pid)).toBe(true);
      expect([other.exitCode, other.signalCode]).toEqual([null, null]);
    } finally {
      other.kill('SIGKILL');
      await once(other, 'exit');
    }
  });
});

describe('again and again', () => {
  const KILLS = SOAK ? 200 : 10;
  test(`${KILLS} kills of runners and of Pi, at any moment: every run comes to one end`, {
    timeout: 20 * 60_000,
  }, async () => {
    const random = numbersFrom(printedSeed());
    const ends: Record<string, number> = {};
    let kills = 0;
    const workers = await Promise.allSettled(Array.from({ length: 3 }, work));
    console.log(JSON.stringify(ends));
    // Nothing goes on behind the next test, whatever happened.
    for (const one of workers) if (one.status === 'rejected') throw one.reason;

    async function work(): Promise<void> {
      while (kills < KILLS) {
        const target = random() < 0.75 ? 'runner' : 'pi';
        const { run, longest } = await begin();
        for (let most = target === 'pi' ? 1 : 1 + Math.floor(random() * 3); most > 0; most--) {
          kills++;
          await moment(random() * longest);
          if (!(await kill(run, target))) break;
        }
        const { state, error } = await run.end();
        // A runner that dies costs no work; a Pi that is killed from outside is told as that, unless it had just begun.
        const allowed = target === 'runner' ? ['complete'] : ['complete', 'stopped'];
        expect(allowed, `${run.runId} after a kill of the ${target}: ${error?.message}`).toContain(state);
        await expectOneEnd(run);
        ends[`${target}: ${state}`] = (ends[`${target}: ${state}`] ?? 0) + 1;
      }
    }

    /** Some work, and about how many milliseconds it takes. */
    async function begin(): Promise<{ run: TestRun; longest: number }> {
      if (random() < 0.2) return { run: await TestRun.start(real, 'SCRIPT:edit'), longest: 1500 };
      const tool = { tools: [{ name: 'bash', ms: 60 }] };
      const task = fakeTask({ steps: [tool, { say: 'half' }, tool, { say: 'the answer' }] });
      const launch = { task: { steps: [tool, { say: 'the answer' }] } };
      return { run: await TestRun.start(world, task, { launch }), longest: 700 };
    }

    async function moment(ms: number): Promise<void> {
      const from = performance.now();
      await waitFor('the moment', () => performance.now() - from > ms, { everyMs: 3 });
    }

    /** Kills, and takes over what was lost by it. False: the run has ended. */
    async function kill(run: TestRun, target: 'runner' | 'pi'): Promise<boolean> {
      const { state, view } = await run.snapshot();
      if (isTerminal(state)) return false;
      // A Pi that is killed in its start leaves its lock of auth.json behind, for which every other one waits 30 s.
      const isUp = view?.children[0]?.session !== null;
      const pi = isUp ? view?.children[0]?.process?.pid : undefined;
      const pid = target === 'runner' ? await run.runner() : pi;
      if (pid !== undefined && isAlive(pid)) process.kill(pid, 'SIGKILL');
      if (target === 'pi') return false;
      await run.runnerGone();
      const isLost = (await run.snapshot()).state === 'lost';
      // Killed behind the end of the run, it could not take its marks away, or not give its lease back.
      const { state: lease } = await inspectLock(runLayout(run.directory).lease);
      if (isLost || lease === 'stale') await run.recover();
      return isLost;
    }
  });

  const RUNS = SOAK ? 50 : 8;
  test(`B36 ${RUNS} runs in a row leave as many processes, handles and files as there were`, {
    timeout: 20 * 60_000,
  }, async () => {
    const one = async () => {
      const run = await TestRun.start(world, fakeTask({ steps: [{ say: 'brief' }] }), { output: 'brief.md' });
      expect((await run.end()).state).toBe('complete');
      await run.expectNothingLeft();
      return run;
    };
    // What is made once (caches, the project) is there before it is counted.
    const { store } = await one();
    const count = async () => ({
      processes: (await fake.running()).length,
      handles: (await readdir('/proc/self/fd').catch(() => [])).length,
      timers: process.getActiveResourcesInfo().filter((name) => name !== 'CloseReq').length,
      sockets: (await readdir(join(world.env['XDG_RUNTIME_DIR'] ?? '', 'pi-lanes'))).length,
      starting: (await readdir(store.layout.starting)).length,
      active: (await readdir(store.layout.active)).length,
      staging: (await readdir(store.layout.runs)).filter((name) => name.startsWith('.')).length,
      claims: (await readdir(world.toolbox.root.claims)).length,
      project: (await readdir(world.project)).length,
      runtime: (await readdir(world.toolbox.root.runtime)).length,
      cache: (await readdir(world.toolbox.root.cache)).length,
    });
    const before = await count();
    for (let n = 0; n < RUNS; n++) await one();
    await waitFor('the counts to be as before', async () => {
      expect(await count()).toEqual(before);
      return true;
    });
  });
});

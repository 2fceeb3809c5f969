/** What a workflow meets that nobody planned for: a clock that is set, large values, foreign folders, a stop after a loss. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { continueWorkflow } from '../../src/client/index.ts';
import { elapsedMs } from '../../src/protocol/index.ts';
import { readReceipt } from '../../src/runner/workflow/receipts.ts';
import { owner } from '../support/control-matrix-runs.ts';
import { type FakePi, type FakeTask, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { type MovedClock, movedClock } from '../support/moved-clock.ts';
import { tempDir } from '../support/temp.ts';
import { TestWorkflow } from '../support/workflow-runs.ts';
import type { World } from '../support/world.ts';

const MB = 1024 * 1024;
const DAY_MS = 86_400_000;

const stack = new AsyncDisposableStack();
let fake: FakePi;
let world: World;
let clock: MovedClock;

beforeAll(async () => {
  clock = await movedClock(stack.use(await tempDir()).path);
  ({ fake, world } = await fakeWorld(stack, { node: clock.node }));
  await fake.planLaunches({ remembers: true });
});
afterAll(() => expectNobodyLeft(stack, { fake, world }));

const launchOf = (task: FakeTask) => JSON.stringify({ agent: 'worker', task: fakeTask(task) });
const says = (text: string) => launchOf({ steps: [{ say: text }] });

describe.each([
  ['forward', DAY_MS],
  ['back', -DAY_MS],
])('the wall clock is set a day %s in the middle of a workflow', (name, offsetMs) => {
  const LIMIT_MS = 60_000;
  const scriptOf = (key: string) => `
    const before = Date.now();
    emit((await runs.run('first', ${launchOf({ key, steps: [{ say: 'begun' }, { gate: key }, { say: 'first' }] })})).output);
    const between = Date.now();
    emit((await runs.run('second', ${says('second')})).output);
    return [before <= between, between <= Date.now()];`;

  test.each(['lives on', 'is killed'])('its runner %s', async (fate) => {
    const key = `clock-${name}-${fate.replace(' ', '-')}`;
    await clock.move(0);
    const run = await TestWorkflow.start(world, scriptOf(key), { timeoutMs: LIMIT_MS });
    await run.event('child.prompted');
    await fake.arrivedAt(key);
    await clock.move(offsetMs);
    if (fate === 'is killed') {
      await run.killRunner();
      await fake.open(key);
      await run.recover();
    } else await fake.open(key);
    const { state, error, view } = await run.end();
    expect({ state, error }).toEqual({ state: 'complete', error: null });
    const { value, emits, trace } = (await run.result()) ?? {};
    // The clock of a script never goes back.
    expect({ value, emits }).toEqual({ value: [true, true], emits: ['first', 'second'] });
    expect(await run.all('timeout.reached')).toEqual([]);
    expect(view && elapsedMs(view, state, Date.now())).toBeGreaterThanOrEqual(0);
    for (const { durationMs = 0 } of (trace ?? []) as { durationMs?: number }[])
      expect(durationMs).toBeGreaterThanOrEqual(0);
    const { stdout } = await world.cli(['status', run.runId]);
    expect(stdout).not.toMatch(/-\d+(?:ms|s|m|h|d)\b/);
  });
});

describe('large values', () => {
  test('64 children of 1 MB each: everything is kept, and the script has all of it', { timeout: 240_000 }, async () => {
    await clock.move(0);
    const script = `
      const all = await runs.all(Array.from({ length: 64 }, (_, index) => ({
        key: 'child-' + index, agent: 'worker', task: args.task, output: 'child-' + index + '.md' })));
      return all.map(({ ok, output, outputReference }) => [ok, output.length > 0, outputReference.split('/').at(-1)]);`;
    const task = fakeTask({ steps: [{ say: [{ fill: MB }] }] });
    const run = await TestWorkflow.start(world, script, { args: { task } });
    const { state, error, view } = await run.end(200_000);
    expect({ state, error }).toEqual({ state: 'complete', error: null });
    expect((await run.result())?.value).toEqual(
      Array.from({ length: 64 }, (_, index) => [true, true, `child-${index}.md`]),
    );
    expect(view?.children.map(({ output }) => output?.outcome)).toEqual(Array.from({ length: 64 }, () => 'saved'));
    expect(view?.children.map(({ result }) => (result?.bytes ?? 0) > MB)).toEqual(
      Array.from({ length: 64 }, () => true),
    );
    expect(Object.keys(readReceipt(JSON.stringify(await run.receipt()), run.runId).entries)).toHaveLength(64);
  });

  test('arguments of more than 1 MB, from a file, come to the script whole', async () => {
    const file = join(world.project, 'big-args.workflow.js');
    await writeFile(file, 'return [args.text.length, args.last];');
    const argsFile = join(world.project, 'big-args.json');
    await writeFile(argsFile, JSON.stringify({ text: 'x'.repeat(1.5 * MB), last: 'end' }));
    const { code, stdout, stderr } = await world.cli([
      'run',
      '--script',
      file,
      '--args-file',
      argsFile,
      '--wait',
      '--json',
    ]);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    expect(JSON.parse(stdout)).toMatchObject({ state: 'complete', value: [1.5 * MB, 'end'] });
  });
});

describe('a workflow that is lost and then stopped', () => {
  test('has a receipt that says what had ended, and what was stopped', async () => {
    const script = `
      await runs.run('done', ${says('done')});
      await runs.run('at-work', ${launchOf({ key: 'lost-stop', steps: [{ say: 'begun' }, { hang: true }] })});`;
    const run = await TestWorkflow.start(world, script);
    await run.event('child.prompted', ({ child }) => child === 2);
    await run.killRunner();
    expect((await world.cli(['stop', run.runId])).code).toBe(0);
    expect((await run.end()).state).toBe('stopped');
    const { state, entries } = readReceipt(JSON.stringify(await run.receipt()), run.runId);
    expect(state).toBe('stopped');
    expect(Object.values(entries).map(({ key, resumability }) => [key, resumability])).toEqual([
      ['done', { state: 'resumable' }],
      ['at-work', { state: 'not-resumable', reason: 'it was stopped' }],
    ]);
    const next = `return (await runs.run('again', { resume: ${JSON.stringify({ workflowRunId: run.runId, key: 'done', latest: true })}, task: ${JSON.stringify(fakeTask({ steps: [{ say: 'gone on' }] }))} })).output`;
    const follower = await TestWorkflow.start(world, next);
    expect((await follower.end()).error).toBeNull();
    expect((await follower.result())?.value).toBe('gone on');
  });
});

describe('a folder in the place of the result', () => {
  const script = `return (await runs.run('a', ${says('worth it')})).output`;

  test('before the end: the run says so, keeps its receipt, and goes on when it is gone', async () => {
    const slow = `const first = await runs.run('gate', ${launchOf({ key: 'in-the-way', steps: [{ gate: 'in-the-way' }, { say: 'x' }] })}); ${script}`;
    const begun = await TestWorkflow.start(world, slow);
    await fake.arrivedAt('in-the-way');
    const inTheWay = join(begun.directory, 'result.json');
    await mkdir(join(inTheWay, 'foreign'), { recursive: true });
    await fake.open('in-the-way');
    const { state, error } = await begun.end();
    expect({ state, error }).toMatchObject({
      state: 'failed',
      error: { code: 'result_unsaved', message: expect.stringContaining(inTheWay) },
    });
    expect(Object.keys((await begun.receipt())['entries'] ?? {})).toEqual(['gate', 'a']);
    const status = await world.cli(['status', begun.runId]);
    expect(status.stdout).toContain(`pi-lanes continue ${begun.runId}`);
    expect(status.stdout).toMatch(/result +.*result\.json cannot be read: .*folder/);
    await rm(inTheWay, { recursive: true });
    await continueWorkflow(begun.toolbox(), begun.directory, owner);
    expect((await begun.end()).state).toBe('complete');
    expect((await begun.result())?.value).toBe('worth it');
    expect((await begun.all('child.spawn.intended')).map(({ child }) => child)).toEqual([1, 2]);
  });

  test('after the end: whoever looks is told, and nothing falls over', async () => {
    const run = await TestWorkflow.start(world, script);
    expect((await run.end()).state).toBe('complete');
    const result = join(run.directory, 'result.json');
    await rm(result);
    await mkdir(result);
    const status = await world.cli(['status', run.runId]);
    expect([status.code, status.stdout]).toEqual([
      0,
      expect.stringMatching(/result\.json cannot be read: .*is a folder, not a file/),
    ]);
    const json = JSON.parse((await world.cli(['status', run.runId, '--json'])).stdout);
    expect(json).toMatchObject({ state: 'complete', resultDamage: expect.stringContaining('is a folder') });
  });
});

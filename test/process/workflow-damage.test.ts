/** Workflows whose files were damaged while nobody had them: nothing foreign is taken for theirs, and what is put back goes on. */
import { mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { continueWorkflow, readWorkflowReport } from '../../src/client/index.ts';
import { owner } from '../support/control-matrix-runs.ts';
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

const launchOf = (task: string) => JSON.stringify({ agent: 'worker', task });
const says = (text: string) => launchOf(fakeTask({ steps: [{ say: text }] }));
const hangsOnce = (key: string) =>
  launchOf(fakeTask({ key, steps: [{ hang: true }], attempts: [{}, { steps: [{ say: 'slow' }] }] }));
/** Too long to stand in the journal. */
const LONG = 'long'.repeat(200);
const first = (then: string) => `const a = await runs.run('a', ${says(LONG)}); ${then}`;
const allowed = { host: { mode: 'allow' as const, globs: [] } };

const damages: [string, (file: string) => Promise<void>][] = [
  ['missing', (file) => rm(file)],
  ['cut', (file) => truncate(file, 40)],
  ["another run's", (file) => writeFile(file, JSON.stringify({ ok: true, output: 'foreign', text: 'foreign' }))],
];

async function starts(run: TestWorkflow): Promise<number[]> {
  return (await run.all('child.spawn.intended')).map(({ child }) => child);
}

/** The run says which file it needs, starts nothing, and goes on when the file is back. */
async function expectNeeded(run: TestWorkflow, file: string, damage: (file: string) => Promise<void>): Promise<void> {
  const content = await readFile(file);
  const before = await starts(run);
  await damage(file);
  await run.recover();
  const { state, error } = await run.end();
  expect({ state, error }).toMatchObject({
    state: 'failed',
    error: {
      code: 'run_unreadable',
      message: expect.stringContaining(file),
      hint: expect.stringContaining('continue'),
    },
  });
  expect(await starts(run)).toEqual(before);
  await writeFile(file, content);
  await continueWorkflow(run.toolbox(), run.directory, owner);
  // Whoever continues it and looks at it does not find its old end.
  expect(await run.all('run.continued')).toHaveLength(1);
}

test.each(damages)('a value that the script was given is %s', async (name, damage) => {
  const script = first(`return a.output.length + (await runs.run('b', ${hangsOnce(name)})).output`);
  const run = await TestWorkflow.start(world, script);
  await run.event('child.prompted', ({ child }) => child === 2);
  await run.killRunner();
  const [fact] = (await run.all('workflow.delivered')).flatMap(({ facts }) => facts);
  await expectNeeded(run, join(run.directory, fact?.body?.file ?? ''), damage);
  const { state, error } = await run.end();
  expect({ state, error }).toEqual({ state: 'complete', error: null });
  expect((await run.result())?.value).toMatch(new RegExp(`^${LONG.length}`));
  expect(await starts(run)).toEqual([1, 2, 2]);
});

test.each(damages)('a result that the script was not given yet is %s', async (_, damage) => {
  const run = await TestWorkflow.plan(world, first('return a.output'));
  await run.start('child.settled:after');
  await run.runnerGone();
  await expectNeeded(run, join(run.directory, 'children/1/result.json'), damage);
  expect((await run.end()).state).toBe('complete');
  expect((await run.result())?.value).toBe(LONG);
  expect(await starts(run)).toEqual([1]);
});

test.each(damages)('the plan of a child under way is %s: it follows from the script', async (name, damage) => {
  const run = await TestWorkflow.start(world, `return (await runs.run('a', ${hangsOnce(`plan ${name}`)})).ok`);
  await run.event('child.prompted');
  await run.killRunner();
  const file = join(run.directory, 'children/1/plan.json');
  const content = await readFile(file, 'utf8');
  await damage(file);
  await run.recover();
  expect((await run.end()).state).toBe('complete');
  expect(await readFile(file, 'utf8')).toBe(content);
  expect(await starts(run)).toEqual([1, 1]);
});

test.each(damages)('the evidence of a command that had passed is %s: that it had is told', async (_, damage) => {
  const host = `runs.host('ci', { kind: 'command', command: 'echo x >> ran.txt', timeoutMs: 20000 })`;
  const run = await TestWorkflow.plan(world, `return ${host}.catch((error) => error.message)`, allowed);
  await run.start('host.ended:after');
  await run.runnerGone();
  await damage(join(run.directory, 'artifacts/host/1.json'));
  await rm(join(world.project, 'ran.txt'));
  await run.recover();
  const { state, view } = await run.end();
  expect([state, view?.workflow?.hosts.map((step) => step.state)]).toEqual(['complete', ['passed']]);
  expect((await run.result())?.value).toBe(
    "Host command 'ci' failed: it had passed, but the record of what it printed cannot be read any more",
  );
  await expect(readFile(join(world.project, 'ran.txt'))).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a journal that is gone: what hung is ended, and nobody says that no agent was started', async () => {
  const stuck = launchOf(fakeTask({ steps: [{ hang: 'stuck' }], ignoreSignals: 'all' }));
  const run = await TestWorkflow.start(world, `return (await runs.run('a', ${stuck})).ok`);
  await run.event('child.prompted');
  await run.killRunner();
  const journal = join(run.directory, 'journal.jsonl');
  await rm(journal);
  await run.recover();
  const { state, error } = await run.end();
  expect({ state, error }).toMatchObject({
    state: 'failed',
    error: { code: 'run_unreadable', message: expect.stringContaining(`${journal} does not say`) },
  });
  expect(await fake.running()).toEqual([]);
});

test('an answer that cannot be kept is not told as a failure of its agent: it is told when there is room', async () => {
  const gated = launchOf(fakeTask({ steps: [{ gate: 'unkept' }, { say: LONG }] }));
  const run = await TestWorkflow.start(world, `return (await runs.run('a', ${gated})).output.length`);
  await run.event('child.prompted');
  const artifacts = join(run.directory, 'artifacts');
  await rm(artifacts, { recursive: true, force: true });
  await writeFile(artifacts, 'in the way');
  await fake.open('unkept');
  const { state, error } = await run.end();
  expect({ state, error }).toMatchObject({ state: 'failed', error: { code: 'result_unsaved' } });
  await rm(artifacts);
  await continueWorkflow(run.toolbox(), run.directory, owner);
  expect((await run.end()).state).toBe('complete');
  expect((await run.result())?.value).toBe(LONG.length);
  expect(await starts(run)).toEqual([1]);
});

test('a result that could not be saved at the end is saved by continuing', async () => {
  const gated = launchOf(fakeTask({ steps: [{ gate: 'unsaved' }, { say: 'done' }] }));
  const run = await TestWorkflow.start(world, `return (await runs.run('a', ${gated})).output`);
  await run.event('child.prompted');
  const file = join(run.directory, 'result.json');
  await mkdir(file);
  await fake.open('unsaved');
  expect((await run.end()).error?.code).toBe('result_unsaved');
  await rm(file, { recursive: true });
  await continueWorkflow(run.toolbox(), run.directory, owner);
  expect((await run.end()).state).toBe('complete');
  expect((await run.result())?.value).toBe('done');
  expect(await starts(run)).toEqual([1]);
});

test('an agent whose plan is damaged is not resumed, and the file is named', async () => {
  const run = await TestWorkflow.start(world, `return (await runs.run('a', ${says('x')})).output`);
  await run.end();
  const file = join(run.directory, 'children/1/plan.json');
  await writeFile(file, '{}');
  const { code, stdout } = await world.cli(['resume', run.runId, '--child', 'a', '--task', 'More.', '--json']);
  expect([code, JSON.parse(stdout).error]).toMatchObject([
    2,
    { code: 'run_unreadable', message: expect.stringContaining(file) },
  ]);
});

test('what a script emitted is shown only as it was written, and hides nothing of the rest', async () => {
  const script = `emit({ text: '${LONG}' }); console.log('said'); return (await runs.run('a', ${hangsOnce('emits')})).ok`;
  const run = await TestWorkflow.start(world, script);
  await run.event('child.prompted');
  await run.killRunner();
  const [emit] = (await run.all('workflow.said')).flatMap(({ emits }) => emits);
  const file = join(run.directory, emit && 'body' in emit ? emit.body.file : '');
  await writeFile(file, '"foreign"');
  expect(await readWorkflowReport(run.directory)).toMatchObject({
    emits: { state: 'damaged', reason: expect.stringContaining(file) },
    console: { state: 'there', value: [{ level: 'log', text: 'said' }] },
  });
  await run.recover();
  expect((await run.end()).state).toBe('complete');
  expect((await run.result())?.emits).toEqual([{ text: LONG }]);
});

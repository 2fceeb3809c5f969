/**
 * A workflow whose runner dies at any point of its journal: before or after any event. What must come of it is the same for all: the end
 * that an undisturbed run has, with nothing done twice.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { continueWorkflow, stopRun } from '../../src/client/index.ts';
import { owner } from '../support/control-matrix-runs.ts';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { PLACES, WORKFLOW_EVENTS } from '../support/fault-places.ts';
import { dieAndContinue, type Interrupted, refusedAtMost } from '../support/interrupted-lanes.ts';
import { type Asked, expectSameEnd, laneEnd, laneWorkflow } from '../support/lane-workflow.ts';
import { numbersFrom, printedSeed } from '../support/random-numbers.ts';
import { waitFor } from '../support/wait-for.ts';
import { TestWorkflow } from '../support/workflow-runs.ts';
import type { World } from '../support/world.ts';

const lanes = laneWorkflow({ lanes: 2, stages: 2 }, (answer) => fakeTask({ steps: [{ wait: 40 }, { say: answer }] }));
const seed = printedSeed();

const stack = new AsyncDisposableStack();
let fake: FakePi;
let world: World;
let undisturbed: Omit<Interrupted, 'random'>;

beforeAll(async () => {
  ({ fake, world } = await fakeWorld(stack));
  // Asked to go on, it goes on with what it was asked before.
  await fake.planLaunches({ remembers: true });
  const run = await TestWorkflow.start(world, lanes.script, { host: { mode: 'allow', globs: [] } });
  await run.end();
  const expected = await laneEnd(run);
  undisturbed = { lanes, expected, asked: askedIn, journal: await run.lines() };
  await expectSameEnd(run, lanes, { expected, deaths: [], asked: askedIn(run) });
});
afterAll(() => expectNobodyLeft(stack, { fake, world }));

/** How often an answer was asked for, by the session files of the children. */
function askedIn({ directory }: TestWorkflow): Asked {
  return async (answer) => {
    const children = join(directory, 'children');
    const names = await readdir(children, { recursive: true }).catch(() => []);
    const sessions = names.filter((name) => /session[\\/][^\\/]+\.jsonl$/.test(name));
    const texts = await Promise.all(sessions.map((name) => readFile(join(children, name), 'utf8')));
    const lines = texts.flatMap((text) => text.split('\n'));
    return lines.filter((line) => line.includes('"role":"user"') && line.includes(answer)).length;
  };
}

test('every type of event that a workflow has of its own is a point', () => {
  const there = new Set(undisturbed.journal.map(({ type }) => type));
  for (const type of WORKFLOW_EVENTS) expect(there, `the workflow must come to the event ${type}`).toContain(type);
  expect(PLACES.length).toBeGreaterThan(55);
});

describe.concurrent('a workflow whose runner dies', () => {
  test.for(PLACES.map((place, index) => ({ ...place, index })))('$title', async ({ index, ...place }) => {
    await dieAndContinue(world, place, { ...undisturbed, random: numbersFrom(seed + index) });
  });
});

/** Two children that never end when they are begun first, and do when they are begun again. */
const hangOnce = (name: string) => `
  const all = await runs.all(${JSON.stringify(
    ['a', 'b'].map((key) => {
      const attempts = [{ steps: [{ say: 'begun' }, { hang: true as const }] }, { steps: [{ say: 'done' }] }];
      return { key, agent: 'worker', task: fakeTask({ key: `${name}-${key}`, attempts }) };
    }),
  )});
  return all.map(({ output }) => output);`;

describe.concurrent('a workflow that is stopped while its runner dies', () => {
  test.for([
    ['control.requested:before', 'complete'],
    ['control.requested:after', 'stopped'],
    ['control.settled:before', 'stopped'],
    ['control.settled:after', 'stopped'],
  ] as const)('at %s ends as %s', async ([fault, end]) => {
    const run = await TestWorkflow.plan(world, hangOnce(fault));
    await run.start(fault);
    await waitFor('both to be at work', async () => (await run.all('child.prompted')).length === 2);
    await refusedAtMost(stopRun(run.toolbox(), run.directory, owner));
    await run.runnerGone();
    const before = (await run.all('child.spawn.intended')).length;
    await run.recover();
    expect((await run.end()).state).toBe(end);
    const starts = (await run.all('child.spawn.intended')).length - before;
    expect(starts).toBe(end === 'stopped' ? 0 : 2);
    if (end === 'complete') expect((await run.result())?.value).toEqual(['done', 'done']);
  });
});

describe.concurrent('a workflow that a limit has ended', () => {
  const says = (text: string) => JSON.stringify({ agent: 'worker', task: fakeTask({ steps: [{ say: text }] }) });
  const script = `
    const all = [];
    for (const key of ['a', 'b', 'c', 'd']) all.push((await runs.run(key, ${says('done')})).output);
    return all;`;

  test.for([
    ['runner.started:before', 'failed'],
    ['runner.started:after', 'failed'],
    ['run.continued:before', 'failed'],
    ['run.continued:after', 'lost'],
    ['recovery.begun:after', 'lost'],
  ] as const)('B50 loses nothing when the continuation dies at %s', async ([fault, state]) => {
    const run = await TestWorkflow.start(world, script, { maxSubagentSpawnsPerRun: 2 });
    expect((await run.end()).state).toBe('failed');
    const kept = () =>
      Promise.all(
        ['run.json', 'result.json', 'receipt.json'].map((name) => readFile(join(run.directory, name), 'utf8')),
      );
    const [files, journal] = [await kept(), await run.lines()];
    await refusedAtMost(continueWorkflow(run.toolbox(fault), run.directory, owner, { maxSubagentSpawnsPerRun: 4 }));
    await run.runnerGone();
    expect(await kept()).toEqual(files);
    expect((await run.lines()).slice(0, journal.length)).toEqual(journal);
    expect((await run.snapshot()).state).toBe(state);
    await continueWorkflow(run.toolbox(), run.directory, owner, { maxSubagentSpawnsPerRun: 4 });
    expect((await run.end()).state).toBe('complete');
    expect((await run.result())?.value).toEqual(['done', 'done', 'done', 'done']);
    const starts = (await run.all('child.spawn.intended')).map(({ child }) => child);
    expect(starts.toSorted()).toEqual([1, 2, 3, 4]);
  });
});

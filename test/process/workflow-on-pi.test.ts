/** Workflows on real Pis: lanes that go on where their runner died, and lanes that are led by the verdicts of their children. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JournalEventType, JournalLine } from '../../src/protocol/index.ts';
import { fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, type FakeWorld, fakeWorld } from '../support/fake-world.ts';
import { PLACES, type Place } from '../support/fault-places.ts';
import { dieAndContinue } from '../support/interrupted-lanes.ts';
import { type Asked, expectSameEnd, type LaneEnd, laneEnd, laneWorkflow } from '../support/lane-workflow.ts';
import { numbersFrom, printedSeed } from '../support/random-numbers.ts';
import { TestWorkflow } from '../support/workflow-runs.ts';
import { createWorld, type World } from '../support/world.ts';

const SOAK = process.env['PI_LANES_SOAK'] !== undefined;
const SHAPE = { lanes: 8, stages: 3 };
/** Milliseconds in which 24 Pis are started and ended on a small machine. */
const WITHIN_MS = 120_000;
/** In the middle of the work, with children at every stage. */
const IN_THE_MIDDLE: readonly JournalEventType[] = [
  'child.spawned',
  'child.prompted',
  'child.settled',
  'workflow.delivered',
  'workflow.stepped',
];

const seed = printedSeed();
const random = numbersFrom(seed);
const stack = new AsyncDisposableStack();
let fakes: FakeWorld;
let world: World;
let expected: LaneEnd;
let journal: readonly JournalLine[];

beforeAll(async () => {
  fakes = await fakeWorld(stack);
  world = stack.use(await createWorld({ git: false }));
  // What an undisturbed run comes to does not depend on which Pi works.
  const lanes = laneWorkflow(SHAPE, (answer) => fakeTask({ steps: [{ say: answer }] }));
  const run = await TestWorkflow.start(fakes.world, lanes.script, { host: { mode: 'allow', globs: [] } });
  await run.end();
  expected = await laneEnd(run);
  journal = await run.lines();
  await expectSameEnd(run, lanes, { expected, deaths: [], asked: () => 0 });
});
afterAll(() => expectNobodyLeft(stack, { ...fakes, others: [world] }));

/** Eight lanes of three stages, whose models take up to a second for their answers. */
function slowLanes() {
  const steps = (text: string) => [{ text, waitMs: Math.floor(random() * 1000) }];
  return laneWorkflow({ ...SHAPE, name: randomUUID() }, (answer) => `SCRIPT:steps ${JSON.stringify(steps(answer))}`);
}

/** How often the model was asked by a message that wants this answer, or to go on with it. */
const asked: Asked = (answer) =>
  world.model.requests.filter(({ messages }) => {
    const newest = messages.findLast((one) => one.role === 'user' && JSON.stringify(one).includes('SCRIPT:'));
    return JSON.stringify(newest).includes(answer);
  }).length;

const continued = (place: Place) =>
  dieAndContinue(world, place, {
    lanes: slowLanes(),
    expected,
    asked: () => asked,
    journal,
    random,
    withinMs: WITHIN_MS,
  });

const pick = <T>(all: readonly T[]): T | undefined => all[Math.floor(random() * all.length)];

describe('8 lanes of 3 stages', () => {
  const middle = PLACES.filter(({ type, takenOverFrom }) => IN_THE_MIDDLE.includes(type) && !takenOverFrom);

  test('come to the same end when their runner dies in the middle, with nothing done twice', {
    timeout: 3 * WITHIN_MS,
  }, async () => {
    const place = pick(middle);
    if (place) await continued(place);
  });

  test.runIf(SOAK).each(PLACES)(
    'come to the same end when their runner dies $title',
    {
      timeout: 4 * WITHIN_MS,
    },
    (place) => continued(place),
  );

  test.runIf(SOAK).each(Array.from({ length: 30 }, (_, index) => index + 1))(
    'come to the same end, whenever: %i',
    {
      timeout: 4 * WITHIN_MS,
    },
    async () => {
      const place = pick(PLACES);
      if (place) await continued(place);
    },
  );
});

describe('verdicts', () => {
  const outputSchema = {
    type: 'object',
    properties: { verdict: { type: 'string', enum: ['accept', 'revise', 'blocked'] }, why: { type: 'string' } },
    required: ['verdict'],
  };
  const steps = (...all: object[]) => `SCRIPT:steps ${JSON.stringify(all)}`;
  const says = (text: string) => steps({ text });
  const judges = (verdict: string, why = 'It was read.') =>
    steps({ text: why, calls: [{ tool: 'structured_output', args: { verdict, why } }] });

  test('lead the lanes: only "blocked" ends one, and what a child says beside it does not count', async () => {
    const lane = (key: string, task: string) => ({
      key,
      stages: [
        { key: 'review', agent: 'reviewer', task, outputSchema },
        { key: 'after', agent: 'worker', task: says(`after ${key}`) },
      ],
    });
    const lanes = [
      lane('accepted', judges('accept')),
      lane('revised', judges('revise', 'blocked')),
      lane('blocked', judges('blocked')),
      lane('silent', says('{"verdict":"accept"}')),
    ];
    const run = await TestWorkflow.start(world, `return await runs.lanes(${JSON.stringify(lanes)});`);
    expect((await run.end()).state).toBe('complete');
    const after = { key: 'after', state: 'completed', ok: true };
    const skipped = { key: 'after', state: 'skipped' };
    const review = (state: string, more: object) => expect.objectContaining({ key: 'review', state, ...more });
    expect((await run.result())?.value).toMatchObject([
      { key: 'accepted', state: 'complete', stages: [review('completed', { verdict: 'accept' }), after] },
      { key: 'revised', state: 'complete', stages: [review('completed', { verdict: 'revise' }), after] },
      {
        key: 'blocked',
        state: 'blocked',
        failedStage: 'review',
        stages: [review('blocked', { ok: true, verdict: 'blocked' }), skipped],
      },
      {
        key: 'silent',
        state: 'blocked',
        failedStage: 'review',
        stages: [review('failed', { ok: false, error: expect.stringContaining('structured') }), skipped],
      },
    ]);
  });

  test('that are never given end their stage, by key and by what was asked for, without asking the model for ever', async () => {
    const marker = randomUUID();
    // Each answer is one message without the tool, as often as the model is asked.
    const task = steps({ text: `All is well. ${marker}` });
    const lanes = [
      {
        key: 'mute',
        stages: [
          { key: 'review', agent: 'reviewer', task, outputSchema },
          { key: 'after', agent: 'worker', task: says('after') },
        ],
      },
    ];
    const script = `
      const [lane] = await runs.lanes(${JSON.stringify(lanes)});
      emit(lane.stages[0].error);
      await runs.run('alone', ${JSON.stringify({ agent: 'reviewer', task, outputSchema })});`;
    const run = await TestWorkflow.start(world, script);
    const { state, view } = await run.end();
    expect(state).toBe('failed');
    expect((await run.result())?.emits).toEqual([
      expect.stringMatching(/without the structured output.*structured_output/),
    ]);
    expect(view?.workflow?.failure?.message).toMatch(/alone.*without the structured output.*structured_output/s);
    expect(view?.children.map(({ key, state: of, error }) => [key, of, error?.code])).toEqual([
      ['mute.review', 'failed', 'structured_output_missing'],
      ['alone', 'failed', 'structured_output_missing'],
    ]);
    const turns = world.model.requests.filter(({ messages }) => JSON.stringify(messages).includes(marker));
    expect(turns.length).toBeLessThanOrEqual(4);
    const status = (await world.cli(['status', run.runId])).stdout;
    expect(status).toMatch(/mute\.review +failed .*without the structured output/);
  });

  test('lead a script: work is revised in its session until its reviewer accepts it', async () => {
    const script = `
      let draft = await runs.run('draft', { agent: 'worker', task: ${JSON.stringify(says('first draft'))} });
      const verdicts = [];
      for (let round = 1; round <= 3; round++) {
        const task = args.reviews[round - 1];
        const review = await runs.run('review.' + round, { agent: 'reviewer', task, outputSchema: args.outputSchema });
        verdicts.push(review.structuredOutput.verdict);
        if (review.structuredOutput.verdict === 'accept') break;
        draft = await runs.run('draft.' + round, { resume: draft.runId, task: args.again });
      }
      return { verdicts, draft: draft.output, runs: draft.continuation.runIds.length };`;
    const reviews = [judges('revise', 'too long'), judges('accept')];
    const run = await TestWorkflow.start(world, script, {
      args: { reviews, outputSchema, again: says('second draft') },
    });
    const { state, error } = await run.end();
    expect({ state, error }).toEqual({ state: 'complete', error: null });
    expect((await run.result())?.value).toEqual({ verdicts: ['revise', 'accept'], draft: 'second draft', runs: 2 });
  });
});

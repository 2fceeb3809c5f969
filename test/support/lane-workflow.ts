/**
 * A workflow of lanes whose result is known beforehand, and what must hold of it however often and wherever its runner died:
 * what had ended is not started again, what was under way is started at most once more, and the end is the same.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { childLayout } from '../../src/core/projects/index.ts';
import type { JournalLine } from '../../src/protocol/index.ts';
import { ofType } from './started-run.ts';
import type { TestWorkflow } from './workflow-runs.ts';

const STAGES = ['write', 'polish', 'review'];

export interface LaneWorkflow {
  script: string;
  /** What each child answers, by key. */
  answers: Record<string, string>;
  /** What the script returns when its command was not cut off. */
  value: { prepared: string; lanes: string[] };
}

/**
 * A command, then lanes beside each other. The second stage of a lane goes on in the session of the first; the last one has an output
 * file.
 * @param name what tells its answers from those of another one
 * @param taskOf the task of a child that must give this answer
 */
export function laneWorkflow(
  { lanes, stages, name = 'work' }: { lanes: number; stages: number; name?: string },
  taskOf: (answer: string) => string,
): LaneWorkflow {
  const answers: Record<string, string> = {};
  const inventory = Array.from({ length: lanes }, (_, at) => {
    const lane = `lane-${at + 1}`;
    return {
      key: lane,
      stages: STAGES.slice(0, stages).map((stage, index) => {
        const key = `${lane}.${stage}`;
        answers[key] = `The ${stage} of ${lane} is done (${name}): äöü ${'x'.repeat(at * 100)}.`;
        const who = index === 1 ? { resume: 'previous' } : { agent: index === 2 ? 'reviewer' : 'worker' };
        const output = index === stages - 1 ? { output: `${key}.md` } : {};
        return { key: stage, ...who, task: taskOf(answers[key]), ...output };
      }),
    };
  });
  const script = `
    emit({ lanes: ${lanes} });
    const prepared = await runs
      .host('prepare', { kind: 'command', command: 'echo ready; echo x >> "prepared-$(dirname "$PI_LANES_CHILD")"', timeoutMs: 20000 })
      .then(({ stdout }) => stdout.trim(), () => 'outcome unknown');
    console.log('prepared');
    const board = await runs.lanes(${JSON.stringify(inventory)});
    for (const { key, state } of board) emit({ key, state });
    return {
      prepared,
      lanes: board.flatMap(({ key, state, stages }) => [key + ' ' + state, ...stages.map((one) => one.key + ' ' + one.state)]),
    };`;
  const value = {
    prepared: 'ready',
    lanes: inventory.flatMap(({ key, stages: all }) => [
      `${key} complete`,
      ...all.map((stage) => `${stage.key} completed`),
    ]),
  };
  return { script, answers, value };
}

/** How often the model was asked for this answer, as whoever was asked remembers it. */
export type Asked = (answer: string) => number | Promise<number>;

/** What there was when a runner had died. */
export interface Death {
  lines: readonly JournalLine[];
  /** Result files of the children that had ended, byte by byte. */
  results: ReadonlyMap<number, string>;
  /** How often each child had been asked, by key. */
  asked: ReadonlyMap<string, number>;
}

export async function deathOf(run: TestWorkflow, { answers }: LaneWorkflow, asked: Asked): Promise<Death> {
  const lines = await run.lines();
  const results = new Map<number, string>();
  for (const { child } of ofType(lines, 'child.settled')) results.set(child, await resultOf(run, child));
  const counts = new Map<string, number>();
  for (const [key, answer] of Object.entries(answers)) counts.set(key, await asked(answer));
  return { lines, results, asked: counts };
}

function resultOf({ directory }: TestWorkflow, child: number): Promise<string> {
  return readFile(childLayout(directory, child).result, 'utf8');
}

/** The end of the workflow as it must come out, whatever happened on the way. */
export interface LaneEnd {
  /** Without ids and times. */
  receipt: Record<string, unknown>;
  /** Operation, key and state of every row, sorted. */
  trace: readonly string[];
}

export async function laneEnd(run: TestWorkflow): Promise<LaneEnd> {
  const { trace = [] } = (await run.result()) ?? {};
  const text = JSON.stringify(await run.receipt())
    .replaceAll(JSON.stringify(run.directory).slice(1, -1), '<run>')
    .replaceAll(new RegExp(`${run.runId}\\.\\d+`, 'g'), '<child>')
    .replaceAll(run.runId, '<id>')
    .replaceAll(/"updatedAt":\d+/g, '"updatedAt":"<time>"');
  const { createdAt: _, ...receipt } = JSON.parse(text);
  return { receipt, trace: trace.map(({ operation, key, state }) => `${operation} ${key} ${state}`).sort() };
}

export interface Expectation {
  /** The end of a run that nobody disturbed. */
  expected: LaneEnd;
  /** What there was after each runner but the last, oldest first. */
  deaths: readonly Death[];
  asked: Asked;
  /** A runner died while the command was at work. */
  isCutOff?: boolean;
}

export async function expectSameEnd(run: TestWorkflow, lanes: LaneWorkflow, expectation: Expectation): Promise<void> {
  const { expected, deaths, asked, isCutOff = false } = expectation;
  const { state, error } = await run.end();
  expect({ state, error }).toEqual({ state: 'complete', error: null });
  const value = isCutOff ? { ...lanes.value, prepared: 'outcome unknown' } : lanes.value;
  await expectAnswers(run, { ...lanes, value }, isCutOff ? withoutCommand(expected) : expected);
  const lines = await run.lines();
  const keys = ofType(lines, 'child.planned').map(({ key }) => key);
  expect(keys.toSorted(), 'one child per key').toEqual(Object.keys(lanes.answers).sort());
  for (const death of deaths) await expectNothingDoneTwice(run, lanes, { death, lines, asked });
  const prepared = await readFile(join(run.plan.record.cwd, `prepared-${run.runId}`), 'utf8').catch(() => '');
  expect(isCutOff ? ['', 'x\n'] : ['x\n'], 'how often the command ran').toContain(prepared);
}

/** What is the same when nobody knows what became of the command. */
function withoutCommand({ receipt, trace }: LaneEnd): LaneEnd {
  return {
    receipt: { ...receipt, hostSteps: expect.any(Array) },
    trace: trace.map((row) => row.replace(/^host (.*) completed$/, 'host $1 failed')).sort(),
  };
}

async function expectAnswers(run: TestWorkflow, { answers, value }: LaneWorkflow, expected: LaneEnd): Promise<void> {
  const result = await run.result();
  expect(result).toMatchObject({ ok: true, value });
  const board = value.lanes.flatMap((row) => (row.includes(' complete') && !row.endsWith('completed') ? [row] : []));
  expect(result?.emits).toEqual([
    { lanes: board.length },
    ...board.map((row) => ({ key: row.split(' ')[0], state: 'complete' })),
  ]);
  expect(result?.console.map(({ text }) => text)).toEqual(['prepared']);
  for (const { child, key } of await run.all('child.planned'))
    expect(JSON.parse(await resultOf(run, child)).text, key).toBe(answers[key]);
  const end = await laneEnd(run);
  expect(end.receipt).toEqual(expected.receipt);
  expect(end.trace).toEqual(expected.trace);
}

async function expectNothingDoneTwice(
  run: TestWorkflow,
  { answers }: LaneWorkflow,
  { death, lines, asked }: { death: Death; lines: readonly JournalLine[]; asked: Asked },
): Promise<void> {
  const next = lines.slice(death.lines.length);
  const end = next.findIndex(({ type }, at) => at > 0 && type === 'runner.started');
  const starts = ofType(end < 0 ? next : next.slice(0, end), 'child.spawn.intended').map(({ child }) => child);
  for (const { child, key } of ofType(death.lines, 'child.planned')) {
    const isOver = death.results.has(child);
    const again = starts.filter((one) => one === child).length;
    expect(again, `${key}: starts after the death`).toBeLessThanOrEqual(isOver ? 0 : 1);
    if (!isOver) continue;
    expect(await resultOf(run, child), `${key}: its result`).toBe(death.results.get(child));
    expect(await asked(answers[key] ?? ''), `${key}: how often it was asked`).toBe(death.asked.get(key));
  }
}

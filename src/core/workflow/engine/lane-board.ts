/** One inventory of `runs.lanes` while it runs: which stage of each lane is next, and the board it ends with. */
import { stageKey } from '../../../protocol/index.ts';
import { type ChildView, isObject, stateOf } from './child-result.ts';

export interface LaneInput {
  key: string;
  stages: ({ key: string } & Record<string, unknown>)[];
}

type StageState = 'completed' | 'blocked' | 'failed' | 'stopped' | 'detached' | 'skipped';

interface StageRow {
  key: string;
  state: StageState;
  ok?: boolean;
  runId?: string;
  outputReference?: string;
  verdict?: string;
  error?: string;
}

export interface LaneRow {
  key: string;
  state: 'complete' | 'blocked';
  failedStage?: string;
  stages: StageRow[];
}

/** What a lane wants launched next. */
export interface StageLaunch {
  lane: number;
  key: string;
  params: Record<string, unknown>;
}

const MAX_TEXT_BYTES = 256;
const BLOCKED = 'The stage answered with the verdict "blocked".';
const NO_PREDECESSOR = 'The stage before has no run to resume.';

export class LaneBoard {
  readonly #lanes: { input: LaneInput; rows: StageRow[]; failed?: string }[];

  constructor(lanes: readonly LaneInput[]) {
    this.#lanes = lanes.map((input) => ({ input, rows: [] }));
  }

  /** The first stages of all lanes. */
  first(): StageLaunch[] {
    return this.#lanes.map(({ input }, lane) => launchOf(input, lane, 0, undefined));
  }

  /** What a stage ended with. @returns the next stage of the lane, if there is one to launch */
  settled(lane: number, view: ChildView): StageLaunch | undefined {
    const state = this.#lanes[lane];
    if (!state) return undefined;
    const stage = state.input.stages[state.rows.length];
    if (!stage) return undefined;
    const row = rowOf(stage.key, view);
    state.rows.push(row);
    if (row.state !== 'completed') return this.#block(lane, stage.key);
    const next = state.input.stages[state.rows.length];
    if (!next) return undefined;
    if (next['resume'] === 'previous' && view.runId === undefined) {
      state.rows.push({ key: next.key, state: 'blocked', error: NO_PREDECESSOR });
      return this.#block(lane, next.key);
    }
    return launchOf(state.input, lane, state.rows.length, view.runId);
  }

  /** A stage that could not be launched. */
  refused(lane: number, message: string): void {
    const state = this.#lanes[lane];
    const stage = state?.input.stages[state.rows.length];
    if (!state || !stage) return;
    state.rows.push({ key: stage.key, state: 'failed', ok: false, error: bounded(message) });
    this.#block(lane, stage.key);
  }

  #block(lane: number, key: string): undefined {
    const state = this.#lanes[lane];
    if (!state) return undefined;
    state.failed = key;
    for (const stage of state.input.stages.slice(state.rows.length))
      state.rows.push({ key: stage.key, state: 'skipped' });
    return undefined;
  }

  get finished(): boolean {
    return this.#lanes.every(({ input, rows }) => rows.length === input.stages.length);
  }

  rows(): LaneRow[] {
    return this.#lanes.map(({ input, rows, failed }) => ({
      key: input.key,
      state: failed === undefined ? 'complete' : 'blocked',
      ...(failed === undefined ? {} : { failedStage: failed }),
      stages: rows,
    }));
  }
}

function launchOf(input: LaneInput, lane: number, index: number, previous: string | undefined): StageLaunch {
  const { key, ...params }: LaneInput['stages'][number] = input.stages[index] ?? { key: '' };
  if (params['resume'] === 'previous') params['resume'] = previous;
  return { lane, key: stageKey(input.key, key), params };
}

function rowOf(key: string, view: ChildView): StageRow {
  const structured = isObject(view.structuredOutput) ? view.structuredOutput['verdict'] : undefined;
  const verdict = typeof structured === 'string' && structured.trim() !== '' ? structured.trim() : undefined;
  const outcome = stateOf(view);
  // Only the exact word counts: prose is never read.
  const state: StageState = outcome === 'completed' && structured === 'blocked' ? 'blocked' : outcome;
  const row: StageRow = { key, state, ok: view.ok };
  if (view.runId !== undefined) row.runId = bounded(view.runId);
  // A path that is cut would lead somewhere else.
  if (view.outputReference !== undefined && bytes(view.outputReference) <= MAX_TEXT_BYTES) {
    row.outputReference = view.outputReference;
  }
  if (verdict !== undefined) row.verdict = bounded(verdict);
  if (state === 'blocked') row.error = BLOCKED;
  else if (state !== 'completed') row.error = bounded(view.error || view.output.trim() || 'The stage failed.');
  return row;
}

function bytes(text: string): number {
  return Buffer.byteLength(text);
}

/** At most 256 bytes; what is longer is cut between characters and ends with three dots. */
function bounded(text: string): string {
  if (bytes(text) <= MAX_TEXT_BYTES) return text;
  let cut = '';
  let size = 0;
  for (const character of text) {
    size += bytes(character);
    if (size > MAX_TEXT_BYTES - 3) break;
    cut += character;
  }
  return `${cut}...`;
}

/** Executions whose steps are written down, so that others can go on with them. */

import { askedOf, keyOf } from '../../../src/core/workflow/engine/record.ts';
import {
  type Effect,
  type ExecutionRecord,
  type Fact,
  type HistoryEntry,
  runExecution,
  type SteppedStep,
  type WorkflowResult,
} from '../../../src/core/workflow/index.ts';
import type { WorkflowLimits } from '../../../src/protocol/index.ts';
import { engineWorker } from './workflow.ts';

export interface Performed {
  effect: Effect;
  again: boolean;
}

export interface Kept {
  result: WorkflowResult;
  record: ExecutionRecord;
  /** What was written down, late facts included. */
  entries: HistoryEntry[];
  stepped: SteppedStep[];
  performed: Performed[];
  /** Steps that waited for nobody, because the one before had refused something. Facts that happen to be there are delivered with them. */
  ownSteps: ReadonlySet<number>;
  /** Hook calls and starts in their order: `delivered 1`, `stepped 1`, `start a`, `late 2`. */
  order: string[];
}

export interface KeepOptions {
  script: string;
  args?: string;
  seed?: number;
  limits?: Partial<WorkflowLimits>;
  history?: HistoryEntry[];
  timeoutMs?: number;
  usedMs?: number;
  signal?: AbortSignal;
  now?: () => number;
  /** What becomes of effects; without: children succeed with `<key> done`. */
  perform?: (effect: Effect, again: boolean, ended: AbortSignal) => Promise<Omit<Fact, 'id' | 'key'>>;
  onStepped?: (step: SteppedStep) => Promise<void> | void;
  /** Told of late facts too. */
  onDelivered?: (step: number) => void;
}

export const LIMITS: WorkflowLimits = { globalConcurrencyLimit: 20, maxSubagentSpawnsPerRun: 64 };

export function done(effect: Effect): Omit<Fact, 'id' | 'key'> {
  const key = keyOf(effect);
  if (effect.type === 'launch') {
    return { ok: true, value: { key, ok: true, output: `${key} done`, runId: `run-${key}`, artifactPaths: [] } };
  }
  if (effect.type === 'steer') return { ok: true, value: { state: 'delivered' } };
  if (effect.type === 'host') return { ok: true, value: { ok: true, exitCode: 0, stdout: 'fine', stderr: '' } };
  return effect.type === 'status' ? { ok: true, value: { ok: true } } : { ok: true };
}

export async function keep({ limits, perform, onStepped, onDelivered, ...options }: KeepOptions): Promise<Kept> {
  const entries: HistoryEntry[] = [];
  const stepped: SteppedStep[] = [];
  const performed: Performed[] = [];
  const ownSteps = new Set<number>();
  const order: string[] = [];
  const { result, record } = await runExecution({
    seed: 7,
    ...options,
    state: true,
    settings: {
      ...LIMITS,
      ...limits,
      capabilities: { steer: true, host: true, status: true, resolveResume: false },
    },
    worker: await engineWorker(),
    perform: async (effect, ended, again) => {
      performed.push({ effect, again });
      order.push(`start ${keyOf(effect)}`);
      const answer = await (perform?.(effect, again, ended) ?? done(effect));
      return { ...answer, id: effect.id, key: keyOf(effect) };
    },
    onProgress: ({ hasLocal }) => {
      if (hasLocal) ownSteps.add((stepped.at(-1)?.step ?? 0) + 1);
    },
    journal: {
      delivered: (step) => {
        order.push(`delivered ${step.step}`);
        entries.push(plain({ type: 'delivered', ...step }));
        onDelivered?.(step.step);
      },
      stepped: async (step) => {
        await onStepped?.(step);
        order.push(`stepped ${step.step}`);
        stepped.push(step);
        const { asks, interruptAt, limits: decided } = step;
        entries.push(
          plain({
            type: 'stepped',
            step: step.step,
            asks,
            limits: decided,
            ...(interruptAt === undefined ? {} : { interruptAt }),
          }),
        );
      },
      late: (step) => {
        order.push(`late ${step.step}`);
        entries.push(plain({ type: 'delivered', ...step }));
        onDelivered?.(step.step);
      },
    },
  });
  return { result, record, entries, stepped, performed, ownSteps, order };
}

/** As it comes out of a file. */
function plain(entry: HistoryEntry): HistoryEntry {
  return JSON.parse(JSON.stringify(entry));
}

/**
 * A host and a clock that give a continued execution what an earlier one got, step by step.
 * @param from the last step that the history tells the end of
 */
export function following(
  record: ExecutionRecord,
  from: number,
): Required<Pick<KeepOptions, 'now' | 'perform' | 'onStepped'>> {
  const open = new Map<number, (fact: Fact) => void>();
  let current = from;
  let clock = record.steps[from]?.at ?? record.late[0]?.at ?? 0;
  let planned = false;
  const give = (facts: readonly Fact[]) => {
    for (const fact of facts) {
      open.get(fact.id)?.(fact);
      open.delete(fact.id);
    }
  };
  const later = () => new Promise((resolve) => setImmediate(resolve));
  const release = async () => {
    planned = false;
    const step = record.steps[current];
    if (step) return give(step.facts);
    for (const late of record.late) {
      clock = late.at;
      give(late.facts);
      await later();
    }
  };
  const plan = () => {
    if (!planned) setImmediate(() => void release());
    planned = true;
  };
  /** A step that waits for nobody must find what was delivered with it. */
  const isReady = (facts: readonly Fact[]) => facts.length > 0 && facts.every(({ id }) => open.has(id));
  return {
    now: () => clock,
    perform: (effect) => {
      plan();
      return new Promise((resolve) =>
        open.set(effect.id, ({ id: _id, key: _key, asked: _asked, ...fact }) => resolve(fact)),
      );
    },
    onStepped: async ({ step }) => {
      const next = record.steps[step];
      current = step;
      clock = next?.at ?? clock;
      if (!next || !isReady(next.facts)) return plan();
      give(next.facts);
      await later();
    },
  };
}

/**
 * The beginning of what was written down, so many entries or some more. Whoever goes on with it cannot find the facts of a step that waits
 * for nobody if that is its first one: what was under way is only then asked for. So such a step is part of the beginning.
 */
export function cutAt({ record, ownSteps }: Kept, entries: readonly HistoryEntry[], count: number): HistoryEntry[] {
  const history = entries.slice(0, count);
  for (const entry of entries.slice(count)) {
    const first = (history.at(-1)?.step ?? 0) + 1;
    if (!ownSteps.has(first) || (record.steps[first - 1]?.facts ?? []).length === 0) break;
    history.push(entry);
  }
  return history;
}

/** What was said over all processes, when a step that is told again takes the place of what was told of it and of later ones. */
export function saidOver(...parts: readonly (readonly SteppedStep[])[]): Pick<SteppedStep, 'emits' | 'console'> {
  const steps: SteppedStep[] = [];
  for (const step of parts.flat()) {
    steps.splice(step.step - 1);
    steps[step.step - 1] = step;
  }
  return { emits: steps.flatMap(({ emits }) => emits), console: steps.flatMap((step) => step.console) };
}

/** Keys of what was performed although the entries have its fact. State and status are read and written again without harm. */
export function performedTwice(entries: readonly HistoryEntry[], performed: readonly Performed[]): string[] {
  const facts = entries.flatMap((entry) => (entry.type === 'delivered' ? entry.facts : []));
  return performed
    .filter(({ effect: { type } }) => type === 'launch' || type === 'host' || type === 'steer')
    .filter(({ effect }) => facts.some(({ key, asked }) => key === keyOf(effect) && asked === askedOf(effect)))
    .map(({ effect }) => keyOf(effect));
}

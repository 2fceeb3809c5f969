/** What earlier processes wrote down of an execution, put in order for the one that goes on. */
import type { WorkflowAsk, WorkflowLimits } from '../../../protocol/index.ts';
import { canonicalJson } from '../../../protocol/index.ts';
import type { AskedFact } from './effects.ts';
import { Leftovers } from './leftovers.ts';
import type { RecordedStep } from './record.ts';

/** One line of a journal: what `ExecutionJournal` was told, with the values of the facts. Facts that came late are `delivered`. */
export type HistoryEntry =
  | { type: 'delivered'; step: number; at: number; facts: readonly AskedFact[] }
  | ({ type: 'stepped'; step: number } & Stepped);

interface Stepped {
  asks: readonly WorkflowAsk[];
  interruptAt?: RecordedStep['interruptAt'];
  limits: WorkflowLimits;
}

export interface KnownStep {
  step: number;
  at: number;
  facts: readonly AskedFact[];
  /** None: the process died before the script had come to rest. */
  stepped: Stepped | undefined;
}

export class HistoryFault extends Error {}

export interface History {
  /** Each is repeated exactly as it was. */
  exact: (KnownStep & { stepped: Stepped })[];
  /** Done now, with the time and the facts that it had. */
  again: KnownStep | undefined;
  leftovers: Leftovers;
}

/**
 * Which steps are repeated and which is done again. The last one is when nobody wrote down what it came to, when a limit interrupted it,
 * and when the limits have changed: from there on those of now hold.
 * @throws HistoryFault when steps are missing
 */
export function historyOf(entries: Iterable<HistoryEntry>, limits: WorkflowLimits): History {
  const { steps, leftovers } = lineOf(entries);
  const firstOpen = steps.findIndex(({ stepped }) => !stepped);
  const stepped = firstOpen < 0 ? steps.length : firstOpen;
  const last = steps[stepped - 1]?.stepped;
  const redo = last !== undefined && (last.interruptAt !== undefined || !sameLimits(last.limits, limits));
  const count = redo ? stepped - 1 : stepped;
  const exact = steps.slice(0, count).flatMap((step) => (step.stepped ? [{ ...step, stepped: step.stepped }] : []));
  for (const step of steps.slice(count + 1)) leftovers.add(step);
  return { exact, again: steps[count], leftovers };
}

/** The steps that hold, in order, and what is left over of those that others took the place of. */
function lineOf(entries: Iterable<HistoryEntry>): { steps: KnownStep[]; leftovers: Leftovers } {
  const steps: KnownStep[] = [];
  const leftovers = new Leftovers();
  const cut = (count: number) => {
    for (const step of steps.splice(count)) leftovers.add(step);
  };
  for (const { step, ...entry } of entries) {
    if (step < 1 || step > steps.length + (entry.type === 'delivered' ? 1 : 0)) {
      throw new HistoryFault(`The record has no beginning of step ${step}.`);
    }
    if (entry.type === 'delivered') {
      cut(step - 1);
      leftovers.answered(entry.facts);
      steps.push({ step, at: entry.at, facts: entry.facts, stepped: undefined });
      continue;
    }
    cut(step);
    const known = steps[step - 1];
    leftovers.asked(entry.asks);
    const { asks, interruptAt, limits } = entry;
    if (known) known.stepped = { asks, limits, ...(interruptAt ? { interruptAt } : {}) };
  }
  return { steps, leftovers };
}

export function sameLimits(one: WorkflowLimits, other: WorkflowLimits): boolean {
  const text = ({ globalConcurrencyLimit, maxSubagentSpawnsPerRun, usageBudget }: WorkflowLimits) =>
    canonicalJson({ globalConcurrencyLimit, maxSubagentSpawnsPerRun, usageBudget: usageBudget ?? null });
  return text(one) === text(other);
}

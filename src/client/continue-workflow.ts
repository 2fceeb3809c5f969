/** A workflow that is lost or that a limit has ended goes on as the same run: what it had come to stays, the limits may be new ones. */
import { readJournal } from '../core/journal/index.ts';
import { runLayout } from '../core/projects/index.ts';
import { aliveMs, RunReader } from '../core/runs/index.ts';
import {
  isTerminal,
  type JournalLine,
  type LanesError,
  lanesError,
  type Owner,
  type RunState,
  type RunView,
  type UsageBudget,
  type WorkflowBounds,
  type WorkflowLimits,
  type WorkflowRecord,
} from '../protocol/index.ts';
import { checkTimeout } from './plan.ts';
import { recoverRun } from './recover.ts';
import { deriveState } from './run-snapshot.ts';
import type { Toolbox } from './toolbox.ts';

/** What is different from now on; what is absent stays as it was. */
export interface NewBounds {
  globalConcurrencyLimit?: number;
  maxSubagentSpawnsPerRun?: number;
  /** Of the metrics that are named; null: this has no limit any more. */
  usageBudget?: { [Metric in keyof UsageBudget]?: UsageBudget[Metric] | null };
  /** Milliseconds over the whole run, what is used up included; null: no deadline. */
  timeoutMs?: number | null;
}

/** Kinds of failure that a person's decision can lift. */
const LIFTED: ReadonlySet<string> = new Set(['limit', 'timeout', 'engine']);

/** Says what to do with a run that has not ended. */
export function notEnded(state: RunState): LanesError {
  if (state === 'running' || state === 'waiting' || state === 'unresponsive')
    return lanesError(`resume_refused:${state}`);
  return lanesError('resume_refused:active', { state });
}

/** Ends that were not its own: it had lost its runners, a file of its past, or the room for what came of it. */
const NOT_ITS_OWN: ReadonlySet<string> = new Set(['recovery_failed', 'run_unreadable', 'result_unsaved']);

/** Whether an ended workflow may go on: one that a limit, a budget, a deadline, lost runners or its files have ended. */
export function mayContinue({ state, workflow, error, stopRequested }: RunView): boolean {
  if (!workflow) return false;
  if (state === 'partial') return true;
  return (
    state === 'failed' &&
    ((!stopRequested && NOT_ITS_OWN.has(error?.code ?? '')) || LIFTED.has(workflow.failure?.kind ?? ''))
  );
}

/**
 * Continues a workflow, lost or ended. Resolves when a runner has it.
 * @throws LanesError `resume_refused` with the reason, before anything is changed
 */
export async function continueWorkflow(
  toolbox: Toolbox,
  directory: string,
  by: Owner,
  bounds: NewBounds = {},
): Promise<void> {
  return recoverRun(toolbox, directory, 'continue', by, await planContinue(directory, bounds));
}

/**
 * The bounds within which a workflow goes on; `undefined`: a lost one, within those it has.
 * @throws LanesError `resume_refused` with the reason
 */
export async function planContinue(directory: string, bounds: NewBounds = {}): Promise<WorkflowBounds | undefined> {
  const { record, view } = await RunReader.open(directory);
  if (record.mode !== 'workflow') throw lanesError('resume_refused:single');
  const state = await deriveState(directory, view);
  const isLost = state === 'lost';
  if (!isLost && !isTerminal(state)) throw notEnded(state);
  if (state === 'stopped') throw lanesError('resume_refused:stopped');
  if (!isLost && !mayContinue(view)) throw lanesError('resume_refused:final', { state });
  if (isLost && Object.keys(bounds).length === 0) return undefined;
  const { lines } = await readJournal(runLayout(directory).journal);
  const before = boundsOf(record, lines);
  const next = newBounds(before, bounds);
  refuseLower(before.limits, next.limits);
  const used = aliveMs(lines);
  const least = Math.max(used, isOutOfTime(lines) ? (before.timeoutMs ?? 0) : 0);
  if (next.timeoutMs !== null && next.timeoutMs <= least)
    throw lanesError('resume_refused:time', { used: Math.round(least), limit: next.timeoutMs });
  if (!isLost && isAtLimit(view, lines) && !isRaised(before.limits, next.limits)) {
    const { failure } = view.workflow ?? {};
    throw lanesError('resume_refused:limit', { reason: failure?.message ?? view.error?.message ?? state });
  }
  return next;
}

/** The newest limits: those it was launched with, or continued with. */
export function boundsOf({ workflow, timeoutMs }: WorkflowRecord, lines: readonly JournalLine[]): WorkflowBounds {
  const last = lines.findLast((line) => line.type === 'run.continued');
  return last?.type === 'run.continued' ? last : { limits: workflow.limits, timeoutMs };
}

function newBounds({ limits, timeoutMs }: WorkflowBounds, bounds: NewBounds): WorkflowBounds {
  const { timeoutMs: wanted, usageBudget, ...counts } = bounds;
  const { usageBudget: budgetBefore, ...countsBefore } = limits;
  const budget = newBudget(budgetBefore, usageBudget);
  return {
    limits: { ...countsBefore, ...counts, ...(budget ? { usageBudget: budget } : {}) },
    timeoutMs: wanted === undefined ? timeoutMs : wanted === null ? null : checkTimeout('timeoutMs', wanted),
  };
}

const METRICS = ['tokens', 'costUsd'] as const;

/** A soft limit that is not named stays, as far as there is still a hard one above it. */
function newBudget(before: UsageBudget | undefined, wanted: NewBounds['usageBudget']): UsageBudget | undefined {
  const budget: UsageBudget = {};
  for (const metric of METRICS) {
    const [was, now] = [before?.[metric], wanted?.[metric]];
    const limit = now === undefined ? was : now === null ? undefined : { ...was, ...now };
    if (limit) budget[metric] = limit;
  }
  return budget.tokens || budget.costUsd ? budget : undefined;
}

/** How much of everything that is counted may be used. More children at the same time use no more. */
function amounts({ maxSubagentSpawnsPerRun, usageBudget }: WorkflowLimits): [name: string, amount: number][] {
  return [
    ['maxSubagentSpawnsPerRun', maxSubagentSpawnsPerRun],
    ...METRICS.map((metric): [string, number] => [
      `usageBudget.${metric}`,
      usageBudget?.[metric]?.hard ?? Number.POSITIVE_INFINITY,
    ]),
  ];
}

/** What was allowed has perhaps been used already, so limits are kept or raised. */
function refuseLower(before: WorkflowLimits, next: WorkflowLimits): void {
  const now = new Map(amounts(next));
  for (const [name, was] of amounts(before)) {
    const wanted = now.get(name) ?? was;
    if (wanted < was)
      throw lanesError('resume_refused:lower', { name, value: wanted, was: Number.isFinite(was) ? was : 'no limit' });
  }
}

function isRaised(before: WorkflowLimits, next: WorkflowLimits): boolean {
  const now = new Map(amounts(next));
  return amounts(before).some(([name, was]) => (now.get(name) ?? was) > was);
}

/** Its own clock says so; ours is made from the journal. */
function isOutOfTime(lines: readonly JournalLine[]): boolean {
  return endOf(lines)?.partial === 'timeout';
}

/** Whether it would come to the same end under the same limits: its script would ask for the same and be refused the same. */
function isAtLimit({ workflow }: RunView, lines: readonly JournalLine[]): boolean {
  return endOf(lines)?.partial === 'budget_exhausted' || workflow?.failure?.kind === 'limit';
}

function endOf(lines: readonly JournalLine[]) {
  // What it had ended by before it was continued holds no more.
  const end = lines.findLast((line) => line.type === 'workflow.ended' || line.type === 'run.continued');
  return end?.type === 'workflow.ended' ? end : undefined;
}

/** A workflow that has ended by a limit goes on as the same run: what it had come to stays, the limit is a new one. */
import { readJournal } from '../core/journal/index.ts';
import { runLayout } from '../core/projects/index.ts';
import { aliveMs, RunReader } from '../core/runs/index.ts';
import {
  isTerminal,
  type JournalLine,
  lanesError,
  type Owner,
  type RunView,
  type UsageBudget,
  type WorkflowBounds,
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
  usageBudget?: UsageBudget;
  /** Milliseconds over the whole run, what is used up included; null: no deadline. */
  timeoutMs?: number | null;
}

/** Kinds of failure that a person's decision can lift. */
const LIFTED: ReadonlySet<string> = new Set(['limit', 'timeout', 'engine']);

/** Whether an ended workflow may go on: one that a limit, a budget, a deadline or lost runners have ended. */
export function mayContinue({ state, workflow, error }: RunView): boolean {
  if (!workflow) return false;
  if (state === 'partial') return true;
  return state === 'failed' && (error?.code === 'recovery_failed' || LIFTED.has(workflow.failure?.kind ?? ''));
}

/** The bounds that hold now: those of its launch, or of the last time it was continued. */
export function boundsOf({ workflow, timeoutMs }: WorkflowRecord, lines: readonly JournalLine[]): WorkflowBounds {
  const last = lines.findLast((line) => line.type === 'run.continued');
  return last?.type === 'run.continued' ? last : { limits: workflow.limits, timeoutMs };
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
  const { record, view } = await RunReader.open(directory);
  if (record.mode !== 'workflow') throw lanesError('resume_refused:single');
  const state = await deriveState(directory, view);
  if (state === 'lost') return recoverRun(toolbox, directory, 'continue', by);
  if (!isTerminal(state)) throw lanesError('resume_refused:active', { state });
  if (!mayContinue(view)) throw lanesError('resume_refused:final', { state });
  const { lines } = await readJournal(runLayout(directory).journal);
  const { limits, timeoutMs } = boundsOf(record, lines);
  const { timeoutMs: wanted, ...raised } = bounds;
  const next = wanted === undefined ? timeoutMs : wanted === null ? null : checkTimeout('timeoutMs', wanted);
  const used = aliveMs(lines);
  if (next !== null && next <= used) throw lanesError('resume_refused:time', { used: Math.round(used), limit: next });
  return recoverRun(toolbox, directory, 'continue', by, { limits: { ...limits, ...raised }, timeoutMs: next });
}

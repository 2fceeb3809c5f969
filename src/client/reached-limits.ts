/** Which limits a workflow has ended by, so that whoever continues it can be asked for higher ones. */
import { readJournal } from '../core/journal/index.ts';
import { runLayout } from '../core/projects/index.ts';
import { aliveMs, RunReader } from '../core/runs/index.ts';
import { isTerminal, type JournalLine, type UsageBudget } from '../protocol/index.ts';
import { boundsOf, mayContinue } from './continue-workflow.ts';

/** `limit` is the one that was reached, `used` what is used of it, in the same unit. */
export type ReachedLimit =
  /** Milliseconds. */
  | { kind: 'time'; limit: number; used: number }
  /** Children. `wanted`: how many would have had to be allowed for what was refused. */
  | { kind: 'spawns'; limit: number; used: number; wanted: number }
  | { kind: 'tokens'; limit: number; used: number }
  /** US dollars. */
  | { kind: 'costUsd'; limit: number; used: number };

/** As the engine refuses a launch (`Conductor`); B51 holds the two together. */
const SPAWNS = /(\d+) of (\d+) children of this run tree are used, (\d+) more were requested/;

export interface ReachedLimits {
  /** Empty: it has not ended by a limit that a person can raise, or may not be continued. */
  reached: ReachedLimit[];
  /** The usage budget that holds now, if there is one. */
  usageBudget?: UsageBudget;
}

export async function reachedLimits(directory: string): Promise<ReachedLimits> {
  const { record, view } = await RunReader.open(directory);
  if (record.mode !== 'workflow' || !isTerminal(view.state) || !mayContinue(view)) return { reached: [] };
  const { lines } = await readJournal(runLayout(directory).journal);
  const { limits, timeoutMs } = boundsOf(record, lines);
  const reached: ReachedLimit[] = [];
  const { kind, message = '' } = view.workflow?.failure ?? {};
  if (kind === 'timeout' && timeoutMs !== null) {
    // Its own clock says that all of it is used; ours is made from the journal.
    reached.push({ kind: 'time', limit: timeoutMs, used: Math.max(timeoutMs, Math.round(aliveMs(lines))) });
  }
  const [, used, limit, more] = SPAWNS.exec(message) ?? [];
  if (kind === 'limit' && used !== undefined) {
    reached.push({ kind: 'spawns', limit: Number(limit), used: Number(used), wanted: Number(used) + Number(more) });
  }
  if (partialReason(lines) === 'budget_exhausted') {
    const total = { tokens: view.usage.input + view.usage.output, costUsd: view.usage.cost };
    for (const name of ['tokens', 'costUsd'] as const) {
      const hard = limits.usageBudget?.[name]?.hard;
      if (hard !== undefined && total[name] >= hard) reached.push({ kind: name, limit: hard, used: total[name] });
    }
  }
  return { reached, ...(limits.usageBudget ? { usageBudget: limits.usageBudget } : {}) };
}

/** Why the last end of the script was only partial. */
function partialReason(lines: readonly JournalLine[]): string | null {
  const end = lines.findLast((line) => line.type === 'workflow.ended');
  return end?.type === 'workflow.ended' ? end.partial : null;
}

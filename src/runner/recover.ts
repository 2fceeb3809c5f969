/** Puts a run in order whose runner is gone: ends what is left of it, settles what was intended, and says where to go on. */
import { describePrinted, foldRun, MAX_EPOCHS, type RecoveryDecision, runnerLogTail } from '../core/runs/index.ts';
import {
  describeError,
  type ErrorValue,
  formatDuration,
  type JournalLine,
  type RecoverOrder,
  type SingleRecord,
  withDetail,
} from '../protocol/index.ts';
import { beginningOf, decideChild } from './child-recovery.ts';
import type { Beginning } from './child-tools.ts';
import { endLeftovers, settleRequests } from './leftovers.ts';
import { ONLY_CHILD as CHILD, firstBeginning } from './only-child.ts';
import type { OpenRun } from './open-run.ts';
import { settleWorktrees } from './open-worktrees.ts';
import type { RunResult } from './run-work.ts';
import { notConfirmed } from './started-children.ts';

export type Recovered = { go: 'on'; beginning: Beginning } | { go: 'end'; result: RunResult };

export async function recover(run: OpenRun, record: SingleRecord, order: RecoverOrder): Promise<Recovered> {
  const { earlier } = run;
  const ended = await endLeftovers(run, foldRun(record, earlier).children);
  await run.append({ type: 'recovery.begun', epoch: run.epoch, settle: order.settle, ended });
  await settleRequests(run, earlier);
  await settleWorktrees(run);
  // What a child has come to stays, whatever was asked for or ran out afterwards.
  const isSettled = earlier.some((line) => line.type === 'child.settled');
  const result = isSettled ? undefined : await endOf(run, order);
  if (result) return { go: 'end', result };
  const decision = await decideChild(run, run.child(CHILD), CHILD);
  // An interrupt that was under way: the work is not taken up again, its session stays.
  if (wasAsked(earlier, 'interrupt') && decision.decision !== 'adopt' && decision.decision !== 'finish') {
    return { go: 'end', result: { state: 'paused', error: null } };
  }
  return follow(record, decision);
}

/** Why the work is not taken up again, if there is a reason: stop wins over a time limit. */
async function endOf(run: OpenRun, order: RecoverOrder): Promise<RunResult | undefined> {
  const { earlier } = run;
  if (order.settle === 'stop' || wasAsked(earlier, 'stop')) return { state: 'stopped', error: null };
  const printed = await runnerLogTail(run.layout.directory, run.epoch - 1);
  if (!earlier.some((line) => line.type === 'run.proceeded')) {
    const error = withDetail(await notConfirmed(run), describePrinted(printed));
    return { state: 'failed', error };
  }
  const overTime = timeoutOf(earlier);
  if (overTime) return { state: 'failed', error: overTime };
  if (run.epoch > MAX_EPOCHS) {
    const error = withDetail(describeError('recovery_failed', { count: run.epoch - 1 }), describePrinted(printed));
    return { state: 'failed', error };
  }
  return undefined;
}

/** The limit that had ended the work, if one had. */
export function timeoutOf(earlier: readonly JournalLine[]): ErrorValue | undefined {
  const timeout = earlier.findLast((line) => line.type === 'timeout.reached');
  if (timeout?.type !== 'timeout.reached') return undefined;
  const { scope, tool, limitMs: ms } = timeout;
  const duration = formatDuration(ms);
  return scope === 'tool'
    ? describeError('tool_timed_out', { tool: tool ?? '', ms, duration })
    : describeError('timed_out:recovered', { ms, duration });
}

function follow(record: SingleRecord, decision: RecoveryDecision): Recovered {
  return decision.decision === 'finish'
    ? { go: 'end', result: { state: decision.state, error: decision.error } }
    : { go: 'on', beginning: beginningOf(decision, firstBeginning(record)) };
}

function wasAsked(lines: readonly JournalLine[], action: 'stop' | 'interrupt'): boolean {
  return lines.some((line) => line.type === 'control.requested' && line.action === action);
}

/** Puts a run in order whose runner is gone: ends what is left of it, settles what was intended, and says where to go on. */
import { setTimeout as delay } from 'node:timers/promises';
import { childMarker, findTree, killTree, liveness, MARKER_IS_PROOF } from '../core/processes/index.ts';
import {
  CONTINUE_PROMPT,
  decideRecovery,
  describePrinted,
  foldRun,
  lastPrompt,
  MAX_EPOCHS,
  type RecoveryDecision,
  runnerLogTail,
} from '../core/runs/index.ts';
import { judgeSession, readSessionFile, type SessionFile, type SessionVerdict } from '../core/sessions/index.ts';
import {
  cutText,
  describeError,
  formatDuration,
  type JournalLine,
  type ProcessIdentity,
  type RecoverOrder,
  type SingleRecord,
  withDetail,
} from '../protocol/index.ts';
import type { Beginning } from './child-tools.ts';
import { ONLY_CHILD as CHILD, firstBeginning } from './only-child.ts';
import type { OpenRun } from './open-run.ts';
import type { RunResult } from './run-work.ts';

const KILL_MS = 5000;
/** Milliseconds a child has to leave by itself, as in the ladder that ends it otherwise. */
const LEAVE_MS = 2000;
const LOOK_MS = 25;

export type Recovered = { go: 'on'; beginning: Beginning } | { go: 'end'; result: RunResult };

export async function recover(run: OpenRun, record: SingleRecord, order: RecoverOrder): Promise<Recovered> {
  const { earlier } = run;
  const ended = await endLeftovers(run, earlier);
  await run.append({ type: 'recovery.begun', epoch: run.epoch, settle: order.settle, ended });
  await settleRequests(run, earlier);
  // What a child has come to stays, whatever was asked for or ran out afterwards.
  const isSettled = earlier.some((line) => line.type === 'child.settled');
  const result = isSettled ? undefined : endOf(run, order, await runnerLogTail(run.layout.directory, run.epoch - 1));
  if (result) return { go: 'end', result };
  const decision = await decide(run, earlier);
  await run.append({
    type: 'recovery.decided',
    child: CHILD,
    decision: decision.decision,
    reason: cutText(decision.reason, 1000),
  });
  // An interrupt that was under way: the work is not taken up again, its session stays.
  if (wasAsked(earlier, 'interrupt') && decision.decision !== 'adopt' && decision.decision !== 'finish') {
    return { go: 'end', result: { state: 'paused', error: null } };
  }
  return follow(record, decision);
}

/** Why the work is not taken up again, if there is a reason: stop wins over a time limit. `printed`: by the runner before. */
function endOf(run: OpenRun, order: RecoverOrder, printed: string): RunResult | undefined {
  const { earlier } = run;
  if (order.settle === 'stop' || wasAsked(earlier, 'stop')) return { state: 'stopped', error: null };
  if (!earlier.some((line) => line.type === 'run.proceeded')) {
    const error = withDetail(describeError('start_not_confirmed:cut-off'), describePrinted(printed));
    return { state: 'failed', error };
  }
  const timeout = earlier.findLast((line) => line.type === 'timeout.reached');
  if (timeout?.type === 'timeout.reached') {
    const { scope, tool, limitMs: ms } = timeout;
    const duration = formatDuration(ms);
    const error =
      scope === 'run'
        ? describeError('timed_out:recovered', { ms, duration })
        : describeError('tool_timed_out', { tool: tool ?? '', ms, duration });
    return { state: 'failed', error };
  }
  if (run.epoch > MAX_EPOCHS) {
    const error = withDetail(describeError('recovery_failed', { count: run.epoch - 1 }), describePrinted(printed));
    return { state: 'failed', error };
  }
  return undefined;
}

function follow(record: SingleRecord, decision: RecoveryDecision): Recovered {
  switch (decision.decision) {
    case 'start':
    case 'ask-again':
      return { go: 'on', beginning: firstBeginning(record) };
    case 'continue':
      return {
        go: 'on',
        beginning: { kind: 'ask', session: { kind: 'continue', file: decision.session }, prompt: CONTINUE_PROMPT },
      };
    case 'adopt':
      return { go: 'on', beginning: { kind: 'adopt', text: decision.text, stopReason: decision.stopReason } };
    case 'finish':
      return { go: 'end', result: { state: decision.state, error: decision.error } };
    default:
      return decision satisfies never;
  }
}

async function decide(run: OpenRun, earlier: readonly JournalLine[]): Promise<RecoveryDecision> {
  const path = run.view.children[0]?.session?.file;
  if (!path || !lastPrompt(earlier)) return decideRecovery(run.view, earlier, undefined);
  const file = await readSessionFile(path);
  const verdict = file.state === 'ok' ? judge(file, earlier) : undefined;
  return decideRecovery(run.view, earlier, { file, verdict, path });
}

/** By the newest prompt that has an effect: of several runners that died in a row the last may not have sent its own. */
function judge(file: Extract<SessionFile, { state: 'ok' }>, earlier: readonly JournalLine[]): SessionVerdict {
  for (const line of earlier.toReversed()) {
    if (line.type !== 'child.prompt.intended') continue;
    const verdict = judgeSession(file, line);
    if (verdict.kind !== 'not-begun') return verdict;
  }
  return { kind: 'not-begun' };
}

/** Kills what the old runner's children left, each by verified identity. Returns how many processes there were. */
async function endLeftovers(run: OpenRun, earlier: readonly JournalLine[]): Promise<number> {
  const marker = childMarker(run.record.runId, CHILD);
  const processes = foldRun(run.record, earlier).children[0]?.processes ?? [];
  // What a runner started that died before its first line about it is looked for by its mark alone.
  const roots = processes.length > 0 ? processes : [{ attempt: 0, process: null, tree: 'unknown' as const }];
  let count = 0;
  for (const { attempt, process, tree } of roots) {
    const root: ProcessIdentity = process ?? { pid: 0, start: null };
    const known = await findTree(root, marker);
    count += known.length;
    await letLeave(root, marker);
    const left = await killTree(root, marker, { deadlineMs: KILL_MS, known });
    if (tree !== 'pending') continue;
    const proven = process || MARKER_IS_PROOF ? left : 'unknown';
    const note = process ? 'Ended when a new runner took over.' : 'Its start was not seen; a new runner took over.';
    await run.append({ type: 'child.ended', child: CHILD, attempt, exitCode: null, signal: null, tree: proven, note });
  }
  return count;
}

/**
 * A Pi whose runner is gone sees its input end: it saves what it has and exits. One that is killed at once may lose that, and
 * one that is still starting leaves its lock of `auth.json` behind, for which every other Pi then waits 30 seconds.
 */
async function letLeave(root: ProcessIdentity, marker: string): Promise<void> {
  const isThere = async () =>
    root.pid === 0 ? (await findTree(root, marker)).length > 0 : (await liveness(root)) === 'alive';
  const deadline = performance.now() + LEAVE_MS;
  while (performance.now() < deadline && (await isThere())) await delay(LOOK_MS);
}

/** Messages and questions that waited for the old runner: nobody knows whether they were taken up. */
async function settleRequests(run: OpenRun, earlier: readonly JournalLine[]): Promise<void> {
  const messages = new Set<string>();
  const open = new Set<string>();
  for (const line of earlier) {
    if (line.type === 'control.requested' && (line.action === 'steer' || line.action === 'follow-up'))
      messages.add(line.requestId);
    if (line.type === 'control.settled' && line.outcome !== 'queued') messages.delete(line.requestId);
    if (line.type === 'question.asked') open.add(line.questionId);
    if (line.type === 'question.answered' || line.type === 'question.expired') open.delete(line.questionId);
  }
  const reason = 'outcome unknown: the runner was lost';
  for (const requestId of messages) await run.append({ type: 'control.settled', requestId, outcome: 'missed', reason });
  for (const questionId of open)
    await run.append({ type: 'question.expired', questionId, reason: 'the runner was lost' });
}

function wasAsked(lines: readonly JournalLine[], action: 'stop' | 'interrupt'): boolean {
  return lines.some((line) => line.type === 'control.requested' && line.action === action);
}

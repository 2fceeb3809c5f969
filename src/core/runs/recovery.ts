/**
 * What must happen with a child whose runner is gone, from the journal and its session file alone. Pure. An intent without a
 * fact is never repeated blindly: a prompt that may have been sent is looked for in the session.
 */
import type { ErrorValue, JournalLine, TerminalState } from '../../protocol/index.ts';
import type { SessionFile, SessionVerdict } from '../sessions/index.ts';

export type RecoveryDecision =
  /** Nothing had been asked: start the child as planned. */
  | { decision: 'start'; reason: string }
  /** The prompt never reached an answer: ask again, in a new session. */
  | { decision: 'ask-again'; reason: string }
  /** The child was in the middle of its work: go on in its session. */
  | { decision: 'continue'; session: string; reason: string }
  /** The answer stands in the session: it is the result. */
  | { decision: 'adopt'; text: string; stopReason: string; reason: string }
  /** The child had settled: only the end of the run is missing. */
  | { decision: 'finish'; state: TerminalState; error: ErrorValue | null; reason: string };

/** A run that killed this many runners is not started once more. */
export const MAX_EPOCHS = 10;

/** Sentence a child is continued with after a crash. Fixed, so that it can be recognised. */
export const CONTINUE_PROMPT =
  'Your process was interrupted and has been started again in the same conversation. Check what was already done, then go on with the task from where you stopped.';

/** The last prompt that was about to be sent; `undefined`: none ever was. */
export function lastPrompt(lines: readonly JournalLine[]): { sha256: string } | undefined {
  const line = lines.findLast((one) => one.type === 'child.prompt.intended');
  return line?.type === 'child.prompt.intended' ? { sha256: line.sha256 } : undefined;
}

/**
 * @param attempt how many processes of the child were started
 * @param lines what the journal says of the child
 */
export function decideRecovery(
  attempt: number,
  lines: readonly JournalLine[],
  session: { file: SessionFile; verdict: SessionVerdict | undefined; path: string } | undefined,
): RecoveryDecision {
  const settled = lines.findLast((line) => line.type === 'child.settled');
  if (settled?.type === 'child.settled') {
    return { decision: 'finish', state: settled.state, error: settled.error, reason: 'the child had settled' };
  }
  if (!lastPrompt(lines))
    return {
      decision: 'start',
      reason: attempt > 0 ? 'the child had not been asked anything' : 'no child had been started',
    };
  if (!session) return { decision: 'ask-again', reason: 'the child had no session file' };
  const { file, verdict, path } = session;
  if (file.state !== 'ok') return { decision: 'ask-again', reason: `its session cannot be continued: ${file.reason}` };
  switch (verdict?.kind) {
    case 'answered':
      return {
        decision: 'adopt',
        text: verdict.text,
        stopReason: verdict.stopReason,
        reason: 'the session ends with the answer',
      };
    case 'unfinished':
      return { decision: 'continue', session: path, reason: 'the session holds unfinished work' };
    default:
      return { decision: 'ask-again', reason: 'the session holds no answer to the prompt' };
  }
}

/** Milliseconds that all runners of a run have lived, as far as the journal shows. */
export function aliveMs(lines: readonly JournalLine[]): number {
  let total = 0;
  let from: number | undefined;
  let last = 0;
  for (const line of lines) {
    if (line.type === 'runner.started') {
      if (from !== undefined) total += Math.max(0, last - from);
      from = line.t;
    }
    last = line.t;
  }
  return from === undefined ? 0 : total + Math.max(0, last - from);
}

/** Milliseconds of `aliveMs` in which the only child of a run did not wait for others to be done with its checkout. */
export function aliveWithoutWaitsMs(lines: readonly JournalLine[]): number {
  let waited = 0;
  let from: number | undefined;
  let last = 0;
  for (const line of lines) {
    const isOver = line.type === 'checkout.taken' || line.type === 'child.settled';
    // Whoever was waiting died behind the last line before.
    const until = isOver ? line.t : line.type === 'runner.started' ? last : undefined;
    if (from !== undefined && until !== undefined) {
      waited += Math.max(0, until - from);
      from = undefined;
    }
    if (line.type === 'checkout.awaited') from ??= line.t;
    last = line.t;
  }
  if (from !== undefined) waited += Math.max(0, last - from);
  return Math.max(0, aliveMs(lines) - waited);
}

/** Milliseconds that one child has been worked on by all runners so far. */
export function childAliveMs(lines: readonly JournalLine[], child: number): number {
  let total = 0;
  let from: number | undefined;
  let last = 0;
  for (const line of lines) {
    if (line.type === 'runner.started' && from !== undefined) {
      total += Math.max(0, last - from);
      from = undefined;
    }
    if (line.type === 'child.spawn.intended' && line.child === child) from ??= line.t;
    last = line.t;
  }
  return from === undefined ? total : total + Math.max(0, last - from);
}

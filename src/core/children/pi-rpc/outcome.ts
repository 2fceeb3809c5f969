/** How a child's work came out. Judged by its last assistant message, never by the answer to a command. */
import { describeError, type ErrorValue, type TerminalState, withDetail } from '../../../protocol/index.ts';
import type { ChildOutcome } from '../child-driver.ts';
import { type Conversation, progressOf } from './conversation.ts';

export interface ProcessExit {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
}

export interface OutcomeFacts {
  conversation: Conversation;
  /** Text of an answer that had begun and not ended. */
  partial?: string;
  /** Present when the process went away before it reported that it had settled. */
  exit?: ProcessExit;
  /** Present when the protocol broke a limit or a command failed. */
  failure?: ErrorValue;
  /** The child was asked for a structured answer: giving it is a good end, whatever words follow or do not. */
  wantsAnswer?: boolean;
  toolBudgetBlocked?: boolean;
  /** Last lines of stderr, at most 4,096 bytes. */
  stderr: string;
}

export function judgeOutcome(facts: OutcomeFacts): ChildOutcome {
  const { conversation, exit, failure, stderr } = facts;
  const last = conversation.lastAssistant;
  const text = facts.partial || last?.text || '';
  const signal = exit && signalOf(exit);
  const { given, refused } = conversation.answer;
  const isAnswered = facts.wantsAnswer === true && given;
  const outcome = (state: TerminalState, error: ErrorValue | null): ChildOutcome => ({
    state,
    stopReason: last?.stopReason ?? null,
    text,
    lastWords: text.trim() === '' ? conversation.lastWords : text,
    error,
    progress: progressOf(conversation),
    exited: exit !== undefined,
    inactive: conversation.turns === 0 && conversation.toolCalls === 0 && !conversation.begun,
    ...(refused === undefined ? {} : { refusedAnswer: refused }),
    ...(facts.toolBudgetBlocked ? { toolBudgetBlocked: true } : {}),
  });
  const fail = (error: ErrorValue) => {
    const tail = stderr.trim() === '' ? '' : `\nLast lines of its error output:\n${stderr.trimEnd()}`;
    return outcome('failed', withDetail(error, tail));
  };

  if (failure) return fail(failure);
  if (signal) {
    return outcome('stopped', describeError('child_exited:signal', { signal }));
  }
  if (exit && conversation.tools.size > 0) {
    const tool = [...conversation.tools.values()].at(-1) ?? '';
    return fail(describeError('child_mid_tool', { code: exit.exitCode ?? '', tool }));
  }
  if (exit && (exit.exitCode !== 0 || !last))
    return fail(describeError('child_exited:code', { code: exit.exitCode ?? '' }));
  if (!last) return fail(describeError('child_empty_output:none'));
  switch (last.stopReason) {
    case 'error':
      return fail(
        last.errorMessage
          ? describeError('child_model_error', { reason: last.errorMessage })
          : describeError('child_model_error:silent'),
      );
    case 'aborted':
      return outcome('stopped', null);
    case 'length':
      return outcome('partial', describeError('child_output_cut'));
    case 'toolUse':
      return isAnswered ? outcome('complete', null) : fail(describeError('child_exited:after-tool'));
    default:
      return last.text.trim() === '' && !isAnswered
        ? fail(describeError('child_empty_output:empty'))
        : outcome('complete', null);
  }
}

/** Pi handles these itself and exits with 128 and the number of the signal. */
const SIGNAL_OF_CODE: Readonly<Record<number, NodeJS.Signals>> = { 129: 'SIGHUP', 143: 'SIGTERM' };

function signalOf({ signal, exitCode }: ProcessExit): NodeJS.Signals | undefined {
  return signal ?? (exitCode === null ? undefined : SIGNAL_OF_CODE[exitCode]);
}

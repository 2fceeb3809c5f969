/** How a child's work came out. Judged by its last assistant message, never by the answer to a command. */
import type { ErrorCode, ErrorValue, TerminalState } from '../../../protocol/index.ts';
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
  /** Last lines of stderr, at most 4,096 bytes. */
  stderr: string;
}

export function judgeOutcome(facts: OutcomeFacts): ChildOutcome {
  const { conversation, exit, failure, stderr } = facts;
  const last = conversation.lastAssistant;
  const text = facts.partial || last?.text || '';
  const signal = exit && signalOf(exit);
  const outcome = (state: TerminalState, error: ErrorValue | null): ChildOutcome => ({
    state,
    stopReason: last?.stopReason ?? null,
    text,
    lastWords: text.trim() === '' ? conversation.lastWords : text,
    error,
    progress: progressOf(conversation),
    exited: exit !== undefined,
    inactive: conversation.turns === 0 && conversation.toolCalls === 0 && !conversation.begun,
  });
  const fail = (code: ErrorCode, message: string, hint?: string) => {
    const tail = stderr.trim() === '' ? '' : `\nLast lines of its error output:\n${stderr.trimEnd()}`;
    return outcome('failed', { code, message: `${message}${tail}`, ...(hint === undefined ? {} : { hint }) });
  };

  if (failure) return fail(failure.code, failure.message, failure.hint);
  if (signal) {
    return outcome('stopped', {
      code: 'child_exited',
      message: `The child was ended from outside by ${signal}.`,
      hint: 'Something other than Pi Lanes stopped it: the system running out of memory, or a person. Resume goes on with its session.',
    });
  }
  if (exit && conversation.tools.size > 0) {
    const tool = [...conversation.tools.values()].at(-1);
    return fail('child_mid_tool', `The child exited (code ${exit.exitCode}) while its tool ${tool} was running.`);
  }
  if (exit && (exit.exitCode !== 0 || !last))
    return fail('child_exited', `The child exited with code ${exit.exitCode} before it was done.`);
  if (!last) return fail('child_empty_output', 'The child ended without an answer.');
  switch (last.stopReason) {
    case 'error':
      return fail(
        'child_model_error',
        `The model failed: ${last.errorMessage ?? 'the provider gave no reason'}`,
        'Check the model and its credentials, or try again later.',
      );
    case 'aborted':
      return outcome('stopped', null);
    case 'length':
      return outcome('partial', {
        code: 'child_output_cut',
        message: "The model's answer was cut at its output limit.",
        hint: 'Ask for a shorter answer, or use a model with a larger output limit.',
      });
    case 'toolUse':
      return fail('child_exited', 'The child ended after a tool call, before the model could answer.');
    default:
      return last.text.trim() === ''
        ? fail('child_empty_output', 'The child ended with an empty answer.')
        : outcome('complete', null);
  }
}

/** Pi handles these itself and exits with 128 and the number of the signal. */
const SIGNAL_OF_CODE: Readonly<Record<number, NodeJS.Signals>> = { 129: 'SIGHUP', 143: 'SIGTERM' };

function signalOf({ signal, exitCode }: ProcessExit): NodeJS.Signals | undefined {
  return signal ?? (exitCode === null ? undefined : SIGNAL_OF_CODE[exitCode]);
}

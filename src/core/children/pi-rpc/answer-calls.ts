/** The calls by which a child gives a structured answer, as a pure fold over Pi's records. */
import { ANSWER_TOOL } from '../../../protocol/index.ts';
import type { RefusedAnswer } from '../child-driver.ts';
import { type PiRecord, textOf } from './records.ts';

export interface AnswerCalls {
  /** A value was taken. */
  given: boolean;
  /** Arguments of the calls under way, by call id. */
  open: ReadonlyMap<string, unknown>;
  /** The newest call that was refused. */
  refused: RefusedAnswer | undefined;
}

export const NO_ANSWER: AnswerCalls = { given: false, open: new Map(), refused: undefined };

export function applyToAnswer(answer: AnswerCalls, record: PiRecord): AnswerCalls {
  if (record.type === 'tool_execution_start' && record.toolName === ANSWER_TOOL)
    return { ...answer, open: new Map(answer.open).set(record.toolCallId, record.args) };
  if (record.type !== 'tool_execution_end' || record.toolName !== ANSWER_TOOL) return answer;
  const open = new Map(answer.open);
  const value = open.get(record.toolCallId);
  open.delete(record.toolCallId);
  if (!record.isError) return { ...answer, open, given: true };
  return { ...answer, open, refused: { value, reason: textOf(record.result?.content ?? []) } };
}

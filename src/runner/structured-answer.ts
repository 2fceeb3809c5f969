/** What a structured answer makes of a child's outcome. Pure. */
import type { ChildOutcome } from '../core/children/index.ts';
import { type KeptValue, outputFaults } from '../core/structured-output/index.ts';
import { describeError, type ErrorValue, type OutputSchema } from '../protocol/index.ts';

const REASON_CHARS = 1000;

export interface Answered {
  outcome: ChildOutcome;
  /** Only when a value was given. */
  answer?: { value: unknown };
}

/**
 * The value is the answer: words beside it do not replace it, and without it a child has not done what it was asked for. One
 * that was ended before its work was over keeps its state, and its value if it had given one.
 */
export function judgeAnswer(outcome: ChildOutcome, kept: KeptValue, schema: OutputSchema): Answered {
  const isComplete = outcome.state === 'complete';
  if (kept.state === 'given') {
    const { value } = kept;
    const answer = { value };
    return isComplete ? { outcome: { ...outcome, text: JSON.stringify(value, null, 2) }, answer } : { outcome, answer };
  }
  if (!isComplete) return { outcome };
  return { outcome: { ...outcome, state: 'failed', error: missing(outcome, kept, schema) } };
}

function missing(
  { refusedAnswer: refused }: ChildOutcome,
  kept: Exclude<KeptValue, { state: 'given' }>,
  schema: OutputSchema,
): ErrorValue {
  if (kept.state === 'unusable') return describeError('structured_output_missing:unusable', listed(kept.faults));
  if (!refused) return describeError('structured_output_missing');
  const faults = outputFaults(schema, refused.value);
  // What fits and was refused all the same met another obstacle, of which only the child was told.
  return describeError(
    'structured_output_missing:refused',
    listed(faults.length > 0 ? faults : [refused.reason.slice(0, REASON_CHARS)]),
  );
}

const listed = (faults: readonly string[]) => ({ faults: faults.join('; ') });

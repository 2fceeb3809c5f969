/** What a workflow came to, as the text of a file. There are no times in it: written by another runner it is the same. */
import type { WorkflowResult } from '../../core/workflow/index.ts';
import { cutText } from '../../protocol/index.ts';

const ERROR_CHARS = 500;

/**
 * Of one that has ended well what its script returned. Of another why it ended, and then what there is of its work.
 * @param failure why it ended; not used when it has ended well
 */
export function summaryOf(result: WorkflowResult, failure: string): string {
  if (result.ok) return asText(result.value);
  const { emits, partialChildren, abortedKeys } = result;
  const children = partialChildren.map(({ key, ok, outputReference, error, output }) => {
    const [why = ''] = (error ?? output).split('\n', 1);
    return `- ${key}: ${ok ? 'complete' : `failed: ${cutText(why, ERROR_CHARS)}`}${outputReference === undefined ? '' : ` (${outputReference})`}`;
  });
  const agents = [...children, ...abortedKeys.map((key) => `- ${key}: not finished`)];
  return [
    failure,
    ...(emits.length === 0 ? [] : [`Emitted values:\n\n${asText(emits)}`]),
    ...(agents.length === 0 ? [] : [`Agents:\n\n${agents.join('\n')}`]),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n');
}

/** Texts as they are, everything else as JSON. */
function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null, null, 2);
}

import { readResult } from '../client/index.ts';
import { truncateOutput } from '../core/outputs/index.ts';
import { childLayout } from '../core/projects/index.ts';

export interface AnswerText {
  /** At most 200 KiB and 5,000 lines, with a last line that says what was cut. */
  text: string;
  truncated: boolean;
  /** File with the whole answer in its field `text`. */
  resultFile: string;
  /** The whole value, of an agent that was asked for one and gave it. */
  structuredOutput?: unknown;
}

/** What is handed on of a child's answer; `undefined` while there is none. */
export async function readAnswerText(directory: string, child: number): Promise<AnswerText | undefined> {
  const whole = await readResult(directory, child);
  if (whole === undefined) return undefined;
  const { text, structuredOutput } = whole;
  return {
    ...truncateOutput(text),
    resultFile: childLayout(directory, child).result,
    ...(structuredOutput === undefined ? {} : { structuredOutput }),
  };
}

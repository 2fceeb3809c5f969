import { readResultText } from '../client/index.ts';
import { truncateOutput } from '../core/outputs/index.ts';
import { childLayout } from '../core/projects/index.ts';

export interface AnswerText {
  /** At most 200 KiB and 5,000 lines, with a last line that says what was cut. */
  text: string;
  truncated: boolean;
  /** File with the whole answer in its field `text`. */
  resultFile: string;
}

/** What is handed on of a child's answer; `undefined` while there is none. */
export async function readAnswerText(directory: string, child: number): Promise<AnswerText | undefined> {
  const whole = await readResultText(directory, child);
  return whole === undefined
    ? undefined
    : { ...truncateOutput(whole), resultFile: childLayout(directory, child).result };
}

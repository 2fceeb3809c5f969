/**
 * Whether an answer is one that a question can take. Pi itself does not look: a text for a yes-or-no question counts as No
 * there, and an option that does not exist is handed on to the extension that asked.
 */
import { cutText, LanesError, type QuestionAnswer } from '../protocol/index.ts';

const YES_OR_NO: Readonly<Record<string, boolean>> = { yes: true, true: true, no: false, false: false };
const SHOWN_CHARS = 80;

/**
 * The answer as the question takes it. Throws `answer_invalid` with the rule and what is possible.
 *
 * @param method the kind of dialog: `select`, `confirm`, `input` or `editor`
 * @param options of a `select`, as they are shown
 */
export function fittingAnswer(method: string, options: readonly string[], answer: QuestionAnswer): QuestionAnswer {
  if ('cancelled' in answer) return answer;
  if (method === 'confirm') {
    if ('confirmed' in answer) return answer;
    const confirmed = YES_OR_NO[answer.value.trim().toLowerCase()];
    if (confirmed !== undefined) return { confirmed };
    throw unfit(`It is a yes-or-no question, and ${shown(answer.value)} is neither`, 'Answer yes or no, or cancel it.');
  }
  if (method === 'select') {
    const hint = `Answer with one of its options: ${options.map(shown).join(', ')}; or cancel it.`;
    if ('confirmed' in answer) throw unfit('It asks for one of its options, not for yes or no', hint);
    if (!options.includes(answer.value)) throw unfit(`${shown(answer.value)} is none of its options`, hint);
    return answer;
  }
  if ('confirmed' in answer)
    throw unfit('It asks for a text, not for yes or no', 'Answer with a text (--value), or cancel it.');
  return answer;
}

const shown = (text: string) => `"${text.length > SHOWN_CHARS ? `${cutText(text, SHOWN_CHARS - 1)}…` : text}"`;

function unfit(reason: string, hint: string): LanesError {
  return new LanesError('answer_invalid', `The answer was not taken: ${reason}. The question stays open.`, hint);
}

/**
 * Whether an answer is one that a question can take. Pi itself does not look: a text for a yes-or-no question counts as No
 * there, and an option that does not exist is handed on to the extension that asked.
 */
import { cutText, lanesError, type QuestionAnswer } from '../protocol/index.ts';

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
    throw lanesError('answer_invalid:yes-or-no', { value: cut(answer.value) });
  }
  if (method === 'select') {
    const possible = options.map((option) => `"${cut(option)}"`).join(', ');
    if ('confirmed' in answer) throw lanesError('answer_invalid:choice', { options: possible });
    if (!options.includes(answer.value))
      throw lanesError('answer_invalid:option', { value: cut(answer.value), options: possible });
    return answer;
  }
  if ('confirmed' in answer) throw lanesError('answer_invalid:text');
  return answer;
}

const cut = (text: string) => (text.length > SHOWN_CHARS ? `${cutText(text, SHOWN_CHARS - 1)}…` : text);

/** Dialogs of the child that wait for a person. Any client may answer; the first answer wins. */
import type { Child, ChildQuestion } from '../core/children/index.ts';
import { redact } from '../core/transcripts/index.ts';
import { type AskedCommand, cutText, type QuestionAnswer, type RpcParams, type RpcResult } from '../protocol/index.ts';
import { fittingAnswer } from './fitting-answer.ts';
import type { OpenRun } from './open-run.ts';

/** Milliseconds a dialog without a limit of its own waits for a person. */
export const QUESTION_MS = 10 * 60 * 1000;
const TEXT_CHARS = 4000;
const MAX_OPTIONS = 50;
const OPTION_CHARS = 200;

/** Whoever asks: a child, or the workflow itself. */
export type Asker = Pick<Child, 'answer'>;

interface Open {
  child: Asker;
  method: string;
  /** The options as the child knows them, by what people are shown of them. */
  options: ReadonlyMap<string, string>;
  /** The child ends the wait by itself. */
  selfEnding: boolean;
  timer: NodeJS.Timeout;
}

export class Questions {
  readonly #run: OpenRun;
  readonly #index: number | null;
  readonly #limitMs: number;
  readonly #open = new Map<string, Open>();
  #closed = false;

  /** @param index of the child that asks; null: the workflow itself */
  constructor(run: OpenRun, index: number | null, limitMs: number = QUESTION_MS) {
    this.#run = run;
    this.#index = index;
    this.#limitMs = limitMs;
  }

  /**
   * Never rejects: a question that cannot be written down is one that nobody can answer.
   *
   * @param host the command whose consent is asked for
   */
  async ask(child: Asker, question: ChildQuestion, host?: AskedCommand): Promise<void> {
    if (this.#closed) {
      child.answer(question.id, { cancelled: true });
      return;
    }
    const limit = question.timeoutMs ?? this.#limitMs;
    const timer = setTimeout(() => this.#expire(question.id, 'nobody answered in time').catch(() => undefined), limit);
    const shown = question.options.slice(0, MAX_OPTIONS).map((option) => cutText(redact(option), OPTION_CHARS));
    const options = new Map(shown.map((text, index) => [text, question.options[index] ?? text]));
    const { method, timeoutMs } = question;
    this.#open.set(question.id, { child, method, options, selfEnding: timeoutMs !== undefined, timer });
    try {
      await this.#run.append({
        type: 'question.asked',
        questionId: question.id,
        child: this.#index,
        method: question.method,
        title: cutText(redact(question.title), TEXT_CHARS),
        message: cutText(redact(question.message), TEXT_CHARS),
        options: shown,
        expiresAt: Date.now() + limit,
        ...(host ? { host } : {}),
      });
    } catch {
      this.#take(question.id);
      child.answer(question.id, { cancelled: true });
    }
  }

  /** Throws `answer_invalid` for an answer that the question's kind does not know; it stays open. */
  async answer({ questionId, by, answer }: RpcParams<'answer'>): Promise<RpcResult<'answer'>> {
    const asked = this.#open.get(questionId);
    const fitting = asked ? fittingAnswer(asked.method, [...asked.options.keys()], answer) : answer;
    const open = this.#take(questionId);
    if (!open) return { accepted: false, reason: 'it has been answered already, or is not waited for any more' };
    await this.#run.append({
      type: 'question.answered',
      questionId,
      by,
      answer: cutText(redact(describe(fitting)), TEXT_CHARS),
    });
    open.child.answer(
      questionId,
      'value' in fitting ? { value: open.options.get(fitting.value) ?? fitting.value } : fitting,
    );
    return { accepted: true, reason: null };
  }

  #take(questionId: string): Open | undefined {
    const open = this.#open.get(questionId);
    if (open) clearTimeout(open.timer);
    this.#open.delete(questionId);
    return open;
  }

  async #expire(questionId: string, reason: string): Promise<void> {
    const open = this.#take(questionId);
    if (!open) return;
    await this.#run.append({ type: 'question.expired', questionId, reason });
    if (!open.selfEnding) open.child.answer(questionId, { cancelled: true });
  }

  /** The child's work is over. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const questionId of [...this.#open.keys()]) await this.#expire(questionId, 'the agent ended');
  }
}

function describe(answer: QuestionAnswer): string {
  if ('value' in answer) return answer.value;
  return 'confirmed' in answer ? (answer.confirmed ? 'yes' : 'no') : 'cancelled';
}

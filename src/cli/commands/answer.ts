import { answerQuestion } from '../../client/index.ts';
import { lanesError, type QuestionAnswer } from '../../protocol/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { locateRun } from './status.ts';

export interface AnswerOptions {
  value?: string | undefined;
  yes?: boolean | undefined;
  no?: boolean | undefined;
  cancel?: boolean | undefined;
  json: boolean | undefined;
}

/** Answers a question of an agent. Without the question's id: the only one that is open. */
export async function answerCommand(
  context: CliContext,
  wanted: string,
  questionId: string | undefined,
  options: AnswerOptions,
): Promise<number> {
  const { store, runId, directory } = await locateRun(context, wanted);
  const answer = readAnswer(options);
  const open = (await store.read(runId)).view?.questions ?? [];
  const question = questionId === undefined && open.length === 1 ? open[0] : open.find((one) => one.id === questionId);
  if (!question) {
    const ids = open.map((one) => one.id).join(', ');
    if (questionId === undefined) {
      throw open.length > 0
        ? lanesError('question_gone:several', { count: open.length, ids })
        : lanesError('question_gone:none');
    }
    throw open.length > 0
      ? lanesError('question_gone:other', { id: questionId, ids })
      : lanesError('question_gone:other-none', { id: questionId });
  }
  const { accepted, reason } = await answerQuestion(context.toolbox, directory, context.owner, question.id, answer);
  if (options.json) printJson(context, { runId, questionId: question.id, accepted, reason });
  else context.out(accepted ? 'Answered.' : `Not taken: ${reason}.`);
  return accepted ? EXIT.ok : EXIT.runFailed;
}

function readAnswer({ value, yes, no, cancel }: AnswerOptions): QuestionAnswer {
  const given = [value !== undefined, yes, no, cancel].filter(Boolean).length;
  if (given !== 1) throw lanesError('launch_invalid:answers', { count: given });
  if (value !== undefined) return { value };
  return cancel ? { cancelled: true } : { confirmed: yes === true };
}

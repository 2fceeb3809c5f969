/** What is asked, and the command that answers it. */
import type { QuestionView } from '../protocol/index.ts';

/** The question, what it may be answered with, and in the last line the command to type. */
export function questionText(runId: string, { id, method, title, message, options }: QuestionView): string {
  const asked = [title, message].filter(Boolean).join(' ').split(/\n+/);
  const choice = options.length > 0 ? [`One of: ${options.join(', ')}`] : [];
  const answer = method === 'confirm' ? '--yes | --no' : '--value TEXT | --cancel';
  return [...asked, ...choice, `pi-lanes answer ${runId} ${id} ${answer}`].join('\n  ');
}

/** What a child is told: the task with what belongs to it, and the system prompt. Pure, and the same for whoever asks. */
import { ANSWER_TOOL, type ChildPlan } from '../../protocol/index.ts';

const HOW_TO_ANSWER = `Your result is structured data: when everything else is done, call ${ANSWER_TOOL} once with the whole of it. Words beside that call are not part of the result.`;

/** The first message. The task comes first, because Pi looks at how a message begins. */
export function promptOf({ task, reads = [], progress }: ChildPlan): string {
  return [task, readsPart(reads), progress && progressPart(progress)].filter(Boolean).join('\n\n');
}

/** What Pi is told beside the task; empty: nothing. */
export function systemPromptOf({ agent, memory, outputSchema }: ChildPlan): string {
  return [agent.systemPrompt, memory && memoryPart(memory), outputSchema ? HOW_TO_ANSWER : '']
    .filter(Boolean)
    .join('\n\n');
}

function readsPart(reads: readonly string[]): string {
  return reads.length === 0 ? '' : ['Read these files first:', ...reads.map((file) => `- ${file}`)].join('\n');
}

function progressPart({ file, isNew }: NonNullable<ChildPlan['progress']>): string {
  const begin = isNew
    ? `Keep notes of how far you are in ${file}: create it before you begin.`
    : `Notes of how far the work is stand in ${file}: read them before you begin.`;
  return `${begin} Add to it when a step is done, with what is still open.`;
}

function memoryPart({ file, text, isWritable }: NonNullable<ChildPlan['memory']>): string {
  const use = isWritable
    ? `You remember across tasks what stands in ${file}. Add to it what will be worth knowing next time, in few words; remove what is no longer true.`
    : `You remember across tasks what stands in ${file}. You cannot change it.`;
  const known =
    text === null ? 'It is still empty.' : `<memory>\n${text.replaceAll('</memory>', '<\\/memory>')}\n</memory>`;
  return `${use}\n\n${known}`;
}

import { z } from 'zod';
import type { Conversation } from './conversation.ts';
import { demo } from './demo-script.ts';
import { type Script, type Step, script } from './step.ts';

/** As many as the longest of the plays has. */
const STEPS = 5;

/**
 * What every agent of the demo does with a prompt that has no marker, whoever it is: one that may edit writes a note into the file
 * that its task names, any other reads and reports, with a verdict where it is asked for one.
 */
export const demoTeam: Script = script({
  summary: 'demo-team [tokenMs=55]: writers play demo with the .md file of their task, readers read and report',
  args: z.strictObject({ tokenMs: z.coerce.number().min(0).default(55) }),
  steps: ({ tokenMs }) =>
    Array.from({ length: STEPS }, (_, index) => (conversation: Conversation): Step => {
      const { tools } = conversation;
      return tools.includes('edit') ? writer(conversation, index, tokenMs) : reader(conversation, index, tokenMs);
    }),
});

function writer(conversation: Conversation, index: number, tokenMs: number): Step {
  const step = demo.plan({ file: noteIn(conversation.prompt), tokenMs })[index] ?? {};
  return typeof step === 'function' ? step(conversation) : step;
}

function reader({ prompt, tools, lastToolResult }: Conversation, index: number, tokenMs: number): Step {
  const turn = { tokenMs, usage: { input: 900, output: 60 } };
  const file = /\b(?:README\.md|src\/[\w./-]+\w)/.exec(prompt)?.[0] ?? 'README.md';
  if (index === 0) {
    return { ...turn, text: `I look at ${file} first.`, calls: [{ tool: 'read', args: { path: file } }] };
  }
  if (index === 1 && tools.includes('structured_output')) {
    const args = { verdict: 'ok', reason: `Nothing in it contradicts ${file}.` };
    return { ...turn, text: 'I have seen enough to judge.', calls: [{ tool: 'structured_output', args }] };
  }
  const lines = lastToolResult.split('\n').length;
  return {
    ...turn,
    text: `${file} has ${lines} lines. I found nothing in it that speaks against this. Verdict: accept.`,
  };
}

/** The Markdown file a task is about; the README is only read. */
function noteIn(prompt: string): string {
  return prompt.match(/\b[\w/-]+\.md\b/g)?.find((name) => name !== 'README.md') ?? 'NOTES.md';
}

import { z } from 'zod';
import type { Conversation } from './conversation.ts';
import { type Script, type ScriptStep, script } from './step.ts';

/** First heading or line of a README, without the marks of a heading. */
function titleOf(readme: string): string {
  const line = readme.split('\n').find((one) => one.trim() !== '') ?? '';
  return line.replace(/^#+\s*/, '').trim() || 'this folder';
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A small task a person can watch: it reads, writes, edits and checks one file, and says at each turn what it does. */
export const demo: Script = script({
  summary: 'demo [file=NOTES.md] [tokenMs=55]: reads README.md, writes and edits a file, checks it (about 6 s)',
  args: z.strictObject({
    file: z.string().min(1).default('NOTES.md'),
    tokenMs: z.coerce.number().min(0).default(55),
  }),
  steps: ({ file, tokenMs }): readonly ScriptStep[] => {
    const turn = { tokenMs, usage: { input: 1_400, output: 90 } };
    const written = ({ lastToolResult }: Conversation) =>
      `# Notes\n\nAbout: ${titleOf(lastToolResult)}\n\n- What it is for: see the README.\n- Status: draft\n`;
    return [
      {
        ...turn,
        thinking: 'The README is the best place to begin. I will read it before I write anything.',
        text: 'I start with the README, to learn what this folder is about.',
        calls: [{ tool: 'read', args: { path: 'README.md' } }],
      },
      (conversation) => ({
        ...turn,
        text: `It is about “${titleOf(conversation.lastToolResult)}”. I write a short note about that into ${file}, so that the next reader does not have to search.`,
        calls: [{ tool: 'write', args: { path: file, content: written(conversation) } }],
      }),
      {
        ...turn,
        text: 'The first version is there. I read it once more in my head: the status can go from draft to checked.',
        calls: [
          {
            tool: 'edit',
            args: { path: file, edits: [{ oldText: '- Status: draft', newText: '- Status: checked' }] },
          },
        ],
      },
      {
        ...turn,
        text: 'Now I make sure that the file really says so.',
        calls: [{ tool: 'bash', args: { command: `grep -n 'Status: checked' ${shellQuoted(file)}` } }],
      },
      ({ lastToolResult }) => ({
        ...turn,
        text: `Done. I read the README, wrote ${file}, and checked it; the file says “${lastToolResult.split('\n')[0]?.trim() ?? ''}”. Nothing else in the folder was changed.`,
      }),
    ];
  },
});

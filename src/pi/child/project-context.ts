/** An agent that is told what the project says need not be told what the person says to all of theirs: that file is left out. */
import { dirname, resolve } from 'node:path';
import type { BeforeAgentStart, Pi } from './pi.ts';

/** @param folder the agent folder of Pi: whatever lies in it is the person's, not the project's */
export function leaveGlobalContextOut(pi: Pi, folder: string): void {
  pi.on('before_agent_start', (event) => withoutGlobal(event, resolve(folder)));
}

function withoutGlobal({ systemPrompt, systemPromptOptions: options }: BeforeAgentStart, folder: string) {
  const files = options?.contextFiles ?? [];
  const global = files.filter(({ path }) => dirname(path) === folder);
  if (!options || global.length === 0) return undefined;
  const others = files.filter((file) => !global.includes(file));
  if (options.sections !== undefined) {
    // Pi makes the prompt of these once more.
    options.contextFiles = others;
    return undefined;
  }
  // Older versions take a prompt that is whole. Theirs has each file as one of these.
  let prompt = systemPrompt;
  for (const { path, content } of global) {
    for (const block of [
      `<project_instructions path="${path}">\n${content}\n</project_instructions>\n\n`,
      `## ${path}\n\n${content}\n\n`,
    ])
      prompt = prompt.replace(block, () => '');
  }
  return { systemPrompt: prompt };
}

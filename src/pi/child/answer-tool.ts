/** `structured_output`: the child's answer as a value that was checked and is kept. */
import { keepValue, outputFaults } from '../../core/structured-output/index.ts';
import { ANSWER_TOOL, type OutputSchema } from '../../protocol/index.ts';
import type { PiTool } from './pi.ts';

/** `file`: where the value is kept. A value that is given again replaces the one before. */
export function answerTool({ schema, file }: { schema: OutputSchema; file: string }): PiTool {
  return {
    name: ANSWER_TOOL,
    label: 'Structured output',
    description:
      'Gives the final result of your task as structured data. Call it once, when everything else is done: it ends your work. ' +
      'What is not in its arguments is not part of the result.',
    parameters: schema,
    async execute(_callId, value) {
      const faults = outputFaults(schema, value);
      if (faults.length > 0) throw new Error(`The structured output was refused:\n${faults.join('\n')}`);
      await keepValue(file, value);
      return { content: [{ type: 'text', text: 'The structured output was taken.' }], details: {}, terminate: true };
    },
  };
}

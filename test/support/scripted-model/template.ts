import type { Conversation } from './conversation.ts';
import { type Step, stepSchema } from './step.ts';

/**
 * Fills `{{tool}}` (the last tool result) and `{{later}}` (user messages after the prompt, joined by " | ") into every
 * text of a step, tool arguments included.
 */
export function fillTemplate(step: Step, conversation: Conversation): Step {
  const values: Record<string, string> = {
    tool: conversation.lastToolResult.trim(),
    later: conversation.later.join(' | '),
  };
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string')
      return value.replace(/\{\{(tool|later)\}\}/g, (_, name: string) => values[name] ?? '');
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fill(one)]));
  };
  return stepSchema.parse(fill(step));
}

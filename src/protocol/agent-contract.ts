/** The agent definition that a child is started with. */
import * as z from 'zod/mini';

/** How a child's system prompt is given to Pi: instead of Pi's own, or after it. */
export const systemPromptMode = z.enum(['replace', 'append']);

/** The effective agent definition a child is started with: everything a resume needs, whatever changes on disk. */
export const agentContract = z.object({
  name: z.string(),
  description: z.string(),
  source: z.enum(['builtin', 'package', 'user', 'project', 'runtime']),
  systemPrompt: z.string(),
  systemPromptMode,
  /** Absent: Pi's ambient set. Empty: no tools. */
  tools: z.optional(z.array(z.string())),
  inheritProjectContext: z.boolean(),
  inheritSkills: z.boolean(),
  allowNestedSubagents: z.optional(z.boolean()),
  /** Tried in order when the provider fails, unless a model was named for the run. */
  fallbackModels: z.optional(z.array(z.string())),
});
export type AgentContract = z.infer<typeof agentContract>;

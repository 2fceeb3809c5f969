/** The agent definition that a child is started with. */
import * as z from 'zod/mini';
import { toolBudget } from './child-contract.ts';

/** How a child's system prompt is given to Pi: instead of Pi's own, or after it. */
export const systemPromptMode = z.enum(['replace', 'append']);

/** Whether a tool may be called: at once, after a question, or never. */
export const permission = z.enum(['allow', 'ask', 'deny']);
export type Permission = z.infer<typeof permission>;

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
  /** Whether what the person says to all agents is part of that. Absent in runs of earlier versions: it was. */
  inheritGlobalContext: z.optional(z.boolean()),
  inheritSkills: z.boolean(),
  allowNestedSubagents: z.optional(z.boolean()),
  /** Tried in order when the provider fails, unless a model was named for the run. Names as they stand in the definition. */
  fallbackModels: z.optional(z.array(z.string())),

  /*
   * What a launch is made from beside that, as it is declared. Absent in runs of earlier versions, whose plans were made without it.
   */

  /** As it stands in the definition; `inherit`: that of the parent. */
  model: z.optional(z.string()),
  /** Decides between several providers of one id. */
  defaultProvider: z.optional(z.string()),
  /** False: no level is asked for. */
  thinking: z.optional(z.union([z.string(), z.literal(false)])),
  /** Taken off what Pi offers; where there is a list of tools they are not in it. */
  excludeTools: z.optional(z.array(z.string())),
  defaultContext: z.optional(z.enum(['fresh', 'fork'])),
  /** Milliseconds. */
  timeoutMs: z.optional(z.number()),
  toolTimeoutMs: z.optional(z.number()),
  toolBudget: z.optional(toolBudget),
  skills: z.optional(z.array(z.string())),
  /** Folders or files, absolute, in which skills are looked for first. */
  skillPath: z.optional(z.array(z.string())),
  /** Absent: those Pi finds. Empty: none. */
  extensions: z.optional(z.array(z.string())),
  subagentOnlyExtensions: z.optional(z.array(z.string())),
  output: z.optional(z.string()),
  outputMode: z.optional(z.enum(['inline', 'file-only'])),
  defaultReads: z.optional(z.array(z.string())),
  defaultProgress: z.optional(z.boolean()),
  memory: z.optional(z.object({ scope: z.enum(['project', 'user']), path: z.string() })),
  permissions: z.optional(z.record(z.string(), permission)),
  acceptanceRole: z.optional(z.enum(['read-only', 'writer'])),
});
export type AgentContract = z.infer<typeof agentContract>;

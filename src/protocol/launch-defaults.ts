/** What settings say about launches, for everything that call and agent leave open. */
import * as z from 'zod/mini';
import { toolBudget } from './child-contract.ts';
import { waitSettings } from './wait-settings.ts';

const rules = {
  enforce: z.optional(z.boolean()),
  strict: z.optional(z.boolean()),
  allow: z.optional(z.array(z.string())),
};
/** How hard a model should think, from nothing to the most. */
export const THINKING_LEVELS = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export const thinkingLevel = z.enum(THINKING_LEVELS);

export const launchDefaults = z.object({
  /** `provider/id`, or an id, with an optional `:level`. */
  model: z.optional(z.string()),
  thinking: z.optional(thinkingLevel),
  /** Decides between several providers of one id. */
  preferredProvider: z.optional(z.string()),
  context: z.optional(z.enum(['fresh', 'fork'])),
  /** Milliseconds. */
  timeoutMs: z.optional(z.number()),
  toolTimeoutMs: z.optional(z.number()),
  toolBudget: z.optional(toolBudget),
  wait: z.optional(waitSettings),
  /** Bounds: never exceeded, whoever asks. */
  maxThinking: z.optional(thinkingLevel),
  modelScope: z.optional(z.object({ ...rules, agents: z.optional(z.record(z.string(), z.object(rules))) })),
});
export type LaunchDefaults = z.infer<typeof launchDefaults>;

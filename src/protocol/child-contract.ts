/** What runner and the Pi extension inside a child tell each other. */
import * as z from 'zod/mini';
import { notBlank, positive, record } from './schema-parts.ts';

export const toolBudget = z
  .strictObject({
    soft: z.optional(positive),
    hard: positive,
    block: z.optional(z.union([z.literal('*'), z.array(z.string().check(notBlank)).check(z.minLength(1))])),
  })
  .check(z.refine(({ soft = 0, hard }) => soft <= hard, 'soft must not be larger than hard'));
export type ToolBudget = z.infer<typeof toolBudget>;

/** A JSON schema whose root is an object. */
export const outputSchema = record;
export type OutputSchema = z.infer<typeof outputSchema>;

/** To the extension. */
export interface ChildContract {
  /** The tools the child may use; absent: all that Pi offers. */
  tools?: readonly string[];
  toolBudget?: ToolBudget;
  /** What it must give at its end, and the file it is kept in. */
  output?: { schema: OutputSchema; file: string };
}

/** From the extension. */
export const childReport = z.discriminatedUnion('type', [
  /** A call was refused because the tool budget is used up. */
  z.object({ type: z.literal('tool-budget-blocked') }),
  /** The child must not begin: these tools of its list do not exist in this Pi. */
  z.object({ type: z.literal('tools-missing'), tools: z.array(z.string()) }),
]);
export type ChildReport = z.infer<typeof childReport>;

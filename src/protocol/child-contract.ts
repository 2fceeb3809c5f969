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
  /** The tools the child may use; absent: all that Pi offers. Each of them must be there. */
  tools?: readonly string[];
  /** Of what Pi offers it may use these alone; they need not be there. */
  onlyTools?: readonly string[];
  /** It may never use these, whatever offers them. */
  deniedTools?: readonly string[];
  /** Each call of these is asked about. */
  askedTools?: readonly string[];
  toolBudget?: ToolBudget;
  /** What it must give at its end, and the file it is kept in. */
  output?: { schema: OutputSchema; file: string };
  /** The file that says which providers are not to be asked for a while; see `RateGateFile`. It need not be there. */
  rateGate?: string;
  /** What the person says to all agents is not told to it, though what the project says is. */
  withoutGlobalContext?: true;
}

/** Until when a provider is not to be asked, in milliseconds since 1970, by its name. */
export type RateGateFile = Record<string, number>;

/** From the extension. */
export const childReport = z.discriminatedUnion('type', [
  /** A call was refused because the tool budget is used up. */
  z.object({ type: z.literal('tool-budget-blocked') }),
  /** The child must not begin: these tools of its list do not exist in this Pi. */
  z.object({ type: z.literal('tools-missing'), tools: z.array(z.string()) }),
  /** The provider answered 429. `retryAfterMs`: how long it wants to be left alone; null: it did not say. */
  z.object({
    type: z.literal('rate-limited'),
    provider: z.string(),
    retryAfterMs: z.nullable(z.number().check(z.minimum(0))),
  }),
]);
export type ChildReport = z.infer<typeof childReport>;

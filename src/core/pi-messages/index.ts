/**
 * Messages as Pi writes them, in its RPC records and in its session files; the same shapes from Pi 0.73 to 1.6. What is not
 * known passes, what is odd counts as absent: a number that is missing must not cost us the message.
 */
import * as z from 'zod/mini';

export const piContent = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('thinking'), thinking: z.string() }),
  z.object({ type: z.literal('toolCall'), id: z.string(), name: z.string(), arguments: z.optional(z.unknown()) }),
  z.object({ type: z.literal('image'), mimeType: z.string() }),
  z.object({ type: z.string() }),
]);
export type PiContent = z.infer<typeof piContent>;

export const piContents = z._default(z.union([z.string(), z.array(piContent)]), []);

/** NaN becomes null in JSON. */
const count = z.catch(z.number(), 0);

const piUsage = z.object({
  input: count,
  output: count,
  cacheRead: count,
  cacheWrite: count,
  cost: z.catch(z.optional(z.object({ total: count })), undefined),
});

export const piMessage = z.object({
  role: z.string(),
  content: piContents,
  stopReason: z.optional(z.string()),
  errorMessage: z.optional(z.string()),
  provider: z.optional(z.string()),
  model: z.optional(z.string()),
  usage: z.catch(z.optional(piUsage), undefined),
  display: z.optional(z.boolean()),
});
export type PiMessage = z.infer<typeof piMessage>;

/** Of the edit tool's result: what it changed. Other tools have details of their own, which are not looked at. */
export const piToolDetails = z.catch(z.optional(z.object({ diff: z.optional(z.string()) })), undefined);

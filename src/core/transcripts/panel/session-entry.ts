/** Entries of Pi's session files as far as they are shown; the same shapes from Pi 0.73 to 1.6. */
import * as z from 'zod/mini';

const content = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('thinking'), thinking: z.string() }),
  z.object({ type: z.literal('toolCall'), id: z.string(), name: z.string(), arguments: z.optional(z.unknown()) }),
  z.object({ type: z.literal('image'), mimeType: z.string() }),
  z.object({ type: z.string() }),
]);
export type SessionContent = z.infer<typeof content>;

const contents = z._default(z.union([z.string(), z.array(content)]), []);

/** A number that is missing or odd counts as nothing; it must not cost us the message. */
const count = z.catch(z.number(), 0);

const message = z.object({
  role: z.string(),
  content: contents,
  timestamp: z.catch(z.optional(z.number()), undefined),
  provider: z.optional(z.string()),
  model: z.optional(z.string()),
  stopReason: z.optional(z.string()),
  errorMessage: z.optional(z.string()),
  usage: z.catch(
    z.optional(
      z.object({
        input: count,
        output: count,
        cacheRead: count,
        cacheWrite: count,
        cost: z.catch(z.optional(z.object({ total: count })), undefined),
      }),
    ),
    undefined,
  ),
  display: z.optional(z.boolean()),
  // Of tool results.
  toolCallId: z.optional(z.string()),
  toolName: z.optional(z.string()),
  isError: z.optional(z.boolean()),
  durationMs: z.catch(z.optional(z.number()), undefined),
  details: z.catch(z.optional(z.object({ diff: z.optional(z.string()) })), undefined),
  // Of commands a person ran in Pi.
  command: z.optional(z.string()),
  output: z.optional(z.string()),
  exitCode: z.nullish(z.number()),
  cancelled: z.optional(z.boolean()),
});
export type SessionMessage = z.infer<typeof message>;

const timestamp = z.catch(z.optional(z.string()), undefined);

const known = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session'), timestamp, cwd: z.optional(z.string()) }),
  z.object({ type: z.literal('message'), timestamp, message }),
  z.object({ type: z.literal('custom_message'), timestamp, content: contents, display: z.optional(z.boolean()) }),
  z.object({ type: z.literal('compaction'), timestamp, summary: z.string() }),
  z.object({ type: z.literal('branch_summary'), timestamp, summary: z.string() }),
  z.object({ type: z.literal('model_change'), timestamp, provider: z.string(), modelId: z.string() }),
  z.object({ type: z.literal('session_info'), timestamp, name: z.optional(z.string()) }),
]);
export type SessionEntry = z.infer<typeof known>;

const KNOWN_TYPES = new Set<unknown>(known.def.options.flatMap(({ shape }) => [...shape.type.def.values]));

const anyEntry = z.object({ type: z.string() });

/** `unknown`: an entry of a kind that is not shown. `undefined`: not an entry at all, or one with a wrong field. */
export function readSessionEntry(value: unknown): SessionEntry | 'unknown' | undefined {
  const entry = known.safeParse(value);
  if (entry.success) return entry.data;
  const any = anyEntry.safeParse(value);
  return any.success && !KNOWN_TYPES.has(any.data.type) ? 'unknown' : undefined;
}

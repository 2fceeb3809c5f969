/** Entries of Pi's session files as far as they are shown; the same shapes from Pi 0.73 to 1.6. */
import * as z from 'zod/mini';
import { piContents, piMessage, piToolDetails } from '../../pi-messages/index.ts';

export type { PiContent as SessionContent } from '../../pi-messages/index.ts';

const message = z.extend(piMessage, {
  timestamp: z.catch(z.optional(z.number()), undefined),
  // Of tool results.
  toolCallId: z.optional(z.string()),
  toolName: z.optional(z.string()),
  isError: z.optional(z.boolean()),
  durationMs: z.catch(z.optional(z.number()), undefined),
  details: piToolDetails,
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
  z.object({ type: z.literal('custom_message'), timestamp, content: piContents, display: z.optional(z.boolean()) }),
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

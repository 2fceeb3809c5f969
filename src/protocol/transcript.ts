/**
 * The transcript mirror: what a child said and did, as lines of `children/<n>/transcript.jsonl`. It serves the live view
 * and stands in when Pi's own session file is lost; the session file stays the truth of a conversation.
 * Known token shapes are redacted and long texts are cut before a line is written.
 */
import * as z from 'zod/mini';
import { usage } from './usage.ts';

/** Longest text kept of one block in the mirror, in characters. */
export const MAX_BLOCK_CHARS = 64 * 1024;

/** Longest diff kept of one edit in the mirror, in characters. */
export const MAX_DIFF_CHARS = 16 * 1024;

const block = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('thinking'), text: z.string() }),
  z.object({ type: z.literal('toolCall'), id: z.string(), name: z.string(), arguments: z.string() }),
  z.object({ type: z.literal('image'), mimeType: z.string() }),
]);
export type TranscriptBlock = z.infer<typeof block>;

const t = z.number();

export const transcriptEntry = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    t,
    role: z.enum(['user', 'assistant', 'custom']),
    blocks: z.array(block),
    model: z.optional(z.string()),
    stopReason: z.optional(z.string()),
    error: z.optional(z.string()),
    usage: z.optional(usage),
  }),
  /** Text that is still being streamed; the following assistant `message` replaces all deltas since the last one. */
  z.object({
    type: z.literal('delta'),
    t,
    kind: z.enum(['text', 'thinking', 'toolCall']),
    index: z.number(),
    text: z.string(),
  }),
  z.object({ type: z.literal('tool.start'), t, id: z.string(), name: z.string(), arguments: z.string() }),
  /** The whole partial output so far, not a delta. */
  z.object({ type: z.literal('tool.update'), t, id: z.string(), text: z.string() }),
  z.object({
    type: z.literal('tool.end'),
    t,
    id: z.string(),
    name: z.string(),
    text: z.string(),
    isError: z.boolean(),
    durationMs: z.optional(z.number()),
    /** What an edit changed, as Pi's edit tool tells it: a mark, the line's number and the line. Cut behind its limit. */
    diff: z.optional(z.string()),
  }),
  z.object({
    type: z.literal('retry'),
    t,
    attempt: z.number(),
    maxAttempts: z.number(),
    delayMs: z.number(),
    error: z.string(),
  }),
  z.object({
    type: z.literal('compaction'),
    t,
    phase: z.enum(['start', 'end']),
    reason: z.string(),
    summary: z.optional(z.string()),
  }),
  /** Something of ours the reader should know: a cut, a dialog that was cancelled, the end of the child. */
  z.object({ type: z.literal('note'), t, text: z.string() }),
]);
export type TranscriptEntry = z.infer<typeof transcriptEntry>;

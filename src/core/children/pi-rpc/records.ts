/**
 * The records Pi writes on stdout in RPC mode, as far as we read them; the same shapes from Pi 0.73 to 1.6. Fields that
 * repeat earlier content (`partial`, cumulative `message`) are never looked at.
 */
import * as z from 'zod/mini';
import { type PiContent, piContent, piMessage, piToolDetails } from '../../pi-messages/index.ts';
import type { SplitLine } from './line-splitter.ts';

export type { PiContent, PiMessage } from '../../pi-messages/index.ts';

const toolResult = z.object({
  content: z._default(z.array(piContent), []),
  details: piToolDetails,
});

const record = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('response'),
    id: z.optional(z.string()),
    command: z.optional(z.string()),
    success: z.boolean(),
    error: z.optional(z.string()),
    data: z.optional(z.unknown()),
  }),
  z.object({ type: z.literal('agent_start') }),
  z.object({ type: z.literal('agent_end'), willRetry: z.optional(z.boolean()) }),
  z.object({ type: z.literal('agent_settled'), aborted: z.optional(z.boolean()) }),
  z.object({ type: z.literal('turn_start') }),
  z.object({ type: z.literal('turn_end') }),
  z.object({ type: z.literal('message_start'), message: z.object({ role: z.string() }) }),
  z.object({
    type: z.literal('message_update'),
    assistantMessageEvent: z.object({
      type: z.string(),
      contentIndex: z._default(z.number(), 0),
      delta: z.optional(z.string()),
    }),
  }),
  z.object({ type: z.literal('message_end'), message: piMessage }),
  z.object({
    type: z.literal('tool_execution_start'),
    toolCallId: z.string(),
    toolName: z.string(),
    args: z.optional(z.unknown()),
  }),
  z.object({ type: z.literal('tool_execution_update'), toolCallId: z.string(), partialResult: z.optional(toolResult) }),
  z.object({
    type: z.literal('tool_execution_end'),
    toolCallId: z.string(),
    toolName: z.string(),
    result: z.optional(toolResult),
    isError: z._default(z.boolean(), false),
    durationMs: z.optional(z.number()),
  }),
  z.object({
    type: z.literal('auto_retry_start'),
    attempt: z.number(),
    maxAttempts: z.number(),
    delayMs: z.number(),
    errorMessage: z._default(z.string(), ''),
  }),
  z.object({ type: z.literal('auto_retry_end'), success: z.boolean() }),
  z.object({ type: z.literal('queue_update'), steering: z.array(z.string()), followUp: z.array(z.string()) }),
  z.object({ type: z.literal('compaction_start'), reason: z._default(z.string(), '') }),
  z.object({
    type: z.literal('compaction_end'),
    reason: z._default(z.string(), ''),
    result: z.optional(z.object({ summary: z.optional(z.string()) })),
  }),
  z.object({
    type: z.literal('extension_ui_request'),
    id: z.string(),
    method: z.string(),
    title: z.optional(z.string()),
    message: z.optional(z.string()),
    placeholder: z.optional(z.string()),
    prefill: z.optional(z.string()),
    options: z.optional(z.array(z.string())),
    timeout: z.optional(z.number()),
    statusKey: z.optional(z.string()),
    statusText: z.optional(z.string()),
  }),
]);
export type PiRecord = z.infer<typeof record>;

export type ReadRecord =
  | { type: 'record'; record: PiRecord }
  /** Valid protocol of a kind we do not need. */
  | { type: 'ignored' }
  /** Not protocol at all: kept as noise. */
  | { type: 'noise'; text: string }
  /** A line beyond the limit that carries something we cannot do without. */
  | { type: 'too-long'; bytes: number };

export function readRecord(line: SplitLine): ReadRecord {
  if (line.type === 'oversized') return projectOversized(line);
  let value: unknown;
  try {
    value = JSON.parse(line.text);
  } catch {
    return { type: 'noise', text: line.text };
  }
  if (typeof value !== 'object' || value === null || !('type' in value)) return { type: 'noise', text: line.text };
  const parsed = record.safeParse(value);
  return parsed.success ? { type: 'record', record: parsed.data } : { type: 'ignored' };
}

/**
 * `agent_end` and `turn_end` repeat every message of the run and so can grow without bound. What they add stands at the
 * ends of the line: the kind in front, `willRetry` behind the messages.
 */
function projectOversized(line: Extract<SplitLine, { type: 'oversized' }>): ReadRecord {
  const kind = /^\s*\{\s*"type"\s*:\s*"([a-z_]+)"/.exec(line.head)?.[1];
  if (kind === 'turn_end') return { type: 'record', record: { type: 'turn_end' } };
  if (kind !== 'agent_end') return { type: 'too-long', bytes: line.bytes };
  const retry = /"willRetry"\s*:\s*(true|false)\s*\}\s*$/.exec(line.tail)?.[1];
  return {
    type: 'record',
    record: { type: 'agent_end', ...(retry === undefined ? {} : { willRetry: retry === 'true' }) },
  };
}

/** The readable text of a message or tool result. */
export function textOf(value: string | readonly PiContent[]): string {
  if (typeof value === 'string') return value;
  return value.map((part) => (part.type === 'text' && 'text' in part ? part.text : '')).join('');
}

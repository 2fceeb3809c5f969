/** Pi's records as entries of the transcript mirror. */
import type { TranscriptBlock, TranscriptEntry } from '../../../protocol/index.ts';
import { type PiContent, type PiMessage, type PiRecord, textOf } from './records.ts';

const DELTA_KINDS: Readonly<Record<string, 'text' | 'thinking' | 'toolCall'>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  toolcall_delta: 'toolCall',
};

/** `t` in epoch milliseconds. `undefined`: nothing a reader needs. */
export function toTranscriptEntry(record: PiRecord, t: number): TranscriptEntry | undefined {
  switch (record.type) {
    case 'message_end':
      return messageEntry(record.message, t);
    case 'message_update': {
      const event = record.assistantMessageEvent;
      const kind = DELTA_KINDS[event.type];
      return kind && event.delta ? { type: 'delta', t, kind, index: event.contentIndex, text: event.delta } : undefined;
    }
    case 'tool_execution_start':
      return { type: 'tool.start', t, id: record.toolCallId, name: record.toolName, arguments: jsonText(record.args) };
    case 'tool_execution_update': {
      const text = textOf(record.partialResult?.content ?? []);
      return text === '' ? undefined : { type: 'tool.update', t, id: record.toolCallId, text };
    }
    case 'tool_execution_end':
      return {
        type: 'tool.end',
        t,
        id: record.toolCallId,
        name: record.toolName,
        text: textOf(record.result?.content ?? []),
        isError: record.isError,
        ...(record.durationMs === undefined ? {} : { durationMs: record.durationMs }),
        ...(record.result?.details?.diff === undefined ? {} : { diff: record.result.details.diff }),
      };
    case 'auto_retry_start':
      return {
        type: 'retry',
        t,
        attempt: record.attempt,
        maxAttempts: record.maxAttempts,
        delayMs: record.delayMs,
        error: record.errorMessage,
      };
    case 'compaction_start':
      return { type: 'compaction', t, phase: 'start', reason: record.reason };
    case 'compaction_end': {
      const summary = record.result?.summary;
      return {
        type: 'compaction',
        t,
        phase: 'end',
        reason: record.reason,
        ...(summary === undefined ? {} : { summary }),
      };
    }
    default:
      return undefined;
  }
}

function messageEntry(message: PiMessage, t: number): TranscriptEntry | undefined {
  const { role } = message;
  // Tool results are shown with their tool; system messages are Pi's own.
  if (role !== 'user' && role !== 'assistant' && role !== 'custom') return undefined;
  return {
    type: 'message',
    t,
    role,
    blocks:
      typeof message.content === 'string'
        ? [{ type: 'text', text: message.content }]
        : message.content.flatMap(toBlock),
    ...(message.model === undefined ? {} : { model: [message.provider, message.model].filter(Boolean).join('/') }),
    ...(message.stopReason === undefined ? {} : { stopReason: message.stopReason }),
    ...(message.errorMessage === undefined ? {} : { error: message.errorMessage }),
    ...(message.usage === undefined ? {} : { usage: { ...message.usage, cost: message.usage.cost?.total ?? 0 } }),
  };
}

function toBlock(part: PiContent): TranscriptBlock[] {
  if ('text' in part) return [{ type: 'text', text: part.text }];
  if ('thinking' in part) return [{ type: 'thinking', text: part.thinking }];
  if ('arguments' in part)
    return [{ type: 'toolCall', id: part.id, name: part.name, arguments: jsonText(part.arguments) }];
  if ('mimeType' in part) return [{ type: 'image', mimeType: part.mimeType }];
  return [];
}

function jsonText(value: unknown): string {
  if (value === undefined) return '';
  try {
    return JSON.stringify(value);
  } catch {
    // Nested deeper than can be written.
    return '…';
  }
}

// Too much of something: many lines, or one long one.
import { assistantMessage, usageOf } from './messages.mjs';
import { throwIfAborted } from './waiting.mjs';

const FILLER = '0123456789abcdef';

/** ASCII text of exactly this many bytes. */
export function filler(bytes) {
  return FILLER.repeat(Math.ceil(bytes / FILLER.length)).slice(0, bytes);
}

/** Bytes handed to the system in one write. */
const BATCH = 64 * 1024;
const MB = 1024 * 1024;

/** What one line of each kind of flood is. */
const FLOODS = {
  deltas: (text) => ({
    type: 'message_update',
    usage: usageOf(),
    assistantMessageEvent: { type: 'text_delta', contentIndex: 0, delta: text },
  }),
  events: (text) => ({
    type: 'tool_execution_update',
    toolCallId: 'call_flood',
    toolName: 'bash',
    args: {},
    partialResult: { content: [{ type: 'text', text }] },
  }),
  unknown: (text) => ({ type: 'not_known_to_anybody', text }),
};

/**
 * Writes `mb` MiB of lines, each of about `lineBytes` bytes, as fast as they are read.
 * @param of `deltas`, `events`, `unknown` (records), `lines` (no JSON, on stdout), `stderr` (lines on stderr)
 * @throws Aborted between two batches
 */
export async function flood(of, { mb = 1, lineBytes = 1000 }, fake, signal) {
  const text = filler(lineBytes);
  const record = FLOODS[of]?.(text);
  const line = `${record ? JSON.stringify(record) : text}\n`;
  const batch = line.repeat(Math.max(1, Math.floor(BATCH / line.length)));
  const target = of === 'stderr' ? fake.errors : fake.output;
  for (let written = 0; written < mb * MB; written += batch.length) {
    throwIfAborted(signal);
    await target.write(batch);
  }
}

/** One record as JSON of exactly `bytes` bytes, shorter only when `bytes` is less than its frame. */
export function bigRecord(as, { bytes, willRetry = false }, fake) {
  if (as === 'line') return filler(bytes);
  const frame = JSON.stringify(bigShape(as, '', willRetry, fake));
  return JSON.stringify(bigShape(as, filler(Math.max(0, bytes - Buffer.byteLength(frame))), willRetry, fake));
}

function bigShape(as, text, willRetry, fake) {
  const message = assistantMessage(fake.model, [{ type: 'text', text }], { usage: usageOf(), stopReason: 'stop' });
  // As long as the frame is measured with one moment and filled with another, its length must not change.
  message.timestamp = 1_700_000_000_000;
  switch (as) {
    case 'message_end':
      return { type: 'message_end', message };
    case 'turn_end':
      return { type: 'turn_end', message, toolResults: [] };
    case 'agent_end':
      return { type: 'agent_end', messages: [message], ...(fake.abilities.settles ? { willRetry } : {}) };
    case 'tool_execution_end':
      return {
        type: 'tool_execution_end',
        toolCallId: 'call_big',
        toolName: 'read',
        result: { content: [{ type: 'text', text }] },
        isError: false,
      };
    default:
      return FLOODS[as]?.(text) ?? { type: as, text };
  }
}

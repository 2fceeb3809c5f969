/** Lines of a transcript mirror as items. */
import { type TranscriptBlock, type TranscriptEntry, transcriptEntry } from '../../../protocol/index.ts';
import { decoded } from './glance.ts';
import type { Group } from './group.ts';
import type { PlacedLine } from './parts.ts';
import type { Place, RefTarget } from './places.ts';

export function readMirrorLine(placed: PlacedLine): TranscriptEntry | undefined {
  const parsed = placed.line && transcriptEntry.safeParse(decoded(placed.line));
  return parsed?.success ? parsed.data : undefined;
}

export function addMirrorLine(group: Group, placed: PlacedLine): void {
  const { place: at, line } = placed;
  if (!line) {
    group.dropped(at);
    return;
  }
  const entry = readMirrorLine(placed);
  if (!entry) {
    group.damaged(at);
    return;
  }
  group.readable();
  addEntry(group, at, entry);
}

function addEntry(group: Group, at: Place, entry: TranscriptEntry): void {
  const { t } = entry;
  switch (entry.type) {
    case 'message':
      addMessage(group, at, entry);
      break;
    case 'delta':
      group.streamed(at, t, entry.kind, entry.index, entry.text);
      break;
    case 'tool.start':
      group.started(at, t, callOf(entry.id, entry.name, entry.arguments));
      break;
    case 'tool.update':
      group.printed(entry.id, entry.text);
      break;
    case 'tool.end': {
      const { id, name, text, isError, durationMs, diff } = entry;
      group.ended(id, { at, t, name, text, isError, durationMs, diff });
      break;
    }
    case 'retry':
      group.retry(at, { t, ...pick(entry) });
      break;
    case 'compaction':
      group.compaction(at, entry.phase === 'start', t, entry.reason, entry.summary);
      break;
    case 'note':
      group.note(at, t, entry.text);
      break;
    default:
      entry satisfies never;
  }
}

function pick({ attempt, maxAttempts, delayMs, error }: Extract<TranscriptEntry, { type: 'retry' }>) {
  return { attempt, maxAttempts, delayMs, error };
}

function addMessage(group: Group, at: Place, message: Extract<TranscriptEntry, { type: 'message' }>): void {
  const { t, role, model = null } = message;
  for (const [index, block] of message.blocks.entries()) {
    if (block.type === 'image') group.image(at, t, index, block.mimeType);
    else if (block.type === 'toolCall') group.call(at, t, index, callOf(block.id, block.name, block.arguments));
    else if (role !== 'assistant') group.user(at, t, index, block.text, role === 'custom' ? 'context' : undefined);
    else group.said(block.type, at, t, index, block.text, model);
  }
  if (role !== 'assistant') return;
  const { stopReason = null, error = null, usage = null } = message;
  group.turn(at, { t, model, stopReason, error, usage });
}

/** Arguments are JSON text, unless they were too long to be kept whole. */
function callOf(id: string, name: string, text: string): { id: string; name: string; value: unknown; text: string } {
  try {
    const value: unknown = JSON.parse(text);
    return { id, name, value, text: prettyJson(value) };
  } catch {
    return { id, name, value: undefined, text };
  }
}

export function prettyJson(value: unknown): string {
  if (value === undefined) return '';
  try {
    return JSON.stringify(value, null, 2);
  } catch {
    // Nested deeper than can be written.
    return '…';
  }
}

/** The whole text that a reference names, out of its line; undefined: it is not there. */
export function mirrorText(entry: TranscriptEntry, target: RefTarget): string | undefined {
  if (entry.type === 'message') {
    const block = target.kind === 'block' || target.kind === 'arguments' ? entry.blocks[target.index] : undefined;
    return block && blockText(block);
  }
  if (target.kind === 'arguments')
    return entry.type === 'tool.start' ? callOf('', '', entry.arguments).text : undefined;
  if (target.kind !== 'text') return undefined;
  if (entry.type === 'tool.end') return entry.text;
  return entry.type === 'compaction' ? entry.summary : undefined;
}

function blockText(block: TranscriptBlock): string | undefined {
  if (block.type === 'toolCall') return callOf('', '', block.arguments).text;
  return block.type === 'image' ? undefined : block.text;
}

/** The piece of a streamed text that a line holds; null: the stream is over. */
export function streamedText(entry: TranscriptEntry, target: Extract<RefTarget, { kind: 'stream' }>): string | null {
  if (entry.type === 'message') return null;
  return entry.type === 'delta' && entry.kind === target.of && entry.index === target.index ? entry.text : '';
}

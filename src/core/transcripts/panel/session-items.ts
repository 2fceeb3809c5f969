/** Lines of one of Pi's session files as items. */
import { decoded } from './glance.ts';
import type { Group } from './group.ts';
import { prettyJson } from './mirror-items.ts';
import type { PlacedLine } from './parts.ts';
import type { Place, RefTarget } from './places.ts';
import { readSessionEntry, type SessionContent, type SessionEntry, type SessionMessage } from './session-entry.ts';

/** Texts for what a session says of itself; `{0}` is the model or the name. */
export interface SessionWords {
  model: string;
  name: string;
}

export function addSessionLine(group: Group, { place: at, line }: PlacedLine, words: SessionWords): void {
  if (!line) return;
  if (!line.data) {
    group.readable();
    addLongLine(group, at, line);
    return;
  }
  const entry = readSessionEntry(decoded(line));
  if (!entry) {
    group.damaged(at);
    return;
  }
  group.readable();
  if (entry !== 'unknown') addEntry(group, at, entry, words);
}

/** A message that is too long to be decoded. Anything else of this length is damage. */
function addLongLine(group: Group, at: Place, line: NonNullable<PlacedLine['line']>): void {
  const head = line.head.toString('utf8');
  const role = /"role":"([A-Za-z]{1,40})"/.exec(head)?.[1];
  const call = /"toolCallId":"([^"\\]{1,256})"/.exec(head)?.[1];
  if (role === 'toolResult' && call !== undefined) {
    const name = /"toolName":"([^"\\]{1,128})"/.exec(head)?.[1] ?? '…';
    const isError = /"isError":true/.test(line.tail.toString('latin1'));
    const raw = { text: head, rawLength: line.bytes };
    group.ended(call, { at, t: 0, name, isError, durationMs: undefined, diff: undefined, ...raw });
  } else if (role !== undefined) group.cut(role === 'assistant' ? 'text' : 'user', at, line);
  else if (!/^\{"type":"[a-z_]+"/.test(head)) group.damaged(at);
}

function timeOf({ timestamp }: { timestamp?: string | undefined }, given?: number): number {
  const t = given ?? (timestamp === undefined ? Number.NaN : Date.parse(timestamp));
  return Number.isFinite(t) ? t : 0;
}

function addEntry(group: Group, at: Place, entry: SessionEntry, words: SessionWords): void {
  const t = timeOf(entry);
  switch (entry.type) {
    case 'session':
      break;
    case 'message':
      addMessage(group, at, timeOf(entry, entry.message.timestamp), entry.message);
      break;
    case 'custom_message':
      if (entry.display !== false) addContents(group, at, t, entry.content, 'context');
      break;
    case 'compaction':
      group.compaction(at, false, t, '', entry.summary);
      break;
    case 'branch_summary':
      // What Pi puts before the model of the branch that was left.
      group.user(at, t, 0, entry.summary, 'context');
      break;
    case 'model_change':
      group.note(
        at,
        t,
        words.model.replace('{0}', () => `${entry.provider}/${entry.modelId}`),
      );
      break;
    case 'session_info': {
      const { name } = entry;
      if (name)
        group.note(
          at,
          t,
          words.name.replace('{0}', () => name),
        );
      break;
    }
    default:
      entry satisfies never;
  }
}

function addContents(
  group: Group,
  at: Place,
  t: number,
  content: SessionMessage['content'],
  origin: 'context' | undefined,
): void {
  if (typeof content === 'string') {
    group.user(at, t, 0, content, origin);
    return;
  }
  for (const [index, part] of content.entries()) {
    if ('text' in part) group.user(at, t, index, part.text, origin);
    else if ('mimeType' in part) group.image(at, t, index, part.mimeType);
  }
}

function addMessage(group: Group, at: Place, t: number, message: SessionMessage): void {
  switch (message.role) {
    case 'user':
      addContents(group, at, t, message.content, undefined);
      break;
    case 'custom':
    case 'hookMessage':
      if (message.display !== false) addContents(group, at, t, message.content, 'context');
      break;
    case 'assistant':
      addAnswer(group, at, t, message);
      break;
    case 'toolResult': {
      const { toolCallId = '', toolName = '…', isError = false, durationMs, details } = message;
      const text = resultText(message.content);
      group.ended(toolCallId, { at, t, name: toolName, text, isError, durationMs, diff: details?.diff });
      break;
    }
    case 'bashExecution': {
      const { command = '', output = '', exitCode, cancelled = false } = message;
      const id = `${at.offset}`;
      group.call(at, t, 0, { id, name: 'bash', value: { command }, text: prettyJson({ command }) });
      const isError = cancelled || (exitCode ?? 0) !== 0;
      group.ended(id, { at, t, name: 'bash', text: output, isError, durationMs: undefined, diff: undefined });
      break;
    }
    default:
      // A system prompt, or a role of a newer Pi.
      break;
  }
}

function addAnswer(group: Group, at: Place, t: number, message: SessionMessage): void {
  const model = [message.provider, message.model].filter(Boolean).join('/') || null;
  const parts: readonly SessionContent[] =
    typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
  for (const [index, part] of parts.entries()) {
    if ('text' in part) group.said('text', at, t, index, part.text, model);
    else if ('thinking' in part) group.said('thinking', at, t, index, part.thinking, model);
    else if ('arguments' in part || 'id' in part) {
      const { id, name, arguments: value } = part;
      group.call(at, t, index, { id, name, value, text: prettyJson(value) });
    } else if ('mimeType' in part) group.image(at, t, index, part.mimeType);
  }
  const { stopReason = null, errorMessage = null, usage } = message;
  const spent = usage ? { ...usage, cost: usage.cost?.total ?? 0 } : null;
  group.turn(at, { t, model, stopReason, error: errorMessage, usage: spent });
}

/** The output of a tool as text; pictures in it are named. */
function resultText(content: SessionMessage['content']): string {
  if (typeof content === 'string') return content;
  return content
    .map((part) => ('text' in part ? part.text : 'mimeType' in part ? `[image ${part.mimeType}]` : ''))
    .join('');
}

/** The whole text that a reference names, out of its line; undefined: it is not there. */
export function sessionText(entry: SessionEntry, target: RefTarget): string | undefined {
  if (entry.type === 'compaction' || entry.type === 'branch_summary') return entry.summary;
  const message = entry.type === 'message' ? entry.message : undefined;
  const content = message ? message.content : entry.type === 'custom_message' ? entry.content : undefined;
  if (message?.role === 'bashExecution') {
    return target.kind === 'text' ? (message.output ?? '') : prettyJson({ command: message.command ?? '' });
  }
  if (content === undefined) return undefined;
  if (target.kind === 'text') return resultText(content);
  if (target.kind !== 'block' && target.kind !== 'arguments') return undefined;
  if (typeof content === 'string') return target.index === 0 ? content : undefined;
  const part = content[target.index];
  if (!part) return undefined;
  if ('text' in part) return part.text;
  if ('thinking' in part) return part.thinking;
  return 'id' in part ? prettyJson(part.arguments) : undefined;
}

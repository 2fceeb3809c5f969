/** What an item holds as text: for its size, for copying, and for what it is called. */
import { cutTextFront, type PanelBody, type PanelItem } from '../../src/protocol/index.ts';

/** The body that grows while the item is streamed; undefined: it has none. */
export function mainBody(item: PanelItem): PanelBody | undefined {
  switch (item.kind) {
    case 'user':
    case 'text':
    case 'thinking':
      return item.body;
    case 'tool':
      return item.output;
    case 'compaction':
      return item.summary ?? undefined;
    case 'image':
    case 'turn':
    case 'retry':
    case 'note':
    case 'gap':
      return undefined;
    default:
      return item satisfies never;
  }
}

/** Characters the page holds for an item, about. */
export function charsOf(item: PanelItem): number {
  const body = mainBody(item)?.text.length ?? 0;
  if (item.kind !== 'tool') return body + 200;
  const diff = item.diff?.lines.reduce((sum, line) => sum + line.text.length + 40, 0) ?? 0;
  return body + item.arguments.text.length + diff + 400;
}

/** The item as plain text, as `c` copies it: exactly what the child said, as far as the page has it. */
export function plainText(item: PanelItem): string {
  switch (item.kind) {
    case 'user':
    case 'text':
    case 'thinking':
      return item.body.text;
    case 'tool':
      return [`${item.name} ${item.title}`.trim(), item.arguments.text, item.output.text].filter(Boolean).join('\n\n');
    case 'compaction':
      return item.summary?.text ?? item.reason;
    case 'turn':
      return item.error ?? [item.model, item.stopReason].filter(Boolean).join(' · ');
    case 'retry':
      return item.error;
    case 'note':
      return item.text;
    case 'image':
      return item.mimeType;
    case 'gap':
      return '';
    default:
      return item satisfies never;
  }
}

/** The item with text added to the end of the body that grows; unchanged when it has none. */
export function grownBy(item: PanelItem, text: string): PanelItem {
  switch (item.kind) {
    case 'user':
    case 'text':
    case 'thinking':
      return { ...item, body: grow(item.body, text) };
    case 'tool':
      return { ...item, output: grow(item.output, text) };
    case 'compaction':
      return item.summary ? { ...item, summary: grow(item.summary, text) } : item;
    case 'image':
    case 'turn':
    case 'retry':
    case 'note':
    case 'gap':
      return item;
    default:
      return item satisfies never;
  }
}

/** Most characters kept of a body that is still growing: its end is what is being watched. */
export const LIVE_CHARS = 32 * 1024;

function grow(body: PanelBody, text: string): PanelBody {
  const joined = body.text + text;
  // Cut rarely and by much, so that most growth is only an append.
  const kept = joined.length > 2 * LIVE_CHARS ? atLineStart(cutTextFront(joined, LIVE_CHARS)) : joined;
  return { ...body, text: kept, length: body.length + text.length };
}

function atLineStart(text: string): string {
  const newline = text.indexOf('\n');
  return newline >= 0 && newline < 2000 ? text.slice(newline + 1) : text;
}

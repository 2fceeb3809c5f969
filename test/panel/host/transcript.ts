/** A transcript in memory that answers what a page asks, as the extension would. */
import {
  type FromTranscriptPanel,
  MAX_PIECE_CHARS,
  type PanelHead,
  type PanelItem,
  type PanelWindow,
  type ToTranscriptPanel,
} from '../../../src/protocol/index.ts';
import { head } from './items.ts';

const PAGE = 60;
const MAX_HITS = 500;

export class ScriptedTranscript {
  items: PanelItem[];
  head: PanelHead;
  draft = '';
  /** Whole texts by their reference. */
  readonly bodies = new Map<string, string>();
  /** Texts that are searched, when they are not the ones of the items. */
  readonly texts = new Map<string, string>();

  constructor(items: PanelItem[], of: PanelHead = head()) {
    this.items = items;
    this.head = of;
  }

  /** The answers to a message of the page; none for what only tells. */
  answers(message: FromTranscriptPanel): ToTranscriptPanel[] {
    switch (message.type) {
      case 'ready':
        return [{ type: 'snapshot', head: this.head, window: this.#end(), draft: this.draft }];
      case 'page':
        return [{ type: 'page', request: message.request, window: this.#page(message.direction, message.cursor) }];
      case 'body.fetch':
        return this.#pieces(message.request, message.ref, message.limit);
      case 'find':
        return message.query === '' ? [] : [this.#find(message)];
      default:
        return [];
    }
  }

  #end(): PanelWindow {
    return this.#window(this.items.length - PAGE, this.items.length);
  }

  #page(direction: 'before' | 'after' | 'around' | 'tail', cursor: string | null): PanelWindow | null {
    if (direction === 'tail') return this.#end();
    const index = this.items.findIndex((item) => item.cursor === cursor);
    if (index < 0) return null;
    if (direction === 'before') return this.#window(index - PAGE, index);
    if (direction === 'after') return this.#window(index + 1, index + 1 + PAGE);
    return this.#window(index - PAGE / 2, index + PAGE / 2);
  }

  #window(from: number, to: number): PanelWindow {
    const start = Math.max(0, from);
    const items = this.items.slice(start, to);
    return {
      items,
      before: start > 0 ? (items[0]?.cursor ?? null) : null,
      after: to < this.items.length ? (items.at(-1)?.cursor ?? null) : null,
    };
  }

  #pieces(request: number, ref: string, limit: number): ToTranscriptPanel[] {
    const text = this.bodies.get(ref)?.slice(0, limit);
    if (text === undefined) return [{ type: 'body', request, text: null, done: true }];
    const pieces: ToTranscriptPanel[] = [];
    for (let at = 0; at < text.length; at += MAX_PIECE_CHARS) {
      const piece = text.slice(at, at + MAX_PIECE_CHARS);
      pieces.push({ type: 'body', request, text: piece, done: at + MAX_PIECE_CHARS >= text.length });
    }
    return pieces;
  }

  #find({ request, query, matchCase }: Extract<FromTranscriptPanel, { type: 'find' }>): ToTranscriptPanel {
    const lower = (text: string) => (matchCase ? text : text.toLowerCase());
    const needle = lower(query);
    const hits = this.items.flatMap((item) => {
      const text = this.texts.get(item.key) ?? textOf(item);
      const found = [];
      for (let at = lower(text).indexOf(needle); at >= 0; at = lower(text).indexOf(needle, at + 1)) {
        const from = Math.max(0, at - 20);
        const excerpt = text.slice(from, at + query.length + 40).replaceAll('\n', ' ');
        found.push({ key: item.key, cursor: item.cursor ?? '', excerpt, at: at - from, length: query.length });
      }
      return found;
    });
    const cut = hits.length > MAX_HITS;
    return { type: 'found', request, hits: hits.slice(0, MAX_HITS), scanned: 1, size: 1, cut, done: true };
  }
}

function textOf(item: PanelItem): string {
  switch (item.kind) {
    case 'user':
    case 'text':
    case 'thinking':
      return item.body.text;
    case 'tool':
      return `${item.arguments.text}\n${item.output.text}`;
    case 'note':
      return item.text;
    default:
      return '';
  }
}

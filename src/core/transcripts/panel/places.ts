/** Places in a transcript: which of its files, and the byte offset in it. They are what cursors and keys are made of. */

export interface Place {
  /** 0 for a file that is alone and for the head of a mirror; from 1 the segments after it. */
  part: number;
  /** -1: what is missing in front of the part. */
  offset: number;
}

export function comparePlaces(a: Place, b: Place): number {
  return a.part - b.part || a.offset - b.offset;
}

/** Where an item stands: the group of lines it comes from, and which of the group's items it is. */
export interface Cursor extends Place {
  slot: number;
}

export function formatCursor({ part, offset }: Place, slot: number): string {
  return `${part}:${offset}:${slot}`;
}

/** `undefined` for what is none: cursors come back from a page and from what was remembered of it. */
export function parseCursor(text: string): Cursor | undefined {
  const match = /^(\d{1,9}):(-1|\d{1,15}):(\d{1,9})$/.exec(text);
  return match ? { part: Number(match[1]), offset: Number(match[2]), slot: Number(match[3]) } : undefined;
}

/** What stands behind a shortened body; see `PanelBody.ref`. */
export type RefTarget =
  /** One block of a message, as text. */
  | { kind: 'block'; index: number }
  /** The arguments of a call that stands in a message. */
  | { kind: 'arguments'; index: number }
  /** The output of a tool, a summary: the one long text of its line. */
  | { kind: 'text' }
  /** Streamed text, from its first piece on. */
  | { kind: 'stream'; of: 'text' | 'thinking' | 'toolCall'; index: number }
  /** The line as it is. */
  | { kind: 'raw' };

const LETTERS = { text: 't', thinking: 'k', toolCall: 'c' } as const;

export function formatRef({ part, offset }: Place, target: RefTarget): string {
  const at = `${part}:${offset}/`;
  switch (target.kind) {
    case 'block':
      return `${at}b${target.index}`;
    case 'arguments':
      return `${at}a${target.index}`;
    case 'text':
      return `${at}t`;
    case 'stream':
      return `${at}s${LETTERS[target.of]}${target.index}`;
    case 'raw':
      return `${at}r`;
    default:
      return target satisfies never;
  }
}

export function parseRef(text: string): (Place & { target: RefTarget }) | undefined {
  const match = /^(\d{1,9}):(\d{1,15})\/(?:b(\d{1,6})|a(\d{1,6})|s([tkc])(\d{1,6})|(t)|(r))$/.exec(text);
  if (!match) return undefined;
  const [, part, offset, block, args, of, index, whole] = match;
  const place = { part: Number(part), offset: Number(offset) };
  if (block !== undefined) return { ...place, target: { kind: 'block', index: Number(block) } };
  if (args !== undefined) return { ...place, target: { kind: 'arguments', index: Number(args) } };
  if (of !== undefined) {
    const streamed = of === 't' ? 'text' : of === 'k' ? 'thinking' : 'toolCall';
    return { ...place, target: { kind: 'stream', of: streamed, index: Number(index) } };
  }
  return { ...place, target: { kind: whole === undefined ? 'raw' : 'text' } };
}

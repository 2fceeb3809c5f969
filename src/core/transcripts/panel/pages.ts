/**
 * Items of a transcript as it was at one moment, page by page in either direction. A page is made of whole groups of lines
 * and cut between items; so it does not matter from where it is read.
 */
import type { PanelItem, PanelWindow } from '../../../protocol/index.ts';
import type { Branch } from './branch.ts';
import type { Format } from './format.ts';
import { Group, type GroupEnd, type OnText, type Surroundings } from './group.ts';
import type { Parts, PlacedLine } from './parts.ts';
import { type Cursor, comparePlaces, type Place, parseCursor } from './places.ts';

export interface PageLimits {
  /** Items of a page. */
  items: number;
  /** Characters of a page, more or less: it ends with the group that goes over. */
  chars: number;
}

export const PAGE_LIMITS: PageLimits = { items: 60, chars: 512 * 1024 };

export interface FoldedGroup {
  group: Group;
  items: PanelItem[];
  end: GroupEnd;
  /** The group behind it. */
  next: Place | undefined;
}

/** Who begins a group with this line; null: nobody. */
export function startOf(format: Format, { line }: PlacedLine): 'assistant' | 'other' | null {
  // What is missing is between two groups.
  return line ? format.glance(line).starts : 'other';
}

export function addLine(format: Format, group: Group, placed: PlacedLine): void {
  const silent = placed.line !== undefined && placed.place.offset > 0 && format.glance(placed.line).silent;
  if (silent) group.readable();
  else format.add(group, placed);
}

const slotOf = (item: PanelItem) => Number(item.cursor?.slice(item.cursor.lastIndexOf(':') + 1) ?? 0);

export function charsOf(item: PanelItem): number {
  switch (item.kind) {
    case 'tool':
      return item.arguments.text.length + item.output.text.length + (item.diff?.lines.length ?? 0) * 40;
    case 'user':
    case 'text':
    case 'thinking':
      return item.body.text.length;
    case 'compaction':
      return item.summary?.text.length ?? 0;
    default:
      return 100;
  }
}

export class Pages {
  readonly parts: Parts;
  readonly branch: Branch;
  readonly #format: Format;
  readonly #around: Surroundings;
  readonly #limits: PageLimits;

  /** @param parts up to the end of the last line that counts */
  constructor(format: Format, parts: Parts, branch: Branch, around: Surroundings, limits: PageLimits = PAGE_LIMITS) {
    this.#format = format;
    this.parts = parts;
    this.branch = branch;
    this.#around = around;
    this.#limits = limits;
  }

  /** The group that begins here. Its branch must have been reached. */
  async fold(start: Place, onText?: OnText): Promise<FoldedGroup> {
    const group = new Group(start, this.#format.prefix, onText);
    for await (const lines of this.parts.forward(start)) {
      for (const placed of lines) {
        if (!this.branch.on(placed.place)) continue;
        const end = comparePlaces(placed.place, start) > 0 ? startOf(this.#format, placed) : null;
        if (end) return { group, items: group.items(end, this.#around), end, next: placed.place };
        addLine(this.#format, group, placed);
      }
    }
    return { group, items: group.items('open', this.#around), end: 'open', next: undefined };
  }

  /** From the last group that begins in front of a place to the first. */
  async *groupsBefore(place: Place, signal?: AbortSignal): AsyncGenerator<FoldedGroup> {
    const { begin } = this.parts;
    if (comparePlaces(place, begin) <= 0) return;
    let first = place;
    for await (const lines of this.parts.backward(place)) {
      signal?.throwIfAborted();
      const lowest = lines.at(-1);
      if (lowest) await this.branch.reach(lowest.place, signal);
      for (const placed of lines) {
        if (!this.branch.on(placed.place) || !startOf(this.#format, placed)) continue;
        first = placed.place;
        yield await this.fold(first);
      }
    }
    // What stands before the first message.
    if (comparePlaces(first, begin) > 0) yield await this.fold(begin);
  }

  /** From the group that begins here to the last. */
  async *groupsFrom(place: Place): AsyncGenerator<FoldedGroup> {
    await this.branch.reach(place);
    for (let at: Place | undefined = place; at; ) {
      const folded: FoldedGroup = await this.fold(at);
      yield folded;
      at = folded.next;
    }
  }

  /** The end of the transcript, and its last group as it stands. */
  async tail(): Promise<{ window: PanelWindow; last: FoldedGroup | undefined }> {
    let last: FoldedGroup | undefined;
    const { items, first } = await this.#gatherBack(this.parts.end, [], this.#limits.items, (folded) => {
      last ??= folded;
    });
    return { window: { items, before: first ? null : (items[0]?.cursor ?? null), after: null }, last };
  }

  /** `undefined`: the cursor's place does not exist. */
  async page(direction: 'before' | 'after' | 'around', text: string): Promise<PanelWindow | undefined> {
    const cursor = parseCursor(text);
    if (!cursor || !(await this.#isLineStart(cursor))) return undefined;
    await this.branch.reach(cursor);
    if (direction === 'before') return this.#before(cursor, text, this.#limits.items);
    if (direction === 'after') return this.#from({ ...cursor, slot: cursor.slot + 1 }, text, this.#limits.items);
    const half = Math.ceil(this.#limits.items / 2);
    const before = await this.#before(cursor, text, half);
    const from = await this.#from(cursor, text, half);
    return { items: [...before.items, ...from.items], before: before.before, after: from.after };
  }

  async #before(cursor: Cursor, text: string, want: number): Promise<PanelWindow> {
    const { items: own } = await this.fold(cursor);
    const inFront = own.filter((item) => slotOf(item) < cursor.slot);
    const { items, first } = await this.#gatherBack(cursor, inFront, want);
    return { items, before: first ? null : (items[0]?.cursor ?? null), after: items.at(-1)?.cursor ?? text };
  }

  /** Items in front of a place, `known` among them. `first`: there are no others. */
  async #gatherBack(
    place: Place,
    known: PanelItem[],
    want: number,
    onGroup?: (folded: FoldedGroup) => void,
  ): Promise<{ items: PanelItem[]; first: boolean }> {
    let items = known;
    let chars = known.reduce((sum, item) => sum + charsOf(item), 0);
    let first = items.length <= want;
    // Even when there is enough, whether there is more is worth knowing: so one group more is looked for.
    for await (const folded of this.groupsBefore(place)) {
      onGroup?.(folded);
      if (folded.items.length === 0) continue;
      if (items.length >= want || chars >= this.#limits.chars) {
        first = false;
        break;
      }
      items = [...folded.items, ...items];
      chars += folded.items.reduce((sum, item) => sum + charsOf(item), 0);
      first = items.length <= want;
    }
    return { items: items.slice(-want), first };
  }

  /** Items from a cursor on. */
  async #from(cursor: Cursor, text: string, want: number): Promise<PanelWindow> {
    const items: PanelItem[] = [];
    let chars = 0;
    let ended = false;
    for await (const folded of this.groupsFrom(cursor)) {
      const isFirst = comparePlaces(folded.group.start, cursor) === 0;
      const more = isFirst ? folded.items.filter((item) => slotOf(item) >= cursor.slot) : folded.items;
      items.push(...more);
      chars += more.reduce((sum, item) => sum + charsOf(item), 0);
      ended = folded.next === undefined && items.length <= want;
      if (items.length >= want || chars >= this.#limits.chars) break;
    }
    const shown = items.slice(0, want);
    return { items: shown, before: shown[0]?.cursor ?? text, after: ended ? null : (shown.at(-1)?.cursor ?? text) };
  }

  /** Cursors come from elsewhere; the file may be another by now. */
  async #isLineStart({ part, offset }: Place): Promise<boolean> {
    const known = this.parts.list.find(({ number }) => number === part);
    if (!known || offset > known.size) return false;
    if (offset <= 0) return true;
    for await (const lines of this.parts.backward({ part, offset })) {
      const line = lines[0]?.line;
      if (line) return line.terminated;
    }
    return true;
  }
}

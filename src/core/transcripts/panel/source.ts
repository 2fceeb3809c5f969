/**
 * One transcript that is open: its end as a window, what changes at its end, and pages of what is before. Everything is read
 * by byte offset as far as it is asked for; nothing but the last group of lines is kept.
 */

import type { FindHit, PanelItem, PanelWindow, SourceContext, SourceFile } from '../../../protocol/index.ts';
import { openRegular } from '../../files/index.ts';
import { addChanges, type Changes, isEmpty, noChanges } from './changes.ts';
import { type FindProgress, findIn } from './find.ts';
import { headerCwd, isUserLine } from './first-lines.ts';
import { type Format, formatOf } from './format.ts';
import { Group, originOf, type Surroundings } from './group.ts';
import { markdownOf } from './markdown.ts';
import { addLine, charsOf, PAGE_LIMITS, type PageLimits, Pages, startOf } from './pages.ts';
import { Parts, type PlacedLine } from './parts.ts';
import { comparePlaces, type Place } from './places.ts';
import type { SessionWords } from './session-items.ts';
import { wholeText } from './texts.ts';

export type { FindHit, FindProgress };

/** More than this at once is not told piece by piece: a fresh window is shorter. */
const MAX_CHANGE_BYTES = 4 * 1024 * 1024;
const MAX_CHANGE_ITEMS = 300;
const MAX_CHANGE_CHARS = 1024 * 1024;

/** How far the first message is looked for: system prompts stand before it. */
const FIRST_USER_BYTES = 8 * 1024 * 1024;

/** Bytes at the end of what was read that are compared before reading on: the file may have been written anew. */
const PROOF_BYTES = 64;

/** A file that nobody is known to write is taken for finished when it has not grown for so long, in milliseconds. */
const QUIET_MS = 10 * 60 * 1000;

const MAX_USERS_KEPT = 50;

export interface SourceSnapshot {
  window: PanelWindow;
  /** The file is there. */
  there: boolean;
  /** Nothing is missing in it as far as can be seen. */
  whole: boolean;
  /** The folder the session was held in, when the file says so. */
  cwd: string | null;
}

export type SourceUpdate = { type: 'snapshot'; snapshot: SourceSnapshot } | { type: 'changes'; changes: Changes };

export interface SourceOptions {
  words?: SessionWords;
  limits?: PageLimits;
  /** Milliseconds; any origin. */
  now?: () => number;
}

export class TranscriptSource {
  readonly #format: Format;
  readonly #limits: PageLimits;
  #context: SourceContext;
  #around: Surroundings;
  #parts = new Parts([]);
  #pages: Pages;
  /** Behind the last line that counts. */
  #end: Place = { part: 0, offset: 0 };
  #identity: string | undefined;
  #proof: Buffer = Buffer.alloc(0);
  /** The last line has no newline and counts all the same. */
  #isTorn = false;
  readonly #now: () => number;
  /** When it grew last while it was open. */
  #grewAt: number | undefined;
  #open: { group: Group; items: PanelItem[] } | undefined;
  #users: PanelItem[] = [];
  #cwd: string | null = null;

  constructor(file: SourceFile, context: SourceContext, options: SourceOptions = {}) {
    this.#format = formatOf(file, options.words ?? { model: 'Model: {0}', name: 'Name: {0}' });
    this.#limits = options.limits ?? PAGE_LIMITS;
    this.#now = options.now ?? (() => performance.now());
    this.#context = context;
    this.#around = { ...context, live: context.live ?? false, firstUser: undefined };
    this.#pages = this.#pagesOf(this.#parts);
  }

  #pagesOf(parts: Parts): Pages {
    return new Pages(this.#format, parts, this.#format.branch(parts), this.#around, this.#limits);
  }

  get #isLive(): boolean {
    return this.#context.live ?? this.#grewAt !== undefined;
  }

  /** Bytes of it, as it stands. */
  get size(): number {
    return this.#pages.parts.bytes;
  }

  async isThere(): Promise<boolean> {
    return (await this.#format.findParts()).length > 0;
  }

  /** Reads the end anew. What was told before is forgotten. */
  async snapshot(): Promise<SourceSnapshot> {
    const parts = new Parts(await this.#format.findParts());
    await this.#settle(parts);
    const view = parts.upTo(this.#end);
    await this.#lookAtHead(view);
    this.#pages = this.#pagesOf(view);
    const { window, last } = await this.#pages.tail();
    this.#open = last && { group: last.group, items: last.items };
    this.#users = [];
    this.#remember(window.items);
    const damaged = window.items.some((item) => item.kind === 'gap');
    return { window, there: parts.list.length > 0, whole: !damaged && !parts.hasDropped, cwd: this.#cwd };
  }

  /** Finds the end: behind the last newline; behind everything when nobody writes any more. */
  async #settle(parts: Parts): Promise<void> {
    this.#parts = parts;
    this.#end = parts.end;
    this.#isTorn = false;
    this.#identity = parts.list.at(-1)?.identity;
    for await (const lines of parts.backward(parts.end)) {
      const last = lines[0];
      if (last?.line && !last.line.terminated && last.place.part === parts.end.part) {
        if (this.#isLive) this.#end = last.place;
        else this.#isTorn = true;
      }
      break;
    }
    await this.#prove();
  }

  async #prove(): Promise<void> {
    this.#proof = await proofOf(this.#parts, this.#end);
  }

  async #lookAtHead(view: Parts): Promise<void> {
    this.#cwd = null;
    let firstUser: Place | undefined;
    search: for await (const lines of view.forward(view.begin)) {
      for (const placed of lines) {
        if (placed.place.offset === 0 && placed.place.part === 0) this.#cwd = headerCwd(placed);
        if (placed.place.part > 0 || placed.place.offset > FIRST_USER_BYTES) break search;
        if (!isUserLine(placed)) continue;
        firstUser = placed.place;
        break search;
      }
    }
    this.#around = { ...this.#around, live: this.#isLive, firstUser };
  }

  /** What came since the last look; `undefined`: nothing that is shown. */
  async poll(): Promise<SourceUpdate | undefined> {
    const parts = new Parts(await this.#format.findParts());
    const present = parts.list.find(({ number }) => number === this.#end.part);
    const size = present?.size ?? 0;
    if (present?.identity !== this.#identity || size < this.#end.offset) return this.#afresh();
    const behind = parts.list.filter(({ number }) => number > this.#end.part).reduce((sum, part) => sum + part.size, 0);
    const growth = size - this.#end.offset + behind;
    if (growth === 0) return this.#quiet();
    const isNews = this.#context.live === null && this.#grewAt === undefined;
    this.#grewAt = this.#now();
    if (growth > MAX_CHANGE_BYTES || this.#isTorn || isNews) return this.#afresh();
    if (!(await proofOf(parts, this.#end)).equals(this.#proof)) return this.#afresh();
    const changes = await this.#take(parts);
    if (!changes) return this.#afresh();
    if (isEmpty(changes)) return undefined;
    this.#remember([...changes.added, ...changes.changed]);
    return { type: 'changes', changes };
  }

  /** It does not grow any more: what has no end will not get one. */
  async #quiet(): Promise<SourceUpdate | undefined> {
    if (this.#context.live !== null || this.#grewAt === undefined || this.#now() - this.#grewAt < QUIET_MS)
      return undefined;
    this.#grewAt = undefined;
    return this.#afresh();
  }

  async #afresh(): Promise<SourceUpdate> {
    return { type: 'snapshot', snapshot: await this.snapshot() };
  }

  /** Reads on. `undefined`: too much, or the conversation went on from elsewhere. */
  async #take(parts: Parts): Promise<Changes | undefined> {
    const changes = noChanges();
    let end = this.#end;
    for await (const lines of parts.forward(end)) {
      for (const placed of lines) {
        const { line, place } = placed;
        // A write under way.
        if (line && !line.terminated && place.part === parts.end.part) continue;
        if (line) {
          const { id, parentId } = this.#format.glance(line);
          if (!this.#pages.branch.append(id, parentId)) return undefined;
        }
        this.#takeLine(placed, changes);
        end = placed.next;
      }
      const chars = [...changes.added, ...changes.changed].reduce((sum, item) => sum + charsOf(item), 0);
      if (changes.added.length > MAX_CHANGE_ITEMS || chars > MAX_CHANGE_CHARS) return undefined;
    }
    this.#parts = parts;
    this.#end = end;
    this.#identity = parts.list.find(({ number }) => number === end.part)?.identity;
    await this.#prove();
    const view = parts.upTo(end);
    this.#pages = new Pages(this.#format, view, this.#pages.branch, this.#around, this.#limits);
    this.#tellOpen(changes);
    return changes;
  }

  #takeLine(placed: PlacedLine, changes: Changes): void {
    const starts = startOf(this.#format, placed);
    if (starts && this.#open && comparePlaces(this.#open.group.start, placed.place) < 0) {
      const { group, items } = this.#open;
      addChanges(changes, items, group.items(starts, this.#around));
      this.#open = undefined;
    }
    if (
      !this.#around.firstUser &&
      placed.place.part === 0 &&
      placed.place.offset <= FIRST_USER_BYTES &&
      isUserLine(placed)
    )
      this.#around = { ...this.#around, firstUser: placed.place };
    // What stands before the first message belongs to the beginning.
    this.#open ??= {
      group: new Group(starts ? placed.place : this.#pages.parts.begin, this.#format.prefix),
      items: [],
    };
    addLine(this.#format, this.#open.group, placed);
  }

  #tellOpen(changes: Changes): void {
    if (!this.#open) return;
    const items = this.#open.group.items('open', this.#around);
    addChanges(changes, this.#open.items, items);
    this.#open.items = items;
  }

  #remember(items: readonly PanelItem[]): void {
    const users = items.filter((item) => item.kind === 'user' && item.origin !== 'context' && item.origin !== 'task');
    this.#users = [...this.#users, ...users].slice(-MAX_USERS_KEPT);
  }

  /** Something was learned beside the file. Returns what that changes. */
  async learn(context: SourceContext): Promise<SourceUpdate | undefined> {
    const wasLive = this.#isLive;
    this.#context = context;
    this.#around = { ...this.#around, ...context, live: this.#isLive };
    const { parts, branch } = this.#pages;
    this.#pages = new Pages(this.#format, parts, branch, this.#around, this.#limits);
    // What was written in part will stay so.
    if (wasLive && !this.#isLive && comparePlaces(this.#end, this.#parts.end) < 0) return this.#afresh();
    const changes = noChanges();
    this.#tellOpen(changes);
    const told = new Set(this.#open?.items.map(({ key }) => key));
    this.#users = this.#users.map((item) => {
      if (item.kind !== 'user' || told.has(item.key)) return item;
      const [, part, offset] = /^.(\d+):(\d+)/.exec(item.key) ?? [];
      const origin = originOf({ part: Number(part), offset: Number(offset) }, item.body.text, this.#around);
      if (origin === item.origin) return item;
      const now = { ...item, origin };
      changes.changed.push(now);
      return now;
    });
    return isEmpty(changes) ? undefined : { type: 'changes', changes };
  }

  /** `undefined`: the cursor's place does not exist any more. */
  async page(
    direction: 'before' | 'after' | 'around' | 'tail',
    cursor: string | null,
  ): Promise<PanelWindow | undefined> {
    if (direction === 'tail' || cursor === null) return (await this.#pages.tail()).window;
    return this.#pages.page(direction, cursor);
  }

  /** The whole of a body in pieces; nothing when it is not there any more. */
  body(ref: string): AsyncGenerator<string> {
    return wholeText(this.#format, this.#parts, ref);
  }

  find(query: string, matchCase: boolean, signal: AbortSignal): AsyncGenerator<FindProgress> {
    return findIn(this.#format, this.#pages, query, matchCase, signal);
  }

  /** The whole as Markdown, in pieces. */
  markdown(title: string): AsyncGenerator<string> {
    return markdownOf(title, this.#pages, (ref) => this.body(ref));
  }
}

/** The last bytes in front of a place. */
async function proofOf(parts: Parts, end: Place): Promise<Buffer> {
  const path = parts.list.find(({ number }) => number === end.part)?.path;
  const length = Math.min(PROOF_BYTES, Math.max(0, end.offset));
  if (path === undefined || length === 0) return Buffer.alloc(0);
  const handle = await openRegular(path).catch(() => undefined);
  if (!handle) return Buffer.alloc(0);
  try {
    const buffer = Buffer.alloc(length);
    const { bytesRead } = await handle.read(buffer, 0, length, end.offset - length);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

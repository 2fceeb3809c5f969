/**
 * The part of the transcript that the page holds: a window that grows by pages and deltas, and lets go of items far from
 * what is being read. Pure data.
 */
import type { PanelItem, PanelWindow, ToTranscriptPanel } from '../../src/protocol/index.ts';
import { charsOf, grownBy } from './item-text.ts';

export interface WindowLimits {
  readonly items: number;
  readonly chars: number;
}

export const WINDOW_LIMITS: WindowLimits = { items: 2000, chars: 16 * 1024 * 1024 };

/** After a cut this part of the limit is left, so that not every delta cuts. */
const KEPT = 0.85;

export type Delta = Extract<ToTranscriptPanel, { type: 'delta' }>;

export class ItemWindow {
  readonly #limits: WindowLimits;
  #items: PanelItem[] = [];
  /** Key → position, counted from `#base`, so that a cut or a page at the start moves nothing. */
  #places = new Map<string, number>();
  #base = 0;
  #chars = 0;
  #before: string | null = null;
  #after: string | null = null;

  constructor(limits: WindowLimits = WINDOW_LIMITS) {
    this.#limits = limits;
  }

  get items(): readonly PanelItem[] {
    return this.#items;
  }

  /** Characters held, about. */
  get chars(): number {
    return this.#chars;
  }

  /** Ask with it for what comes before; null: the window starts at the beginning. */
  get before(): string | null {
    return this.#before;
  }

  /** Ask with it for what comes after; null: the window reaches the end. */
  get after(): string | null {
    return this.#after;
  }

  indexOf(key: string): number {
    const place = this.#places.get(key);
    return place === undefined ? -1 : place - this.#base;
  }

  get(key: string): PanelItem | undefined {
    return this.#items[this.indexOf(key)];
  }

  replace(window: PanelWindow): void {
    this.#items = [];
    this.#chars = 0;
    this.#before = window.before;
    this.#after = window.after;
    this.#base = 0;
    this.#places.clear();
    this.#append(window.items);
  }

  /** Takes in a page of neighbours; items that are there already are brought up to date where they stand. */
  merge(direction: 'before' | 'after', window: PanelWindow): void {
    const fresh = window.items.filter((item) => !this.#update(item));
    if (direction === 'before') {
      this.#prepend(fresh);
      this.#before = window.before;
    } else {
      this.#append(fresh);
      this.#after = window.after;
    }
  }

  /** @returns how many items the transcript has more at its end, also when the window does not reach it */
  apply(delta: Delta): number {
    for (const item of delta.changed) this.#update(item);
    for (const { key, text } of delta.grown) {
      const item = this.get(key);
      if (item) this.#update(grownBy(item, text));
    }
    this.#remove(delta.removed);
    if (this.#after === null) this.#append(delta.added.filter((item) => !this.#update(item)));
    return delta.added.length - delta.removed.length;
  }

  /**
   * Lets go of items at one end until the limits hold. Only up to an item whose place is known, so that what was let go
   * can be asked for again.
   * @returns the keys that are gone
   */
  trim(end: 'start' | 'end'): string[] {
    if (this.#items.length <= this.#limits.items && this.#chars <= this.#limits.chars) return [];
    const items = this.#limits.items * KEPT;
    const chars = this.#limits.chars * KEPT;
    let kept = this.#items.length;
    let left = this.#chars;
    const at = (n: number) => this.#items[end === 'start' ? n : this.#items.length - 1 - n];
    let cut = 0;
    for (let n = 0; kept > 1 && (kept > items || left > chars); n += 1) {
      const item = at(n);
      if (!item) break;
      kept -= 1;
      left -= charsOf(item);
      if (at(n + 1)?.cursor) cut = n + 1;
    }
    return cut === 0 ? [] : this.#cut(end, cut);
  }

  #cut(end: 'start' | 'end', count: number): string[] {
    const gone = end === 'start' ? this.#items.splice(0, count) : this.#items.splice(-count);
    for (const item of gone) {
      this.#places.delete(item.key);
      this.#chars -= charsOf(item);
    }
    if (end === 'start') {
      this.#base += count;
      this.#before = this.#items[0]?.cursor ?? this.#before;
    } else {
      this.#after = this.#items.at(-1)?.cursor ?? this.#after;
    }
    return gone.map((item) => item.key);
  }

  #update(item: PanelItem): boolean {
    const index = this.indexOf(item.key);
    const old = this.#items[index];
    if (!old) return false;
    this.#items[index] = item;
    this.#chars += charsOf(item) - charsOf(old);
    return true;
  }

  #append(items: readonly PanelItem[]): void {
    for (const item of items) {
      if (this.#places.has(item.key)) continue;
      this.#places.set(item.key, this.#base + this.#items.length);
      this.#items.push(item);
      this.#chars += charsOf(item);
    }
  }

  #prepend(items: readonly PanelItem[]): void {
    const fresh = new Map(items.map((item) => [item.key, item]));
    this.#base -= fresh.size;
    this.#items.unshift(...fresh.values());
    let place = this.#base;
    for (const item of fresh.values()) {
      this.#places.set(item.key, place);
      place += 1;
      this.#chars += charsOf(item);
    }
  }

  #remove(keys: readonly string[]): void {
    const gone = new Set(keys.filter((key) => this.#places.has(key)));
    if (gone.size === 0) return;
    const first = Math.min(...[...gone].map((key) => this.indexOf(key)));
    const kept = this.#items.slice(first).filter((item) => !gone.has(item.key));
    for (const key of gone) {
      const item = this.get(key);
      if (item) this.#chars -= charsOf(item);
    }
    for (const key of gone) this.#places.delete(key);
    this.#items.splice(first, this.#items.length - first, ...kept);
    for (const [n, item] of kept.entries()) this.#places.set(item.key, this.#base + first + n);
  }
}

/**
 * What is being read: the window of items, the list that shows it, the place in it, and the focus that walks through it.
 */
import type { PanelItem, PanelWindow } from '../../src/protocol/index.ts';
import type { Folds } from './folds.ts';
import type { ItemContext } from './item-context.ts';
import { ItemList } from './item-list.ts';
import { type Delta, ItemWindow } from './item-window.ts';
import { handleListKey } from './list-keys.ts';
import type { PageParts } from './page-parts.ts';
import { type Direction, type PageChannel, Paging } from './paging.ts';
import { Rows } from './rows.ts';

/** Rows from an end of the window at which its neighbours are asked for. */
const NEAR = 15;

/** An item, and where it stands in the transcript. */
export interface ReadingPlace {
  readonly key: string;
  readonly cursor: string;
}

export interface ReaderEvents extends Pick<PageChannel, 'page' | 'forget' | 'failed'> {
  /** Something beside the rows is to be drawn. */
  changed(): void;
  /** Other rows are in view, or the same ones elsewhere. */
  moved(): void;
  copy(item: PanelItem): void;
}

export class Reader {
  readonly #window = new ItemWindow();
  readonly #folds: Folds;
  readonly #rows: Rows;
  readonly #list: ItemList;
  readonly #paging: Paging;
  readonly #events: ReaderEvents;
  /** Items that came while the end was not followed. */
  #fresh = 0;

  constructor(parts: PageParts, context: ItemContext, events: ReaderEvents) {
    const { scroller, sizer, block } = parts;
    this.#folds = context.folds;
    this.#events = events;
    this.#rows = new Rows(this.#window, context, {
      later: () => this.#list.update(),
      width: () => scroller.clientWidth,
    });
    this.#list = new ItemList(scroller, sizer, block, this.#rows, {
      followingChanged: () => this.#followingChanged(),
      moved: () => this.#moved(),
    });
    const arrived = (how: 'neighbours' | 'replaced') => this.#arrived(how);
    this.#paging = new Paging({ ...events, arrived }, this.#window);
    block.addEventListener('focusin', ({ target }) => this.#focusIn(target));
    scroller.addEventListener('keydown', (event) => this.#keyed(event));
  }

  get isEmpty(): boolean {
    return this.#window.items.length === 0;
  }

  get following(): boolean {
    return this.#list.following;
  }

  get fresh(): number {
    return this.#fresh;
  }

  /** What there is before the first row. */
  get before(): 'loading' | 'more' | 'beginning' {
    if (this.isAsking('before')) return 'loading';
    return this.#window.before === null ? 'beginning' : 'more';
  }

  /** Rows in the document, from the top. */
  get rows(): HTMLElement[] {
    return this.#list.rows;
  }

  /** The first item in view whose place is known; null while the end is followed. */
  get place(): ReadingPlace | null {
    if (this.#list.following) return null;
    const item = this.#window.items.slice(Math.max(0, this.#list.first)).find(({ cursor }) => cursor !== null);
    return item?.cursor ? { key: item.key, cursor: item.cursor } : null;
  }

  isAsking(...directions: Direction[]): boolean {
    return this.#paging.isAsking(...directions);
  }

  itemOf(row: HTMLElement): PanelItem | undefined {
    return this.#window.get(row.dataset['key'] ?? '');
  }

  /** Index among these items of the first that is in view or below it; -1: there is none in the window. */
  nearest(places: readonly ReadingPlace[]): number {
    const first = Math.max(0, this.#list.first);
    return places.findIndex(({ key }) => this.#window.indexOf(key) >= first);
  }

  /** Everything anew; `place` is shown again if it is there, else the end. */
  replace(window: PanelWindow, place: ReadingPlace | null): void {
    this.#paging.cancel();
    this.#window.replace(window);
    this.#fresh = 0;
    if (!place) return;
    this.#list.leaveEnd();
    this.goTo(place, 'start');
  }

  apply(delta: Delta): void {
    this.#handOverFolds(delta);
    const more = this.#window.apply(delta);
    if (!this.#list.following) this.#fresh = Math.max(0, this.#fresh + more);
    this.#trim();
  }

  /** Shows an item, wherever it is; `then` follows when it is in the document. */
  goTo(place: ReadingPlace, where: 'start' | 'center', then: () => void = () => {}): void {
    const show = () => {
      const index = this.#window.indexOf(place.key);
      if (index >= 0) this.#list.scrollTo(index, where);
      then();
    };
    if (this.#window.indexOf(place.key) >= 0) {
      show();
      return;
    }
    this.#list.leaveEnd();
    this.#paging.jump('around', place.cursor, show);
  }

  toEnd(): void {
    this.#fresh = 0;
    if (this.#window.after === null) this.#list.follow();
    else this.#paging.jump('tail', null, () => this.#list.follow());
  }

  /** Gives the focus to the row that had it last, else to the last in view. */
  focus(): void {
    this.#focusRow(this.#focused());
  }

  /** Something that all items show has changed. */
  invalidate(): void {
    this.#rows.invalidate();
  }

  draw(): void {
    this.#list.draw();
  }

  /** What was unfolded while it was streamed stays so when the finished item takes its place. */
  #handOverFolds(delta: Delta): void {
    const added = [...delta.added];
    for (const key of delta.removed) {
      const kind = this.#window.get(key)?.kind;
      const heir = added.findIndex((item) => item.kind === kind);
      const [item] = heir < 0 ? [] : added.splice(heir, 1);
      if (item) this.#folds.move(key, item.key);
      else this.#folds.forget([key]);
    }
  }

  /** Lets go of items at the end that is farther from the view. */
  #trim(): void {
    const lower = this.#list.following || this.#list.first > this.#window.items.length / 2;
    this.#folds.forget(this.#window.trim(lower ? 'start' : 'end'));
  }

  #arrived(how: 'neighbours' | 'replaced'): void {
    if (how === 'replaced') this.#fresh = 0;
    else this.#trim();
    this.#list.draw();
  }

  #followingChanged(): void {
    if (this.#list.following) this.#fresh = 0;
    this.#events.changed();
  }

  #moved(): void {
    if (this.isEmpty) return;
    const { first, last } = this.#list;
    if (first >= 0 && first < NEAR) this.#paging.more('before');
    if (last >= this.#window.items.length - NEAR) this.#paging.more('after');
    this.#oneTabStop();
    this.#events.moved();
  }

  /** Tab leads to one row: the one that had the focus, else the last in view. */
  #oneTabStop(): void {
    const rows = this.#list.rows;
    if (rows.some((row) => row.tabIndex === 0)) return;
    const last = this.#list.row(this.#rows.keyOf(this.#list.last)) ?? rows.at(-1);
    if (last) last.tabIndex = 0;
  }

  #focusIn(target: EventTarget | null): void {
    const row = target instanceof Element ? target.closest<HTMLElement>('.row') : null;
    const key = row?.dataset['key'];
    if (!key || this.#rows.active === key) return;
    for (const other of this.#list.rows) other.tabIndex = other === row ? 0 : -1;
    this.#rows.active = key;
  }

  #focused(): number {
    const key = this.#rows.active;
    const index = key === null ? -1 : this.#window.indexOf(key);
    return index >= 0 ? index : Math.max(0, this.#list.last);
  }

  #focusRow(index: number): void {
    const last = this.#window.items.length - 1;
    const to = Math.max(0, Math.min(last, index));
    const key = this.#rows.keyOf(to);
    this.#rows.active = key;
    if (to === last && this.#window.after === null) this.#list.follow();
    else this.#list.scrollTo(to, 'nearest');
    this.#list.row(key)?.focus({ preventScroll: true });
  }

  #keyed(event: KeyboardEvent): void {
    handleListKey(event, {
      step: (by) => this.#focusRow(this.#focused() + by),
      toStart: () => this.#focusRow(0),
      toEnd: () => {
        this.toEnd();
        this.#focusRow(this.#window.items.length - 1);
      },
      page: (by) => this.#focusRow(this.#focused() + by * Math.max(1, this.#list.last - this.#list.first)),
      toggle: (row) => row.querySelector<HTMLElement>('[data-fold]')?.click(),
      copy: (row) => {
        const item = this.itemOf(row);
        if (item) this.#events.copy(item);
      },
    });
  }
}

/**
 * The virtual list: only rows near the view are in the document. Rows stand in normal flow inside a block that is moved to
 * where the first of them belongs, so that text can be selected across them and a row that grows moves the ones below.
 *
 * It follows the end until the person scrolls up; what happens above the view never moves what is being read.
 */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core';
import { oncePerFrame } from '../shared/frame.ts';

/** Room for the line above the first row: what is being loaded, or that this is the beginning. */
const TOP = 36;
const BOTTOM = 16;
/** Pixels from the end that still count as being there. */
const NEAR_END = 24;
const OVERSCAN = 6;
/** Measuring rows can change which rows are in view; it settles within few rounds. */
const ROUNDS = 4;

export interface ListContent {
  readonly count: number;
  /** The last row is the end of the transcript, not only of what is held of it: only then can it be followed. */
  readonly reachesEnd: boolean;
  keyOf(index: number): string;
  /** Height in pixels before the row has been measured. */
  estimate(index: number): number;
  /** Brings a row up to date; called for every row in the document at every drawing. */
  draw(row: HTMLElement, index: number): void;
  /** The row leaves the document. */
  leave(row: HTMLElement): void;
}

export interface ListEvents {
  /** Following the end began or ended. */
  followingChanged(): void;
  /** What is in view changed. */
  moved(): void;
}

export class ItemList {
  readonly #scroller: HTMLElement;
  readonly #sizer: HTMLElement;
  readonly #block: HTMLElement;
  readonly #content: ListContent;
  readonly #events: ListEvents;
  readonly #rows = new Map<string, HTMLElement>();
  readonly #virtualizer: Virtualizer<HTMLElement, HTMLElement>;
  readonly #unmount: () => void;
  /** Asks for a drawing in the next frame. */
  readonly update: () => void;
  #following = true;
  #lastTop = 0;
  /** Where the view is to be after a drawing, as far as the rows that are measured by then can tell. */
  #goal: (() => number) | null = null;
  #drawing = false;
  #again = false;

  constructor(scroller: HTMLElement, sizer: HTMLElement, block: HTMLElement, content: ListContent, events: ListEvents) {
    this.#scroller = scroller;
    this.#sizer = sizer;
    this.#block = block;
    this.#content = content;
    this.#events = events;
    this.update = oncePerFrame(() => this.draw());
    // Before the virtualizer's own listener, which draws: by then it must be known whether the end is still followed.
    scroller.addEventListener('scroll', () => this.#scrolled(), { passive: true });
    // Slow wheels move by few pixels, which streaming text would take back before they get anywhere.
    scroller.addEventListener('wheel', (event) => this.#wheeled(event), { passive: true });
    this.#virtualizer = new Virtualizer(this.#options());
    this.#unmount = this.#virtualizer._didMount();
    this.#virtualizer._willUpdate();
  }

  [Symbol.dispose](): void {
    this.#unmount();
  }

  get following(): boolean {
    return this.#following;
  }

  /** Rows in the document, from the top. */
  get rows(): HTMLElement[] {
    return [...this.#rows.values()].sort((a, b) => indexOf(a) - indexOf(b));
  }

  /** Index of the first row that is in view at least in part; -1: there is none. */
  get first(): number {
    return this.#virtualizer.getVirtualItemForOffset(this.#scroller.scrollTop)?.index ?? -1;
  }

  /** Index of the last row that is in view at least in part; -1: there is none. */
  get last(): number {
    const bottom = this.#scroller.scrollTop + this.#scroller.clientHeight - 1;
    return this.#virtualizer.getVirtualItemForOffset(bottom)?.index ?? -1;
  }

  follow(): void {
    this.#setFollowing(true);
    this.draw();
  }

  /** Stops following, because the person goes somewhere else by other means than scrolling. */
  leaveEnd(): void {
    this.#setFollowing(false);
  }

  /** Shows a row; `start` puts it at the top, `nearest` moves only as far as needed. */
  scrollTo(index: number, where: 'start' | 'center' | 'nearest'): void {
    this.#setFollowing(false);
    this.#goal = () => this.#offsetFor(index, where);
    this.draw();
    this.#goal = null;
  }

  row(key: string): HTMLElement | undefined {
    return this.#rows.get(key);
  }

  /** Draws now. */
  draw(): void {
    if (this.#drawing) {
      this.#again = true;
      return;
    }
    // The person may have scrolled since, and the event is still on its way.
    this.#scrolled();
    this.#drawing = true;
    try {
      this.#virtualizer.setOptions(this.#options());
      for (let round = 0; round < ROUNDS; round += 1) {
        this.#again = false;
        this.#drawRows();
        if (!this.#again) break;
      }
    } finally {
      this.#drawing = false;
    }
    if (this.#again) this.update();
    this.#events.moved();
  }

  #drawRows(): void {
    const goal = this.#following ? () => this.#end() : this.#goal;
    const aim = goal?.();
    if (aim !== undefined) this.#virtualizer.scrollOffset = aim;
    const items = this.#virtualizer.getVirtualItems();
    const wanted = new Set(items.map((item) => String(item.key)));
    for (const [key, row] of this.#rows) {
      if (wanted.has(key)) continue;
      if (row.contains(document.activeElement)) this.#scroller.focus({ preventScroll: true });
      this.#content.leave(row);
      row.remove();
      this.#rows.delete(key);
    }
    let after: Element | null = this.#block.firstElementChild;
    for (const { key, index } of items) {
      const row = this.#rowOf(String(key));
      row.dataset['index'] = String(index);
      this.#content.draw(row, index);
      if (row === after) after = row.nextElementSibling;
      else this.#block.insertBefore(row, after);
    }
    this.#place(items[0]?.start ?? TOP);
    for (const row of this.#rows.values()) this.#virtualizer.measureElement(row);
    this.#place(this.#virtualizer.getVirtualItems()[0]?.start ?? TOP);
    this.#virtualizer._willUpdate();
    const aimNow = goal?.();
    if (aimNow !== undefined) {
      this.#scroller.scrollTop = aimNow;
      // Rows were measured that the aim depends on.
      if (Math.abs(aimNow - (aim ?? 0)) > 0.5) this.#again = true;
    }
    this.#lastTop = this.#scroller.scrollTop;
  }

  #place(start: number): void {
    this.#sizer.style.height = `${this.#virtualizer.getTotalSize()}px`;
    this.#block.style.transform = `translateY(${Math.round(start)}px)`;
  }

  #rowOf(key: string): HTMLElement {
    const known = this.#rows.get(key);
    if (known) return known;
    const row = document.createElement('article');
    row.className = 'row';
    row.dataset['key'] = key;
    row.tabIndex = -1;
    this.#rows.set(key, row);
    return row;
  }

  #end(): number {
    return Math.max(0, this.#virtualizer.getTotalSize() - this.#scroller.clientHeight);
  }

  #offsetFor(index: number, where: 'start' | 'center' | 'nearest'): number {
    const { scrollTop, clientHeight } = this.#scroller;
    // Asking for the size brings the places of all rows up to date.
    const end = this.#end();
    const item = this.#virtualizer.measurementsCache[index];
    if (!item) return scrollTop;
    const aims = {
      start: item.start,
      center: item.start - Math.max(0, (clientHeight - item.size) / 2),
      nearest: Math.min(item.start, Math.max(scrollTop, item.end - clientHeight)),
    };
    return Math.max(0, Math.min(end, aims[where]));
  }

  #scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
    const atEnd = scrollHeight - clientHeight - scrollTop <= NEAR_END;
    const arrived = atEnd && (scrollTop > this.#lastTop || scrollHeight <= clientHeight);
    if (arrived && this.#content.reachesEnd) this.#setFollowing(true);
    else if (!atEnd && scrollTop < this.#lastTop - 1) this.#setFollowing(false);
    this.#lastTop = scrollTop;
  }

  #wheeled(event: WheelEvent): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
    if (event.deltaY >= 0 || scrollTop <= 0 || scrollHeight <= clientHeight) return;
    if (!this.#isTakenInside(event.target)) this.#setFollowing(false);
  }

  /** A box inside a row that can still be scrolled up takes the wheel for itself. */
  #isTakenInside(target: EventTarget | null): boolean {
    let element = target instanceof Element ? target : null;
    for (; element && element !== this.#scroller; element = element.parentElement)
      if (element.scrollTop > 0) return true;
    return false;
  }

  #setFollowing(following: boolean): void {
    if (following === this.#following) return;
    this.#following = following;
    this.#events.followingChanged();
  }

  #options(): VirtualizerOptions<HTMLElement, HTMLElement> {
    return {
      count: this.#content.count,
      getScrollElement: () => this.#scroller,
      estimateSize: (index) => this.#content.estimate(index),
      getItemKey: (index) => this.#content.keyOf(index),
      scrollToFn: (offset, options, instance) => {
        // What the virtualizer writes is no wish of the person; what they did before it is.
        this.#scrolled();
        elementScroll(offset, options, instance);
        this.#lastTop = this.#scroller.scrollTop;
      },
      observeElementRect,
      observeElementOffset,
      measureElement: (row) => row.getBoundingClientRect().height,
      overscan: OVERSCAN,
      paddingStart: TOP,
      paddingEnd: BOTTOM,
      anchorTo: 'end',
      // Following is decided here, by what the person did, not by where the view happens to be.
      followOnAppend: false,
      scrollEndThreshold: 0,
      initialRect: { width: this.#scroller.clientWidth, height: this.#scroller.clientHeight },
      onChange: (_, sync) => {
        if (this.#drawing) this.#again = true;
        else if (sync) this.draw();
        else this.update();
      },
    };
  }
}

function indexOf(row: HTMLElement): number {
  return Number(row.dataset['index']);
}

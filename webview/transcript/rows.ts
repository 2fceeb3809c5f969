/** Draws items into rows of the list. An item that cannot be drawn shows as that; it never takes the page with it. */
import { html, nothing, render, type TemplateResult } from 'lit';
import type { PanelItem } from '../../src/protocol/index.ts';
import { icon } from '../shared/icons.ts';
import type { ItemContext } from './item-context.ts';
import type { ListContent } from './item-list.ts';
import type { ItemWindow } from './item-window.ts';
import { estimatedHeight, itemName, itemTemplate } from './items/item.ts';
import { brokenItem } from './items/marks.ts';

/** A streamed item is drawn so often that drawing takes about an eighth of the time. */
const STREAMING_SHARE = 8;
const COPIED_KINDS = new Set<PanelItem['kind']>(['user', 'text', 'thinking', 'tool', 'compaction']);

interface Drawn {
  readonly item: PanelItem;
  readonly version: number;
  /** When it may be drawn again for nothing but growth. */
  readonly notBefore: number;
}

export interface RowEvents {
  /** A row waits for its time to be drawn. */
  later(): void;
  width(): number;
}

export class Rows implements ListContent {
  readonly #window: ItemWindow;
  readonly #context: ItemContext;
  readonly #events: RowEvents;
  readonly #drawn = new WeakMap<HTMLElement, Drawn>();
  /** Estimates read whole texts, and the list asks for all of them whenever an item comes or goes. */
  readonly #estimates = new WeakMap<PanelItem, { width: number; height: number }>();
  #version = 0;
  #active: string | null = null;

  constructor(window: ItemWindow, context: ItemContext, events: RowEvents) {
    this.#window = window;
    this.#context = context;
    this.#events = events;
  }

  get count(): number {
    return this.#window.items.length;
  }

  get reachesEnd(): boolean {
    return this.#window.after === null;
  }

  /** Key of the row that Tab leads to. */
  get active(): string | null {
    return this.#active;
  }

  set active(key: string | null) {
    this.#active = key;
  }

  /** Something that all items show has changed. */
  invalidate(): void {
    this.#version += 1;
  }

  keyOf(index: number): string {
    return this.#window.items[index]?.key ?? '';
  }

  estimate(index: number): number {
    const item = this.#window.items[index];
    if (!item) return 28;
    const width = this.#events.width();
    const known = this.#estimates.get(item);
    if (known?.width === width) return known.height;
    const height = estimatedHeight(item, width);
    this.#estimates.set(item, { width, height });
    return height;
  }

  draw(row: HTMLElement, index: number): void {
    const item = this.#window.items[index];
    if (!item) return;
    row.tabIndex = item.key === this.#active ? 0 : -1;
    row.setAttribute('aria-posinset', String(index + 1));
    // How many there are in all nobody knows: only a part of the transcript is here.
    row.setAttribute('aria-setsize', '-1');
    const drawn = this.#drawn.get(row);
    if (drawn?.item === item && drawn.version === this.#version) return;
    const now = performance.now();
    if (drawn?.version === this.#version && isGrowing(item) && isGrowing(drawn.item) && now < drawn.notBefore) {
      this.#events.later();
      return;
    }
    this.#drawItem(row, item);
    const cost = performance.now() - now;
    this.#drawn.set(row, { item, version: this.#version, notBefore: now + cost * STREAMING_SHARE });
  }

  leave(row: HTMLElement): void {
    this.#drawn.delete(row);
  }

  #drawItem(row: HTMLElement, item: PanelItem): void {
    try {
      row.dataset['kind'] = item.kind;
      row.setAttribute('aria-label', itemName(item, this.#context));
      render(this.#template(item), hostOf(row));
    } catch (error) {
      // What had been drawn of it may be in any state: the damaged item gets a place of its own.
      row.replaceChildren();
      const problem = error instanceof Error ? error.message : String(error);
      render(brokenItem(item.key, problem, this.#context), hostOf(row));
      console.error(`item ${item.key} cannot be drawn`, error);
    }
  }

  #template(item: PanelItem): TemplateResult {
    const copy = this.#context.words.text('item.copy');
    return html`${itemTemplate(item, this.#context)}${
      COPIED_KINDS.has(item.kind)
        ? html`<button type="button" class="icon-button copy-item" data-action="copy-item" title=${copy} aria-label=${copy}>
          ${icon('copy')}
        </button>`
        : nothing
    }`;
  }
}

function isGrowing(item: PanelItem): boolean {
  if (item.kind === 'text' || item.kind === 'thinking') return item.streaming;
  return item.kind === 'tool' && item.state === 'running';
}

function hostOf(row: HTMLElement): HTMLElement {
  const first = row.firstElementChild;
  if (first instanceof HTMLElement) return first;
  const host = document.createElement('div');
  host.className = 'row-body';
  row.append(host);
  return host;
}

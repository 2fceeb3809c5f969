/** The places of the page that are drawn apart from each other, made once. */
import { html, render } from 'lit';
import type { TranscriptWord } from '../../src/protocol/index.ts';
import type { Words } from '../shared/words.ts';

export interface PageParts {
  readonly head: HTMLElement;
  readonly trouble: HTMLElement;
  readonly find: HTMLElement;
  readonly scroller: HTMLElement;
  readonly sizer: HTMLElement;
  readonly block: HTMLElement;
  /** The line above the first row. */
  readonly top: HTMLElement;
  /** What stands in the list's place when there is nothing to list. */
  readonly empty: HTMLElement;
  readonly jump: HTMLElement;
  readonly foot: HTMLElement;
  readonly live: HTMLElement;
}

export function makeParts(root: HTMLElement, words: Words<TranscriptWord>): PageParts {
  root.classList.add('page');
  render(
    html`<header data-part="head"></header>
      <div data-part="trouble"></div>
      <div class="list-area">
        <div data-part="find"></div>
        <div class="scroller" data-part="scroller" tabindex="-1">
          <div class="sizer" data-part="sizer">
            <div class="top-line" data-part="top"></div>
            <div class="block" data-part="block" role="feed" aria-label=${words.text('list.name')}></div>
          </div>
        </div>
        <div data-part="empty"></div>
        <div data-part="jump"></div>
      </div>
      <footer data-part="foot"></footer>
      <div class="sr-only" data-part="live" role="status" aria-live="polite"></div>`,
    root,
  );
  const part = (name: string) => {
    const element = root.querySelector<HTMLElement>(`[data-part="${name}"]`);
    if (!element) throw new Error(`the page has no part ${name}`);
    return element;
  };
  return {
    head: part('head'),
    trouble: part('trouble'),
    find: part('find'),
    scroller: part('scroller'),
    sizer: part('sizer'),
    block: part('block'),
    top: part('top'),
    empty: part('empty'),
    jump: part('jump'),
    foot: part('foot'),
    live: part('live'),
  };
}

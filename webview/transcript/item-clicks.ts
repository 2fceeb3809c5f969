/** Clicks on links and small buttons inside items: one listener for all of them, because most come out of Markdown. */
import type { FromTranscriptPanel } from '../../src/protocol/index.ts';
import { isWebLink } from './markdown.ts';

export interface ItemClicks {
  post(message: FromTranscriptPanel): void;
  copy(text: string): void;
  copyItem(row: HTMLElement): void;
}

export function listenForItemClicks(block: HTMLElement, clicks: ItemClicks): void {
  for (const kind of ['click', 'auxclick'] as const)
    block.addEventListener(kind, (event) => {
      const target = event.target instanceof Element ? event.target.closest<HTMLElement>('a, [data-action]') : null;
      if (target?.localName === 'a') followLink(event, target, clicks);
      else if (target && kind === 'click') pressed(target, clicks);
    });
}

function followLink(event: MouseEvent, link: HTMLElement, { post }: ItemClicks): void {
  // The editor's own handling of links would open it a second time.
  event.preventDefault();
  event.stopPropagation();
  const { path, line } = link.dataset;
  const href = link.getAttribute('href') ?? '';
  if (path) post({ type: 'open.file', path, line: line ? Number(line) : null });
  else if (isWebLink(href)) post({ type: 'open.link', url: href });
}

function pressed(button: HTMLElement, { copy, copyItem }: ItemClicks): void {
  const row = button.closest<HTMLElement>('.row');
  switch (button.dataset['action']) {
    case 'copy-code':
      copy(button.parentElement?.querySelector('pre')?.textContent ?? '');
      break;
    case 'copy-item':
      if (row) copyItem(row);
      break;
    default: // the others have listeners of their own
  }
}

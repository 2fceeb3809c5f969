/** The find box, where VS Code's editors have theirs. */
import { html, nothing, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import type { TranscriptWord } from '../../src/protocol/index.ts';
import { controlName, textIn } from '../shared/controls.ts';
import { type IconName, icon } from '../shared/icons.ts';
import type { Words } from '../shared/words.ts';
import type { Find } from './find.ts';
import { messageText } from './shown-text.ts';

export function findBox(find: Find, words: Words<TranscriptWord>, close: () => void): TemplateResult | typeof nothing {
  if (!find.open) return nothing;
  return html`<div class="find" role="search" aria-label=${words.text('find.name')} @keydown=${(event: KeyboardEvent) => keyed(event, find, close)}>
    <div class="find-line">
      <vscode-text-field
        id="find"
        ${controlName(words.text('find.query'))}
        placeholder=${words.text('find.query')}
        .value=${live(find.query)}
        @input=${(event: Event) => find.write(textIn(event))}
      ></vscode-text-field>
      <button
        type="button"
        class="icon-button toggle"
        aria-pressed=${find.matchCase ? 'true' : 'false'}
        title=${words.text('find.matchCase')}
        aria-label=${words.text('find.matchCase')}
        @click=${() => find.setMatchCase(!find.matchCase)}
      >
        ${icon('caseSensitive')}
      </button>
      <span class="count ${find.query !== '' && find.count === 0 && find.progress === undefined ? 'none' : ''}"
        >${findCount(find, words)}</span
      >
      ${button('chevronUp', words.text('find.previous'), () => find.step(-1))}
      ${button('chevronDown', words.text('find.next'), () => find.step(1))}
      ${button('close', words.text('find.close'), close)}
    </div>
    ${excerpt(find)}
  </div>`;
}

/** "3 of 12", as far as it is known. */
export function findCount(find: Find, words: Words<TranscriptWord>): string {
  if (find.query === '') return '';
  const more = find.cut ? '+' : '';
  const searching = find.progress === undefined ? '' : ` ${Math.floor(find.progress * 100)} %`;
  if (find.count === 0)
    return find.progress === undefined ? words.text('find.none') : words.text('find.searching') + searching;
  return words.text('find.of', find.current + 1, `${find.count}${more}`) + searching;
}

/** Where the hit stands, for the ones in parts of the transcript that are folded or too long to show. */
function excerpt(find: Find): TemplateResult | typeof nothing {
  const { hit } = find;
  if (!hit) return nothing;
  const end = hit.at + hit.length;
  return html`<div class="excerpt">
    ${messageText(hit.excerpt.slice(0, hit.at))}<mark>${messageText(hit.excerpt.slice(hit.at, end))}</mark
    >${messageText(hit.excerpt.slice(end))}
  </div>`;
}

function button(picture: IconName, name: string, press: () => void): TemplateResult {
  return html`<button type="button" class="icon-button" title=${name} aria-label=${name} @click=${press}>
    ${icon(picture)}
  </button>`;
}

function keyed(event: KeyboardEvent, find: Find, close: () => void): void {
  const inField = event.target instanceof Element && event.target.id === 'find';
  if (event.key === 'Escape') close();
  else if (event.key === 'Enter' && inField) find.step(event.shiftKey ? -1 : 1);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

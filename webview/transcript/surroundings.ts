/** What stands around the list: trouble, the line above the first row, the state without rows, the way to the end. */
import { html, nothing, type TemplateResult } from 'lit';
import { type ErrorValue, isTerminal, type PanelHead, type TranscriptWord } from '../../src/protocol/index.ts';
import { icon } from '../shared/icons.ts';
import type { Words } from '../shared/words.ts';
import type { HeadActions } from './head.ts';
import { messageText } from './shown-text.ts';

type Shown = TemplateResult | typeof nothing;

/** Something the page or the extension could not do. `error` of the extension, or a text of the page itself. */
export interface Trouble {
  readonly message: string;
  readonly hint: string | null;
  readonly code: string | null;
}

export function troubleOf(error: ErrorValue): Trouble {
  return { message: error.message, hint: error.hint ?? null, code: error.code };
}

export function troubleView(trouble: Trouble | null, words: Words<TranscriptWord>, dismiss: () => void): Shown {
  if (!trouble) return nothing;
  const name = words.text('receipt.dismiss');
  return html`<div class="trouble banner" role="alert">
    ${icon('warning', 'warn')}<span
      >${messageText(trouble.message)}${trouble.hint ? html` ${messageText(trouble.hint)}` : nothing}
      ${trouble.code ? html`<span class="code">(${trouble.code})</span>` : nothing}</span
    >
    <button type="button" class="icon-button" title=${name} aria-label=${name} @click=${dismiss}>${icon('close')}</button>
  </div>`;
}

/** `none`: everything before the first row is there. */
export function topLine(state: 'loading' | 'more' | 'beginning' | 'none', words: Words<TranscriptWord>): Shown {
  switch (state) {
    case 'loading':
      return html`<span class="skeleton"></span><span>${words.text('list.loading')}</span><span class="skeleton"></span>`;
    case 'more':
      return html`<span>${words.text('list.more')}</span>`;
    case 'beginning':
      return html`<span>${words.text('list.beginning')}</span>`;
    case 'none':
      return nothing;
    default:
      return state satisfies never;
  }
}

/** Instead of an empty list: why it is empty, and what comes next. */
export function emptyView(
  head: PanelHead | null,
  failed: boolean,
  words: Words<TranscriptWord>,
  act: HeadActions,
): TemplateResult {
  if (!head && failed)
    return html`<div class="empty">
      ${icon('warning', 'warn')}
      <p>${words.text('empty.failed')}</p>
      <vscode-button appearance="secondary" @click=${() => act.command('open-text')}
        >${words.text('head.openText')}</vscode-button
      >
    </div>`;
  if (!head)
    return html`<div class="empty"><vscode-progress-ring></vscode-progress-ring><p>${words.text('empty.loading')}</p></div>`;
  const alive = head.state !== null && !isTerminal(head.state) && head.state !== 'lost' && head.state !== 'unknown';
  if (alive) return html`<div class="empty">${icon('clock')}<p>${words.text('empty.waiting')}</p></div>`;
  return html`<div class="empty">
    ${icon('history')}
    <p>${words.text('empty.nothing')}</p>
    <div class="answers">
      ${
        head.source.other
          ? html`<vscode-button @click=${() => act.command('switch-source')}
            >${words.text(head.source.kind === 'mirror' ? 'head.showSession' : 'head.showMirror')}</vscode-button
          >`
          : nothing
      }
      ${
        head.can.resume
          ? html`<vscode-button appearance="secondary" @click=${() => act.command('resume')}
            >${words.text('head.resume')}</vscode-button
          >`
          : nothing
      }
    </div>
  </div>`;
}

export function jumpButton(fresh: number, words: Words<TranscriptWord>, press: () => void): TemplateResult {
  return html`<button type="button" class="jump" @click=${press}>
    ${icon('arrowDown')}<span>${fresh > 0 ? words.text('list.jumpNew', fresh) : words.text('list.jump')}</span>
  </button>`;
}

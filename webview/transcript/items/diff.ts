/** What an edit changed: lines with their sign, as in a diff editor. */
import { html, nothing, type TemplateResult } from 'lit';
import type { PanelItem } from '../../../src/protocol/index.ts';
import type { ItemContext } from '../item-context.ts';
import { messageText } from '../shown-text.ts';

export type Diff = NonNullable<Extract<PanelItem, { kind: 'tool' }>['diff']>;

/** Lines shown before a person asks for all. */
const SHOWN_LINES = 200;
const SIGNS = { context: ' ', added: '+', removed: '-' } as const;

export function diffCounts(diff: Diff): { added: number; removed: number } {
  const count = (kind: 'added' | 'removed') => diff.lines.filter((line) => line.kind === kind).length;
  return { added: count('added'), removed: count('removed') };
}

export function diffView(key: string, diff: Diff, context: ItemContext): TemplateResult {
  const { words } = context;
  const all = context.folds.isOpen(key, 'diff', false);
  const lines = all ? diff.lines : diff.lines.slice(0, SHOWN_LINES);
  return html`<div class="diff" role="group" tabindex="0" aria-label=${words.text('diff.name')}>
      ${lines.map(
        ({ kind, text }) =>
          html`<div class="line ${kind}"><span class="sign">${SIGNS[kind]}</span><span>${messageText(text)}</span></div>`,
      )}
    </div>
    ${
      lines.length < diff.lines.length
        ? html`<div class="rest">
          <button type="button" class="link" @click=${() => context.setOpen(key, 'diff', true)}>
            ${words.text('diff.all', diff.lines.length)}
          </button>
        </div>`
        : nothing
    }
    ${diff.cut ? html`<div class="rest">${words.text('diff.cut')}</div>` : nothing}`;
}

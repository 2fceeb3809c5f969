/** What was said to the child, and what it said and thought. */
import { html, nothing, type TemplateResult } from 'lit';
import { cutTextFront, type PanelItem } from '../../../src/protocol/index.ts';
import { icon } from '../../shared/icons.ts';
import type { ItemContext } from '../item-context.ts';
import { LIVE_CHARS } from '../item-text.ts';
import { markdown } from '../markdown-view.ts';
import { messageText, preview } from '../shown-text.ts';
import { foldLine } from './fold.ts';
import { restOf, textOf } from './whole-body.ts';

type Of<Kind extends PanelItem['kind']> = Extract<PanelItem, { kind: Kind }>;

/** Bodies of this length and more are not worth parsing as Markdown: they are logs and dumps. */
const MARKDOWN_CHARS = 64 * 1024;

export function userItem(item: Of<'user'>, context: ItemContext): TemplateResult {
  const { words } = context;
  if (item.origin === 'context') return contextItem(item, context);
  const names = { task: 'user.task', steer: 'user.steer', 'follow-up': 'user.followUp' } as const;
  const icons = { task: 'account', steer: 'comment', 'follow-up': 'account' } as const;
  return html`<div class="user ${item.origin}">
    <div class="by" title=${timeOf(item.t)}>${icon(icons[item.origin])}<span>${words.text(names[item.origin])}</span></div>
    ${said(textOf(item.body, context), false, context)} ${restOf(item.body, words.text(names[item.origin]), context)}
  </div>`;
}

/** Put there by Pi or an extension: of interest when something is to be found out, not while reading. */
function contextItem(item: Of<'user'>, context: ItemContext): TemplateResult {
  const { words } = context;
  const open = context.folds.isOpen(item.key, 'main', false);
  const summary = html`${icon('info')}<span class="name">${words.text('user.context')}</span
    ><span class="preview">${open ? '' : preview(item.body.text, 200)}</span>`;
  return html`<div class="context">
    ${foldLine({ key: item.key, part: 'main', open, summary, kind: 'quiet' }, context)}
    ${
      open
        ? html`<pre class="plain" tabindex="0">${messageText(textOf(item.body, context))}</pre>
          ${restOf(item.body, words.text('user.context'), context)}`
        : nothing
    }
  </div>`;
}

export function textItem(item: Of<'text'>, context: ItemContext): TemplateResult {
  const { words } = context;
  const live = item.streaming && item.body.length > item.body.text.length;
  return html`<div class="text">
    ${live ? html`<div class="rest">${words.text('text.live', Math.round(LIVE_CHARS / 1024))}</div>` : nothing}
    ${said(textOf(item.body, context), item.streaming, context)}
    ${item.streaming ? nothing : restOf(item.body, words.text('text.name'), context)}
  </div>`;
}

export function thinkingItem(item: Of<'thinking'>, context: ItemContext): TemplateResult {
  const { words } = context;
  const open = context.folds.isOpen(item.key, 'main', false);
  const text = textOf(item.body, context);
  const shown = item.streaming ? lastLine(text) : preview(text, 200);
  const summary = html`${icon('thinking', item.streaming ? 'busy' : '')}<span class="name"
      >${words.text(item.streaming ? 'thinking.now' : 'thinking.done')}</span
    ><span class="preview">${open ? '' : shown}</span>`;
  return html`<div class="thinking">
    ${foldLine({ key: item.key, part: 'main', open, summary, kind: 'quiet' }, context)}
    ${
      open
        ? html`<div class="folded">
          ${said(text, item.streaming, context)} ${restOf(item.body, words.text('thinking.done'), context)}
        </div>`
        : nothing
    }
  </div>`;
}

function said(text: string, streaming: boolean, context: ItemContext): TemplateResult {
  if (text.length > MARKDOWN_CHARS) return html`<pre class="plain" tabindex="0">${messageText(text)}</pre>`;
  const surroundings = { highlighter: context.highlighter, copyCode: context.words.text('code.copy') };
  return html`<div class="markdown" ${markdown(text, streaming, surroundings)}></div>`;
}

function lastLine(text: string): string {
  const lines = cutTextFront(text.trimEnd(), 400).split('\n');
  return preview(lines.at(-1) ?? '', 200);
}

/** When it was said, as the person writes times; empty: not known. */
function timeOf(t: number): string {
  return t > 0 ? new Date(t).toLocaleString(document.documentElement.lang || undefined) : '';
}

/** Everything that is not said by anyone: ends of answers, retries, compaction, notes, gaps, images. */
import { html, nothing, type TemplateResult } from 'lit';
import { formatCost, formatDuration, formatTokens, type PanelItem, totalTokens } from '../../../src/protocol/index.ts';
import { icon } from '../../shared/icons.ts';
import type { ItemContext } from '../item-context.ts';
import { firstLine, messageText } from '../shown-text.ts';
import { foldLine } from './fold.ts';
import { restOf, textOf } from './whole-body.ts';

type Of<Kind extends PanelItem['kind']> = Extract<PanelItem, { kind: Kind }>;

/** Ends that need no word: the answer is there, or a tool is called next. */
const ORDINARY_ENDS = new Set(['stop', 'toolUse', 'tool_use', 'end_turn']);

export function turnItem(item: Of<'turn'>, context: ItemContext): TemplateResult {
  const { words } = context;
  const { usage } = item;
  const parts = [
    item.model && messageText(item.model),
    usage && words.text('turn.tokens', formatTokens(totalTokens(usage))),
    usage && usage.cost > 0 && formatCost(usage.cost),
    item.stopReason && !ORDINARY_ENDS.has(item.stopReason) && endText(item.stopReason, context),
  ].filter((part): part is string => typeof part === 'string' && part !== '');
  const detail = usage
    ? words.text(
        'turn.usage',
        formatTokens(usage.input),
        formatTokens(usage.output),
        formatTokens(usage.cacheRead),
        formatTokens(usage.cacheWrite),
      )
    : '';
  // Somebody or a limit wanted it so: nothing is wrong that a person has to look at.
  const wanted = item.stopReason === 'aborted';
  return html`<div class="turn">
    ${
      item.error && !wanted
        ? html`<div class="trouble" role="group" aria-label=${words.text('turn.error')}>
          ${icon('error', 'bad')}<span>${messageText(item.error)}</span>
        </div>`
        : nothing
    }
    ${parts.length > 0 ? html`<div class="small" title=${[detail, wanted && item.error].filter(Boolean).join('\n')}>${parts.join(' · ')}</div>` : nothing}
  </div>`;
}

function endText(reason: string, { words }: ItemContext): string {
  if (reason === 'length' || reason === 'max_tokens') return words.text('turn.length');
  if (reason === 'aborted') return words.text('turn.aborted');
  return messageText(reason);
}

export function retryItem(item: Of<'retry'>, { words }: ItemContext): TemplateResult {
  const text = words.text('retry', item.attempt, item.maxAttempts, formatDuration(item.delayMs));
  return html`<div class="mark">
    ${icon('refresh', 'warn')}<span>${text}</span><span class="preview">${firstLine(item.error, 500)}</span>
  </div>`;
}

export function compactionItem(item: Of<'compaction'>, context: ItemContext): TemplateResult {
  const { words } = context;
  const name = html`${icon('fold', item.running ? 'busy' : '')}<span class="name"
      >${words.text(item.running ? 'compaction.running' : 'compaction.done')}</span
    ><span class="preview">${messageText(item.reason)}</span>`;
  if (!item.summary) return html`<div class="mark">${name}</div>`;
  const open = context.folds.isOpen(item.key, 'main', false);
  return html`<div class="compaction">
    ${foldLine({ key: item.key, part: 'main', open, summary: name, kind: 'quiet' }, context)}
    ${
      open
        ? html`<pre class="plain" tabindex="0">${messageText(textOf(item.summary, context))}</pre>
          ${restOf(item.summary, words.text('compaction.done'), context)}`
        : nothing
    }
  </div>`;
}

export function noteItem(item: Of<'note'>): TemplateResult {
  return html`<div class="mark">${icon('info')}<span class="wrap">${messageText(item.text)}</span></div>`;
}

export function imageItem(item: Of<'image'>, { words }: ItemContext): TemplateResult {
  return html`<div class="mark">${icon('fileMedia')}<span>${words.text('image', messageText(item.mimeType))}</span></div>`;
}

export function gapItem(item: Of<'gap'>, context: ItemContext): TemplateResult {
  const { words } = context;
  const text =
    item.reason === 'limit'
      ? words.text('gap.limit')
      : item.records === null
        ? words.text('gap.damaged')
        : words.text('gap.damagedCount', item.records);
  return html`<div class="mark gap">
    ${icon('warning', 'warn')}<span class="wrap">${text}</span>
    ${
      context.otherSource
        ? html`<button type="button" class="link" @click=${() => context.command('switch-source')}>
          ${words.text('gap.other')}
        </button>`
        : nothing
    }
  </div>`;
}

/** Stands for an item that could not be drawn. */
export function brokenItem(key: string, problem: string, { words, command }: ItemContext): TemplateResult {
  return html`<div class="mark gap" data-broken=${key}>
    ${icon('warning', 'bad')}<span class="wrap">${words.text('item.broken', firstLine(problem, 200))}</span>
    <button type="button" class="link" @click=${() => command('open-text')}>${words.text('head.openText')}</button>
  </div>`;
}

/** A tool call: one compact line, and under it what it was given, what it said and what it changed. */
import { html, nothing, type TemplateResult } from 'lit';
import { ref } from 'lit/directives/ref.js';
import { cutTextFront, formatDuration, type PanelItem } from '../../../src/protocol/index.ts';
import { type IconName, icon } from '../../shared/icons.ts';
import type { ItemContext } from '../item-context.ts';
import { firstLine, lastLines, messageText, outputText } from '../shown-text.ts';
import { diffCounts, diffView } from './diff.ts';
import { foldLine } from './fold.ts';
import { restOf, textOf } from './whole-body.ts';

export type ToolItem = Extract<PanelItem, { kind: 'tool' }>;

/** Lines of output that show of a running or failed tool without unfolding it. */
const PEEK_LINES = 6;
/** Edits of at most so many lines show unasked. */
const SMALL_DIFF = 24;

const ICONS: Record<string, IconName> = {
  bash: 'terminal',
  edit: 'edit',
  find: 'search',
  grep: 'search',
  ls: 'listTree',
  read: 'file',
  write: 'edit',
};

const STATES = {
  running: { icon: 'loading', word: 'tool.running', kind: 'busy spin' },
  done: { icon: 'check', word: 'tool.done', kind: 'good' },
  failed: { icon: 'error', word: 'tool.failed', kind: 'bad' },
  unfinished: { icon: 'circleSlash', word: 'tool.unfinished', kind: 'warn' },
} as const;

export function toolItem(item: ToolItem, context: ItemContext): TemplateResult {
  const { words } = context;
  const open = context.folds.isOpen(item.key, 'main', opensByItself(item));
  const state = STATES[item.state];
  const counts = item.diff ? diffCounts(item.diff) : undefined;
  const summary = html`${icon(ICONS[item.name] ?? 'tools')}<span class="name">${messageText(item.name)}</span
    ><span class="title" title=${firstLine(item.title, 1000)}>${firstLine(item.title, 400)}</span>
    ${
      counts
        ? html`<span class="counts"
          ><span class="added">+${counts.added}</span> <span class="removed">-${counts.removed}</span></span
        >`
        : nothing
    }
    ${item.durationMs === null ? nothing : html`<span class="took">${tookText(item.durationMs)}</span>`}
    <span class="state ${state.kind}" title=${words.text(state.word)}
      >${icon(state.icon, state.kind)}<span class="word ${item.state === 'done' ? 'sr-only' : ''}"
        >${words.text(state.word)}</span
      ></span
    >`;
  return html`<div class="tool ${item.state}">
    <div class="tool-line">
      ${foldLine({ key: item.key, part: 'main', open, summary, kind: 'call' }, context)} ${fileButton(item, context)}
    </div>
    ${open ? details(item, context) : peek(item, context)}
  </div>`;
}

export function opensByItself(item: ToolItem): boolean {
  return item.diff !== null && item.diff.lines.length <= SMALL_DIFF;
}

function details(item: ToolItem, context: ItemContext): TemplateResult {
  const { words, folds } = context;
  // A diff says more about an edit than its arguments, which hold the same twice as JSON, and its answer.
  const byDefault = item.diff === null || item.state === 'failed';
  const hasArguments = !['', '{}'].includes(item.arguments.text.trim());
  const hasOutput = item.output.text.trim() !== '';
  const part = (name: 'arguments' | 'output', box: () => TemplateResult) => {
    const open = folds.isOpen(item.key, name, byDefault);
    const summary = html`<span class="name">${words.text(`tool.${name}`)}</span>`;
    return html`${foldLine({ key: item.key, part: name, open, summary, kind: 'part' }, context)}
    ${open ? box() : nothing}`;
  };
  return html`<div class="details">
    ${item.diff ? diffView(item.key, item.diff, context) : nothing}
    ${hasArguments ? part('arguments', () => argumentsBox(item, context)) : nothing}
    ${hasOutput ? part('output', () => outputBox(item, context)) : nothing}
    ${
      hasOutput || item.state === 'running' || item.diff
        ? nothing
        : html`<div class="rest">${words.text('tool.silent')}</div>`
    }
  </div>`;
}

function argumentsBox(item: ToolItem, context: ItemContext): TemplateResult {
  const name = context.words.text('tool.arguments');
  return html`<pre class="box arguments" tabindex="0" aria-label=${name}>
${messageText(textOf(item.arguments, context))}</pre
    >
    ${restOf(item.arguments, `${item.name} ${name}`, context)}`;
}

function outputBox(item: ToolItem, context: ItemContext): TemplateResult {
  const { words } = context;
  const running = item.state === 'running';
  const missing = running && item.output.length > item.output.text.length;
  return html`${missing ? html`<div class="rest">${words.text('tool.earlier')}</div>` : nothing}
    <pre
      class="box output ${item.state === 'failed' ? 'bad' : ''}"
      tabindex="0"
      aria-label=${words.text('tool.output')}
      ${ref((element) => running && followEnd(element))}
    >
${outputText(textOf(item.output, context))}</pre
    >
    ${running ? nothing : restOf(item.output, `${item.name} ${item.title}`, context)}`;
}

/** What a folded tool shows: its live output, or why it failed. */
function peek(item: ToolItem, context: ItemContext): TemplateResult | typeof nothing {
  if (item.state !== 'running' && item.state !== 'failed') return nothing;
  const text = lastLines(outputText(cutTextFront(item.output.text, 8192)), PEEK_LINES);
  if (text === '') return nothing;
  const kind = item.state === 'failed' ? 'bad' : '';
  return html`<pre class="box peek ${kind}" aria-label=${context.words.text('tool.output')}>${text}</pre>`;
}

function fileButton(item: ToolItem, context: ItemContext): TemplateResult | typeof nothing {
  if (!item.file) return nothing;
  const { path, line } = item.file;
  const name = context.words.text('tool.openFile', line === null ? path : `${path}:${line}`);
  return html`<button
    type="button"
    class="icon-button"
    data-action="open-file"
    title=${name}
    aria-label=${name}
    @click=${() => context.openFile(path, line)}
  >
    ${icon('goToFile')}
  </button>`;
}

/** A box that is scrolled to its end stays there while it grows. */
function followEnd(element: Element | undefined): void {
  if (!element) return;
  const left = element.scrollHeight - element.clientHeight - element.scrollTop;
  // Grown by less than a screenful since it was at its end.
  if (left < element.clientHeight) element.scrollTop = element.scrollHeight;
}

function tookText(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : ms < 10_000 ? `${(ms / 1000).toFixed(1)}s` : formatDuration(ms);
}

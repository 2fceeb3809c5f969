/** The head of the page: whose transcript it is, how the run stands, and what can be done with it. */
import { html, nothing, type TemplateResult } from 'lit';
import {
  formatCost,
  formatDuration,
  formatTokens,
  isTerminal,
  type PanelHead,
  type TranscriptWord,
  totalTokens,
} from '../../src/protocol/index.ts';
import { type IconName, icon } from '../shared/icons.ts';
import type { Words } from '../shared/words.ts';
import { gauge } from './gauge.ts';
import { firstLine, messageText } from './shown-text.ts';

export type HeadCommand = 'interrupt' | 'stop' | 'force-stop' | 'resume' | 'switch-source' | 'open-text';

export interface HeadActions {
  command(name: HeadCommand): void;
  find(): void;
}

type State = NonNullable<PanelHead['state']>;

const STATE_ICONS: Record<State, { icon: IconName; kind: string }> = {
  queued: { icon: 'clock', kind: '' },
  running: { icon: 'loading', kind: 'busy spin' },
  waiting: { icon: 'question', kind: 'warn' },
  paused: { icon: 'debugPause', kind: 'warn' },
  complete: { icon: 'passFilled', kind: 'good' },
  partial: { icon: 'warning', kind: 'warn' },
  failed: { icon: 'error', kind: 'bad' },
  stopped: { icon: 'circleSlash', kind: '' },
  rejected: { icon: 'circleSlash', kind: 'bad' },
  lost: { icon: 'warning', kind: 'bad' },
  unresponsive: { icon: 'warning', kind: 'bad' },
  unknown: { icon: 'question', kind: '' },
};

export function headView(head: PanelHead, now: number, words: Words<TranscriptWord>, act: HeadActions): TemplateResult {
  const facts = [head.agent, head.model, elapsedText(head, now), usageText(head, words)]
    .filter((fact): fact is string => fact !== null && fact !== '')
    .map((fact) => messageText(fact));
  return html`<div class="head-line">
      ${
        head.state
          ? html`<span class="run-state" data-state=${head.state}
            >${icon(STATE_ICONS[head.state].icon, STATE_ICONS[head.state].kind)}<span>${head.stateWord}</span></span
          >`
          : nothing
      }
      <h1 title=${messageText(head.title)}>${firstLine(head.title, 300)}</h1>
      <div class="actions" role="toolbar" aria-label=${words.text('head.actions')}>${actions(head, words, act)}</div>
    </div>
    <div class="facts">
      ${head.activity ? html`<span class="activity">${messageText(head.activity)}</span>` : nothing}
      ${facts.map((fact) => html`<span class="fact">${fact}</span>`)} ${gauge(head.context, words)}
    </div>
    ${
      head.error
        ? html`<div class="trouble" data-error=${head.error.code}>
          ${icon('error', 'bad')}<span
            >${messageText(head.error.message)}${head.error.hint ? html` ${messageText(head.error.hint)}` : nothing}
            <span class="code">(${head.error.code})</span></span
          >
        </div>`
        : nothing
    }`;
}

function actions(head: PanelHead, words: Words<TranscriptWord>, act: HeadActions): (TemplateResult | typeof nothing)[] {
  const { can, source } = head;
  const other = words.text(source.kind === 'mirror' ? 'head.showSession' : 'head.showMirror');
  return [
    action(can.resume, 'resume', 'debugContinue', words.text('head.resume'), act),
    action(can.interrupt, 'interrupt', 'debugPause', words.text('head.interrupt'), act),
    action(can.stop, 'stop', 'debugStop', words.text('head.stop'), act),
    action(can.forceStop, 'force-stop', 'stopCircle', words.text('head.forceStop'), act),
    action(source.other, 'switch-source', 'arrowSwap', other, act),
    action(true, 'open-text', 'output', words.text('head.openText'), act),
    button('find', 'search', words.text('head.find'), () => act.find()),
  ];
}

function action(shown: boolean, name: HeadCommand, picture: IconName, text: string, act: HeadActions) {
  return shown ? button(name, picture, text, () => act.command(name)) : nothing;
}

function button(name: string, picture: IconName, text: string, press: () => void): TemplateResult {
  return html`<vscode-button appearance="icon" data-command=${name} title=${text} aria-label=${text} @click=${press}
    >${icon(picture)}</vscode-button
  >`;
}

/** Time the run has taken; empty while it has not started, and when nobody knows whether it still goes on. */
function elapsedText(head: PanelHead, now: number): string | null {
  if (head.startedAt === null || head.state === null) return null;
  if (head.endedAt !== null) return formatDuration(head.endedAt - head.startedAt);
  const known = !isTerminal(head.state) && head.state !== 'lost' && head.state !== 'unknown';
  return known ? formatDuration(now - head.startedAt) : null;
}

/** The head changes by itself: its time goes on. */
export function isTicking(head: PanelHead): boolean {
  return head.startedAt !== null && head.endedAt === null && elapsedText(head, 0) !== null;
}

function usageText({ usage }: PanelHead, words: Words<TranscriptWord>): string | null {
  if (!usage) return null;
  const tokens = totalTokens(usage);
  if (tokens === 0) return null;
  const text = words.text('turn.tokens', formatTokens(tokens));
  return usage.cost > 0 ? `${text} · ${formatCost(usage.cost)}` : text;
}

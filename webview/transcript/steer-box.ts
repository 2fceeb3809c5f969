/** The foot of the page: messages on their way, and the box to write the next one. */
import { html, nothing, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { repeat } from 'lit/directives/repeat.js';
import type { PanelHead, TranscriptWord } from '../../src/protocol/index.ts';
import { controlName, setText, textIn } from '../shared/controls.ts';
import { type IconName, icon } from '../shared/icons.ts';
import type { Words } from '../shared/words.ts';
import { firstLine, messageText } from './shown-text.ts';
import type { Receipt, ReceiptState, Steering, SteerMode } from './steering.ts';

export const RECEIPT_STATES: Record<ReceiptState, { icon: IconName; kind: string; word: TranscriptWord }> = {
  sending: { icon: 'loading', kind: 'busy spin', word: 'receipt.sending' },
  pending: { icon: 'loading', kind: 'busy spin', word: 'receipt.pending' },
  queued: { icon: 'clock', kind: '', word: 'receipt.queued' },
  delivered: { icon: 'check', kind: 'good', word: 'receipt.delivered' },
  missed: { icon: 'warning', kind: 'warn', word: 'receipt.missed' },
  failed: { icon: 'error', kind: 'bad', word: 'receipt.failed' },
  refused: { icon: 'error', kind: 'bad', word: 'receipt.refused' },
};

export interface SteerActions {
  resume(): void;
  /** Puts a message that did not arrive back into the box. */
  again(id: string): void;
}

export function steerBox(
  head: PanelHead,
  steering: Steering,
  words: Words<TranscriptWord>,
  act: SteerActions,
): TemplateResult {
  return html`${receiptList(steering, words, act)} ${head.can.steer ? box(steering, words) : closed(head, words, act)}`;
}

function receiptList(
  steering: Steering,
  words: Words<TranscriptWord>,
  act: SteerActions,
): TemplateResult | typeof nothing {
  const receipts = steering.receipts();
  if (receipts.length === 0) return nothing;
  return html`<ul class="receipts" aria-label=${words.text('receipt.list')}>
    ${repeat(
      receipts,
      (receipt) => receipt.id,
      (receipt) => receiptLine(receipt, steering, words, act),
    )}
  </ul>`;
}

function receiptLine(
  receipt: Receipt,
  steering: Steering,
  words: Words<TranscriptWord>,
  act: SteerActions,
): TemplateResult {
  const state = RECEIPT_STATES[receipt.state];
  const over = ['missed', 'failed', 'refused'].includes(receipt.state);
  return html`<li class="receipt" data-state=${receipt.state}>
    ${icon(state.icon, state.kind)}
    <span class="word">${words.text(state.word)}</span>
    <span class="preview">${firstLine(receipt.text, 200)}</span>
    ${receipt.message ? html`<span class="reason">${messageText(receipt.message)}</span>` : nothing}
    ${
      receipt.again
        ? html`<button type="button" class="link" data-action="again" @click=${() => act.again(receipt.id)}>
          ${words.text('receipt.again')}
        </button>`
        : nothing
    }
    ${
      over
        ? html`<button
          type="button"
          class="icon-button"
          title=${words.text('receipt.dismiss')}
          aria-label=${words.text('receipt.dismiss')}
          @click=${() => steering.dismiss(receipt.id)}
        >
          ${icon('close')}
        </button>`
        : nothing
    }
  </li>`;
}

function box(steering: Steering, words: Words<TranscriptWord>): TemplateResult {
  const followUp = steering.mode === 'follow-up';
  const name = words.text(followUp ? 'steer.followUpName' : 'steer.name');
  return html`<div class="steer-box">
    <vscode-text-area
      id="steer"
      ${controlName(name)}
      placeholder=${words.text(followUp ? 'steer.followUpHint' : 'steer.hint')}
      rows=${rowsFor(steering.draft)}
      .value=${live(steering.draft)}
      @input=${(event: Event) => steering.write(textIn(event))}
      @keydown=${(event: KeyboardEvent) => keyed(event, steering)}
    ></vscode-text-area>
    <div class="steer-line">
      <select
        id="steer-mode"
        aria-label=${words.text('steer.mode')}
        .value=${live(steering.mode)}
        @change=${(event: Event) => steering.setMode(modeOf(event))}
      >
        <option value="steer">${words.text('steer.modeSteer')}</option>
        <option value="follow-up">${words.text('steer.modeFollowUp')}</option>
      </select>
      <span class="small keys">${words.text('steer.keys')}</span>
      <vscode-button
        appearance="icon"
        id="send"
        title=${words.text('steer.send')}
        aria-label=${words.text('steer.send')}
        @click=${() => steering.send(steering.mode)}
        >${icon('send')}</vscode-button
      >
    </div>
  </div>`;
}

function closed(head: PanelHead, words: Words<TranscriptWord>, act: SteerActions): TemplateResult {
  const reason = head.runId === null ? words.text('steer.noRun') : words.text('steer.closed', head.stateWord);
  return html`<div class="steer-closed">
    ${icon('info')}<span>${reason}</span>
    ${
      head.can.resume
        ? html`<vscode-button appearance="secondary" @click=${() => act.resume()}>${words.text('head.resume')}</vscode-button>`
        : nothing
    }
  </div>`;
}

/** Enter sends, Alt+Enter sends as a follow-up, Shift+Enter is a new line. */
function keyed(event: KeyboardEvent, steering: Steering): void {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  steering.write(textIn(event));
  steering.send(event.altKey ? 'follow-up' : steering.mode);
  // Before the page is drawn again: a second Enter must not send it twice.
  setText(event, steering.draft);
}

function modeOf({ currentTarget }: Event): SteerMode {
  return currentTarget instanceof HTMLSelectElement && currentTarget.value === 'follow-up' ? 'follow-up' : 'steer';
}

function rowsFor(text: string): number {
  return Math.min(8, Math.max(2, text.split('\n').length));
}

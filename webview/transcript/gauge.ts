/** How full the model's context is. */
import { html, nothing, type TemplateResult } from 'lit';
import { ref } from 'lit/directives/ref.js';
import { formatTokens, type PanelHead, type TranscriptWord } from '../../src/protocol/index.ts';
import type { Words } from '../shared/words.ts';

/** From here on Pi will compact soon. */
const NEARLY_FULL = 80;

export function gauge(context: PanelHead['context'], words: Words<TranscriptWord>): TemplateResult | typeof nothing {
  if (!context || context.tokens <= 0) return nothing;
  const tokens = formatTokens(context.tokens);
  if (context.window === null || context.window <= 0)
    return html`<span class="fact">${words.text('gauge.tokens', tokens)}</span>`;
  const percent = Math.min(100, Math.round((context.tokens / context.window) * 100));
  const text = words.text('gauge.of', percent, tokens, formatTokens(context.window));
  return html`<span class="gauge" title=${text}>
    <span
      class="bar ${percent >= NEARLY_FULL ? 'nearly-full' : ''}"
      role="meter"
      aria-label=${words.text('gauge.name')}
      aria-valuemin="0"
      aria-valuemax="100"
      aria-valuenow=${percent}
      aria-valuetext=${text}
      ><span ${ref((bar) => fill(bar, percent))}></span
    ></span>
    <span aria-hidden="true">${percent} %</span>
  </span>`;
}

/** A style attribute would be stopped by the content security policy; the style itself may be set. */
function fill(bar: Element | undefined, percent: number): void {
  if (bar instanceof HTMLElement) bar.style.width = `${percent}%`;
}

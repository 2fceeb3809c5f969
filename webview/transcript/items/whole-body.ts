/** The rest of a body that is longer than what is sent unasked: fetched on demand, or read in an editor. */
import { html, nothing, type TemplateResult } from 'lit';
import type { PanelBody } from '../../../src/protocol/index.ts';
import { FETCH_LIMIT } from '../bodies.ts';
import type { ItemContext } from '../item-context.ts';
import { sizeText } from '../shown-text.ts';

/** The text to show of a body, as far as it is here. */
export function textOf(body: PanelBody, context: ItemContext): string {
  const fetched = body.ref === null ? undefined : context.bodies.get(body.ref);
  return fetched?.state === 'here' ? fetched.text : body.text;
}

/** The line under a body that says what is missing of it and how to get it; nothing when it is whole. */
export function restOf(body: PanelBody, title: string, context: ItemContext): TemplateResult | typeof nothing {
  const { ref } = body;
  if (ref === null) return nothing;
  const { words, bodies } = context;
  const fetched = bodies.get(ref);
  const open = html`<button type="button" class="link" @click=${() => context.openBody(ref, title)}>
    ${words.text('body.open')}
  </button>`;
  if (!fetched) {
    const shown = words.text('body.cut', sizeText(body.text.length), sizeText(body.length));
    const size = sizeText(Math.min(body.length, FETCH_LIMIT));
    return html`<div class="rest">
      <span>${shown}</span>
      <button type="button" class="link" data-action="fetch" @click=${() => bodies.fetch(ref)}>
        ${words.text('body.show', size)}
      </button>
      ${open}
    </div>`;
  }
  switch (fetched.state) {
    case 'coming':
      return html`<div class="rest"><vscode-progress-ring></vscode-progress-ring>${words.text('body.coming')}</div>`;
    case 'missing':
      return html`<div class="rest">${words.text('body.missing')}</div>`;
    case 'here':
      return html`<div class="rest">
        ${
          fetched.text.length < body.length
            ? html`<span>${words.text('body.cut', sizeText(fetched.text.length), sizeText(body.length))}</span>`
            : nothing
        }
        <button type="button" class="link" @click=${() => bodies.release(ref)}>${words.text('body.fold')}</button>
        ${open}
      </div>`;
    default:
      return fetched.state satisfies never;
  }
}

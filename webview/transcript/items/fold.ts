/** A line that unfolds what is under it. */
import { html, type TemplateResult } from 'lit';
import { icon } from '../../shared/icons.ts';
import type { ItemContext } from '../item-context.ts';

export interface Fold {
  readonly key: string;
  readonly part: string;
  readonly open: boolean;
  readonly summary: TemplateResult;
  readonly kind: string;
}

/** The button that is the line. `data-fold` is what Enter on the item presses. */
export function foldLine({ key, part, open, summary, kind }: Fold, context: ItemContext): TemplateResult {
  return html`<button
    type="button"
    class="fold-line ${kind}"
    data-fold
    aria-expanded=${open ? 'true' : 'false'}
    @click=${() => context.setOpen(key, part, !open)}
  >
    ${icon(open ? 'chevronDown' : 'chevronRight', 'twistie')}${summary}
  </button>`;
}

/** Bodies as they are sent unasked: the beginning of a text, or the end of one that is still growing. */
import { cutText, cutTextFront, MAX_INLINE_CHARS, type PanelBody } from '../../../protocol/index.ts';

/** Where the shown end of a growing text may begin: at multiples of this, so that it moves seldom. */
const STEP_CHARS = 8 * 1024;

/** A copy: a slice would keep the whole it was cut from in memory. */
function detached(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}

/** The beginning of a text, and how to get the whole. Pairs of surrogates stay whole. */
export function bodyOf(text: string, ref: () => string): PanelBody {
  if (text.length <= MAX_INLINE_CHARS) return { text, length: text.length, ref: null };
  return { text: detached(cutText(text, MAX_INLINE_CHARS)), length: text.length, ref: ref() };
}

export const NO_BODY: PanelBody = { text: '', length: 0, ref: null };

/** A text that comes piece by piece; only its end is kept. */
export class GrowingText {
  #end = '';
  #length = 0;
  readonly #ref: () => string;

  constructor(ref: () => string) {
    this.#ref = ref;
  }

  add(text: string): void {
    this.#length += text.length;
    const all = this.#end + text;
    this.#end = all.length > 4 * MAX_INLINE_CHARS ? detached(cutTextFront(all, MAX_INLINE_CHARS)) : all;
  }

  /** What is kept of it: all while it is short. */
  get end(): string {
    return this.#end;
  }

  body(): PanelBody {
    const length = this.#length;
    const over = length - MAX_INLINE_CHARS;
    if (over <= 0) return { text: this.#end, length, ref: null };
    const from = Math.ceil(over / STEP_CHARS) * STEP_CHARS;
    return { text: detached(this.#end.slice(from - length)), length, ref: this.#ref() };
  }
}

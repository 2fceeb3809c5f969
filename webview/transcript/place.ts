/** What the page remembers across reloads: whose transcript it is and the place in it. Never content. */
import { type TranscriptPanelState, transcriptPanelState } from '../../src/protocol/index.ts';
import type { EditorApi } from '../shared/bridge.ts';

export type Subject = TranscriptPanelState['subject'];
export type Anchor = TranscriptPanelState['anchor'];

const SAVE_MS = 250;

export class Place {
  readonly #api: EditorApi;
  readonly #subject: Subject;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #anchor: Anchor = null;

  constructor(api: EditorApi, subject: Subject) {
    this.#api = api;
    this.#subject = subject;
  }

  /** The place an earlier page of the same transcript stood at; null: at the end, or there was none. */
  restore(): Anchor {
    const parsed = transcriptPanelState.safeParse(this.#api.getState());
    const same = parsed.success && JSON.stringify(parsed.data.subject) === JSON.stringify(this.#subject);
    this.#anchor = same ? parsed.data.anchor : null;
    this.#save();
    return this.#anchor;
  }

  moveTo(anchor: Anchor): void {
    if (anchor?.key === this.#anchor?.key && anchor?.cursor === this.#anchor?.cursor) return;
    this.#anchor = anchor;
    this.#timer ??= setTimeout(() => this.flush(), SAVE_MS);
  }

  flush(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#save();
  }

  #save(): void {
    const state: TranscriptPanelState = { version: 1, subject: this.#subject, anchor: this.#anchor };
    this.#api.setState(state);
  }
}

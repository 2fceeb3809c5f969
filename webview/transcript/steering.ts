/**
 * What the person tells the child: the text being written, and every message on its way until its receipt has been seen.
 * No document in here: `steer-box.ts` draws it.
 */
import type { PanelHead, ToTranscriptPanel } from '../../src/protocol/index.ts';

export type SteerMode = 'steer' | 'follow-up';
export type ReceiptState = 'sending' | 'pending' | 'queued' | 'delivered' | 'missed' | 'failed' | 'refused';

/** A message with what is known of it. */
export interface Receipt {
  readonly id: string;
  readonly mode: SteerMode;
  readonly text: string;
  readonly state: ReceiptState;
  readonly message: string | null;
  /** It did not arrive and its whole text is known: it can be put back into the box. */
  readonly again: boolean;
}

export interface SteerChannel {
  /** Sends a message; `answer` gets its receipt. Returns the number of the request. */
  steer(mode: SteerMode, text: string, answer: (message: ToTranscriptPanel) => void): number;
  forget(request: number): void;
  saveDraft(text: string): void;
  changed(): void;
  /** What became of a message, for those who do not see it. */
  told(state: ReceiptState, message: string | null): void;
}

/** Milliseconds for which a message that has arrived is still shown. */
const ARRIVED_MS = 6000;
const DRAFT_MS = 400;

interface Sent {
  readonly request: number;
  readonly mode: SteerMode;
  readonly text: string;
  readonly state: ReceiptState;
  readonly message: string | null;
  /** Messages that the run knew when this one was sent: none of them is it. */
  readonly before: ReadonlySet<string>;
}

export class Steering {
  readonly #channel: SteerChannel;
  #mode: SteerMode = 'steer';
  #draft = '';
  #sent: Sent[] = [];
  #known: PanelHead['steering'] = [];
  /** Messages of the run that the person has seen the end of. */
  readonly #seen = new Set<string>();
  /** Whole texts of messages of this page, by the run's name for them: the run repeats only their beginnings. */
  readonly #texts = new Map<string, string>();
  /** Messages that arrived while the page was open, and are shown for a moment. */
  readonly #arriving = new Set<string>();
  #draftTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(channel: SteerChannel) {
    this.#channel = channel;
  }

  get mode(): SteerMode {
    return this.#mode;
  }

  get draft(): string {
    return this.#draft;
  }

  setMode(mode: SteerMode): void {
    this.#mode = mode;
    this.#channel.changed();
  }

  /** The draft of an earlier page, unless something has been written here already. */
  restoreDraft(text: string): void {
    if (this.#draft === '') this.#draft = text;
  }

  write(text: string): void {
    this.#draft = text;
    clearTimeout(this.#draftTimer);
    this.#draftTimer = setTimeout(() => this.flushDraft(), DRAFT_MS);
  }

  /** Hands the draft over now: the page may go away. */
  flushDraft(): void {
    if (this.#draftTimer === undefined) return;
    clearTimeout(this.#draftTimer);
    this.#draftTimer = undefined;
    this.#channel.saveDraft(this.#draft);
  }

  send(mode: SteerMode): void {
    const text = this.#draft;
    if (text.trim() === '') return;
    const request = this.#channel.steer(mode, text, (message) => this.#answered(request, message));
    const before = new Set(this.#known.map((one) => one.requestId));
    this.#sent.push({ request, mode, text, state: 'sending', message: null, before });
    this.#draft = '';
    clearTimeout(this.#draftTimer);
    this.#draftTimer = undefined;
    this.#channel.saveDraft('');
    this.#channel.changed();
  }

  /** What the run says of its messages now. `first`: with the page's first snapshot, old news is not shown. */
  update(steering: PanelHead['steering'], first: boolean): void {
    const before = new Map(this.#known.map((one) => [one.requestId, one.state]));
    for (const one of steering) {
      if (first && !isOpen(one.state)) this.#seen.add(one.requestId);
      else if (one.state === 'delivered' && before.get(one.requestId) !== 'delivered') this.#arrived(one.requestId);
      if (!first && !isOpen(one.state) && before.get(one.requestId) !== one.state)
        this.#channel.told(one.state, one.reason);
    }
    this.#known = steering;
    // The run's own word replaces the receipt; only the whole text is kept, to put it back if it is missed.
    this.#sent = this.#sent.filter((sent) => sent.state === 'sending' || !this.#handedOver(sent));
  }

  receipts(): Receipt[] {
    const ofRun = this.#known
      .filter((one) => !this.#seen.has(one.requestId))
      .filter((one) => one.state !== 'delivered' || this.#arriving.has(one.requestId))
      .map((one) => ({
        id: one.requestId,
        mode: one.mode,
        text: one.preview,
        state: one.state,
        message: one.reason,
        again: (one.state === 'missed' || one.state === 'failed') && this.#texts.has(one.requestId),
      }));
    // The run may tell of a message before its sender is answered.
    const own = this.#sent
      .filter((sent) => sent.state !== 'sending' || !this.#handedOver(sent))
      .map((sent) => ({
        id: `own-${sent.request}`,
        mode: sent.mode,
        text: sent.text,
        state: sent.state,
        message: sent.message,
        again: sent.state === 'refused' || sent.state === 'failed' || sent.state === 'missed',
      }));
    return [...ofRun, ...own];
  }

  /** The person has seen it. */
  dismiss(id: string): void {
    this.#seen.add(id);
    this.#texts.delete(id);
    this.#sent = this.#sent.filter((sent) => `own-${sent.request}` !== id);
    this.#channel.changed();
  }

  /** Puts a message that did not arrive back into the box, before what stands there. */
  again(id: string): void {
    const text = this.#sent.find((one) => `own-${one.request}` === id)?.text ?? this.#texts.get(id);
    if (text === undefined) return;
    this.#draft = this.#draft.trim() === '' ? text : `${text}\n\n${this.#draft}`;
    this.#channel.saveDraft(this.#draft);
    this.dismiss(id);
  }

  #answered(request: number, message: ToTranscriptPanel): void {
    const sent = this.#sent.find((one) => one.request === request);
    if (!sent) return;
    this.#channel.forget(request);
    const next: Sent =
      message.type === 'receipt'
        ? { ...sent, state: message.state, message: message.message }
        : message.type === 'failed'
          ? { ...sent, state: 'failed', message: message.error.message }
          : sent;
    this.#sent = this.#sent.map((one) => (one === sent ? next : one));
    this.#channel.told(next.state, next.message);
    if (next.state !== 'refused' && this.#handedOver(next)) this.#sent = this.#sent.filter((one) => one !== next);
    else if (next.state === 'delivered') setTimeout(() => this.dismiss(`own-${request}`), ARRIVED_MS);
    this.#channel.changed();
  }

  /** Whether the run shows this message itself by now: then the receipt of this page has done its work. */
  #handedOver(sent: Sent): boolean {
    const start = sent.text.replace(/\s+/g, ' ').trim();
    const known = this.#known.findLast((one) => {
      const preview = one.preview.replace(/…$/, '').replace(/\s+/g, ' ').trim();
      const isNew = !sent.before.has(one.requestId) && !this.#seen.has(one.requestId);
      return isNew && one.mode === sent.mode && preview !== '' && start.startsWith(preview);
    });
    if (known) this.#texts.set(known.requestId, sent.text);
    return known !== undefined;
  }

  #arrived(requestId: string): void {
    this.#arriving.add(requestId);
    setTimeout(() => {
      this.#arriving.delete(requestId);
      this.#seen.add(requestId);
      this.#channel.changed();
    }, ARRIVED_MS);
  }
}

function isOpen(state: PanelHead['steering'][number]['state']): boolean {
  return state === 'pending' || state === 'queued';
}

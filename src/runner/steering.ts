/**
 * Messages to a working child, with honest receipts: `queued` when the child has taken a message into its queue, `delivered`
 * only when the model is asked with it in front of it, `missed` when the child ended before that.
 */
import { join } from 'node:path';
import type { Child } from '../core/children/index.ts';
import { makePrivateFolder } from '../core/files/index.ts';
import { redact } from '../core/transcripts/index.ts';
import {
  cutText,
  lanesError,
  MAX_STEER_BYTES,
  type RpcParams,
  type RpcResult,
  toErrorValue,
} from '../protocol/index.ts';
import type { OpenRun } from './open-run.ts';

type Receipt = RpcResult<'steer'>;

interface Message {
  requestId: string;
  mode: 'steer' | 'follow-up';
  text: string;
  state: 'waiting' | 'queued' | 'heard' | 'over';
  receipt: ((receipt: Receipt) => void) | undefined;
}

/** Milliseconds a caller waits for more than `queued`. */
const RECEIPT_MS = 3000;
const PREVIEW_CHARS = 160;
const ENDED_FIRST = 'the agent ended before it took the message up';
const HANDLED = 'an extension of the agent dealt with it; its model was not asked';

export class Steering {
  readonly #run: OpenRun;
  readonly #of: { child?: number };
  readonly #messages: Message[] = [];
  /** By request: one that is sent again is not carried out again. */
  readonly #answers = new Map<string, Promise<Receipt>>();
  /** Requests that are being written to the journal. */
  readonly #noting = new Set<Promise<Message>>();
  readonly #givenUp = new WeakSet<Child>();
  /** Messages on their way to the child. */
  readonly #handing = new Set<Promise<void>>();
  #child: Child | undefined;
  #closed = false;

  /** @param child number of the child, where a run has several */
  constructor(run: OpenRun, child?: number) {
    this.#run = run;
    this.#of = child === undefined ? {} : { child };
  }

  /** Journals the request, hands it to the child, and answers with the receipt as far as it is known in time. */
  request(params: RpcParams<'steer'>): Promise<Receipt> {
    const known = this.#answers.get(params.requestId);
    if (known) return known;
    const answer = this.#take(params);
    this.#answers.set(params.requestId, answer);
    return answer;
  }

  async #take(params: RpcParams<'steer'>): Promise<Receipt> {
    const { message: text } = params;
    const bytes = Buffer.byteLength(text);
    if (text.trim() === '') throw lanesError('steer_empty');
    if (bytes > MAX_STEER_BYTES) {
      throw lanesError('steer_too_large', { bytes, max: MAX_STEER_BYTES });
    }
    if (this.#closed) return { state: 'missed', reason: 'the agent has ended its work' };
    const noted = this.#noteRequest(params);
    this.#noting.add(noted);
    const entry = await noted.finally(() => this.#noting.delete(noted));
    const receipt = new Promise<Receipt>((resolve) => {
      entry.receipt = resolve;
    });
    if (entry.state === 'over') return { state: 'missed', reason: ENDED_FIRST };
    if (this.#closed) await this.#settle(entry, 'missed', ENDED_FIRST);
    // A child that came meanwhile has been told already.
    else if (this.#child && entry.state === 'waiting') await this.#hand(this.#child, entry);
    let timer: NodeJS.Timeout | undefined;
    const soFar = new Promise<Receipt>((resolve) => {
      timer = setTimeout(
        () => resolve({ state: 'queued', reason: this.#child ? null : 'the agent is still starting' }),
        RECEIPT_MS,
      );
    });
    try {
      return await Promise.race([receipt, soFar]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #noteRequest({ requestId, by, mode, message: text }: RpcParams<'steer'>): Promise<Message> {
    const folder = join(this.#run.layout.directory, 'control');
    await makePrivateFolder(folder);
    const message = await this.#run.store(join(folder, `${requestId}.txt`), text);
    const preview = cutText(redact(text).replace(/\s+/g, ' '), PREVIEW_CHARS);
    await this.#run.append({ type: 'control.requested', requestId, ...this.#of, action: mode, by, message, preview });
    const entry: Message = { requestId, mode, text, state: 'waiting', receipt: undefined };
    this.#messages.push(entry);
    return entry;
  }

  /** The child has been given its prompt: what waited is handed over now. */
  async attach(child: Child): Promise<void> {
    this.#child = child;
    for (const message of this.#messages) if (message.state === 'waiting') await this.#hand(child, message);
  }

  #hand(child: Child, message: Message): Promise<void> {
    const handed = this.#handOver(child, message).finally(() => this.#handing.delete(handed));
    this.#handing.add(handed);
    return handed;
  }

  async #handOver(child: Child, message: Message): Promise<void> {
    try {
      message.state = 'queued';
      const { disposition } = await child.steer(message.text, message.mode);
      if (disposition === 'handled') await this.#settle(message, 'missed', HANDLED);
      // The child may have heard it already while we wrote.
      else if (message.state === 'queued') await this.#note(message, 'queued', null);
    } catch (error) {
      // A child that was given up refuses nothing: the message waits for the next one.
      if (!this.#closed && !this.#givenUp.has(child))
        await this.#settle(message, 'failed', toErrorValue(error).message);
    }
  }

  /**
   * The child says that its work is over. Nothing more is handed to it until it is attached again; resolves when what was on
   * its way has arrived, because that may have begun more work.
   */
  async quiet(): Promise<void> {
    this.#child = undefined;
    await Promise.all(this.#handing);
  }

  /** The child is given up and another one follows: what this one did not take up waits for that. */
  detach(child: Child | undefined): void {
    if (child) this.#givenUp.add(child);
    this.#child = undefined;
    for (const message of this.#messages) if (message.state === 'queued') message.state = 'waiting';
  }

  /** A user message stands in the child's conversation. */
  heard(text: string): void {
    const queued = this.#messages.filter((message) => message.state === 'queued');
    const same =
      queued.find((message) => message.text === text) ?? queued.find((message) => message.text.trim() === text.trim());
    if (same) same.state = 'heard';
  }

  /** The model is asked: everything heard is in front of it. */
  modelAsked(): void {
    for (const message of this.#messages) {
      // A receipt that cannot be written shows at the next step that must be.
      if (message.state === 'heard') this.#settle(message, 'delivered', null).catch(() => undefined);
    }
  }

  /** The child's work is over: what it did not take up is missed, never silently lost. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#child = undefined;
    // What is on its way into the journal comes before the end.
    await Promise.allSettled(this.#noting);
    for (const message of this.#messages)
      if (message.state !== 'over') await this.#settle(message, 'missed', ENDED_FIRST);
  }

  async #note(
    message: Message,
    outcome: 'queued' | 'delivered' | 'missed' | 'failed',
    reason: string | null,
  ): Promise<void> {
    await this.#run.append({ type: 'control.settled', requestId: message.requestId, outcome, reason });
  }

  async #settle(message: Message, outcome: 'delivered' | 'missed' | 'failed', reason: string | null): Promise<void> {
    if (message.state === 'over') return;
    message.state = 'over';
    await this.#note(message, outcome, reason);
    message.receipt?.({ state: outcome, reason });
  }
}

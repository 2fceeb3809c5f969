/** Finding in the whole transcript: the query, its hits as they come, and which of them is shown. */
import type { ErrorValue, ToTranscriptPanel } from '../../src/protocol/index.ts';

export type Hit = Extract<ToTranscriptPanel, { type: 'found' }>['hits'][number];

export interface FindChannel {
  find(query: string, matchCase: boolean, answer: (message: ToTranscriptPanel) => void): number;
  forget(request: number): void;
  /** Which of the hits is nearest below the top of the view; -1: none that is known yet. */
  nearest(hits: readonly Hit[]): number;
  show(hit: Hit, occurrence: number): void;
  changed(): void;
  failed(error: ErrorValue): void;
}

const TYPING_MS = 150;

export class Find {
  readonly #channel: FindChannel;
  #open = false;
  #query = '';
  #matchCase = false;
  #hits: Hit[] = [];
  #current = -1;
  #cut = false;
  #progress: { scanned: number; size: number } | undefined;
  #request: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** What was found from outside, until the search comes to it. */
  #sought: { hit: Hit; occurrence: number } | undefined;

  constructor(channel: FindChannel) {
    this.#channel = channel;
  }

  get open(): boolean {
    return this.#open;
  }

  get query(): string {
    return this.#query;
  }

  get matchCase(): boolean {
    return this.#matchCase;
  }

  get count(): number {
    return this.#hits.length;
  }

  /** More hits are there than are told. */
  get cut(): boolean {
    return this.#cut;
  }

  /** From 0; -1: none is shown. */
  get current(): number {
    return this.#current;
  }

  get hit(): Hit | undefined {
    return this.#hits[this.#current] ?? this.#sought?.hit;
  }

  /** The current hit is the so-manieth of its item, from 0. */
  get occurrence(): number {
    const hit = this.hit;
    if (this.#current < 0) return this.#sought?.occurrence ?? 0;
    let before = 0;
    for (let n = this.#current - 1; hit && this.#hits[n]?.key === hit.key; n -= 1) before += 1;
    return before;
  }

  /** Part that has been searched, 0 to 1; undefined: nothing is being searched. */
  get progress(): number | undefined {
    if (!this.#progress) return undefined;
    return this.#progress.size > 0 ? this.#progress.scanned / this.#progress.size : 0;
  }

  start(): void {
    this.#open = true;
    if (this.#query !== '' && this.#request === undefined && this.#hits.length === 0) this.#search();
    this.#channel.changed();
  }

  close(): void {
    this.#open = false;
    this.#end();
    this.#sought = undefined;
    this.#hits = [];
    this.#current = -1;
    this.#channel.changed();
  }

  /** Shows a hit that is known already, the so-manieth of its item from 0; the others are counted as they come. */
  seek(query: string, hit: Hit, occurrence: number): void {
    this.#open = true;
    this.#query = query;
    this.#matchCase = false;
    this.#search();
    this.#sought = { hit, occurrence };
    this.#channel.show(hit, occurrence);
    this.#channel.changed();
  }

  write(query: string): void {
    this.#query = query;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#search(), TYPING_MS);
  }

  setMatchCase(matchCase: boolean): void {
    this.#matchCase = matchCase;
    this.#search();
  }

  step(by: 1 | -1): void {
    if (this.#timer !== undefined) this.#search();
    if (this.#hits.length === 0) return;
    const from = this.#current < 0 ? (by > 0 ? -1 : 0) : this.#current;
    this.#goTo((from + by + this.#hits.length) % this.#hits.length);
  }

  #search(): void {
    this.#end();
    this.#sought = undefined;
    this.#hits = [];
    this.#current = -1;
    this.#cut = false;
    if (this.#query !== '') {
      this.#progress = { scanned: 0, size: 0 };
      this.#request = this.#channel.find(this.#query, this.#matchCase, (message) => this.#take(message));
    }
    this.#channel.changed();
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#progress = undefined;
    if (this.#request === undefined) return;
    this.#channel.forget(this.#request);
    this.#request = undefined;
    // An empty query ends the search on the other side.
    const ended = this.#channel.find('', false, () => {});
    this.#channel.forget(ended);
  }

  #take(message: ToTranscriptPanel): void {
    if (message.type !== 'found') {
      if (message.type !== 'failed') return;
      this.#progress = undefined;
      this.#channel.failed(message.error);
      this.#channel.changed();
      return;
    }
    this.#hits.push(...message.hits);
    this.#cut ||= message.cut;
    this.#progress = message.done ? undefined : { scanned: message.scanned, size: message.size };
    if (this.#sought) this.#takeSought(message.done);
    else if (this.#current < 0 && this.#hits.length > 0) {
      const nearest = this.#channel.nearest(this.#hits);
      if (nearest >= 0) this.#goTo(nearest);
      // The end of a transcript is what is mostly read, so its last hit stands in.
      else if (message.done) this.#goTo(this.#hits.length - 1);
    }
    this.#channel.changed();
  }

  #takeSought(done: boolean): void {
    const { hit, occurrence } = this.#sought ?? {};
    const first = this.#hits.findIndex(({ key }) => key === hit?.key);
    const index = first + (occurrence ?? 0);
    if (first >= 0 && this.#hits[index]?.key === hit?.key) this.#goTo(index);
    else if (!done) return;
    // The transcript has changed since.
    else if (this.#hits.length > 0) this.#goTo(this.#hits.length - 1);
    this.#sought = undefined;
  }

  #goTo(index: number): void {
    this.#current = index;
    const hit = this.hit;
    if (hit) this.#channel.show(hit, this.occurrence);
    this.#channel.changed();
  }
}

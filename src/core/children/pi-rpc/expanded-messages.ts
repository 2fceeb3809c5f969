/**
 * Pi puts the text of a skill or a prompt template in place of its name (`/skill:mend it`), and extensions may change what they
 * see. Tells which message a text in the conversation was when it was sent.
 */

export interface PiQueue {
  steering: readonly string[];
  followUp: readonly string[];
}

export class ExpandedMessages {
  #queue: PiQueue = { steering: [], followUp: [] };
  readonly #sent: { as: string; was: string }[] = [];
  #next: string | undefined;

  /** What waits in Pi's queue now, as it will be said. */
  onQueue(queue: PiQueue): void {
    this.#queue = queue;
  }

  /** Pi has just put this message into its queue, behind all others. */
  queued(text: string, kind: keyof PiQueue): void {
    const as = this.#queue[kind].at(-1);
    if (as !== undefined && as !== text) this.#sent.push({ as, was: text });
  }

  /** This message begins a run: the next one in the conversation is it. */
  began(text: string): void {
    this.#next = text;
  }

  /** The message as it was sent. */
  original(text: string): string {
    const was = this.#next;
    this.#next = undefined;
    if (was !== undefined) return was;
    const at = this.#sent.findIndex(({ as }) => as === text);
    return at === -1 ? text : (this.#sent.splice(at, 1)[0]?.was ?? text);
  }
}

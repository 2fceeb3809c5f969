/** The beginning of what a program prints, as bytes: a limit that is met costs nothing, however much follows. */

const MORE = '...';

export class BoundedText {
  readonly #limit: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #isCut = false;

  /** @param limit bytes of UTF-8 that the text may have, its dots included */
  constructor(limit: number) {
    this.#limit = limit;
  }

  add(chunk: Buffer): void {
    const room = this.#limit - this.#bytes;
    if (chunk.length > room) this.#isCut = true;
    if (room <= 0) return;
    const taken = chunk.subarray(0, room);
    this.#chunks.push(taken);
    this.#bytes += taken.length;
  }

  /** Cut between characters, never inside one. What is no UTF-8 is shown as U+FFFD. */
  get text(): string {
    const all = Buffer.concat(this.#chunks);
    if (!this.#isCut) return all.toString('utf8');
    let end = Math.min(all.length, this.#limit - MORE.length);
    // A byte 10xxxxxx goes on with the character before it.
    while (end > 0 && ((all[end] ?? 0) & 0xc0) === 0x80) end -= 1;
    return `${all.subarray(0, end).toString('utf8')}${MORE}`;
  }
}

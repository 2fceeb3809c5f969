// What is written to stdout and stderr: one after another, never faster than it is read, in pieces when a plan says so.

export class Output {
  #stream;
  #tail = Promise.resolve();
  #split;
  #muted = false;

  constructor(stream) {
    this.#stream = stream;
    // The reader is gone. That shows at stdin, too, and is dealt with there.
    stream.on('error', () => undefined);
  }

  /** Writes one record. Resolves when the system has taken it. */
  record(value, { newline = true } = {}) {
    return this.write(`${JSON.stringify(value)}${newline ? '\n' : ''}`);
  }

  write(data) {
    if (this.#muted) return Promise.resolve();
    const bytes = Buffer.from(data);
    const split = this.#split;
    this.#tail = this.#tail.then(() => this.#put(bytes, split));
    return this.#tail;
  }

  /** From the next write on: pieces of `every` bytes, or cut at these offsets of each write; `undefined` = whole. */
  splitAt(split) {
    this.#split = split;
  }

  /** Nothing more is written; what is under way is finished. */
  mute() {
    this.#muted = true;
  }

  flush() {
    return this.#tail;
  }

  async #put(bytes, split) {
    if (!split) return this.#once(bytes);
    for (const piece of pieces(bytes, split)) {
      await this.#once(piece);
      // Without a pause the system would join the pieces again.
      await new Promise((resolve) => {
        if (split.gapMs) setTimeout(resolve, split.gapMs);
        else setImmediate(resolve);
      });
    }
  }

  #once(bytes) {
    return new Promise((resolve) => {
      if (this.#stream.destroyed) resolve();
      else this.#stream.write(bytes, () => resolve());
    });
  }
}

function* pieces(bytes, { every, at }) {
  const cuts = every ? Array.from({ length: Math.ceil(bytes.length / every) - 1 }, (_, i) => (i + 1) * every) : at;
  let from = 0;
  for (const cut of cuts) {
    if (cut <= from || cut >= bytes.length) continue;
    yield bytes.subarray(from, cut);
    from = cut;
  }
  yield bytes.subarray(from);
}

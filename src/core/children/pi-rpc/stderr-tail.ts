import { redact } from '../../transcripts/index.ts';

/** The end of a child's error output, for diagnosis. Always valid UTF-8, known token shapes redacted. */
export class StderrTail {
  #buffer = Buffer.alloc(0);
  readonly #limit: number;

  constructor(limit = 128 * 1024) {
    this.#limit = limit;
  }

  push(chunk: Buffer): void {
    const all = Buffer.concat([this.#buffer, chunk]);
    this.#buffer = all.length > this.#limit ? Buffer.from(all.subarray(-this.#limit)) : all;
  }

  /** At most the last `bytes` bytes, beginning at a character boundary. */
  text(bytes = 4096): string {
    // Redacted before it is cut: what is left of a token or key would not be recognised.
    return lastCharacters(Buffer.from(redact(lastCharacters(this.#buffer, this.#limit))), bytes);
  }
}

function lastCharacters(buffer: Buffer, bytes: number): string {
  let from = Math.max(0, buffer.length - bytes);
  // Continuation bytes (10xxxxxx) belong to a character that was cut.
  while (from < buffer.length && ((buffer[from] ?? 0) & 0xc0) === 0x80) from++;
  return buffer.subarray(from).toString('utf8');
}

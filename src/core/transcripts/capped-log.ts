import type { FileHandle } from 'node:fs/promises';
import { appendWhole, openForAppending, whenThereIsRoom } from '../files/index.ts';
import { redact, settledLength } from './redact.ts';

const MAX_HELD_CHARS = 64 * 1024;

/** A child's error output as a file: known token shapes redacted, cut at a limit with a mark. */
export class CappedLog {
  readonly #path: string;
  readonly #limit: number;
  #partial = '';
  #bytes = 0;
  #full = false;
  #handle: FileHandle | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string, limit = 1024 * 1024) {
    this.#path = path;
    this.#limit = limit;
  }

  add(text: string): void {
    const all = this.#partial + text;
    const settled = settledLength(all);
    // A key that never ends must not fill the memory.
    const cut = all.length - settled > MAX_HELD_CHARS ? all.length : settled;
    this.#partial = all.slice(cut);
    if (cut > 0) this.#write(all.slice(0, cut));
  }

  #write(text: string): void {
    if (this.#full) return;
    let clean = redact(text);
    this.#bytes += Buffer.byteLength(clean);
    if (this.#bytes > this.#limit) {
      this.#full = true;
      clean = `\n[cut: more than ${this.#limit} bytes]\n`;
    }
    this.#writing = this.#writing.then(async () => {
      try {
        await whenThereIsRoom(async () => {
          this.#handle ??= await openForAppending(this.#path);
          await appendWhole(this.#handle, clean);
        });
      } catch {
        // The log is a convenience; the run goes on without it.
        this.#full = true;
      }
    });
  }

  async close(): Promise<void> {
    if (this.#partial !== '') this.#write(this.#partial);
    this.#partial = '';
    await this.#writing;
    await this.#handle?.close();
    this.#handle = undefined;
  }
}

/** The launch record of a live run. Nothing of a run can be continued or resumed without it, so its runner keeps it as it was written. */
import { rename, stat } from 'node:fs/promises';
import { NotAFile, readRegular, writeFileAtomic } from '../core/files/index.ts';

export class KeptRecord {
  readonly #path: string;
  readonly #body: string;
  /** What the file looked like when it was last known to be right: it is read again only when that changes. */
  #seen: string | undefined;

  constructor(path: string, body: string) {
    this.#path = path;
    this.#body = body;
  }

  /** Writes it again when it was removed, changed or replaced. Rejects with what the system says; asked again it is tried again. */
  async keep(): Promise<'sound' | 'rewritten'> {
    const look = await this.#look();
    if (look !== undefined && look === this.#seen) return 'sound';
    const found = await readRegular(this.#path).catch((error: unknown) => error);
    if (found !== this.#body) {
      // A file takes the place of anything but a folder by itself.
      if (found instanceof NotAFile && found.kind === 'a folder')
        await rename(this.#path, `${this.#path}.${Date.now()}.aside`);
      await writeFileAtomic(this.#path, this.#body);
    }
    this.#seen = await this.#look();
    return found === this.#body ? 'sound' : 'rewritten';
  }

  async #look(): Promise<string | undefined> {
    return stat(this.#path).then(
      ({ ino, size, mtimeMs, ctimeMs }) => `${ino} ${size} ${mtimeMs} ${ctimeMs}`,
      () => undefined,
    );
  }
}

/**
 * Remembers what starting a program told us (`node --version`, the models of a Pi), keyed by everything the answer depends
 * on. One small file per answer, so that several clients can write at once. A broken entry is simply asked again.
 */
import { createHash } from 'node:crypto';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type * as z from 'zod/mini';
import { errnoOf, readRegular, writeFileAtomic } from '../files/index.ts';

export class ProbeCache {
  readonly #folder: string;
  /** What could not be kept on disk. */
  readonly #kept = new Map<string, string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  #file(kind: string, key: string): string {
    return join(this.#folder, `${kind}-${createHash('sha256').update(key).digest('hex').slice(0, 24)}.json`);
  }

  async get<T>(kind: string, key: string, schema: z.ZodMiniType<T>): Promise<T | undefined> {
    const file = this.#file(kind, key);
    try {
      const text = await readRegular(file).catch((error: unknown) => {
        const kept = this.#kept.get(file);
        if (kept === undefined) throw error;
        return kept;
      });
      const parsed = schema.safeParse(JSON.parse(text));
      return parsed.success ? parsed.data : undefined;
    } catch {
      return undefined;
    }
  }

  /** Never rejects: an answer that cannot be kept is asked for again. Looking at a machine begins no store on it. */
  async set(kind: string, key: string, value: unknown): Promise<void> {
    const file = this.#file(kind, key);
    this.#kept.set(file, `${JSON.stringify(value)}\n`);
    await this.#write(file);
  }

  /** Writes what was learned before there was a store. Never rejects. */
  async flush(): Promise<void> {
    await Promise.all([...this.#kept.keys()].map((file) => this.#write(file)));
  }

  async #write(file: string): Promise<void> {
    const text = this.#kept.get(file);
    if (text === undefined) return;
    try {
      await mkdir(this.#folder, { mode: 0o700 }).catch((error: unknown) => {
        if (errnoOf(error) !== 'EEXIST') throw error;
      });
      await writeFileAtomic(file, text, { durable: false });
      this.#kept.delete(file);
    } catch {
      // No store yet, or one that cannot be written: starting a run says so.
    }
  }
}

/** Changes whenever the file is replaced or edited; `missing` when there is none. */
export async function fileStamp(path: string): Promise<string> {
  return stat(path).then(
    (info) => `${path}:${info.size}:${info.mtimeMs}:${info.ino}`,
    () => `${path}:missing`,
  );
}

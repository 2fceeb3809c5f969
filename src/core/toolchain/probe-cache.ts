/**
 * Remembers what starting a program told us (`node --version`, the models of a Pi), keyed by everything the answer depends
 * on. One small file per answer, so that several clients can write at once. A broken entry is simply asked again.
 */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type * as z from 'zod/mini';
import { makePrivateFolder, writeFileAtomic } from '../files/index.ts';

export class ProbeCache {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  #file(kind: string, key: string): string {
    return join(this.#folder, `${kind}-${createHash('sha256').update(key).digest('hex').slice(0, 24)}.json`);
  }

  async get<T>(kind: string, key: string, schema: z.ZodMiniType<T>): Promise<T | undefined> {
    try {
      const parsed = schema.safeParse(JSON.parse(await readFile(this.#file(kind, key), 'utf8')));
      return parsed.success ? parsed.data : undefined;
    } catch {
      return undefined;
    }
  }

  async set(kind: string, key: string, value: unknown): Promise<void> {
    await makePrivateFolder(this.#folder);
    await writeFileAtomic(this.#file(kind, key), `${JSON.stringify(value)}\n`, { durable: false });
  }
}

/** Changes whenever the file is replaced or edited; `missing` when there is none. */
export async function fileStamp(path: string): Promise<string> {
  return stat(path).then(
    (info) => `${path}:${info.size}:${info.mtimeMs}:${info.ino}`,
    () => `${path}:missing`,
  );
}

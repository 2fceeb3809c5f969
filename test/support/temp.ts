import { rmSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TempDir extends AsyncDisposable {
  /** Absolute, with symbolic links resolved, so that it compares equal to what a child reports as its cwd. */
  readonly path: string;
  /** Removes the folder and all in it. Safe to call twice. */
  remove(): Promise<void>;
}

export interface TempDirOptions {
  /**
   * `plain` (default): short ASCII, fit for socket paths. `awkward`: with spaces, quotes, non-Latin letters and an
   * emoji, which break commands and URIs put together by hand.
   */
  name?: 'plain' | 'awkward';
}

// The safety net for tests that were killed by their timeout: what is still here when the process ends is removed then.
const left = new Set<string>();
process.once('exit', () => {
  for (const path of left) rmSync(path, { recursive: true, force: true });
});

/**
 * Makes an empty folder under the system's temp folder. Use `await using`, or call `remove()`.
 */
export async function tempDir({ name = 'plain' }: TempDirOptions = {}): Promise<TempDir> {
  const prefix = name === 'plain' ? 'pil-' : "pi lanes it's ümläut 漢字 проект 🦊 ";
  const path = await realpath(await mkdtemp(join(tmpdir(), prefix)));
  left.add(path);
  const remove = async () => {
    // A process that is just ending may still write here, hence the retries.
    await rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    left.delete(path);
  };
  return { path, remove, [Symbol.asyncDispose]: remove };
}

/**
 * The file an answer is also written to. Claimed before the child starts, so that no two children write one file; compared
 * with its state before the run at the end: what the child wrote itself wins over the captured text.
 */
import { createHash } from 'node:crypto';
import { access, constants, readFile, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type FileLook, LanesError, lanesError, wordsOf } from '../../protocol/index.ts';
import { errnoOf, makeFolders, writeFileAtomic } from '../files/index.ts';
import { acquireLock, inspectLock, type Lock } from '../locks/index.ts';

/** `null`: it did not exist. */
type Snapshot = FileLook | null;

/** Links that lead to nothing yet may lead on to others. */
const MAX_LINKS = 40;

/** The real path behind a path whose last parts need not exist yet, not even behind a link. */
export async function realOutputPath(path: string, links = 0): Promise<string> {
  const absolute = resolve(path);
  const missing: string[] = [];
  for (let at = absolute; ; at = dirname(at)) {
    try {
      return join(await realpath(at), ...missing);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT' || dirname(at) === at || links > MAX_LINKS) throw unusable(path, error);
      const target = await readlink(at).catch(() => undefined);
      if (target !== undefined) return realOutputPath(join(resolve(dirname(at), target), ...missing), links + 1);
      missing.unshift(basename(at));
    }
  }
}

function unusable(path: string, error: unknown): LanesError {
  return lanesError('output_unusable', { file: path, reason: wordsOf(error) });
}

async function snapshot(path: string): Promise<Snapshot> {
  try {
    const info = await stat(path);
    if (!info.isFile()) throw lanesError('output_unusable:no-file', { file: path });
    return { mtimeMs: info.mtimeMs, size: info.size, ino: info.ino };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    if (error instanceof LanesError) throw error;
    throw unusable(path, error);
  }
}

function lockPath(claims: string, real: string): string {
  return join(claims, createHash('sha256').update(real).digest('hex').slice(0, 32));
}

/** Refuses, before a run exists, a path that cannot be inspected or that a living run has claimed. */
export async function checkOutput(claims: string, path: string): Promise<string> {
  const real = await realOutputPath(path);
  if ((await snapshot(real)) === null) await checkFolder(real);
  const lock = await inspectLock(lockPath(claims, real));
  if (lock.state === 'held' || lock.state === 'orphaned') throw claimed(real, lock.owner?.purpose);
  return real;
}

/** A folder in which nothing may be made would be found out only when the work is done and paid for. */
async function checkFolder(path: string): Promise<void> {
  for (let at = dirname(path); ; at = dirname(at)) {
    const refused = await access(at, constants.W_OK).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (refused === undefined) return;
    if (errnoOf(refused) !== 'ENOENT' || dirname(at) === at) throw unusable(path, refused);
  }
}

function claimed(path: string, holder: string | undefined): LanesError {
  return holder === undefined
    ? lanesError('output_in_use:unnamed', { file: path })
    : lanesError('output_in_use', { file: path, holder });
}

export type OutputOutcome = { outcome: 'saved' | 'kept' | 'failed'; bytes: number; error: string | null };

export class OutputClaim {
  readonly path: string;
  readonly #holder: string;
  readonly #lock: Lock | undefined;
  #before: Snapshot;
  #borrower: OutputClaim | undefined;
  #lender: OutputClaim | undefined;

  private constructor(path: string, holder: string, lock: Lock | undefined, before: Snapshot) {
    this.path = path;
    this.#holder = holder;
    this.#lock = lock;
    this.#before = before;
  }

  /**
   * @param holder what other runs are told, for example `run <id>`
   * @param before what the file looked like when the work began, if that is known from an earlier claim
   */
  static async take(claims: string, path: string, holder: string, before?: Snapshot): Promise<OutputClaim> {
    const real = await realOutputPath(path);
    const now = await snapshot(real);
    try {
      const lock = await acquireLock(lockPath(claims, real), { purpose: holder });
      return new OutputClaim(real, holder, lock, before === undefined ? now : before);
    } catch (error) {
      if (error instanceof LanesError && error.code === 'lock_held')
        throw claimed(real, (await inspectLock(lockPath(claims, real))).owner?.purpose);
      throw error;
    }
  }

  /**
   * For one of the holder's own that writes this very file. It keeps an account of its own of what the file looked like.
   * @throws LanesError `output_in_use` while somebody else has it
   */
  async lend(before?: Snapshot): Promise<OutputClaim> {
    const look = before === undefined ? await snapshot(this.path) : before;
    if (this.#borrower) throw claimed(this.path, this.#holder);
    const lent = new OutputClaim(this.path, this.#holder, undefined, look);
    this.#borrower = lent;
    lent.#lender = this;
    return lent;
  }

  get before(): Snapshot {
    return this.#before;
  }

  /** A new attempt begins: what the last one wrote counts as the state before. */
  async renew(): Promise<void> {
    this.#before = await snapshot(this.path);
  }

  /**
   * Writes the text unless the child wrote the file itself; a stub only where there was no file, and never into a file that is lent.
   * Missing folders are made. Never throws.
   * @param options `again`: it may have been written before by one that is gone; a file that has the text already is left as it is
   */
  async settle(text: string, options: { stub?: boolean; again?: boolean } = {}): Promise<OutputOutcome> {
    if (options.stub && this.#lender)
      return {
        outcome: 'failed',
        bytes: 0,
        error: 'there is no answer, and the file is kept for what the workflow returns',
      };
    try {
      // Looked up again: a folder may have become a link to somewhere else meanwhile.
      if ((await realOutputPath(this.path)) !== this.path) throw new Error('its folder now leads to another place');
      const now = await snapshot(this.path);
      if (options.again && now !== null && (await holds(this.path, now, text)))
        return { outcome: 'saved', bytes: now.size, error: null };
      const before = this.#before;
      const changed =
        now !== null &&
        (before === null || now.mtimeMs !== before.mtimeMs || now.size !== before.size || now.ino !== before.ino);
      // A failure has nothing to say that would be worth more than what stood there before.
      if (changed || (options.stub && now !== null)) return { outcome: 'kept', bytes: now.size, error: null };
      await makeFolders(dirname(this.path));
      await writeFileAtomic(this.path, text, { mode: 0o644 });
      return { outcome: 'saved', bytes: Buffer.byteLength(text), error: null };
    } catch (error) {
      return { outcome: 'failed', bytes: 0, error: error instanceof Error ? error.message : String(error) };
    }
  }

  async release(): Promise<void> {
    if (this.#lender) this.#lender.#borrower = undefined;
    await this.#lock?.release();
  }
}

/** Whether a file is this text, byte for byte. */
async function holds(path: string, { size }: FileLook, text: string): Promise<boolean> {
  return size === Buffer.byteLength(text) && (await readFile(path)).equals(Buffer.from(text));
}

/**
 * The one lock primitive: who may write a run, a session file, a checkout, a repository.
 *
 * A lock named `name` is the file `name.<epoch>`, created exclusively with its owner inside. The highest epoch counts.
 * Taking over from a dead owner means creating the next epoch, which only one of several takers can do, so exactly the
 * generation that was seen is replaced. Releasing marks the file instead of removing it: epochs never go back.
 */
import { randomBytes } from 'node:crypto';
import { link, open, readdir, rename, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  LanesError,
  type LockOwner,
  type LockState,
  lanesError,
  lockOwner,
  type ProcessIdentity,
} from '../../protocol/index.ts';
import {
  discard,
  errnoOf,
  makePrivateFolder,
  NotAFile,
  readRegular,
  syncFolder,
  writeFileAtomic,
} from '../files/index.ts';
import { identify, liveness } from '../processes/index.ts';

export interface LockView {
  state: LockState;
  /** 0: there has never been an owner. */
  epoch: number;
  owner?: LockOwner;
  /** Why the state is `malformed` or `unavailable`. */
  reason?: string;
}

export interface Lock {
  readonly owner: LockOwner;
  /** Whether this lock is still the newest generation. */
  stillHeld(): Promise<boolean>;
  /**
   * Writes the file anew when somebody removed or damaged it. `lost`: another owner has taken the lock meanwhile, nothing was
   * written, and this one must do nothing more.
   */
  renew(): Promise<'held' | 'renewed' | 'lost'>;
  release(): Promise<void>;
}

/** A file younger than this that does not parse is one being written on a file system without hard links. */
const WRITE_GRACE_MS = 2000;

const fileOf = (path: string, epoch: number) => `${path}.${epoch}`;

async function epochs(path: string): Promise<number[]> {
  const prefix = `${basename(path)}.`;
  const names = await readdir(dirname(path));
  return names
    .filter((name) => name.startsWith(prefix) && /^[1-9]\d*$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)))
    .sort((a, b) => b - a);
}

/** What the lock says now. Never throws: what cannot be read is `unavailable`. */
export async function inspectLock(path: string): Promise<LockView> {
  try {
    return inspectGeneration(path, (await epochs(path))[0] ?? 0);
  } catch (error) {
    return unreadable(0, error);
  }
}

/** What one generation of the lock says, whether it is the newest or not. Never throws. */
export async function inspectGeneration(path: string, epoch: number): Promise<LockView> {
  try {
    if (epoch === 0) return { state: 'missing', epoch };
    const text = await readRegular(fileOf(path, epoch));
    const parsed = lockOwner.safeParse(parseJson(text));
    if (!parsed.success || parsed.data.epoch !== epoch) {
      // A date in the future says only that the clock was set back since.
      const young = Math.abs(Date.now() - (await stat(fileOf(path, epoch))).mtimeMs) < WRITE_GRACE_MS;
      return young
        ? { state: 'held', epoch, reason: 'being written' }
        : { state: 'malformed', epoch, reason: 'not a lock owner' };
    }
    const owner = parsed.data;
    if (owner.released) return { state: 'missing', epoch, owner };
    return { state: await ownerState(owner.process), epoch, owner };
  } catch (error) {
    return unreadable(epoch, error);
  }
}

function unreadable(epoch: number, error: unknown): LockView {
  // Nobody can hold a lock by something that is no file.
  if (error instanceof NotAFile) return { state: 'malformed', epoch, reason: `it is ${error.kind}` };
  // A missing folder, or a generation that was cleaned up while it was read: look again next time.
  if (errnoOf(error) === 'ENOENT') return { state: 'missing', epoch };
  return { state: 'unavailable', epoch, reason: error instanceof Error ? error.message : String(error) };
}

/** Epoch milliseconds when the lock was taken or given back last; `undefined`: nobody has ever had it. */
export async function lockChangedAt(path: string): Promise<number | undefined> {
  try {
    const newest = (await epochs(path))[0];
    return newest === undefined ? undefined : (await stat(fileOf(path, newest))).mtimeMs;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** `stale`: the owner is proven gone. `orphaned`: whether it lives cannot be told on this platform. */
async function ownerState(process: ProcessIdentity): Promise<LockState> {
  const state = await liveness(process);
  return state === 'alive' ? 'held' : state === 'gone' ? 'stale' : 'orphaned';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** How often a generation that is listed and gone is looked for anew. */
const VANISHED_LOOKS = 10;

export interface AcquireOptions {
  /** What the lock is for, in words a person reads in `in use by …`. */
  purpose: string;
  socket?: string;
  /** Secret of this owner; made when absent. */
  token?: string;
  /** Milliseconds after which it is taken from an owner that lives, or of which nothing can be told. Absent: never. */
  expiresMs?: number;
  /** Highest epoch that is known from elsewhere: the files alone can have been removed. */
  after?: number;
}

/** Takes the lock at once or throws `lock_held` / `lock_unavailable`. */
export async function acquireLock(path: string, options: AcquireOptions): Promise<Lock> {
  await makePrivateFolder(dirname(path));
  const before = new Set(await epochs(path));
  const seen = await inspectPresent(path);
  // Taken and given back between the two looks: nobody has begun anew.
  before.add(seen.epoch);
  if ((seen.state === 'held' || seen.state === 'orphaned') && !isExpired(seen, options)) throw heldError(path, seen);
  if (seen.state === 'unavailable') {
    throw lanesError('lock_unavailable', { path, reason: seen.reason ?? '' });
  }
  const owner: LockOwner = {
    version: 1,
    process: await identify(process.pid),
    token: options.token ?? randomBytes(16).toString('hex'),
    epoch: Math.max(seen.epoch, options.after ?? 0) + 1,
    acquiredAt: Date.now(),
    purpose: options.purpose,
    ...(options.socket === undefined ? {} : { socket: options.socket }),
  };
  if (!(await createExclusive(fileOf(path, owner.epoch), `${JSON.stringify(owner)}\n`))) {
    throw heldError(path, await inspectLock(path));
  }
  await syncFolder(dirname(path));
  const present = await epochs(path);
  // While we looked at one generation, two more may have come and cleaned up: then ours fills a gap and counts for nothing. Or
  // the one we looked at was forgotten for its age, and somebody began anew below ours.
  if (present[0] !== owner.epoch || present.some((epoch) => epoch < owner.epoch && !before.has(epoch))) {
    await discard(fileOf(path, owner.epoch));
    throw heldError(path, await inspectLock(path));
  }
  // The lock is ours whether or not the generations before it can be removed.
  for (const old of present) if (old < owner.epoch) await discard(fileOf(path, old));
  return lockAt(path, owner);
}

/**
 * What the lock says of a generation that is there. One that was listed and is gone says nothing: somebody took it back, and
 * its number may belong to another owner by now, who must not be overtaken.
 */
async function inspectPresent(path: string): Promise<LockView> {
  for (let look = 1; ; look++) {
    const seen = await inspectLock(path);
    const vanished = seen.state === 'missing' && seen.epoch > 0 && !seen.owner;
    if (!vanished) return seen;
    if (look === VANISHED_LOOKS) return { ...seen, state: 'unavailable', reason: 'it is listed, and not there' };
  }
}

function isExpired({ owner }: LockView, { expiresMs }: AcquireOptions): boolean {
  return owner !== undefined && expiresMs !== undefined && Date.now() - owner.acquiredAt >= expiresMs;
}

/** A lock this process holds already, at the path where its file is now (its folder may have been renamed). */
export function lockAt(path: string, owner: LockOwner): Lock {
  const newest = async () => (await epochs(path))[0];
  return {
    owner,
    stillHeld: async () => (await newest()) === owner.epoch,
    renew: () => renew(path, owner),
    release: async () => {
      if ((await newest()) === owner.epoch) {
        await writeFileAtomic(fileOf(path, owner.epoch), `${JSON.stringify({ ...owner, released: true })}\n`);
      }
    },
  };
}

async function renew(path: string, owner: LockOwner): Promise<'held' | 'renewed' | 'lost'> {
  const newest = (await epochs(path))[0] ?? 0;
  if (newest > owner.epoch) return 'lost';
  const file = fileOf(path, owner.epoch);
  const body = `${JSON.stringify(owner)}\n`;
  if (newest < owner.epoch) {
    // Exclusively: whoever takes the lock at this moment may come to the same epoch.
    if (!(await createExclusive(file, body))) return renew(path, owner);
    return (await epochs(path))[0] === owner.epoch ? 'renewed' : 'lost';
  }
  const found = await readRegular(file).then(
    (text) => lockOwner.safeParse(parseJson(text)),
    async (error: unknown) => {
      if (!(error instanceof NotAFile)) throw error;
      // A file takes the place of anything but a folder by itself.
      if (error.kind === 'a folder') await rename(file, `${file}.aside`);
      return undefined;
    },
  );
  if (found?.success) return found.data.token === owner.token ? 'held' : 'lost';
  await writeFileAtomic(file, body);
  return 'renewed';
}

/** Waits for the lock until the deadline, then throws `lock_held` naming the holder. */
export async function waitForLock(
  path: string,
  options: AcquireOptions & { deadlineMs: number; signal?: AbortSignal },
): Promise<Lock> {
  const deadline = performance.now() + options.deadlineMs;
  for (let wait = 5; ; wait = Math.min(wait * 2, 100)) {
    try {
      return await acquireLock(path, options);
    } catch (error) {
      const held = error instanceof LanesError && error.code === 'lock_held';
      if (!held || performance.now() + wait > deadline) throw error;
      await delay(wait, undefined, options.signal ? { signal: options.signal } : {});
    }
  }
}

function heldError(path: string, view: LockView): LanesError {
  const lock = basename(path);
  return view.owner
    ? lanesError('lock_held', { lock, pid: view.owner.process.pid, purpose: view.owner.purpose })
    : lanesError('lock_held:unnamed', { lock });
}

/** Creates the file with its content in one step; false when it exists already. */
async function createExclusive(path: string, content: string): Promise<boolean> {
  const temp = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.new`;
  try {
    await writeDurable(temp, content);
    await link(temp, path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    if (!['EPERM', 'ENOTSUP', 'ENOSYS', 'EXDEV'].includes(errnoOf(error) ?? '')) throw error;
    return createWithoutLinks(path, content);
  } finally {
    await discard(temp);
  }
}

async function createWithoutLinks(path: string, content: string): Promise<boolean> {
  try {
    await writeDurable(path, content);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

async function writeDurable(path: string, content: string): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

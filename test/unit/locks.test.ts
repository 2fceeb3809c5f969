import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { acquireLock, findIdleLocks, inspectLock, lockAt, waitForLock } from '../../src/core/locks/index.ts';
import { identify } from '../../src/core/processes/index.ts';
import { LanesError, type LockOwner } from '../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { anOwner, goneIdentity, me } from './builders/run.ts';

/** What happens just before a lock file gets its name; may throw in its place. */
const { link } = vi.hoisted(() => ({ link: { before: async (): Promise<void> => undefined } }));
vi.mock('node:fs/promises', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs/promises')>();
  return {
    ...fs,
    link: async (from: string, to: string) => {
      await link.before();
      return fs.link(from, to);
    },
  };
});

/** Compiled once for all contenders: on a small machine that is most of the time they need. */
let compiled: TempDir;
let folder: TempDir;
let path: string;
const started: ChildProcessWithoutNullStreams[] = [];

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  path = join(folder.path, 'lease');
});

afterEach(async () => {
  link.before = async () => undefined;
  for (const child of started.splice(0))
    if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
  await folder.remove();
});

const writeOwner = (owner: LockOwner) => writeFile(`${path}.${owner.epoch}`, JSON.stringify(owner));
const lockFiles = async () => (await readdir(folder.path)).filter((name) => name.startsWith('lease'));

function contender(...args: string[]): ChildProcessWithoutNullStreams {
  const env = { ...process.env, NODE_COMPILE_CACHE: compiled.path };
  const child = spawn(process.execPath, [join(import.meta.dirname, 'workers', 'lock-contender.ts'), ...args], { env });
  started.push(child);
  return child;
}

/** The first line a contender prints. */
async function answer(child: ChildProcessWithoutNullStreams): Promise<string> {
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  const [line] = await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => [`exited: ${errors}`]),
  ]);
  return String(line).trim();
}

describe('the state of a lock', () => {
  it('is missing without a folder, without an owner, and after a release', async () => {
    expect(await inspectLock(join(folder.path, 'nowhere', 'lease'))).toEqual({ state: 'missing', epoch: 0 });
    expect(await inspectLock(path)).toEqual({ state: 'missing', epoch: 0 });
    const lock = await acquireLock(path, { purpose: 'test' });
    await lock.release();
    expect(await inspectLock(path)).toEqual({ state: 'missing', epoch: 1, owner: { ...lock.owner, released: true } });
  });

  it('is held while its owner lives, and says who that is', async () => {
    const lock = await acquireLock(path, { purpose: 'runner', socket: '/run/x.sock', token: 'secret' });
    expect(lock.owner).toEqual({
      version: 1,
      process: await me(),
      token: 'secret',
      epoch: 1,
      acquiredAt: expect.any(Number),
      purpose: 'runner',
      socket: '/run/x.sock',
    });
    expect(await inspectLock(path)).toEqual({ state: 'held', epoch: 1, owner: lock.owner });
    expect(await lock.stillHeld()).toBe(true);
    if (process.platform !== 'win32') expect((await stat(`${path}.1`)).mode & 0o777).toBe(0o600);
  });

  it('makes a token of its own for each owner', async () => {
    const tokens = await Promise.all(
      ['a', 'b'].map(async (name) => (await acquireLock(join(folder.path, name), { purpose: 'test' })).owner.token),
    );
    expect(tokens[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(tokens[0]).not.toBe(tokens[1]);
  });

  it('is stale when its owner is gone', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const owner = anOwner(await identify(child.pid ?? 0), { epoch: 4 });
    await writeOwner(owner);
    expect((await inspectLock(path)).state).toBe('held');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await inspectLock(path)).toEqual({ state: 'stale', epoch: 4, owner });
  });

  it('is stale when the pid of its owner belongs to another process now', async () => {
    await writeOwner(anOwner({ pid: process.pid, start: 'another start' }));
    expect((await inspectLock(path)).state).toBe('stale');
  });

  it('is orphaned when it cannot be told whether its owner lives', async () => {
    await writeOwner(anOwner({ pid: process.pid, start: null }));
    expect((await inspectLock(path)).state).toBe('orphaned');
  });

  it('is malformed when what stands there is no owner of that epoch', async () => {
    const long = new Date(Date.now() - 10_000);
    for (const content of ['', 'not json', '{}', JSON.stringify(anOwner(await me(), { epoch: 2 }))]) {
      await writeFile(`${path}.1`, content);
      await utimes(`${path}.1`, long, long);
      expect(await inspectLock(path)).toEqual({ state: 'malformed', epoch: 1, reason: 'not a lock owner' });
    }
  });

  it('is held while its file is being written', async () => {
    await writeFile(`${path}.1`, '{"version":1,"pro');
    expect(await inspectLock(path)).toEqual({ state: 'held', epoch: 1, reason: 'being written' });
  });

  it('is not being written for a day because the clock was set back by one', async () => {
    const tomorrow = new Date(Date.now() + 86_400_000);
    await writeFile(`${path}.1`, '{"version":1,"pro');
    await utimes(`${path}.1`, tomorrow, tomorrow);
    expect(await inspectLock(path)).toMatchObject({ state: 'malformed' });
  });

  it('is unavailable when it cannot be looked at', async () => {
    await symlink(`${path}.3`, `${path}.3`);
    expect(await inspectLock(path)).toMatchObject({ state: 'unavailable', epoch: 3, reason: /ELOOP/ });
    await writeFile(join(folder.path, 'file'), '');
    const below = await inspectLock(join(folder.path, 'file', 'lease'));
    expect(below).toMatchObject({ state: 'unavailable', reason: /ENOTDIR/ });
  });

  it('is held by nobody through what is no file, and its owner puts that right', async () => {
    const lock = await acquireLock(path, { purpose: 'first' });
    await rm(`${path}.1`);
    await mkdir(join(`${path}.1`, 'mine'), { recursive: true });
    expect(await inspectLock(path)).toMatchObject({ state: 'malformed', epoch: 1, reason: 'it is a folder' });
    expect(await lock.renew()).toBe('renewed');
    expect(await inspectLock(path)).toMatchObject({ state: 'held', owner: { purpose: 'first' } });
    expect(await readdir(`${path}.1.aside`)).toEqual(['mine']);
    expect(await lock.renew()).toBe('held');
  });

  it('counts the highest epoch by number, and nothing but epochs', async () => {
    await writeOwner(anOwner(goneIdentity(), { epoch: 9 }));
    await writeOwner(anOwner(await me(), { epoch: 10 }));
    for (const name of ['lease.11.123.abcd.new', 'lease.x', 'lease.012', 'lease', 'lease2.99', 'lease.10.bak'])
      await writeFile(join(folder.path, name), '');
    expect(await inspectLock(path)).toMatchObject({ state: 'held', epoch: 10 });
  });
});

describe('taking a lock', () => {
  it('is refused while it is held, naming the holder', async () => {
    await acquireLock(path, { purpose: 'first' });
    await expect(acquireLock(path, { purpose: 'second' })).rejects.toMatchObject({
      code: 'lock_held',
      message: `lease is in use by process ${process.pid} (first).`,
    });
    expect(await lockFiles()).toEqual(['lease.1']);
  });

  it('is refused while it is orphaned, and when it cannot be looked at', async () => {
    await writeOwner(anOwner({ pid: process.pid, start: null }, { purpose: 'somebody' }));
    await expect(acquireLock(path, { purpose: 'me' })).rejects.toMatchObject({
      code: 'lock_held',
      message: expect.stringContaining('(somebody)'),
    });
    await symlink(`${path}.2`, `${path}.2`);
    await expect(acquireLock(path, { purpose: 'me' })).rejects.toMatchObject({
      code: 'lock_unavailable',
      message: expect.stringContaining('ELOOP'),
    });
  });

  it('is refused by a generation that is listed and gone: its number may be another owner’s by now', async () => {
    await writeOwner(anOwner(goneIdentity(), { epoch: 4 }));
    await symlink(join(folder.path, 'nowhere'), `${path}.5`);
    await expect(acquireLock(path, { purpose: 'me' })).rejects.toMatchObject({ code: 'lock_unavailable' });
    expect(await lockFiles()).toEqual(['lease.4', 'lease.5']);
    await rm(`${path}.5`);
    expect((await acquireLock(path, { purpose: 'me' })).owner.epoch).toBe(5);
  });

  it('only ever raises the epoch: after a release, a dead owner, a broken file', async () => {
    await (await acquireLock(path, { purpose: 'a' })).release();
    expect((await acquireLock(path, { purpose: 'b' })).owner.epoch).toBe(2);
    await writeOwner(anOwner(goneIdentity(), { epoch: 7 }));
    expect((await acquireLock(path, { purpose: 'c' })).owner.epoch).toBe(8);
    const long = new Date(Date.now() - 10_000);
    await writeFile(`${path}.9`, 'broken');
    await utimes(`${path}.9`, long, long);
    expect((await acquireLock(path, { purpose: 'd' })).owner.epoch).toBe(10);
    expect(await lockFiles()).toEqual(['lease.10']);
  });

  it('makes its folder, for nobody else to enter', async () => {
    const inner = join(folder.path, 'deep', 'er');
    await acquireLock(join(inner, 'lease'), { purpose: 'test' });
    if (process.platform !== 'win32') expect((await stat(inner)).mode & 0o777).toBe(0o700);
  });

  it('fails, and leaves the owner alone, when two generations passed while it looked at one', async () => {
    await writeOwner(anOwner(goneIdentity(), { epoch: 1 }));
    const third = anOwner(await me(), { epoch: 3, purpose: 'third' });
    link.before = async () => {
      // Somebody took epoch 2 over from the dead owner and released it; this one took 3 and cleaned up below.
      await writeOwner(third);
      await rm(`${path}.1`);
    };
    await expect(acquireLock(path, { purpose: 'late' })).rejects.toMatchObject({
      code: 'lock_held',
      message: expect.stringContaining('(third)'),
    });
    expect(await inspectLock(path)).toEqual({ state: 'held', epoch: 3, owner: third });
    expect(await lockFiles()).toEqual(['lease.3']);
  });

  it('works, and excludes, on a file system without hard links', async () => {
    link.before = async () => {
      throw Object.assign(new Error('no links here'), { code: 'EPERM' });
    };
    const results = await Promise.allSettled([1, 2, 3].map(() => acquireLock(path, { purpose: 'test' })));
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
    for (const result of results) if (result.status === 'rejected') expect(result.reason.code).toBe('lock_held');
    expect(await inspectLock(path)).toMatchObject({ state: 'held', epoch: 1, owner: { purpose: 'test' } });
    expect(await lockFiles()).toEqual(['lease.1']);
  });

  it('leaves no file behind when the disk refuses', async () => {
    link.before = async () => {
      throw Object.assign(new Error('disk is full'), { code: 'ENOSPC' });
    };
    await expect(acquireLock(path, { purpose: 'test' })).rejects.toThrow('disk is full');
    expect(await lockFiles()).toEqual([]);
  });
});

describe('many processes', () => {
  beforeAll(async () => {
    compiled = await tempDir();
    await once(contender('cycle', join(compiled.path, 'lease'), join(compiled.path, 'section'), '1'), 'exit');
  });

  afterAll(() => compiled.remove());

  it('are in the section one at a time, with rising epochs', { timeout: 60_000 }, async () => {
    const section = join(folder.path, 'section');
    const rounds = 3;
    const contenders = Array.from({ length: 20 }, () => contender('cycle', path, section, `${rounds}`));
    const failures = await Promise.all(
      contenders.map(async (child) => {
        let errors = '';
        child.stderr.on('data', (chunk: Buffer) => {
          errors += chunk;
        });
        const [code] = await once(child, 'close');
        return code === 0 ? [] : [errors];
      }),
    );
    expect(failures.flat()).toEqual([]);
    const epochs = (await readFile(`${section}.log`, 'utf8')).trim().split('\n').map(Number);
    expect(epochs).toEqual(Array.from({ length: contenders.length * rounds }, (_, i) => i + 1));
    expect(await inspectLock(path)).toMatchObject({ state: 'missing', epoch: epochs.length });
    expect(await lockFiles()).toEqual([`lease.${epochs.length}`]);
  });

  it('take over from a dead owner exactly once', { timeout: 60_000 }, async () => {
    await writeOwner(anOwner(goneIdentity(), { epoch: 5 }));
    const contenders = Array.from({ length: 12 }, () => contender('once', path));
    const answers = await Promise.all(contenders.map(answer));
    expect(answers.filter((one) => one === '6')).toHaveLength(1);
    expect(answers.filter((one) => one === 'lock_held')).toHaveLength(11);
    const winner = contenders[answers.indexOf('6')];
    expect(await inspectLock(path)).toMatchObject({
      state: 'held',
      epoch: 6,
      owner: { process: { pid: winner?.pid } },
    });
  });
});

describe('waiting for a lock', () => {
  it('gets it when it is released', async () => {
    const first = await acquireLock(path, { purpose: 'first' });
    const waiting = waitForLock(path, { purpose: 'second', deadlineMs: 10_000 });
    await first.release();
    expect((await waiting).owner).toMatchObject({ epoch: 2, purpose: 'second' });
  });

  it('gives up at its deadline, naming the holder', async () => {
    await acquireLock(path, { purpose: 'the clean-up' });
    const from = performance.now();
    await expect(waitForLock(path, { purpose: 'me', deadlineMs: 150 })).rejects.toMatchObject({
      code: 'lock_held',
      message: `lease is in use by process ${process.pid} (the clean-up).`,
      hint: expect.stringMatching(/wait|stop/i),
    });
    expect(performance.now() - from).toBeGreaterThan(30);
  });

  it('does not wait for what waiting cannot mend', async () => {
    await symlink(`${path}.1`, `${path}.1`);
    const from = performance.now();
    const waiting = waitForLock(path, { purpose: 'me', deadlineMs: 60_000 });
    await expect(waiting).rejects.toMatchObject({ code: 'lock_unavailable' });
    expect(performance.now() - from).toBeLessThan(5_000);
  });

  it('stops at its signal', async () => {
    await acquireLock(path, { purpose: 'first' });
    const controller = new AbortController();
    const waiting = waitForLock(path, { purpose: 'me', deadlineMs: 60_000, signal: controller.signal });
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('a lock one had', () => {
  it('is known to be lost when another took over, and then is not released for the other', async () => {
    const owner = anOwner(goneIdentity());
    await writeOwner(owner);
    const old = lockAt(path, owner);
    expect(await old.stillHeld()).toBe(true);
    const taken = await acquireLock(path, { purpose: 'new' });
    expect(await old.stillHeld()).toBe(false);
    await old.release();
    expect(await inspectLock(path)).toEqual({ state: 'held', epoch: 2, owner: taken.owner });
    expect(await lockFiles()).toEqual(['lease.2']);
  });

  it('moves with its folder', async () => {
    const [from, to] = [join(folder.path, 'new'), join(folder.path, 'final')];
    const { owner } = await acquireLock(join(from, 'lease'), { purpose: 'test' });
    await rename(from, to);
    const lock = lockAt(join(to, 'lease'), owner);
    expect(await lock.stillHeld()).toBe(true);
    await lock.release();
    expect((await inspectLock(join(to, 'lease'))).state).toBe('missing');
  });

  it('is an error of ours when it is refused', async () => {
    await acquireLock(path, { purpose: 'first' });
    await expect(acquireLock(path, { purpose: 'second' })).rejects.toBeInstanceOf(LanesError);
  });
});

describe('a lock that was released long ago and forgotten', () => {
  it('is not given to two: to one that saw it before and was held up, and to one that began anew after', async () => {
    for (let epoch = 1; epoch <= 5; epoch++) await (await acquireLock(path, { purpose: 'once' })).release();
    const hourAgo = new Date(Date.now() - 3_600_000);
    await utimes(`${path}.5`, hourAgo, hourAgo);
    let anew: Awaited<ReturnType<typeof acquireLock>> | undefined;
    link.before = async () => {
      link.before = async () => undefined;
      const idle = await findIdleLocks(folder.path, 60_000, Date.now());
      expect(idle).toEqual([`${path}.5`]);
      for (const file of idle) await rm(file);
      anew = await acquireLock(path, { purpose: 'anew' });
    };
    await expect(acquireLock(path, { purpose: 'held up' })).rejects.toMatchObject({ code: 'lock_held' });
    expect(await anew?.stillHeld()).toBe(true);
    expect(await lockFiles()).toEqual(['lease.1']);
  });

  it('is given to whoever comes next, although dead generations lie there', async () => {
    for (const epoch of [2, 3]) await writeOwner(anOwner(goneIdentity(), { epoch }));
    const lock = await acquireLock(path, { purpose: 'next' });
    expect(lock.owner.epoch).toBe(4);
    expect(await lockFiles()).toEqual(['lease.4']);
  });
});

describe('a lock that expires', () => {
  const DAY = 24 * 60 * 60_000;

  it.each([
    ['lives', async () => me()],
    ['cannot be told', async () => ({ pid: process.pid, start: null })],
  ])('is taken from an owner that %s only when it has had it for so long', async (_, process) => {
    const purpose = 'long';
    await writeOwner(anOwner(await process(), { acquiredAt: Date.now() - DAY + 60_000 }));
    await expect(acquireLock(path, { purpose, expiresMs: DAY })).rejects.toMatchObject({ code: 'lock_held' });
    await writeOwner(anOwner(await process(), { acquiredAt: Date.now() - DAY }));
    await expect(acquireLock(path, { purpose })).rejects.toMatchObject({ code: 'lock_held' });
    const lock = await acquireLock(path, { purpose, expiresMs: DAY });
    expect([lock.owner.epoch, await lock.stillHeld()]).toEqual([2, true]);
  });
});

describe('a lock whose file was removed or damaged', () => {
  const body = async (epoch: number) => JSON.parse(await readFile(`${path}.${epoch}`, 'utf8'));

  it('is written anew by its owner, in the same generation', async () => {
    const lock = await acquireLock(path, { purpose: 'run 1', socket: '/s.sock' });
    expect(await lock.renew()).toBe('held');
    await rm(`${path}.1`);
    expect(await lock.renew()).toBe('renewed');
    expect(await body(1)).toEqual(lock.owner);
    await writeFile(`${path}.1`, '{"version":1');
    expect(await lock.renew()).toBe('renewed');
    expect(await body(1)).toEqual(lock.owner);
    expect(await lockFiles()).toEqual(['lease.1']);
    await lock.release();
    expect((await inspectLock(path)).state).toBe('missing');
  });

  it('is lost when somebody else took it meanwhile, also in the same generation', async () => {
    const lock = await acquireLock(path, { purpose: 'run 1' });
    await rm(`${path}.1`);
    const other = await acquireLock(path, { purpose: 'run 1, another' });
    expect(other.owner.epoch).toBe(1);
    expect(await lock.renew()).toBe('lost');
    expect(await body(1)).toEqual(other.owner);
    const next = await acquireLock(join(folder.path, 'other'), { purpose: 'x' });
    await rename(join(folder.path, 'other.1'), `${path}.5`);
    expect(await other.renew()).toBe('lost');
    expect(await lockFiles()).toEqual(['lease.1', 'lease.5']);
    expect(next.owner.epoch).toBe(1);
  });

  it('is lost when somebody is quicker with the same generation', async () => {
    const lock = await acquireLock(path, { purpose: 'run 1' });
    await rm(`${path}.1`);
    link.before = async () => {
      link.before = async () => undefined;
      await writeOwner(anOwner(await me(), { token: 'quicker' }));
    };
    expect(await lock.renew()).toBe('lost');
    expect((await body(1)).token).toBe('quicker');
  });

  it('does not go back behind an epoch that is known from elsewhere', async () => {
    const lock = await acquireLock(path, { purpose: 'run 1', after: 3 });
    expect(lock.owner.epoch).toBe(4);
    await lock.release();
    expect((await acquireLock(path, { purpose: 'run 1', after: 2 })).owner.epoch).toBe(5);
  });
});

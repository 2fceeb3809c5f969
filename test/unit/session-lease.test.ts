/** One writer per session file. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { leaseSession, sessionHolder, sessionLockPath } from '../../src/core/sessions/index.ts';
import { LanesError } from '../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';

let dir: TempDir;
let locks: string;
let session: string;
beforeEach(async () => {
  dir = await tempDir({ name: 'awkward' });
  locks = join(dir.path, 'session-locks');
  await mkdir(join(dir.path, 'session'));
  session = join(dir.path, 'session', '2026_abc.jsonl');
  await writeFile(session, '{}\n');
});
afterEach(() => dir.remove());

async function refusal(path: string): Promise<LanesError> {
  const error = await leaseSession(locks, path, 'run two').then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof LanesError)) throw new Error(`not refused: ${error}`);
  return error;
}

describe('the lock of a session', () => {
  test('is the same by whatever path the file is reached', async () => {
    await symlink(join(dir.path, 'session'), join(dir.path, 'other'));
    const paths = [
      session,
      join(dir.path, 'other', '2026_abc.jsonl'),
      join(dir.path, 'session', '..', 'other', '.', '2026_abc.jsonl'),
      relative(process.cwd(), session),
    ];
    const found = await Promise.all(paths.map((path) => sessionLockPath(locks, path)));
    expect(new Set(found).size).toBe(1);
    expect(basename(found[0] ?? '')).toMatch(/^[0-9a-f]{32}$/);
  });

  test('is another for another file, and does not need the file or its folder', async () => {
    const here = await sessionLockPath(locks, session);
    expect(await sessionLockPath(locks, join(dir.path, 'session', 'b.jsonl'))).not.toBe(here);
    expect(await sessionLockPath(locks, join(dir.path, 'gone', '2026_abc.jsonl'))).not.toBe(here);
  });
});

describe('the lease', () => {
  test('B54 a second writer is told who the first is, by whatever path it comes', async () => {
    const lease = await leaseSession(locks, session, 'run one');
    await symlink(join(dir.path, 'session'), join(dir.path, 'other'));
    for (const path of [session, join(dir.path, 'other', '2026_abc.jsonl')]) {
      const error = await refusal(path);
      expect(error.code).toBe('session_in_use');
      expect(error.message).toBe(`The session 2026_abc.jsonl is in use by run one (process ${process.pid}).`);
      expect(error.hint).toContain('fork');
      expect((await sessionHolder(locks, path))?.toValue()).toEqual(error.toValue());
    }
    await lease.release();
  });

  test('can be taken again after it was given back', async () => {
    expect(await sessionHolder(locks, session)).toBeUndefined();
    const first = await leaseSession(locks, session, 'run one');
    expect(await sessionHolder(locks, session)).toBeInstanceOf(LanesError);
    await first.release();
    expect(await sessionHolder(locks, session)).toBeUndefined();
    const second = await leaseSession(locks, session, 'run two');
    expect(second.owner).toMatchObject({ epoch: 2, purpose: 'run two' });
    expect(await first.stillHeld()).toBe(false);
    expect(await second.stillHeld()).toBe(true);
    await second.release();
  });

  test('of a process that is gone counts for nothing', async () => {
    const first = await leaseSession(locks, session, 'run one');
    const dead = { ...first.owner, process: { pid: first.owner.process.pid, start: 'another-boot:1' } };
    await writeFile(`${await sessionLockPath(locks, session)}.1`, `${JSON.stringify(dead)}\n`);
    expect(await sessionHolder(locks, session)).toBeUndefined();
    const second = await leaseSession(locks, session, 'run two');
    expect(second.owner.epoch).toBe(2);
    await second.release();
  });

  test('of ten that want it at once exactly one gets it', async () => {
    const tries = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) => leaseSession(locks, session, `run ${n}`)),
    );
    const won = tries.filter((one) => one.status === 'fulfilled');
    expect(won).toHaveLength(1);
    for (const one of tries)
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'session_in_use' });
    for (const one of won) await one.value.release();
  });

  test('other sessions are not touched by it', async () => {
    const one = await leaseSession(locks, session, 'run one');
    const two = await leaseSession(locks, join(dir.path, 'session', 'b.jsonl'), 'run two');
    await two.release();
    await one.release();
  });

  test('a place for locks that cannot be made is another error, not "in use"', async () => {
    // Below a file nothing can be made, whoever asks.
    const error = await leaseSession(join(session, 'locks'), session, 'run one').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toMatchObject({ code: 'session_in_use' });
  });
});

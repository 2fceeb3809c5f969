/** A session that somebody opened by hand. */
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { foreignWriter, leaseSession, sessionLockPath } from '../../src/core/sessions/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';

let dir: TempDir;
let locks: string;
let session: string;
beforeEach(async () => {
  dir = await tempDir({ name: 'awkward' });
  locks = join(dir.path, 'session-locks');
  await mkdir(locks);
  session = join(dir.path, 'a.jsonl');
  await writeFile(session, '{}\n');
});
afterEach(() => dir.remove());

const MINUTE = 60_000;
/** A run had it a minute after the epoch of this test. */
async function hadBy(at: number): Promise<void> {
  await (await leaseSession(locks, session, 'run 1')).release();
  await utimes(`${await sessionLockPath(locks, session)}.1`, at / 1000, at / 1000);
}
const writtenAt = (at: number) => utimes(session, at / 1000, at / 1000);
const T = 1_700_000_000_000;
const judged = (now: number, pids: number[] | undefined) =>
  foreignWriter(locks, session, dir.path, { now, others: async () => pids });

describe('a session', () => {
  test('that no run of ours has had is not judged', async () => {
    await writtenAt(T);
    expect(await judged(T, [7])).toBeUndefined();
  });

  test('that nobody wrote to since is free, whatever Pi works beside it', async () => {
    await hadBy(T);
    for (const at of [T - MINUTE, T]) {
      await writtenAt(at);
      expect(await judged(T + MINUTE, [7])).toBeUndefined();
    }
  });

  test('that was written to since is in use while a Pi works in its folder, and free when that is gone', async () => {
    await hadBy(T);
    await writtenAt(T + MINUTE);
    expect(await judged(T + 3 * MINUTE, [7, 8])).toMatchObject({
      code: 'session_in_use',
      message:
        'The session a.jsonl was written to by another program 2m 00s ago; a Pi works in its folder (process 7, 8).',
      hint: expect.stringContaining('copy'),
    });
    expect(await judged(T + 3 * MINUTE, [])).toBeUndefined();
  });

  test('is in use for ten minutes after it where processes cannot be looked at', async () => {
    await hadBy(T);
    await writtenAt(T + MINUTE);
    expect(await judged(T + 11 * MINUTE, undefined)).toMatchObject({ code: 'session_in_use' });
    expect(await judged(T + 11 * MINUTE + 1, undefined)).toBeUndefined();
  });

  test('that is gone is judged by others', async () => {
    session = join(dir.path, 'gone.jsonl');
    expect(await judged(T, [7])).toBeUndefined();
  });
});

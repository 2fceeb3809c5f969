/** A full disk is waited for, nothing else is. */
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { appendWhole, explainDisk, whenThereIsRoom } from '../../src/core/files/index.ts';
import { CappedLog, MirrorReader, MirrorWriter } from '../../src/core/transcripts/index.ts';
import { LanesError, MAX_BLOCK_CHARS } from '../../src/protocol/index.ts';
import { tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';

/** While `full`, a write takes the first half of what it is given and fails. `refused`: how often it did. */
const disk = vi.hoisted(() => ({ full: false, refused: 0 }));
vi.mock('node:fs/promises', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs/promises')>();
  return {
    ...fs,
    open: async (...args: Parameters<typeof fs.open>) => {
      const handle = await fs.open(...args);
      const appendFile = handle.appendFile.bind(handle);
      handle.appendFile = async (data: string | Uint8Array) => {
        if (!disk.full) return appendFile(data);
        const bytes = Buffer.from(data);
        await appendFile(bytes.subarray(0, Math.floor(bytes.length / 2)));
        disk.refused++;
        throw failure('ENOSPC');
      };
      return handle;
    },
  };
});
afterEach(() => Object.assign(disk, { full: false, refused: 0 }));

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: no luck`), { code });
}

describe('a write', () => {
  test('that succeeds is done once', async () => {
    const write = vi.fn(async () => 'written');
    expect(await whenThereIsRoom(write)).toBe('written');
    expect(write).toHaveBeenCalledOnce();
  });

  test('that fails for want of room or handles is done again every second, until it succeeds', async () => {
    const codes = ['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE'];
    const from = performance.now();
    const write = vi.fn(async () => 'written');
    for (const code of codes.slice(0, 2)) write.mockRejectedValueOnce(failure(code));
    const other = vi.fn(async () => 'written too');
    for (const code of codes.slice(2)) other.mockRejectedValueOnce(failure(code));
    expect(await Promise.all([whenThereIsRoom(write), whenThereIsRoom(other)])).toEqual(['written', 'written too']);
    expect(write).toHaveBeenCalledTimes(3);
    expect(other).toHaveBeenCalledTimes(3);
    expect(performance.now() - from).toBeGreaterThanOrEqual(1980);
    expect(performance.now() - from).toBeLessThan(6000);
  });

  test.each(['EIO', 'EACCES', 'EROFS', 'ENOENT', 'EBADF'])('that fails with %s fails at once', async (code) => {
    const error = failure(code);
    const write = vi.fn(async () => Promise.reject(error));
    await expect(whenThereIsRoom(write)).rejects.toBe(error);
    expect(write).toHaveBeenCalledOnce();
  });

  test('that throws something else fails with that', async () => {
    await expect(whenThereIsRoom(() => Promise.reject('ENOSPC'))).rejects.toBe('ENOSPC');
    await expect(whenThereIsRoom(() => Promise.reject(new Error('ENOSPC')))).rejects.toThrow('ENOSPC');
  });

  test('that fails otherwise after a full disk fails with the later error', async () => {
    const write = vi
      .fn(async () => 'never')
      .mockRejectedValueOnce(failure('ENOSPC'))
      .mockRejectedValueOnce(failure('EIO'));
    await expect(whenThereIsRoom(write)).rejects.toMatchObject({ code: 'EIO' });
    expect(write).toHaveBeenCalledTimes(2);
  });
});

test('what a full disk took in part is cut off again', async () => {
  await using dir = await tempDir();
  const path = join(dir.path, 'file');
  const handle = await open(path, 'a');
  await appendWhole(handle, 'whole\n');
  disk.full = true;
  await expect(appendWhole(handle, 'does not fit\n')).rejects.toMatchObject({ code: 'ENOSPC' });
  expect(await readFile(path, 'utf8')).toBe('whole\n');
  disk.full = false;
  await appendWhole(handle, 'fits\n');
  await handle.close();
  expect(await readFile(path, 'utf8')).toBe('whole\nfits\n');
});

describe('an error', () => {
  test.each(['ENOSPC', 'EDQUOT'])('%s says that the disk is full, and what helps', (code) => {
    const error = explainDisk(failure(code));
    expect(error).toBeInstanceOf(LanesError);
    expect(error).toMatchObject({
      code: 'disk_full',
      message: expect.stringContaining(code),
      hint: expect.any(String),
    });
  });

  test.each(['EACCES', 'EPERM', 'EROFS', 'EBUSY'])('%s names the path that is refused, and what helps', (code) => {
    expect(explainDisk(failure(code))).toMatchObject({
      code: 'store_unwritable',
      message: expect.stringContaining(code),
      hint: expect.stringContaining('permissions'),
    });
  });

  test('of another kind stays what it is', () => {
    for (const error of [failure('EIO'), new LanesError({ code: 'internal', message: 'x' }), 'text', undefined])
      expect(explainDisk(error)).toBe(error);
  });
});

describe('a transcript on a full disk', () => {
  const note = (text: string) => ({ type: 'note', t: 1, text }) as const;

  test('waits for room and has no torn line afterwards', async () => {
    await using dir = await tempDir();
    const path = join(dir.path, 'transcript.jsonl');
    const mirror = new MirrorWriter(path);
    mirror.add(note('before'));
    await mirror.flush();
    disk.full = true;
    mirror.add(note('meanwhile'));
    const flushed = mirror.flush();
    mirror.add(note('later'));
    await waitFor('a refusal', () => disk.refused > 0);
    disk.full = false;
    await flushed;
    await mirror.close();
    expect(mirror.failure).toBeUndefined();
    const reader = new MirrorReader(path);
    expect(await reader.read()).toEqual([note('before'), note('meanwhile'), note('later')]);
    expect(reader.unreadable).toBe(0);
  });

  test('does not fill the memory: what is too much is left out, and said', async () => {
    await using dir = await tempDir();
    const path = join(dir.path, 'transcript.jsonl');
    const mirror = new MirrorWriter(path, { headBytes: 100 * 1024 * 1024, segmentBytes: 1024, segments: 1 });
    const long = note('x'.repeat(MAX_BLOCK_CHARS));
    disk.full = true;
    for (let n = 0; n < 600; n++) mirror.add(long);
    void mirror.flush();
    for (let n = 0; n < 7; n++) mirror.add(note(`lost ${n}`));
    void mirror.flush();
    await waitFor('a refusal', () => disk.refused > 0);
    disk.full = false;
    await mirror.close();
    const entries = await new MirrorReader(path).read();
    expect(entries).toHaveLength(601);
    expect(entries.at(-1)).toMatchObject({
      type: 'note',
      text: '7 entries were left out here: the disk was full or too slow.',
    });
  });

  test('the error output of a child waits as well', async () => {
    await using dir = await tempDir();
    const path = join(dir.path, 'stderr.log');
    const log = new CappedLog(path);
    disk.full = true;
    log.add('first line\n');
    log.add('second line\n');
    await waitFor('a refusal', () => disk.refused > 0);
    disk.full = false;
    await log.close();
    expect(await readFile(path, 'utf8')).toBe('first line\nsecond line\n');
  });
});

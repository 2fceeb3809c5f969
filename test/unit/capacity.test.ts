/** A full disk is waited for, nothing else is. */
import { describe, expect, test, vi } from 'vitest';
import { whenThereIsRoom } from '../../src/core/files/index.ts';

const failure = (code: string) => Object.assign(new Error(`${code}: no luck`), { code });

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

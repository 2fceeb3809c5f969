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

  test.each(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE'])(
    'that fails with %s is done again after a second, until it succeeds',
    async (code) => {
      const from = performance.now();
      const write = vi.fn(async () => 'written').mockRejectedValueOnce(failure(code));
      expect(await whenThereIsRoom(write)).toBe('written');
      expect(write).toHaveBeenCalledTimes(2);
      expect(performance.now() - from).toBeGreaterThanOrEqual(990);
      expect(performance.now() - from).toBeLessThan(5000);
    },
  );

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
    const write = vi.fn(async () => 'never').mockRejectedValueOnce(failure('ENOSPC')).mockRejectedValueOnce(failure('EIO'));
    await expect(whenThereIsRoom(write)).rejects.toMatchObject({ code: 'EIO' });
    expect(write).toHaveBeenCalledTimes(2);
  });
});

/** Which checkout a folder lies in. */
import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkoutOf, takeCheckout, writerIn } from '../../src/core/checkouts/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';

let temp: TempDir;
let top: string;
beforeEach(async () => {
  temp = await tempDir();
  top = await realpath(temp.path);
});
afterEach(() => temp.remove());

describe('the checkout of a folder', () => {
  it('is the nearest folder above with .git, a folder or the file of a worktree, by its real path', async () => {
    await mkdir(join(top, 'main', '.git'), { recursive: true });
    await mkdir(join(top, 'main', 'src', 'deep'), { recursive: true });
    await mkdir(join(top, 'main', 'inner'));
    await writeFile(join(top, 'main', 'inner', '.git'), 'gitdir: elsewhere\n');
    await symlink(join(top, 'main', 'src'), join(top, 'link'));
    expect(await checkoutOf(join(top, 'main', 'src', 'deep'))).toBe(join(top, 'main'));
    expect(await checkoutOf(join(top, 'link'))).toBe(join(top, 'main'));
    expect(await checkoutOf(join(top, 'main', 'inner'))).toBe(join(top, 'main', 'inner'));
  });

  it('is none outside of a repository, and for a folder that is gone', async () => {
    expect(await checkoutOf(top)).toBeUndefined();
    expect(await checkoutOf(join(top, 'gone'))).toBeUndefined();
  });
});

describe('who changes files in a checkout', () => {
  it('is told while somebody has it, by what they are called, and nobody is before and afterwards', async () => {
    const locks = join(top, 'locks');
    await mkdir(locks);
    expect(await writerIn(locks, top)).toBeUndefined();
    const { signal } = new AbortController();
    const lease = await takeCheckout(top, {
      locks,
      purpose: 'north of run 7',
      wait: false,
      signal,
      onWait: async () => undefined,
    });
    expect(await writerIn(locks, top)).toBe('north of run 7');
    expect(await writerIn(locks, join(top, 'elsewhere'))).toBeUndefined();
    await lease.release();
    expect(await writerIn(locks, top)).toBeUndefined();
  });
});

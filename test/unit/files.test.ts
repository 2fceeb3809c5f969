import { chmod, mkdir, open, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  appendWhole,
  errnoOf,
  makeCheckedFolder,
  makePrivateFolder,
  replaceFile,
  writeFileAtomic,
} from '../../src/core/files/index.ts';
import { LanesError } from '../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';

/** Errors the next renames end with, one after the other. */
const { renames } = vi.hoisted(() => ({ renames: { fail: [] as string[], calls: 0 } }));
vi.mock('node:fs/promises', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs/promises')>();
  return {
    ...fs,
    rename: async (from: string, to: string) => {
      renames.calls++;
      const code = renames.fail.shift();
      if (code) throw Object.assign(new Error(`${code}: rename`), { code });
      return fs.rename(from, to);
    },
  };
});

const posix = process.platform !== 'win32';
let folder: TempDir;
let path: string;

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  path = join(folder.path, 'file.json');
  renames.fail = [];
  renames.calls = 0;
});

afterEach(() => folder.remove());

const modeOf = async (at: string) => (await stat(at)).mode & 0o777;

describe('writeFileAtomic', () => {
  it('replaces the content as a whole, for its owner only', async () => {
    await writeFileAtomic(path, 'old');
    await writeFileAtomic(path, 'new ü');
    expect(await readFile(path, 'utf8')).toBe('new ü');
    await writeFileAtomic(path, Buffer.from([0, 255]), { durable: false });
    expect(await readFile(path)).toEqual(Buffer.from([0, 255]));
    if (posix) expect(await modeOf(path)).toBe(0o600);
    expect(await readdir(folder.path)).toEqual(['file.json']);
  });

  it.runIf(posix)('gives the mode it is asked for', async () => {
    await writeFileAtomic(path, '', { mode: 0o640 });
    expect(await modeOf(path)).toBe(0o640);
  });

  it('never shows a part of it to a reader', async () => {
    const contents = ['a', 'b'].map((letter) => letter.repeat(200_000));
    await writeFileAtomic(path, contents[0] ?? '');
    let writing = true;
    const writer = (async () => {
      for (let i = 0; i < 30; i++) await writeFileAtomic(path, contents[i % 2] ?? '', { durable: false });
      writing = false;
    })();
    let reads = 0;
    for (; writing; reads++) expect(contents).toContain(await readFile(path, 'utf8'));
    await writer;
    expect(reads).toBeGreaterThan(0);
  });

  it('leaves the old content and no temp file when it fails', async () => {
    await writeFileAtomic(path, 'old');
    renames.fail = ['ENOSPC'];
    await expect(writeFileAtomic(path, 'new')).rejects.toThrow('ENOSPC');
    expect(await readFile(path, 'utf8')).toBe('old');
    const target = join(folder.path, 'taken');
    await mkdir(join(target, 'full'), { recursive: true });
    await expect(writeFileAtomic(target, 'new')).rejects.toThrow();
    await expect(writeFileAtomic(join(folder.path, 'nowhere', 'x'), 'new')).rejects.toThrow('ENOENT');
    expect((await readdir(folder.path)).sort()).toEqual(['file.json', 'taken']);
  });
});

describe('appendWhole', () => {
  it('appends to what is there', async () => {
    await writeFile(path, 'one ');
    await using handle = await open(path, 'a');
    await appendWhole(handle, 'two ');
    await appendWhole(handle, Buffer.from('three ü'));
    expect(await readFile(path, 'utf8')).toBe('one two three ü');
  });

  it('leaves nothing of a text that went in only in part', async () => {
    await writeFile(path, 'one ');
    await using handle = await open(path, 'a');
    const whole = handle.appendFile.bind(handle);
    vi.spyOn(handle, 'appendFile').mockImplementationOnce(async () => {
      await whole('tw');
      throw Object.assign(new Error('ENOSPC: write'), { code: 'ENOSPC' });
    });
    await expect(appendWhole(handle, 'two ')).rejects.toThrow('ENOSPC');
    expect(await readFile(path, 'utf8')).toBe('one ');
    await appendWhole(handle, 'three');
    expect(await readFile(path, 'utf8')).toBe('one three');
  });
});

describe('replaceFile', () => {
  it('on Windows tries again while another program holds the file', async () => {
    await writeFile(path, 'new');
    renames.fail = ['EPERM', 'EBUSY', 'EACCES'];
    await replaceFile(path, join(folder.path, 'target'), 'win32');
    expect(renames.calls).toBe(4);
    expect(await readFile(join(folder.path, 'target'), 'utf8')).toBe('new');
  });

  it('on Windows gives up in the end, with the last error', async () => {
    await writeFile(path, 'new');
    renames.fail = Array.from({ length: 20 }, () => 'EBUSY');
    await expect(replaceFile(path, join(folder.path, 'target'), 'win32')).rejects.toThrow('EBUSY');
    expect(renames.calls).toBe(8);
  });

  it('does not try again what waiting cannot mend', async () => {
    await writeFile(path, 'new');
    renames.fail = ['ENOSPC'];
    await expect(replaceFile(path, join(folder.path, 'target'), 'win32')).rejects.toThrow('ENOSPC');
    renames.fail = ['EPERM'];
    await expect(replaceFile(path, join(folder.path, 'target'), 'linux')).rejects.toThrow('EPERM');
    expect(renames.calls).toBe(2);
  });
});

describe.runIf(posix)('private folders', () => {
  it('can be entered by their owner only, parents included', async () => {
    const inner = join(folder.path, 'a', 'b');
    await makePrivateFolder(inner);
    await makePrivateFolder(inner);
    expect(await modeOf(inner)).toBe(0o700);
    expect(await modeOf(join(folder.path, 'a'))).toBe(0o700);
  });

  it('are used in a shared place when they are ours alone', async () => {
    const at = join(folder.path, 'sockets');
    await makeCheckedFolder(at);
    await makeCheckedFolder(at);
    expect(await modeOf(at)).toBe(0o700);
  });

  const refused = async (at: string, why: RegExp, uid?: number) => {
    const error: unknown = await makeCheckedFolder(at, uid).catch((thrown: unknown) => thrown);
    if (!(error instanceof LanesError)) throw new Error(`not refused: ${error}`);
    expect(error.code).toBe('socket_folder_unsafe');
    expect(error.message).toContain(at);
    expect(error.message).toMatch(why);
    expect(error.hint).toContain('XDG_RUNTIME_DIR');
  };

  it('are refused when others can enter them', async () => {
    const at = join(folder.path, 'sockets');
    await mkdir(at);
    for (const mode of [0o750, 0o701, 0o720]) {
      await chmod(at, mode);
      await refused(at, new RegExp(`others \\(mode ${mode.toString(8)}\\)`));
    }
  });

  it('are refused when they belong to another user', async () => {
    const at = join(folder.path, 'sockets');
    const mine = process.getuid?.() ?? 0;
    await refused(at, new RegExp(`belongs to user ${mine}, not ${mine + 1}`), mine + 1);
  });

  it('are refused when a link or a file stands in their place', async () => {
    const real = join(folder.path, 'real');
    await mkdir(real, { mode: 0o700 });
    await symlink(real, join(folder.path, 'link'));
    await symlink(join(folder.path, 'nowhere'), join(folder.path, 'dangling'));
    await writeFile(path, '');
    for (const at of ['link', 'dangling', 'file.json']) await refused(join(folder.path, at), /is not a folder/);
    await refused(join(path, 'below'), /cannot be made: .*ENOTDIR/);
  });
});

it('knows the system error code of anything thrown', () => {
  expect(errnoOf(Object.assign(new Error(), { code: 'ENOENT' }))).toBe('ENOENT');
  for (const thrown of [new Error(), Object.assign(new Error(), { code: 7 }), 'ENOENT', null, undefined])
    expect(errnoOf(thrown)).toBeUndefined();
});

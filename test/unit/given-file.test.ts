/** Files named on the command line. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readGiven, scriptUnreadable } from '../../src/cli/given-file.ts';
import { type TempDir, tempDir } from '../support/temp.ts';

let folder: TempDir;
beforeEach(async () => {
  folder = await tempDir();
});
afterEach(() => folder.remove());

const read = (name: string) => readGiven(join(folder.path, name), (reason) => scriptUnreadable(name, reason));

describe('a file that a person names', () => {
  it('is read without its byte order mark', async () => {
    await writeFile(join(folder.path, 'a.js'), '\uFEFFreturn 1;\n');
    expect(await read('a.js')).toBe('return 1;\n');
  });

  it('that cannot be read is named once, with a reason in words', async () => {
    await mkdir(join(folder.path, 'folder'));
    await expect(read('gone.js')).rejects.toThrow('The script gone.js could not be read: there is no such file.');
    await expect(read('folder')).rejects.toThrow('The script folder could not be read: it is a folder.');
  });
});

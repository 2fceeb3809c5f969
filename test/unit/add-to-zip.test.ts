/** Files added to a finished archive, read back by the directory at its end; and that the extension names what is added. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { TYPESCRIPT_PLUGIN } from '../../esbuild.mjs';
import { addToZip } from '../../scripts/add-to-zip.mjs';
import { projectRoot } from '../support/project-root.ts';
import { tempDir } from '../support/temp.ts';

/** An archive with nothing in it is only its end. */
const EMPTY = Buffer.concat([Buffer.from('PK\u0005\u0006'), Buffer.alloc(18)]);

function entries(archive: Buffer): { name: string; text: string }[] {
  const end = archive.subarray(-22);
  let at = end.readUInt32LE(16);
  expect(at + end.readUInt32LE(12)).toBe(archive.length - 22);
  return Array.from({ length: end.readUInt16LE(10) }, () => {
    expect(archive.readUInt32LE(at)).toBe(0x02014b50);
    const [crc, size, nameSize, offset] = [
      archive.readUInt32LE(at + 16),
      archive.readUInt32LE(at + 24),
      archive.readUInt16LE(at + 28),
      archive.readUInt32LE(at + 42),
    ];
    const name = archive.toString('utf8', at + 46, at + 46 + nameSize);
    expect(archive.readUInt32LE(offset)).toBe(0x04034b50);
    expect(archive.toString('utf8', offset + 30, offset + 30 + nameSize)).toBe(name);
    const bytes = archive.subarray(offset + 30 + nameSize, offset + 30 + nameSize + size);
    expect(crc32(bytes)).toBe(crc);
    at += 46 + nameSize;
    return { name, text: bytes.toString('utf8') };
  });
}

test('what is added stands beside what was there', async () => {
  await using folder = await tempDir();
  const path = join(folder.path, 'a.zip');
  await writeFile(path, EMPTY);
  const first = [
    { name: 'extension/a.txt', text: 'one' },
    { name: 'extension/ü/b.js', text: '' },
  ];
  addToZip(path, first);
  expect(entries(await readFile(path))).toEqual(first);
  const more = { name: 'c', text: 'drei €' };
  addToZip(path, [more]);
  expect(entries(await readFile(path))).toEqual([...first, more]);
  await writeFile(path, 'no archive, and quite some text in it');
  expect(() => addToZip(path, [more])).toThrow('does not end as a zip archive');
});

test('the plugin that the manifest names is the one that is added', async () => {
  const manifest = z
    .object({ contributes: z.object({ typescriptServerPlugins: z.array(z.object({ name: z.string() })) }) })
    .parse(JSON.parse(await readFile(join(projectRoot(), 'package.json'), 'utf8')));
  const folders = manifest.contributes.typescriptServerPlugins.map(({ name }) => `node_modules/${name}/package.json`);
  expect(folders).toEqual(Object.keys(TYPESCRIPT_PLUGIN).filter((path) => path.endsWith('/package.json')));
});

// Adds small files to a finished zip archive: their entries go where the directory at its end began, then the directory with
// theirs in it. Knows archives without comment and without the 64-bit extension, which is what vsce writes.
import { readFileSync, writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';

const END_BYTES = 22;
const END_MARK = 0x06054b50;
const UTF8 = 0x0800;
/** 1 January 1980, the first day a zip knows: the same archive for the same files. */
const DATE = 0x0021;

/** @param {string} path @param {{ name: string, text: string }[]} files names with slashes */
export function addToZip(path, files) {
  const archive = readFileSync(path);
  const end = archive.subarray(-END_BYTES);
  if (end.readUInt32LE(0) !== END_MARK) throw new Error(`${path} does not end as a zip archive without comment does`);
  const count = end.readUInt16LE(10);
  const size = end.readUInt32LE(12);
  const start = end.readUInt32LE(16);
  const parts = [archive.subarray(0, start)];
  const directory = [archive.subarray(start, start + size)];
  let offset = start;
  for (const { name, text } of files) {
    const [bytes, label] = [Buffer.from(text), Buffer.from(name)];
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(UTF8, 2);
    shared.writeUInt16LE(0, 4);
    shared.writeUInt16LE(0, 6);
    shared.writeUInt16LE(DATE, 8);
    shared.writeUInt32LE(crc32(bytes), 10);
    shared.writeUInt32LE(bytes.length, 14);
    shared.writeUInt32LE(bytes.length, 18);
    shared.writeUInt16LE(label.length, 22);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), shared, label, bytes]);
    const rest = Buffer.alloc(14);
    // A plain file that everybody may read.
    rest.writeUInt32LE((0o100644 << 16) >>> 0, 6);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\u0001\u0002'), Buffer.from([20, 3]), shared, rest, label]));
    parts.push(local);
    offset += local.length;
  }
  const newDirectory = Buffer.concat(directory);
  const newEnd = Buffer.from(end);
  newEnd.writeUInt16LE(count + files.length, 8);
  newEnd.writeUInt16LE(count + files.length, 10);
  newEnd.writeUInt32LE(newDirectory.length, 12);
  newEnd.writeUInt32LE(offset, 16);
  writeFileSync(path, Buffer.concat([...parts, newDirectory, newEnd]));
}

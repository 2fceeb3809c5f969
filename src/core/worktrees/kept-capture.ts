/** A capture on disk: reading it, and proving that it is still whole. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { type OutsideFile, outsideFile, type WorktreeCapture, wordsOf, worktreeCapture } from '../../protocol/index.ts';
import { readRegular } from '../files/index.ts';
import { digestOf, type Outside } from './outside.ts';
import { inFolder } from './walk.ts';

export interface KeptCapture {
  capture: WorktreeCapture;
  /** Folder with `capture.json`, `changes.patch`, `files.json` and `files/`. */
  folder: string;
}

const NAME = /^capture-([1-9]\d*)$/;

/** Numbers of the captures in a folder, the newest last. */
export async function captureNumbers(directory: string): Promise<number[]> {
  const numbers = (await readdir(directory)).flatMap((name) => NAME.exec(name)?.[1] ?? []).map(Number);
  return numbers.sort((a, b) => a - b);
}

/** A capture that is whole; `undefined` for one that is not. */
export async function readCapture(folder: string): Promise<KeptCapture | undefined> {
  try {
    const capture = worktreeCapture.parse(JSON.parse(await readRegular(join(folder, 'capture.json'))));
    const kept = { capture, folder };
    return (await copyFault(kept)) === undefined ? kept : undefined;
  } catch {
    // Another one is made beside it.
    return undefined;
  }
}

/** What a capture says of itself, without a look at whether it is whole; `undefined`: it cannot be read. */
export async function glanceCapture(folder: string): Promise<WorktreeCapture | undefined> {
  try {
    return worktreeCapture.parse(JSON.parse(await readRegular(join(folder, 'capture.json'))));
  } catch {
    return undefined;
  }
}

/** The files outside of the tree, in an order that does not depend on the disk. */
export function listOf(outside: Outside): OutsideFile[] {
  return outside.files
    .map(({ bytesOfPath: _, ...file }) => file)
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

export async function readList(folder: string): Promise<OutsideFile[]> {
  return z.array(outsideFile).parse(JSON.parse(await readRegular(join(folder, 'files.json'))));
}

/** What is missing or damaged of the files of a capture; `undefined`: they are as they were written. */
export async function copyFault({ capture, folder }: KeptCapture): Promise<string | undefined> {
  try {
    if (capture.patch && (await sha256(join(folder, capture.patch.path))) !== capture.patch.digest) {
      return `${capture.patch.path} was changed`;
    }
    for (const { path, raw, kind, bytes, digest } of await readList(folder)) {
      const full = inFolder(join(folder, 'files'), raw === undefined ? Buffer.from(path) : Buffer.from(raw, 'base64'));
      const { size } = await lstat(full);
      if (size !== bytes || (await digestOf(full, kind)) !== digest) return `${path} was changed`;
    }
    return undefined;
  } catch (error) {
    return wordsOf(error);
  }
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

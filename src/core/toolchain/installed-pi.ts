/** The copies of Pi that *Install Pi…* has made: one folder per version, each complete from the moment it has its name. */
import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { compareVersions } from './version.ts';

const VERSION_FOLDER = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/;
const UNFINISHED = /^\.new-/;

/** Folders of copies, newest version first. None when the folder is missing. */
export async function installedCopies(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((): string[] => []);
  return names
    .filter((name) => VERSION_FOLDER.test(name))
    .sort((a, b) => compareVersions(b, a))
    .map((name) => join(folder, name));
}

/** Where a version is put together before it gets its name; in the same folder, so that one rename is enough. */
export function unfinishedCopy(folder: string, version: string): string {
  return join(folder, `.new-${version}-${randomUUID().slice(0, 8)}`);
}

/** What installs that were cut off have left. */
export async function unfinishedCopies(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((): string[] => []);
  return names.filter((name) => UNFINISHED.test(name)).map((name) => join(folder, name));
}

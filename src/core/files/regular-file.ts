/**
 * Files that are files. Whoever opens a pipe waits until somebody opens its other end, which may be never; so everything that
 * others could have put something else in the place of is opened without waiting, and looked at before it is read.
 */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { errnoOf } from './atomic-write.ts';

/** Something else stands where a file should be. `kind`: what, with its article. */
export class NotAFile extends Error {
  readonly code = 'EFTYPE';
  readonly kind: string;

  constructor(path: string, kind: string) {
    super(`${path} is ${kind}, not a file`);
    this.kind = kind;
  }
}

// Windows has no such flag, and no pipes among its files.
const AT_ONCE = constants.O_NONBLOCK ?? 0;

/** Opens a file for reading. Throws `NotAFile`, or what the system says. */
export function openRegular(path: string): Promise<FileHandle> {
  return openAs(path, constants.O_RDONLY | AT_ONCE);
}

/** Opens or creates a private file to append to. Throws `NotAFile`, or what the system says. */
export function openForAppending(path: string): Promise<FileHandle> {
  return openAs(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | AT_ONCE);
}

/** The text of a file. Throws as `openRegular` does. */
export async function readRegular(path: string): Promise<string> {
  const handle = await openRegular(path);
  try {
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

async function openAs(path: string, flags: number): Promise<FileHandle> {
  let handle: FileHandle;
  try {
    handle = await open(path, flags, 0o600);
  } catch (error) {
    // A socket, a folder that is to be written, a pipe nobody reads.
    const kind = ['ENXIO', 'EISDIR', 'EOPNOTSUPP'].includes(errnoOf(error) ?? '') ? await kindOf(path) : undefined;
    throw kind === undefined ? error : new NotAFile(path, kind);
  }
  try {
    const info = await handle.stat();
    if (!info.isFile()) throw new NotAFile(path, nameKind(info) ?? 'something else');
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

type Info = Pick<Awaited<ReturnType<typeof lstat>>, 'isDirectory' | 'isFIFO' | 'isSocket'>;

async function kindOf(path: string): Promise<string | undefined> {
  return nameKind(await lstat(path));
}

function nameKind(info: Info): string | undefined {
  if (info.isDirectory()) return 'a folder';
  if (info.isFIFO()) return 'a pipe';
  if (info.isSocket()) return 'a socket';
  return 'a device';
}

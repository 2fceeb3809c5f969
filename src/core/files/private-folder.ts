import { lstat } from 'node:fs/promises';
import { type LanesError, lanesError, wordsOf } from '../../protocol/index.ts';
import { makeFolders } from './make-folders.ts';

/** Creates a folder, parents included, that only its owner can enter (mode 0700). */
export async function makePrivateFolder(path: string): Promise<void> {
  await makeFolders(path, 0o700);
}

/**
 * A folder in a shared place (the system's temp folder) is used only when it is a real folder of this user that nobody
 * else can enter; otherwise somebody else could have put it there. Throws `socket_folder_unsafe`.
 */
export async function makeCheckedFolder(path: string, uid: number | undefined = process.getuid?.()): Promise<void> {
  const failure = await makePrivateFolder(path).then(
    () => undefined,
    (error: unknown) => lanesError('socket_folder_unsafe:made', { folder: path, reason: wordsOf(error) }),
  );
  // What stands in the way explains more than the failure it caused.
  const fault = (await faultOf(path, uid)) ?? failure;
  if (fault !== undefined) throw fault;
}

async function faultOf(folder: string, uid: number | undefined): Promise<LanesError | undefined> {
  const stat = await lstat(folder).catch(() => undefined);
  if (!stat) return undefined;
  if (!stat.isDirectory()) return lanesError('socket_folder_unsafe:no-folder', { folder });
  // Windows has neither owners nor modes here.
  if (uid === undefined) return undefined;
  if (stat.uid !== uid) return lanesError('socket_folder_unsafe:owner', { folder, owner: stat.uid, uid });
  const mode = stat.mode & 0o777;
  return (mode & 0o077) === 0 ? undefined : lanesError('socket_folder_unsafe:mode', { folder, mode: mode.toString(8) });
}

import { lstat, mkdir } from 'node:fs/promises';
import { LanesError } from '../../protocol/index.ts';

/** Creates a folder, parents included, that only its owner can enter (mode 0700). */
export async function makePrivateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

/**
 * A folder in a shared place (the system's temp folder) is used only when it is a real folder of this user that nobody
 * else can enter; otherwise somebody else could have put it there.
 */
export async function makeCheckedFolder(path: string, uid: number | undefined = process.getuid?.()): Promise<void> {
  await makePrivateFolder(path);
  if (uid === undefined) return;
  const stat = await lstat(path);
  const fault = !stat.isDirectory()
    ? 'is not a folder'
    : stat.uid !== uid
      ? `belongs to user ${stat.uid}, not ${uid}`
      : (stat.mode & 0o077) !== 0
        ? `can be entered by others (mode ${(stat.mode & 0o777).toString(8)})`
        : undefined;
  if (fault) {
    throw new LanesError(
      'socket_folder_unsafe',
      `The folder for sockets ${path} ${fault}.`,
      'Remove it, or set XDG_RUNTIME_DIR to a folder of your own (mode 0700).',
    );
  }
}

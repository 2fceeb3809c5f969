import { lstat, mkdir } from 'node:fs/promises';
import { LanesError } from '../../protocol/index.ts';

/** Creates a folder, parents included, that only its owner can enter (mode 0700). */
export async function makePrivateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

/**
 * A folder in a shared place (the system's temp folder) is used only when it is a real folder of this user that nobody
 * else can enter; otherwise somebody else could have put it there. Throws `socket_folder_unsafe`.
 */
export async function makeCheckedFolder(path: string, uid: number | undefined = process.getuid?.()): Promise<void> {
  const failure = await makePrivateFolder(path).then(
    () => undefined,
    (error: unknown) => `cannot be made: ${error instanceof Error ? error.message : error}`,
  );
  // What stands in the way explains more than the failure it caused.
  const fault = (await faultOf(path, uid)) ?? failure;
  if (fault === undefined) return;
  throw new LanesError(
    'socket_folder_unsafe',
    `The folder for sockets ${path} ${fault}.`,
    'Remove it, or set XDG_RUNTIME_DIR to a folder of your own (mode 0700).',
  );
}

async function faultOf(path: string, uid: number | undefined): Promise<string | undefined> {
  const stat = await lstat(path).catch(() => undefined);
  if (!stat) return undefined;
  if (!stat.isDirectory()) return 'is not a folder';
  // Windows has neither owners nor modes here.
  if (uid === undefined) return undefined;
  if (stat.uid !== uid) return `belongs to user ${stat.uid}, not ${uid}`;
  const mode = stat.mode & 0o777;
  return (mode & 0o077) === 0 ? undefined : `can be entered by others (mode ${mode.toString(8)})`;
}

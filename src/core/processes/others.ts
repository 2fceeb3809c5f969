/** Processes that are not ours and may be in the way. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { MARKER_ENV } from './environment.ts';

/**
 * Pids of this user's processes of a name that work in a folder and were not started by a runner. Linux only; elsewhere
 * `undefined`, because neither name nor folder of a process can be told without more tools.
 *
 * @param folder absolute, without links
 */
export async function othersWorkingIn(folder: string, name: string): Promise<number[] | undefined> {
  if (process.platform !== 'linux') return undefined;
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => {
      // Gone meanwhile, or of another user: neither writes what is ours.
      const read = (what: string) => readFile(`/proc/${pid}/${what}`, 'utf8').catch(() => '');
      if (pid === process.pid || (await read('comm')).trim() !== name) return undefined;
      if ((await readlink(`/proc/${pid}/cwd`).catch(() => '')) !== folder) return undefined;
      return `\0${await read('environ')}`.includes(`\0${MARKER_ENV}=`) ? undefined : pid;
    }),
  );
  return found.filter((pid) => pid !== undefined);
}

import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from './atomic-write.ts';

/**
 * Makes a folder and those above it that are missing. Node's own way never ends where the system says of a folder that is there
 * that it is not (`/proc`). Throws what the system says.
 * @param mode of the folders that are made
 */
export async function makeFolders(path: string, mode = 0o777): Promise<void> {
  const missing: string[] = [];
  for (let at = path; !(await isFolder(at)); at = dirname(at)) {
    missing.unshift(at);
    if (dirname(at) === at) break;
  }
  for (const folder of missing) {
    await mkdir(folder, { mode }).catch(async (error: unknown) => {
      // Somebody else may have made it at the same moment.
      if (errnoOf(error) !== 'EEXIST' || !(await isFolder(folder))) throw error;
    });
  }
}

/** Throws for what stands in the way, and what cannot be looked at. */
async function isFolder(path: string): Promise<boolean> {
  const info = await stat(path).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (info && !info.isDirectory())
    throw Object.assign(new Error(`ENOTDIR: not a directory, mkdir '${path}'`), { code: 'ENOTDIR' });
  return info !== undefined;
}

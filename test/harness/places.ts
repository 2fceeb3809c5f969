import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root of the project: the folder of package.json. */
export const projectRoot = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Folder for everything that is downloaded once and kept: `.cache`, or what PI_LANES_TEST_CACHE names. */
export function cacheRoot(): string {
  return resolve(process.env.PI_LANES_TEST_CACHE || join(projectRoot, '.cache'));
}

/**
 * The Node that runs the editor's server and with it the extension host. The server needs Node 24, so the project's own
 * copy is taken even when the caller was started with an older one.
 */
export function projectNode(): string {
  const executable = process.platform === 'win32' ? 'node.exe' : 'node';
  const own = join(projectRoot, 'node_modules', 'node', 'bin', executable);
  return existsSync(own) ? own : process.execPath;
}

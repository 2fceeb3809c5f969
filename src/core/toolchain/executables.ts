import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** Every file named `name` on `PATH` that can be started, in order. On Windows with the endings of `PATHEXT`. */
export async function findOnPath(
  name: string,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): Promise<string[]> {
  const windows = platform === 'win32';
  const path = env['PATH'] ?? env['Path'] ?? '';
  const endings = windows
    ? (env['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';').map((ending) => ending.toLowerCase())
    : [''];
  const found: string[] = [];
  for (const folder of path.split(delimiter)) {
    if (folder === '') continue;
    for (const ending of endings) {
      const file = join(folder, `${name}${ending}`);
      if (await isExecutable(file, windows)) found.push(file);
    }
  }
  return found;
}

async function isExecutable(file: string, windows: boolean): Promise<boolean> {
  try {
    if (!(await stat(file)).isFile()) return false;
    await access(file, windows ? constants.F_OK : constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The real path, or the path itself when it cannot be resolved. */
export async function realOrSame(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

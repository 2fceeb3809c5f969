import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The folder of this project, found by its package.json, upwards from this file or (when a bundler took the file's
 * place away) from the working directory.
 * @throws Error when neither lies in the project
 */
export function projectRoot(): string {
  for (const start of [import.meta.dirname, process.cwd()]) {
    for (let folder: string | undefined = start; folder !== undefined; folder = parentOf(folder)) {
      if (isProject(folder)) return folder;
    }
  }
  throw new Error(`no pi-lanes project above ${import.meta.dirname} or ${process.cwd()}`);
}

function parentOf(folder: string): string | undefined {
  const parent = dirname(folder);
  return parent === folder ? undefined : parent;
}

function isProject(folder: string): boolean {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return typeof manifest === 'object' && manifest !== null && 'name' in manifest && manifest.name === 'pi-lanes';
  } catch {
    return false;
  }
}

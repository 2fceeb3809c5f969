/** The bundles that runners execute, one folder each. An unfinished run may still need the one it was started with. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LanesError } from '../../protocol/index.ts';
import { errnoOf, readRegular } from '../files/index.ts';
import { projectLayout, type RootLayout, runLayout } from '../projects/index.ts';
import { readFinalStatus, readLaunchRecord } from '../runs/index.ts';

/** Milliseconds a runtime is kept after its last use, whoever names it: a starter may be about to. */
const KEEP_MS = 24 * 60 * 60 * 1000;

/**
 * Runtimes that no unfinished run names and nobody used for a day, and copies that were never finished.
 *
 * @param current the runtime this client uses; `undefined`: it has none
 * @param now epoch milliseconds
 */
export async function findUnusedRuntimes(
  root: RootLayout,
  current: string | undefined,
  now: number,
): Promise<string[]> {
  const names = (await namesIn(root.runtime)).filter((name) => name !== current);
  if (names.length === 0) return [];
  const needed = await runtimesOfUnfinishedRuns(root, names);
  // What cannot be read may need any of them.
  if (needed === 'unknown') return [];
  const unused: string[] = [];
  for (const name of names) {
    const path = join(root.runtime, name);
    const info = await stat(path).catch(() => undefined);
    if (info && !needed.has(name) && now - info.mtimeMs > KEEP_MS) unused.push(path);
  }
  return unused;
}

async function runtimesOfUnfinishedRuns(root: RootLayout, names: readonly string[]): Promise<Set<string> | 'unknown'> {
  const needed = new Set<string>();
  try {
    for (const project of await namesIn(root.projects)) {
      const layout = projectLayout(join(root.projects, project));
      for (const runId of await namesIn(layout.active)) {
        const { directory } = runLayout(join(layout.runs, runId));
        if (await readFinalStatus(directory)) continue;
        for (const name of await runtimesIn(directory, names)) needed.add(name);
      }
    }
    return needed;
  } catch {
    return 'unknown';
  }
}

/** Throws for a record of a newer version, which may need any of them in a way that is not known here. */
async function runtimesIn(directory: string, names: readonly string[]): Promise<string[]> {
  try {
    return [(await readLaunchRecord(directory)).runtime];
  } catch (error) {
    if (!(error instanceof LanesError)) throw error;
    if (error.code === 'run_not_found') return [];
    if (error.code !== 'run_unreadable') throw error;
    // Nothing can be started from a damaged record; should a person mend it, it needs what it mentions.
    const text = await readRecord(runLayout(directory).record);
    return names.filter((name) => text.includes(name));
  }
}

/** Empty when there is none: a folder in its place names nothing either. */
async function readRecord(path: string): Promise<string> {
  return readRegular(path).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR', 'EFTYPE'].includes(errnoOf(error) ?? '')) return '';
    throw error;
  });
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    // A stray file among the folders is no project.
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return [];
    throw error;
  });
}

/**
 * What runs and clients that died have left beside the runs. Each rule says what may be removed; nothing here decides about a
 * run. Everything is a day old before it is touched, so that nobody is in the middle of making it.
 */
import { lstat, readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { RUN_ID, toErrorValue } from '../../protocol/index.ts';
import { errnoOf } from '../files/index.ts';
import { readJournalEnd } from '../journal/index.ts';
import { acquireLock, findIdleLocks, inspectLock } from '../locks/index.ts';
import { type ProjectLayout, type RootLayout, runLayout } from '../projects/index.ts';

/** Milliseconds. */
export const LEFTOVER_MS = 24 * 60 * 60_000;

/** What may go, and what could not be looked at: one line each, naming it. */
export interface Found {
  paths: string[];
  problems: string[];
}

/** Each on its own: one that is damaged keeps none of the others from being tidied up. */
export async function findEach(paths: readonly string[], mayGo: (path: string) => Promise<boolean>): Promise<Found> {
  const found: Found = { paths: [], problems: [] };
  for (const path of paths) {
    try {
      if (await mayGo(path)) found.paths.push(path);
    } catch (error) {
      found.problems.push(nameProblem(path, error));
    }
  }
  return found;
}

export function nameProblem(path: string, error: unknown): string {
  return `${path}: ${toErrorValue(error).message}`;
}

/** Markers of live runs whose run is over and held by nobody, or does not exist. */
export async function findSpentMarkers(project: ProjectLayout, now: number): Promise<Found> {
  const markers = (await namesIn(project.active)).filter((name) => RUN_ID.test(name));
  return findEach(
    markers.map((runId) => join(project.active, runId)),
    async (path) => {
      const { directory, journal, lease } = runLayout(join(project.runs, basename(path)));
      // The marker is there before its run is, and the run may be out of sight while it is looked at.
      if (await isMissing(directory)) return isOld(path, now);
      const isOver = (await readJournalEnd(journal)).some(({ type }) => type === 'run.ended');
      return isOver && (await isFree(lease));
    },
  );
}

/**
 * Does for an ended run what its runner died before: its lease is given back and its socket removed.
 * @param marker the run's marker, which goes last: until then it is done again
 */
export async function closeEndedRun(project: ProjectLayout, marker: string): Promise<void> {
  const { directory, lease } = runLayout(join(project.runs, basename(marker)));
  const seen = await inspectLock(lease);
  if (seen.state === 'stale' && !(await isMissing(directory))) {
    const own = await acquireLock(lease, { purpose: 'tidying up after its runner' });
    if (seen.owner?.socket && process.platform !== 'win32') await rm(seen.owner.socket, { force: true });
    await own.release();
  }
  await rm(marker, { force: true });
}

/** Output of runners that never came to have a run, or whose run is over. */
export async function findOldStartLogs(project: ProjectLayout, now: number): Promise<Found> {
  const logs = (await namesIn(project.starting)).filter((name) => name.endsWith('.log'));
  return findEach(
    logs.map((name) => join(project.starting, name)),
    async (path) => {
      // On Windows the log of a living runner stays here.
      const { lease } = runLayout(join(project.runs, basename(path).slice(0, 36)));
      return (await isOld(path, now)) && (await isFree(lease));
    },
  );
}

const STAGING = /^\.([0-9a-f-]{36})\.new$/;

/** Folders of runs whose runner died while it made them. */
export async function findUnfinishedRuns(project: ProjectLayout, now: number): Promise<Found> {
  const staged = (await namesIn(project.runs)).filter((name) => STAGING.test(name));
  return findEach(
    staged.map((name) => join(project.runs, name)),
    async (path) => (await isOld(path, now)) && (await isFree(runLayout(path).lease)),
  );
}

/** Claims on output files that nobody holds any more. */
export async function findSpentClaims(root: RootLayout, now: number): Promise<Found> {
  return { paths: await findIdleLocks(root.claims, LEFTOVER_MS, now), problems: [] };
}

/** Locks of session files that nobody holds, whether the session is still there or not: it can be locked anew. */
export async function findSpentSessionLocks(root: RootLayout, now: number): Promise<Found> {
  return { paths: await findIdleLocks(root.sessionLocks, LEFTOVER_MS, now), problems: [] };
}

async function isFree(lease: string): Promise<boolean> {
  const { state } = await inspectLock(lease);
  return state === 'missing' || state === 'stale';
}

async function isOld(path: string, now: number): Promise<boolean> {
  const info = await stat(path).catch(() => undefined);
  return info !== undefined && now - info.mtimeMs >= LEFTOVER_MS;
}

async function isMissing(path: string): Promise<boolean> {
  return lstat(path).then(
    () => false,
    (error: unknown) => errnoOf(error) === 'ENOENT',
  );
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return [];
    throw error;
  });
}

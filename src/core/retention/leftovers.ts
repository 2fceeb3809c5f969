/**
 * What runs and clients that died have left beside the runs. Each rule says what may be removed; nothing here decides about a
 * run. Everything is a day old before it is touched, so that nobody is in the middle of making it.
 */
import { lstat, readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { RUN_ID } from '../../protocol/index.ts';
import { errnoOf } from '../files/index.ts';
import { readJournalEnd } from '../journal/index.ts';
import { acquireLock, findIdleLocks, inspectLock } from '../locks/index.ts';
import { type ProjectLayout, type RootLayout, runLayout } from '../projects/index.ts';

/** Milliseconds. */
export const LEFTOVER_MS = 24 * 60 * 60_000;

/** Markers of live runs whose run is over and held by nobody, or does not exist. */
export async function findSpentMarkers(project: ProjectLayout, now: number): Promise<string[]> {
  const spent: string[] = [];
  for (const runId of await namesIn(project.active)) {
    const path = join(project.active, runId);
    const { directory, journal, lease } = runLayout(join(project.runs, runId));
    if (!RUN_ID.test(runId)) continue;
    // The marker is there before its run is, and the run may be out of sight while it is looked at.
    if (await isMissing(directory)) {
      if (await isOld(path, now)) spent.push(path);
    } else if ((await readJournalEnd(journal)).some(({ type }) => type === 'run.ended') && (await isFree(lease))) {
      spent.push(path);
    }
  }
  return spent;
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
export async function findOldStartLogs(project: ProjectLayout, now: number): Promise<string[]> {
  const old: string[] = [];
  for (const name of await namesIn(project.starting)) {
    const path = join(project.starting, name);
    // On Windows the log of a living runner stays here.
    const lease = runLayout(join(project.runs, name.slice(0, 36))).lease;
    if (name.endsWith('.log') && (await isOld(path, now)) && (await isFree(lease))) old.push(path);
  }
  return old;
}

const STAGING = /^\.([0-9a-f-]{36})\.new$/;

/** Folders of runs whose runner died while it made them. */
export async function findUnfinishedRuns(project: ProjectLayout, now: number): Promise<string[]> {
  const unfinished: string[] = [];
  for (const name of await namesIn(project.runs)) {
    const path = join(project.runs, name);
    if (STAGING.test(name) && (await isOld(path, now)) && (await isFree(runLayout(path).lease))) unfinished.push(path);
  }
  return unfinished;
}

/** Claims on output files that nobody holds any more. */
export function findSpentClaims(project: ProjectLayout, now: number): Promise<string[]> {
  return findIdleLocks(project.claims, LEFTOVER_MS, now);
}

/** Locks of session files that nobody holds, whether the session is still there or not: it can be locked anew. */
export function findSpentSessionLocks(root: RootLayout, now: number): Promise<string[]> {
  return findIdleLocks(root.sessionLocks, LEFTOVER_MS, now);
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

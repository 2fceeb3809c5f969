/** A pass of a cleaner over the store: one at a time, a hundred runs at most, beginning where the last one stopped. */
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LanesError, toErrorValue } from '../../protocol/index.ts';
import { explainDisk } from '../files/index.ts';
import { acquireLock, type Lock } from '../locks/index.ts';
import { type ProjectLayout, projectLayout, type RootLayout } from '../projects/index.ts';
import { runIdTime } from '../runs/index.ts';
import { believeClock, type CleaningState, readCleaningState, writeCleaningState } from './cleaning-state.ts';
import {
  closeEndedRun,
  type Found,
  findOldStartLogs,
  findSpentClaims,
  findSpentMarkers,
  findSpentSessionLocks,
  findUnfinishedRuns,
  nameProblem,
} from './leftovers.ts';
import {
  type Candidate,
  findCandidates,
  type Judged,
  judgeYoung,
  keyOf,
  OldRuns,
  type Permission,
} from './old-runs.ts';
import type { RetentionRule } from './own-verdict.ts';
import { findTombstones, reapTombstones } from './tombstone.ts';
import { findUnusedRuntimes } from './unused-runtimes.ts';

/** Runs looked at in one pass. */
export const PASS_LIMIT = 100;

/** Milliseconds after which a cleaner that has not come to an end is not waited for any more. */
export const CLEANER_MS = 24 * 60 * 60_000;

export interface CleaningOptions {
  root: RootLayout;
  /** Days a run is kept after its end; 0: for ever. */
  days: number;
  now?: () => number;
  /** Runs looked at. Default 100. */
  limit?: number;
  /** Nothing is changed; the report says what would be. */
  dryRun?: boolean;
  /** The runtime this client starts runs with. */
  runtime?: string | undefined;
  /** A person has asked for it, and looks at the clock. */
  isAsked?: boolean;
}

export interface CleaningReport {
  /** `busy`: another cleaner is at work; nothing was done. */
  state: 'done' | 'busy';
  /** Runs that are gone, or would be. */
  removed: Candidate[];
  kept: (Candidate & { kept: NonNullable<Judged['kept']> })[];
  failed: (Candidate & { reason: string })[];
  /** Old runs that were not looked at in this pass. */
  left: number;
  /** What else was tidied up: paths. */
  leftovers: string[];
  /** Why a part of the store could not be tidied up. */
  problems: string[];
}

const NOTHING: CleaningReport = {
  state: 'done',
  removed: [],
  kept: [],
  failed: [],
  left: 0,
  leftovers: [],
  problems: [],
};

/**
 * What lies in the store is never a reason to reject: what cannot be read or removed is in the report. Throws
 * `store_unwritable` for a store that cannot be changed at all, and `run_unreadable` when its projects cannot be listed.
 */
export async function cleanStore(options: CleaningOptions): Promise<CleaningReport> {
  // Where nothing was ever started, nothing is made either.
  if (!(await stat(options.root.projects).catch(() => undefined))) return NOTHING;
  if (options.dryRun) return pass(options, undefined);
  let lock: Lock;
  try {
    lock = await acquireLock(options.root.cleaning, { purpose: 'cleaning up', expiresMs: CLEANER_MS });
  } catch (error) {
    if (error instanceof LanesError && error.code === 'lock_held') return { ...NOTHING, state: 'busy' };
    throw explainDisk(error);
  }
  try {
    return await pass(options, lock);
  } finally {
    await lock.release();
  }
}

async function pass(options: CleaningOptions, lock: Lock | undefined): Promise<CleaningReport> {
  const { root, days, limit = PASS_LIMIT } = options;
  const rule: RetentionRule = { days, now: (options.now ?? Date.now)() };
  const state = await readCleaningState(root.cleaningState);
  const first = await findCandidates(root, rule);
  const newest = [...first.old, ...first.young].reduce((at, { runId }) => Math.max(at, runIdTime(runId)), 0);
  const clock = believeClock(state, newest, rule.now);
  const isBelieved = clock.believed || options.isAsked === true;
  const { leftovers, problems } = await tidy(options, rule, first.projects, lock, isBelieved);
  problems.unshift(...first.problems);
  const young = first.young.map((candidate) => judgeYoung(candidate, rule));
  const batch = isBelieved ? inOrder(first.old, state.cursor).slice(0, limit) : [];
  const doubted: Judged[] = isBelieved ? [] : first.old.map((candidate) => ({ ...candidate, kept: DOUBT }));
  const permission = async (): Promise<Permission> => {
    if (!lock) return 'only-looks';
    // Should this process have slept for a day, it is another's by now.
    return (await lock.stillHeld()) ? 'granted' : 'lost';
  };
  const spent = new Set(leftovers);
  const judged: Judged[] = [];
  for (const project of new Set(batch.map((candidate) => candidate.project))) {
    const ids = batch.filter((candidate) => candidate.project === project).map(({ runId }) => runId);
    judged.push(...(await judge(new OldRuns(root, project, rule, spent), project, ids, permission)));
  }
  if (lock) {
    const { lastAt, doubtedAt } = isBelieved ? { lastAt: rule.now, doubtedAt: null } : clock;
    await writeCleaningState(root.cleaningState, { version: 1, ...nextPlace(state, judged), lastAt, doubtedAt });
  }
  const all = [...judged, ...doubted, ...young];
  return {
    state: 'done',
    removed: all.filter(({ kept, failed }) => !kept && failed === undefined).map(nameOf),
    kept: all.flatMap((one) => (one.kept ? [{ ...nameOf(one), kept: one.kept }] : [])),
    failed: all.flatMap((one) => (one.failed === undefined ? [] : [{ ...nameOf(one), reason: one.failed }])),
    left: isBelieved ? first.old.length - batch.length : 0,
    leftovers,
    problems,
  };
}

const DOUBT = {
  reason: 'unknown-age',
  detail: 'nothing has happened here for months; the clock may be wrong, so a day is waited',
} as const;

const nameOf = ({ project, runId }: Candidate): Candidate => ({ project, runId });

/** A project that cannot be read is left alone, and the others are not. */
async function judge(
  runs: OldRuns,
  project: string,
  ids: readonly string[],
  permission: () => Promise<Permission>,
): Promise<Judged[]> {
  try {
    return await runs.pass(ids, permission);
  } catch (error) {
    const detail = toErrorValue(error).message;
    return ids.map((runId) => ({ project, runId, kept: { reason: 'invalid-status', detail } }));
  }
}

/** From the run after the one where the last pass stopped, and round to it again. */
function inOrder(old: readonly Candidate[], cursor: string | null): Candidate[] {
  const [project = '', runId = ''] = cursor?.split('/') ?? [];
  const isBehind = (one: Candidate) => one.project > project || (one.project === project && one.runId < runId);
  const at = cursor === null ? 0 : old.findIndex(isBehind);
  return at <= 0 ? [...old] : [...old.slice(at), ...old.slice(0, at)];
}

/** Where the next pass begins: at a run that could not be removed once more, but not twice. */
function nextPlace(state: CleaningState, judged: readonly Judged[]): Pick<CleaningState, 'cursor' | 'stuckAt'> {
  const stuck = judged.findIndex(({ failed }) => failed !== undefined);
  const stuckOne = judged[stuck];
  if (stuckOne && keyOf(stuckOne) !== state.stuckAt) {
    const before = judged[stuck - 1];
    return { cursor: before ? keyOf(before) : state.cursor, stuckAt: keyOf(stuckOne) };
  }
  const last = judged.at(-1);
  return { cursor: last ? keyOf(last) : state.cursor, stuckAt: null };
}

async function tidy(
  options: CleaningOptions,
  rule: RetentionRule,
  projects: readonly string[],
  lock: Lock | undefined,
  isBelieved: boolean,
): Promise<Pick<CleaningReport, 'leftovers' | 'problems'>> {
  const { root } = options;
  const { now } = rule;
  const leftovers: string[] = [];
  const problems: string[] = [];
  const attempt = async (
    where: string,
    find: () => Promise<Found>,
    remove: (path: string) => Promise<void> = removeAll,
  ) => {
    const found = await find().catch((error: unknown) => ({ paths: [], problems: [nameProblem(where, error)] }));
    problems.push(...found.problems);
    for (const path of found.paths) {
      try {
        if (lock) await remove(path);
        leftovers.push(path);
      } catch (error) {
        problems.push(nameProblem(path, error));
      }
    }
  };
  for (const name of projects) {
    const project: ProjectLayout = projectLayout(join(root.projects, name));
    // Among these are whole runs, whose age is judged by the clock.
    if (isBelieved) await attempt(project.runs, () => takeUpTombstones(root, name, rule, lock), nothing);
    await attempt(
      project.active,
      () => findSpentMarkers(project, now),
      (marker) => closeEndedRun(project, marker),
    );
    await attempt(project.starting, () => findOldStartLogs(project, now));
    await attempt(project.runs, () => findUnfinishedRuns(project, now));
  }
  await attempt(root.claims, () => findSpentClaims(root, now));
  await attempt(root.sessionLocks, () => findSpentSessionLocks(root, now));
  await attempt(root.runtime, async () => ({
    paths: await findUnusedRuntimes(root, options.runtime, now),
    problems: [],
  }));
  return { leftovers, problems };
}

function takeUpTombstones(root: RootLayout, name: string, rule: RetentionRule, lock: Lock | undefined): Promise<Found> {
  const { runs } = projectLayout(join(root.projects, name));
  if (lock) return reapTombstones(runs, new OldRuns(root, name, rule).recheck, rule.now);
  return findTombstones(runs, rule.now).then((found) => ({ paths: found.map(({ path }) => path), problems: [] }));
}

const nothing = async () => undefined;

function removeAll(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true });
}

/** Which lanes of a run contradict each other: what would happen when the one comes home after the other. Nothing is changed. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { discard } from '../../files/index.ts';
import type { Git } from '../../git/index.ts';
import { textOfPath } from '../walk.ts';
import { type Change, changesBetween, mergeLines, parentsOf, writeBlob } from './changes.ts';
import { type ConflictReason, meet } from './sides.ts';

export interface LaneWork {
  name: string;
  base: string;
  tree: string;
}

export interface LaneConflict {
  lanes: [string, string];
  /** Files that both have changed. */
  shared: number;
  conflicts: { path: string; reason: ConflictReason }[];
}

/** One row for each pair that has changed a file in common, or whose files are in each other's way. */
export async function laneConflicts(git: Git, repository: string, lanes: readonly LaneWork[]): Promise<LaneConflict[]> {
  const rows: LaneConflict[] = [];
  const scratch = await mkdtemp(join(tmpdir(), 'pi-lanes-merge-'));
  try {
    for (const [at, first] of lanes.entries()) {
      for (const second of lanes.slice(at + 1)) {
        const row = await conflictsOf(git, repository, first, second, scratch);
        if (row.shared > 0 || row.conflicts.length > 0) rows.push(row);
      }
    }
    return rows;
  } finally {
    await discard(scratch);
  }
}

async function conflictsOf(
  git: Git,
  repository: string,
  a: LaneWork,
  b: LaneWork,
  scratch: string,
): Promise<LaneConflict> {
  const row: LaneConflict = { lanes: [a.name, b.name], shared: 0, conflicts: [] };
  const base = a.base === b.base ? a.base : await commonBase(git, repository, a.base, b.base);
  const ours = await changesBetween(git, repository, base, a.tree);
  const theirs = await changesBetween(git, repository, base, b.tree);
  for (const [key, change] of theirs) {
    const own = ours.get(key);
    const { path } = textOfPath(change.path);
    if (!own) {
      if (isInTheWay(key, change, ours) || isInTheWayOfAny(key, change, ours))
        row.conflicts.push({ path, reason: 'in-the-way' });
      continue;
    }
    row.shared++;
    const reason = await reasonOf(git, repository, own, change, scratch);
    if (reason) row.conflicts.push({ path, reason });
  }
  return row;
}

/** Where histories have nothing in common, everything is new on both sides. */
async function commonBase(git: Git, repository: string, a: string, b: string): Promise<string> {
  const found = await git.lineIfAny(repository, ['merge-base', a, b]);
  return found?.split('\n')[0] || git.line(repository, ['hash-object', '-t', 'tree', '--stdin'], { input: '' });
}

/** The other has a file where this one has a folder. */
function isInTheWay(key: string, { theirs }: Change, others: ReadonlyMap<string, Change>): boolean {
  return theirs !== undefined && parentsOf(key).some((parent) => others.get(parent)?.theirs !== undefined);
}

/** This one has a file where the other has a folder. */
function isInTheWayOfAny(key: string, { theirs }: Change, others: ReadonlyMap<string, Change>): boolean {
  if (theirs === undefined) return false;
  return [...others].some(([other, change]) => change.theirs !== undefined && other.startsWith(`${key}/`));
}

async function reasonOf(
  git: Git,
  repository: string,
  own: Change,
  { base, theirs }: Change,
  scratch: string,
): Promise<ConflictReason | undefined> {
  const meeting = meet(base, own.theirs, theirs);
  if (meeting.kind === 'conflict') return meeting.reason;
  if (meeting.kind !== 'lines') return undefined;
  const write = (name: string, hash: string) => writeBlob(git, repository, hash, join(scratch, name));
  const files = {
    ours: await write('ours', meeting.ours.hash),
    base: await write('base', meeting.base.hash),
    theirs: await write('theirs', meeting.theirs.hash),
  };
  return (await mergeLines(git, files)) === undefined ? 'lines' : undefined;
}

/** What is left of worktrees that a person has removed: files that are still to be deleted, and refs nobody needs any more. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../core/files/index.ts';
import type { RootLayout } from '../core/projects/index.ts';
import { dropKeptRefs, givenUp, Ledger } from '../core/worktrees/index.ts';
import { toErrorValue } from '../protocol/index.ts';
import { finishCleanup } from './cleanup-apply.ts';
import { allStores, type RunStore } from './run-store.ts';
import { WorktreeDoor } from './worktree-door.ts';

/** Milliseconds that deleting files may take in one pass; the next goes on. */
const DELETING_MS = 60_000;

export interface Tidied {
  leftovers: string[];
  problems: string[];
}

/** Never rejects: a project that cannot be tidied up does not keep the others. @param days a kept ref stays; 0: for ever */
export async function tidyWorktrees(root: RootLayout, days: number, now = Date.now()): Promise<Tidied> {
  const tidied: Tidied = { leftovers: [], problems: [] };
  const deleting = AbortSignal.timeout(DELETING_MS);
  for (const store of await allStores(root).catch(() => [])) {
    try {
      await tidyProject(store, root, { days, now, deleting }, tidied);
    } catch (error) {
      tidied.problems.push(`${store.layout.worktrees}: ${toErrorValue(error).message}`);
    }
  }
  return tidied;
}

async function tidyProject(
  store: RunStore,
  root: RootLayout,
  { days, now, deleting }: { days: number; now: number; deleting: AbortSignal },
  { leftovers, problems }: Tidied,
): Promise<void> {
  const rows = await new Ledger(store.layout.worktrees).list();
  // Git is only asked where there was ever a worktree that went.
  const gone = rows.filter(({ entry }) => entry?.state === 'removed' || entry?.state === 'removing');
  if (gone.length === 0) return;
  const door = await WorktreeDoor.open(store, root);
  const waiting = (await Promise.all(gone.map(({ entry }) => (entry ? givenUp(entry.plan) : [])))).flat();
  const { left } = await finishCleanup(door, deleting);
  leftovers.push(...waiting.filter((path) => !left.some((one) => one.path === path)));
  for (const { path, reason } of left) if (reason !== undefined) problems.push(`${path}: ${reason}`);
  const isRunThere = (runId: string) => isThere(join(store.layout.runs, runId));
  for (const repository of new Set(gone.flatMap(({ entry }) => (entry ? [entry.plan.repository] : [])))) {
    // A repository that was deleted or moved has none of them any more.
    if (!(await isThere(repository))) continue;
    leftovers.push(
      ...(await dropKeptRefs(door.git, door.lockOf(repository), repository, rows, { days, now, isRunThere })),
    );
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}

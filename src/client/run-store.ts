/** The runs of one project, for reading. Live runs come first and cheaply: they have a marker of their own. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../core/files/index.ts';
import { type Project, type ProjectLayout, projectLayout, type RootLayout } from '../core/projects/index.ts';
import { unreadable } from '../core/runs/index.ts';
import { type LanesError, lanesError, RUN_ID } from '../protocol/index.ts';
import { type RunSnapshot, readSnapshot } from './run-snapshot.ts';

export class RunStore {
  readonly layout: ProjectLayout;

  constructor(project: Project | ProjectLayout) {
    this.layout = 'layout' in project ? project.layout : project;
  }

  /** Throws `run_not_found` for what is no id: it must never lead out of the store. */
  directoryOf(runId: string): string {
    if (!RUN_ID.test(runId)) throw notFound(runId);
    return join(this.layout.runs, runId);
  }

  /** Ids of all runs, newest first. Throws `run_unreadable` naming the folder. */
  async runIds(): Promise<string[]> {
    return (await names(this.layout.runs)).sort().reverse();
  }

  /** Ids that carry the marker of a live run, newest first. The run itself says whether it really is. */
  async activeIds(): Promise<string[]> {
    return (await names(this.layout.active)).sort().reverse();
  }

  read(runId: string): Promise<RunSnapshot> {
    return readSnapshot(runId, this.directoryOf(runId));
  }

  /** The newest runs. */
  async list(limit: number): Promise<RunSnapshot[]> {
    const ids = (await this.runIds()).slice(0, limit);
    return Promise.all(ids.map((runId) => this.read(runId)));
  }
}

/** Links are left out: a run lies in the store itself. */
async function names(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => !entry.isSymbolicLink() && RUN_ID.test(entry.name)).map((entry) => entry.name);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw unreadable(folder, error);
  }
}

/** Every project that has a store. Throws `run_unreadable` naming the folder: what may not be looked at is not empty. */
export async function allStores(root: RootLayout): Promise<RunStore[]> {
  const entries = await readdir(root.projects, { withFileTypes: true }).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return [];
    throw unreadable(root.projects, error);
  });
  // Stray files (a `.DS_Store`) are no projects.
  const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return folders.sort().map((name) => new RunStore(projectLayout(join(root.projects, name))));
}

/** Characters of an id that must be given: fewer would fit too many runs to be worth looking for. */
export const MIN_ID_CHARS = 8;

function notFound(wanted: string): LanesError {
  return lanesError('run_not_found:id', { id: wanted });
}

/**
 * The run a person means by an id or the beginning or end of one (8 characters or more), or `last`. What cannot be part of an
 * id is refused without looking at the disk. Throws `run_not_found`, `run_ambiguous`, or `run_unreadable` when it may be where
 * nobody can look.
 * @param first stores to look in before all others
 */
export async function findRun(
  wanted: string,
  first: RunStore,
  others: readonly RunStore[],
): Promise<{ store: RunStore; runId: string }> {
  if (wanted === 'last') {
    const runId = (await first.runIds())[0];
    if (!runId) throw lanesError('run_not_found:none');
    return { store: first, runId };
  }
  if (!/^[0-9a-f-]+$/.test(wanted)) throw notFound(wanted);
  if (wanted.length < MIN_ID_CHARS) {
    throw lanesError('run_not_found:short', { id: wanted, least: MIN_ID_CHARS });
  }
  let unread: unknown;
  for (const group of [[first], others]) {
    const matches: { store: RunStore; runId: string }[] = [];
    for (const store of group) {
      const ids = await store.runIds().catch((error: unknown) => {
        unread ??= error;
        return [];
      });
      for (const runId of ids) {
        if (runId === wanted) return { store, runId };
        if (runId.startsWith(wanted) || runId.endsWith(wanted)) matches.push({ store, runId });
      }
    }
    if (matches.length === 1 && matches[0]) return matches[0];
    if (matches.length > 1) {
      const ids = matches.slice(0, 5).map((match) => match.runId);
      throw lanesError('run_ambiguous', { id: wanted, count: matches.length, ids: ids.join(', ') });
    }
  }
  throw unread ?? notFound(wanted);
}

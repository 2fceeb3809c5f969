/** What became of one worktree: told by the ledger of its project and by the disk, without asking git. */
import { dirname } from 'node:path';
import { projectLayout } from '../core/projects/index.ts';
import { Ledger } from '../core/worktrees/index.ts';
import { type ErrorValue, LanesError, type LedgerEntry, type WorktreeUser } from '../protocol/index.ts';
import { isFolder, reasonsOf } from './worktree-facts.ts';

export interface WorktreeFate {
  /** As the ledger has it; null: nobody has written it down, or it cannot be read (`fault`). */
  state: LedgerEntry['state'] | null;
  /** Whether its folder is there; null: that could not be told. */
  present: boolean | null;
  /** What is left of one that was removed or taken back, and why. */
  reasons: ErrorValue[];
  fault?: ErrorValue;
}

/**
 * @param directory of a run of the project
 * @param id the run and the child it was made for
 */
export async function worktreeFate(directory: string, id: WorktreeUser, path: string): Promise<WorktreeFate> {
  const ledger = new Ledger(projectLayout(dirname(dirname(directory))).worktrees);
  const present = await isFolder(path);
  try {
    const entry = await ledger.read(id);
    return { state: entry?.state ?? null, present, reasons: entry ? reasonsOf(entry, undefined) : [] };
  } catch (error) {
    if (!(error instanceof LanesError)) throw error;
    return { state: null, present, reasons: [], fault: error.toValue() };
  }
}

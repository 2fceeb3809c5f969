/** What stands in the ledger and lies on the disk of one worktree. */
import { lstat } from 'node:fs/promises';
import { errnoOf } from '../core/files/index.ts';
import type { ErrorValue, LedgerEntry, WorktreeCapture } from '../protocol/index.ts';

/** Why it stays, or what is left of it. */
export function reasonsOf(entry: LedgerEntry, capture: WorktreeCapture | undefined): ErrorValue[] {
  if (entry.state === 'undone') return entry.left;
  if (entry.state === 'removed') return entry.reasons;
  return entry.state === 'captured' ? (capture?.blockers ?? []) : [];
}

/** Whether there is a folder; null: that could not be told. */
export async function isFolder(path: string): Promise<boolean | null> {
  try {
    return (await lstat(path)).isDirectory();
  } catch (error) {
    return errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR' ? false : null;
  }
}

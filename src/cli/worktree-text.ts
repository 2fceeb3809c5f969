/** The worktree of a child in words. */
import { dirname, join } from 'node:path';
import { PATCH_NAME, visibleLine, type WorktreeView } from '../protocol/index.ts';

/** What was kept of it; `undefined`: nothing was kept yet. */
export function keptOf({ state, changed, files, commits, outside, faults }: WorktreeView): string | undefined {
  if (state === 'capture-failed') return `not yet: ${faults[0]?.message ?? ''}`;
  if (state !== 'captured') return undefined;
  return changed ? `${files} changed file(s), ${commits} commit(s), ${outside} file(s) outside of git` : 'no change';
}

/** Where the work lies, and what of it is kept where. `undefined`: there is none any more. @param directory of the run */
export function worktreeLine(directory: string, worktree: WorktreeView): string | undefined {
  const { state, path, branch, capture, files } = worktree;
  if (state === 'undone') return undefined;
  const kept = keptOf(worktree);
  const patch = capture && files > 0 ? ` Patch: ${join(directory, dirname(capture.file), PATCH_NAME)}` : '';
  return `Worktree: ${visibleLine(path)} (${branch}).${kept === undefined ? '' : ` Kept: ${kept}.`}${patch}`;
}

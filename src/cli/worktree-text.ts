/** The worktree of a child in words. */
import { dirname, join } from 'node:path';
import { type ChildView, PATCH_NAME, visibleLine, type WorktreeView } from '../protocol/index.ts';

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

/** What was not as it should be when worktrees were made, and why they have to stay; by the key of the child in a workflow. */
export function noticesOf(children: readonly Pick<ChildView, 'key' | 'worktree'>[]): string[] {
  return children.flatMap(({ key, worktree }) => {
    if (!worktree) return [];
    const { warnings, faults, state } = worktree;
    // Of a single run that stands where it says what was kept.
    const why = key === undefined && state === 'capture-failed' ? [] : faults;
    return [...warnings, ...why].map(({ message, hint }) => {
      const said = hint === undefined ? message : `${message} ${hint}`;
      return visibleLine(key === undefined ? said : `${key}: ${said}`);
    });
  });
}

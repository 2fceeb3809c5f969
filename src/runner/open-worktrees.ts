/** The door to worktrees: what works on them is loaded only by runs that have some. */
import type { OpenRun } from './open-run.ts';
import type { RunWorktrees } from './run-worktrees.ts';

export async function openWorktrees(run: OpenRun): Promise<RunWorktrees> {
  const { RunWorktrees } = await import('./run-worktrees.ts');
  return new RunWorktrees(run);
}

/** After a death: intents of worktrees without a fact come to one. */
export async function settleWorktrees(run: OpenRun): Promise<void> {
  if (hasAny(run)) await (await openWorktrees(run)).settle();
}

/** A run ends without its children being worked on once more: what is in their worktrees is kept. */
export async function captureWorktrees(run: OpenRun): Promise<void> {
  if (hasAny(run)) await (await openWorktrees(run)).captureAll();
}

function hasAny({ view }: OpenRun): boolean {
  return view.children.some(({ worktree }) => worktree !== undefined);
}

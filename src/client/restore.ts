/** Bringing back worktrees that were removed. */
import { readLaunchRecord } from '../core/runs/index.ts';
import { type Restored, restoreTracked, type WorktreeId } from '../core/worktrees/index.ts';
import { LanesError, lanesError } from '../protocol/index.ts';
import { childNamed } from './child-named.ts';
import type { WorktreeDoor } from './worktree-door.ts';

/**
 * The worktree a child has worked in, by whatever names the child; without a name the only one that was made for the run. Throws
 * `restore_refused` when none or several can be meant, `child_unknown`.
 */
export async function worktreeNamed(door: WorktreeDoor, runId: string, name?: string): Promise<WorktreeId> {
  const { view, error } = await door.store.read(runId);
  if (name !== undefined) {
    if (!view) throw error ? new LanesError(error) : lanesError('restore_refused:none', { runId });
    const { index, worktree } = childNamed(view, name);
    return worktree?.of ?? { runId, child: index };
  }
  const rows = (await door.ledger.list()).filter(({ id, entry }) => id.runId === runId && entry?.state !== 'undone');
  const [first, second] = rows;
  if (!first) throw lanesError('restore_refused:none', { runId });
  if (!second) return first.id;
  const nameOf = (index: number) => view?.children.find((child) => child.index === index)?.key ?? String(index);
  throw lanesError('restore_refused:several', { runId, keys: rows.map(({ id }) => nameOf(id.child)).join(', ') });
}

/** What it was made ready with is made ready again, but for the setup hook: that is a program, and nobody has asked for it now. */
export async function restore(door: WorktreeDoor, id: WorktreeId, signal?: AbortSignal): Promise<Restored> {
  const entry = await door.ledger.read(id);
  if (!entry) throw lanesError('worktree_ledger_missing', { child: id.child, runId: id.runId });
  const settings = await readLaunchRecord(door.store.directoryOf(id.runId)).then(
    ({ worktrees }) => worktrees,
    () => undefined,
  );
  const { copies, links } = settings ?? {};
  const provisions = { ...(copies && { copies }), ...(links && { links }) };
  const lock = door.lockOf(entry.plan.repository);
  return restoreTracked(id, { git: door.git, lock, ledger: door.ledger, provisions, signal });
}

/** Discarding a worktree with what cannot be kept: told first, done only when a person wants it so. */
import { join } from 'node:path';
import {
  type DiscardOutlook,
  discardOutlook,
  discardTracked,
  type Removal,
  type WorktreeId,
} from '../core/worktrees/index.ts';
import { lanesError } from '../protocol/index.ts';
import type { WorktreeDoor } from './worktree-door.ts';
import { livenessOf } from './worktrees.ts';

/** What would be lost, and what kept. Nothing is changed. */
export async function foreseeDiscard(door: WorktreeDoor, id: WorktreeId): Promise<DiscardOutlook> {
  return discardOutlook(id, await optionsFor(door, id));
}

/** Whoever calls this has shown a person what would be lost. What can be kept lies beside the ledger, and can be brought back. */
export async function discardWorktree(door: WorktreeDoor, id: WorktreeId): Promise<Removal> {
  const directory = join(door.ledger.directoryOf(id.runId), `${id.child}.discarded`);
  return discardTracked(id, { ...(await optionsFor(door, id)), directory });
}

async function optionsFor(door: WorktreeDoor, { runId, child }: WorktreeId) {
  const entry = await door.ledger.read({ runId, child });
  if (!entry) throw lanesError('worktree_ledger_missing', { child, runId });
  return {
    git: door.git,
    lock: door.lockOf(entry.plan.repository),
    ledger: door.ledger,
    livenessOf: (user: WorktreeId) => livenessOf(door.store, user),
  };
}

/** Letting a worktree go with what no capture can hold. What can be kept is kept first, all of it. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  describeError,
  type ErrorValue,
  LanesError,
  lanesError,
  type WorktreeRecord,
} from '../../../protocol/index.ts';
import { discard } from '../../files/index.ts';
import { listWorktrees } from '../../git/index.ts';
import { type CaptureOptions, captureWorktree } from '../capture.ts';
import { DISPOSABLE } from '../disposable.ts';
import type { Removal } from '../remove.ts';
import { surveyWorktree } from '../survey.ts';
import type { WorktreeId } from './ledger.ts';
import { removeTracked, type TrackedRemovalOptions } from './removal.ts';
import { liveUsers } from './users.ts';

export interface DiscardOutlook {
  path: string;
  branch: string;
  /** What would be lost for good; empty: nothing. */
  lost: ErrorValue[];
  /** What would be kept before it goes. */
  kept: { commits: number; outside: { files: number; bytes: number } };
  /** Files that can be made again, which are not kept. */
  disposable: number;
}

type Options = Omit<TrackedRemovalOptions, 'handOver' | 'despiteBlockers'>;

/** What discarding would lose. Nothing is changed. Throws as `discardTracked`. */
export async function discardOutlook(id: WorktreeId, options: Options): Promise<DiscardOutlook> {
  const record = await discardable(id, options);
  const scratch = await mkdtemp(join(tmpdir(), 'pi-lanes-look-'));
  try {
    const disposable = options.disposable ?? DISPOSABLE;
    const { blockers, commits, outside } = await surveyWorktree(options.git, record, { scratch, disposable });
    const bytes = outside.files.reduce((sum, file) => sum + file.bytes, 0);
    return {
      path: record.path,
      branch: record.branch,
      lost: blockers,
      kept: { commits: commits.count, outside: { files: outside.files.length, bytes } },
      disposable: outside.disposable.length,
    };
  } finally {
    await discard(scratch);
  }
}

/**
 * Keeps what can be kept, of any size, and removes the worktree with the rest. Throws `worktree_preserved` when anybody may be at work in it,
 * or it is locked or not the recorded one on its own branch, and what keeps it from being kept; then it stays.
 * @param directory for what is kept
 */
export async function discardTracked(
  id: WorktreeId,
  { directory, ...options }: Options & { directory: string },
): Promise<Removal> {
  const record = await discardable(id, options);
  const capturing: CaptureOptions = { ...options, maxOutsideBytes: Number.POSITIVE_INFINITY };
  const { folder } = await captureWorktree(directory, record, capturing);
  await options.ledger.captured(id, folder);
  return removeTracked(id, { ...options, despiteBlockers: true, handOver: async () => undefined });
}

/** Only what stands in the ledger as there, and is registered under exactly this path and branch. */
async function discardable(id: WorktreeId, { git, ledger, livenessOf }: Options): Promise<WorktreeRecord> {
  const entry = await ledger.read(id);
  if (!entry) throw lanesError('worktree_ledger_missing', { child: id.child, runId: id.runId });
  const { path, repository, branch } = entry.plan;
  if (entry.state !== 'made' && entry.state !== 'captured') throw lanesError('worktree_in_removal', { path });
  const users = await liveUsers(entry, livenessOf);
  if (users.length > 0) {
    const children = users.map(({ runId, child }) => `${child} of ${runId}`).join(', ');
    throw new LanesError(describeError('worktree_preserved:users', { path, children }));
  }
  const at = (await listWorktrees(git, repository)).find((one) => one.path === path);
  if (at?.locked !== undefined) {
    throw new LanesError(describeError('worktree_preserved:locked', { path, reason: at.locked }));
  }
  if (at?.branch !== `refs/heads/${branch}`)
    throw new LanesError(describeError('worktree_preserved:replaced', { path }));
  return entry.plan;
}

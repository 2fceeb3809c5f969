/** Evidence on disk, beside the ledger of the run's worktrees: clients write it, and a client never writes a run. */
import { join } from 'node:path';
import { type LaneEvidence, laneEvidence, lanesError, wordsOf } from '../../../protocol/index.ts';
import { errnoOf, makePrivateFolder, readRegular, writeFileAtomic } from '../../files/index.ts';
import { waitForLock } from '../../locks/index.ts';

const LOCK_MS = 10_000;

/**
 * @param directory of the run in the ledger
 * @returns `undefined`: there is none. Throws `lane_evidence_unreadable`.
 */
export async function readEvidence(directory: string): Promise<LaneEvidence | undefined> {
  const path = join(directory, 'evidence.json');
  try {
    return laneEvidence.parse(JSON.parse(await readRegular(path)));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw lanesError('lane_evidence_unreadable', { path, reason: wordsOf(error) }, { cause: error });
  }
}

/** Writes durably what `change` makes of the evidence; `written` is false when that is the same. Two that write wait for each other. */
export async function updateEvidence(
  directory: string,
  change: (before: LaneEvidence | undefined) => LaneEvidence | Promise<LaneEvidence>,
): Promise<{ evidence: LaneEvidence; written: boolean }> {
  await makePrivateFolder(directory);
  const lock = await waitForLock(join(directory, 'evidence'), { purpose: 'evidence of a lane', deadlineMs: LOCK_MS });
  try {
    const before = await readEvidence(directory);
    const evidence = await change(before);
    if (evidence === before) return { evidence, written: false };
    await writeFileAtomic(join(directory, 'evidence.json'), `${JSON.stringify(evidence, null, 2)}\n`);
    return { evidence, written: true };
  } finally {
    await lock.release();
  }
}

/** What a person attests about the work of a run, and what follows from it. Pure: neither git nor the network is asked. */
import { createHash } from 'node:crypto';
import {
  canonicalJson,
  type Eligibility,
  type HandoffManifest,
  type LaneEvidence,
  type LaneMerge,
  type LaneSupersession,
  lanesError,
} from '../../../protocol/index.ts';

/** What of a manifest is attested: everything but its times. */
export function manifestDigest({ version, runId, mode, cwd, groups }: HandoffManifest): string {
  return createHash('sha256').update(canonicalJson({ version, runId, mode, cwd, groups })).digest('hex');
}

/** What is attested about: the run's manifest, and whether one of its children is not proven to have ended. */
export interface LaneSubject {
  /** The lane a person has named; it is the run's id. */
  laneId: string;
  manifest: HandoffManifest;
  active: boolean;
}

/**
 * The evidence with a merge in it, or the same object when nothing new was said; an earlier supersession is dropped. What was
 * attested of a manifest that has changed since is replaced. Throws `lane_refused`.
 */
export function withMerge(before: LaneEvidence | undefined, subject: LaneSubject, merge: LaneMerge): LaneEvidence {
  requireSubject(subject);
  const manifest = subject.manifest;
  const digest = manifestDigest(manifest);
  const known = before?.manifestDigest === digest ? before.merge : undefined;
  if (before && known) {
    if (canonicalJson(known) === canonicalJson(merge)) return before;
    const { runId } = manifest;
    if (known.reviewedHead !== merge.reviewedHead) {
      throw lanesError('lane_refused:stale', { runId, head: known.reviewedHead, other: merge.reviewedHead });
    }
    throw lanesError('lane_refused:different', { runId, what: `merge of ${known.reviewedHead}` });
  }
  return { version: 1, runId: manifest.runId, manifestDigest: digest, merge };
}

/** As `withMerge`, for a run whose work is not wanted any more; an earlier merge is dropped. */
export function withSupersession(
  before: LaneEvidence | undefined,
  subject: LaneSubject,
  supersession: LaneSupersession,
): LaneEvidence {
  requireSubject(subject);
  const { runId } = subject.manifest;
  if (supersession.supersededBy === runId) throw lanesError('lane_refused:itself', { runId });
  const digest = manifestDigest(subject.manifest);
  const known = before?.manifestDigest === digest ? before.supersession : undefined;
  if (before && known) {
    if (canonicalJson(known) === canonicalJson(supersession)) return before;
    throw lanesError('lane_refused:different', { runId, what: `supersession by ${known.supersededBy}` });
  }
  return { version: 1, runId, manifestDigest: digest, supersession };
}

function requireSubject({ laneId, manifest, active }: LaneSubject): void {
  if (laneId !== manifest.runId) throw lanesError('lane_refused:other', { laneId, runId: manifest.runId });
  if (manifest.groups.length === 0) throw lanesError('lane_refused:none', { runId: manifest.runId });
  if (active) throw lanesError('lane_refused:active', { runId: manifest.runId });
}

/** @param subject of the manifest; `undefined`: there is none; `null`, as of `evidence`: it is there and cannot be read */
export function eligibilityOf(
  subject: LaneSubject | undefined | null,
  evidence: LaneEvidence | null | undefined,
): Eligibility {
  if (subject === undefined) return { state: 'unknown', reason: 'it has handed over no worktrees' };
  if (subject === null) return { state: 'unknown', reason: 'the manifest of its worktrees cannot be read' };
  if (subject.active) return { state: 'active', reason: 'not all of its children are proven to have ended' };
  if (evidence === null) return { state: 'unknown', reason: 'what was attested cannot be read' };
  const blocked = (reason: string): Eligibility => ({ state: 'terminal-blocked', reason });
  const { merge, supersession } = evidence ?? {};
  if (!evidence || (!merge && !supersession)) return blocked('no evidence is recorded');
  if (evidence.runId !== subject.manifest.runId || evidence.manifestDigest !== manifestDigest(subject.manifest)) {
    return blocked('the evidence is stale: worktrees or patches have changed since');
  }
  if (supersession) return { state: 'superseded-eligible' };
  if (merge?.treeEquivalent === 'unknown')
    return blocked('it is not attested that the merged files are the reviewed ones');
  if (merge?.treeEquivalent === false) return blocked('the merged files are not the reviewed ones');
  if (merge?.postMergeChecks !== 'recorded') return blocked('the checks after the merge are not recorded');
  return { state: 'terminal-eligible' };
}

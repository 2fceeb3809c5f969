/** What is attested about the work of a run, and whether its worktrees may be let go. Nothing of the run is written. */
import { runLayout } from '../core/projects/index.ts';
import {
  eligibilityOf,
  type LaneSubject,
  Ledger,
  manifestDigest,
  readEvidence,
  readHandoff,
  updateEvidence,
  withMerge,
  withSupersession,
} from '../core/worktrees/index.ts';
import {
  describeFaults,
  type Eligibility,
  type HandoffManifest,
  isTerminal,
  type LaneEvidence,
  LanesError,
  laneMerge,
  laneSupersession,
  lanesError,
} from '../protocol/index.ts';
import type { RunStore } from './run-store.ts';
import { childLiveness } from './worktrees.ts';

export interface LaneStatus {
  runId: string;
  eligibility: Eligibility;
  /** What it hands over; null: nothing, or it cannot be read. */
  manifest: HandoffManifest | null;
  /** SHA-256 of what evidence is about. */
  manifestDigest: string | null;
  evidence: LaneEvidence | null;
}

/** Read-only. Throws only when the run itself cannot be looked at. */
export async function laneStatus(store: RunStore, runId: string): Promise<LaneStatus> {
  const manifest = await unless('handoff_invalid', () => manifestOf(store, runId));
  const subject = manifest && (await subjectOf(store, runId, manifest));
  const evidence = await unless('lane_evidence_unreadable', () => readEvidence(folderOf(store, runId)));
  return {
    runId,
    eligibility: eligibilityOf(subject, evidence),
    manifest: manifest ?? null,
    manifestDigest: manifest ? manifestDigest(manifest) : null,
    evidence: evidence ?? null,
  };
}

export interface LaneRecorded extends LaneStatus {
  /** False: exactly this was recorded already. */
  recorded: boolean;
}

/** @param input a `LaneMerge` from outside. Throws `lane_refused`, `handoff_invalid`, `lane_evidence_unreadable`. */
export async function recordMerge(store: RunStore, runId: string, input: unknown): Promise<LaneRecorded> {
  const merge = laneMerge.safeParse(input);
  if (!merge.success) throw lanesError('lane_refused:field', { faults: describeFaults(merge.error) });
  return record(store, runId, (before, subject) => withMerge(before, subject, merge.data));
}

/** @param input a `LaneSupersession` from outside. Throws as `recordMerge`. */
export async function recordSupersession(store: RunStore, runId: string, input: unknown): Promise<LaneRecorded> {
  const supersession = laneSupersession.safeParse(input);
  if (!supersession.success) throw lanesError('lane_refused:field', { faults: describeFaults(supersession.error) });
  return record(store, runId, (before, subject) => withSupersession(before, subject, supersession.data));
}

async function record(
  store: RunStore,
  runId: string,
  change: (before: LaneEvidence | undefined, subject: LaneSubject) => LaneEvidence,
): Promise<LaneRecorded> {
  const requireSubject = async () => {
    const manifest = await manifestOf(store, runId);
    if (!manifest) throw lanesError('lane_refused:none', { runId });
    return subjectOf(store, runId, manifest);
  };
  await requireSubject();
  const { written } = await updateEvidence(folderOf(store, runId), async (before) =>
    change(before, await requireSubject()),
  );
  return { ...(await laneStatus(store, runId)), recorded: written };
}

function manifestOf(store: RunStore, runId: string): Promise<HandoffManifest | undefined> {
  return readHandoff(runLayout(store.directoryOf(runId)).handoff, runId);
}

async function subjectOf(store: RunStore, runId: string, manifest: HandoffManifest): Promise<LaneSubject> {
  const snapshot = await store.read(runId);
  const children = manifest.groups.flatMap((group) => group.children);
  const ended = children.every(({ child }) => childLiveness(snapshot, child) === 'ended');
  return { laneId: runId, manifest, active: !isTerminal(snapshot.state) || !ended };
}

function folderOf(store: RunStore, runId: string): string {
  return new Ledger(store.layout.worktrees).directoryOf(runId);
}

/** What `read` gives; null when that fails by the code. */
async function unless<T>(code: LanesError['code'], read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof LanesError && error.code === code) return null;
    throw error;
  }
}

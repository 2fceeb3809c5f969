/** What a project remembers of its worktrees, what a run hands over, and what a person has attested about a run's lanes. */
import * as z from 'zod/mini';
import { errorValue } from './errors.ts';
import { lane, runId } from './run.ts';
import { atMost, notBlank } from './schema-parts.ts';
import { keptPatch, worktreePlan, worktreeRecord } from './worktree.ts';

const child = z.number().check(z.int(), z.minimum(1));
const commitHash = z.string().check(z.regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/));

/** A child that works in a worktree, or has worked in it. */
export const worktreeUser = z.object({ runId, child });
export type WorktreeUser = z.infer<typeof worktreeUser>;

const anyEntry = {
  version: z.literal(1),
  /** Children that use it; the one it was made for is the first. Whether each still lives is asked of its run. */
  users: z.array(worktreeUser),
  /** Epoch milliseconds of the last change. */
  changedAt: z.number(),
};

/** One worktree of the repository. An intent has a state of its own, so that a death in front of the fact is seen. */
export const ledgerEntry = z.discriminatedUnion('state', [
  z.object({ ...anyEntry, state: z.literal('planned'), plan: worktreePlan }),
  /** It was not made, or was taken back before anybody worked in it. `left`: what could not be. */
  z.object({ ...anyEntry, state: z.literal('undone'), plan: worktreePlan, left: z.array(errorValue) }),
  z.object({ ...anyEntry, state: z.literal('made'), plan: worktreeRecord }),
  /** `capture`: absolute folder of what was kept last; the ledger only points to it. */
  z.object({ ...anyEntry, state: z.literal('captured'), plan: worktreeRecord, capture: z.string() }),
  /** `branchTip`: where its own branch stood; absent: there was none. */
  z.object({
    ...anyEntry,
    state: z.literal('removing'),
    plan: worktreeRecord,
    capture: z.string(),
    branchTip: z.optional(commitHash),
  }),
  /** The folder is gone. `branchRemoved` false: its branch is not, for the reasons told. */
  z.object({
    ...anyEntry,
    state: z.literal('removed'),
    plan: worktreeRecord,
    capture: z.string(),
    branchTip: z.optional(commitHash),
    branchRemoved: z.boolean(),
    reasons: z.array(errorValue),
  }),
  /** It is being brought back from its capture. Nobody has worked in it yet. */
  z.object({
    ...anyEntry,
    state: z.literal('restoring'),
    plan: worktreeRecord,
    capture: z.string(),
    branchTip: z.optional(commitHash),
  }),
]);
export type LedgerEntry = z.infer<typeof ledgerEntry>;

const handoffChild = z.object({
  child,
  agent: z.string(),
  key: z.optional(z.string()),
  lane: z.optional(lane),
  /** State of the child; `queued`, `running` and `waiting` are not the end. */
  status: z.string(),
  output: z.optional(z.string()),
  session: z.optional(z.string()),
  worktree: z.object({ path: z.string(), folder: z.string(), branch: z.string() }),
  changed: z.nullable(z.boolean()),
  commits: z.number(),
  kept: z.optional(z.object({ ref: z.string(), commit: commitHash })),
  patch: z.optional(keptPatch),
  /** Files that are in no commit and were copied. */
  outside: z.optional(z.object({ files: z.number(), bytes: z.number() })),
  error: z.optional(errorValue),
  cleanup: z.object({
    worktreeRemoved: z.boolean(),
    branchRemoved: z.boolean(),
    reasons: z.array(errorValue),
  }),
});
export type HandoffChild = z.infer<typeof handoffChild>;

/** What a run has to bring home: `handoff.json` of its folder, written by its runner alone. */
export const handoffManifest = z.object({
  version: z.literal(1),
  runId,
  mode: z.enum(['single', 'workflow']),
  cwd: z.string(),
  createdAt: z.number(),
  updatedAt: z.number(),
  /** Children of one repository that start from one commit. */
  groups: z.array(z.object({ repository: z.string(), base: commitHash, children: z.array(handoffChild) })),
});
export type HandoffManifest = z.infer<typeof handoffManifest>;

/** One line that says something, of at most `max` bytes of UTF-8. */
const attestedText = (max: number) =>
  z.string().check(z.trim(), notBlank, z.regex(/^[^\0\r\n]*$/, 'must be one line'), atMost(max));

const attestation = {
  attestedBy: attestedText(128),
  attestedAt: attestedText(64).check(
    z.refine((text) => !Number.isNaN(Date.parse(text)), 'must be a date and a time, 2026-01-31T12:00:00Z'),
  ),
};

const attestedCommit = z
  .string()
  .check(z.trim(), z.toLowerCase(), z.regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, 'must be the full hash of a commit'));

/** That the work of a run was merged. */
export const laneMerge = z.strictObject({
  prNumber: z.number().check(z.int(), z.minimum(1)),
  reviewedHead: attestedCommit,
  mergeCommit: attestedCommit,
  treeEquivalent: z.union([z.boolean(), z.literal('unknown')]),
  postMergeChecks: z.enum(['recorded', 'unknown']),
  ...attestation,
});
export type LaneMerge = z.infer<typeof laneMerge>;

/** That the work of a run is not wanted, because that of another has taken its place. */
export const laneSupersession = z.strictObject({ supersededBy: attestedText(128), ...attestation });
export type LaneSupersession = z.infer<typeof laneSupersession>;

/** `manifestDigest`: of the manifest that was looked at. What is attested holds for that one only. */
export const laneEvidence = z.object({
  version: z.literal(1),
  runId,
  manifestDigest: z.string(),
  merge: z.optional(laneMerge),
  supersession: z.optional(laneSupersession),
});
export type LaneEvidence = z.infer<typeof laneEvidence>;

export const ELIGIBILITY = [
  'unknown',
  'active',
  'terminal-eligible',
  'terminal-blocked',
  'superseded-eligible',
] as const;

/** Whether the worktrees of a run may be let go. It never removes anything by itself. */
export interface Eligibility {
  state: (typeof ELIGIBILITY)[number];
  /** Why not; absent when they may. */
  reason?: string;
}

/** A plan of a clean-up of worktrees: what would go and why, and what must still be so when it is carried out. */
import * as z from 'zod/mini';
import { errorValue } from './errors.ts';
import { runId } from './run.ts';

/** What would not be in a folder any more, and where it is kept. */
export const cleanupLoss = z.object({
  /**
   * `commits`: not in the base; `files`: differ from the base; `outside`: no commit has them; `disposable`: can be made again, and are not
   * kept; `branch`: a name.
   */
  kind: z.enum(['commits', 'files', 'outside', 'disposable', 'branch']),
  count: z.number(),
  bytes: z.optional(z.number()),
  /** A ref, or an absolute path; null: it is not kept. */
  keptAt: z.nullable(z.string()),
});
export type CleanupLoss = z.infer<typeof cleanupLoss>;

/** What a decision rests on. Each is asked again before anything is done. Values are compared as they stand. */
export const cleanupConditions = z.object({
  state: z.string(),
  registered: z.nullable(z.string()),
  head: z.nullable(z.string()),
  branchTip: z.nullable(z.string()),
  gitFolder: z.nullable(z.string()),
  capture: z.nullable(z.string()),
  keptCommit: z.nullable(z.string()),
  users: z.string(),
  /** Of its run. */
  eligibility: z.nullable(z.string()),
});
export type CleanupConditions = z.infer<typeof cleanupConditions>;

export const cleanupEntry = z.object({
  path: z.string(),
  branch: z.nullable(z.string()),
  repository: z.nullable(z.string()),
  decision: z.enum(['remove', 'keep', 'unknown']),
  state: z.enum(['safe', 'ineligible', 'stale', 'dirty', 'active', 'unknown']),
  source: z.enum(['git', 'metadata', 'both']),
  /** Why it stays; of one that may go, why it is not chosen by itself. */
  reasons: z.array(errorValue),
  /** Whether it goes when nothing else is chosen. Only of what may go. */
  selected: z.boolean(),
  willDeleteBranch: z.boolean(),
  runId: z.optional(runId),
  child: z.optional(z.number()),
  losses: z.array(cleanupLoss),
  conditions: z.nullable(cleanupConditions),
});
export type CleanupEntry = z.infer<typeof cleanupEntry>;

export const cleanupPlan = z.object({
  version: z.literal(1),
  planId: z.string(),
  createdAt: z.number(),
  /** Epoch milliseconds; later it is refused. */
  expiresAt: z.number(),
  /** Ordered by path, then branch. */
  entries: z.array(cleanupEntry),
  warnings: z.array(errorValue),
  /** SHA-256 of everything but id and times. */
  contentHash: z.string(),
});
export type CleanupPlan = z.infer<typeof cleanupPlan>;

/** How long a plan may be carried out. */
export const PLAN_MS = 30 * 60_000;

/** A run as people see it: the fold of its launch record and journal. Pure data; also the body of `status.json`. */
import * as z from 'zod/mini';
import { errorValue } from './errors.ts';
import { attentionKind, childPhase, processIdentity, storedFile } from './events.ts';
import { lane, owner, runId, storedState } from './run.ts';
import { usage } from './usage.ts';
import { askedCommand, workflowView } from './workflow-run.ts';

/** The worktree a child works in, as its run's journal tells. Whether it is still there is not known here. */
export const worktreeView = z.object({
  /** `undone`: it was taken back, or never made. */
  state: z.enum(['planned', 'made', 'ready', 'undone', 'captured', 'capture-failed']),
  path: z.string(),
  /** Folder in it that the child works in. */
  folder: z.string(),
  branch: z.string(),
  base: z.string(),
  /** Whose worktree it is, where the child goes on in that of another. */
  of: z.optional(z.object({ runId, child: z.number() })),
  /** Its `WorktreeRecord`; null before it is there. Files are relative to the folder of the run. */
  record: z.nullable(storedFile),
  /** Its newest `WorktreeCapture`, and what was found in it. */
  capture: z.nullable(storedFile),
  changed: z.nullable(z.boolean()),
  commits: z.number(),
  files: z.number(),
  insertions: z.number(),
  deletions: z.number(),
  outside: z.number(),
  warnings: z.array(errorValue),
  /** What could not be taken back; why it could not be kept; why it must stay. */
  faults: z.array(errorValue),
});
export type WorktreeView = z.infer<typeof worktreeView>;

export const childView = z.object({
  index: z.number(),
  agent: z.string(),
  label: z.nullable(z.string()),
  /** Of a workflow's child: its key, its phase, whether it is a stage of a lane, and the script's call it answers. */
  key: z.optional(z.string()),
  phaseLabel: z.optional(z.string()),
  lane: z.optional(lane),
  call: z.optional(z.number()),
  cwd: z.optional(z.string()),
  /**
   * It waits until this owner is done with changing files in the checkout; none of its own time passes. `since`: Unix milliseconds,
   * not told by runners of earlier versions.
   */
  awaits: z.optional(z.object({ folder: z.string(), owner: z.string(), since: z.optional(z.number()) })),
  /** Only of a child with a worktree. */
  worktree: z.optional(worktreeView),
  state: storedState,
  phase: z.nullable(childPhase),
  tool: z.nullable(z.string()),
  model: z.nullable(z.string()),
  thinking: z.nullable(z.string()),
  session: z.nullable(z.object({ id: z.string(), file: z.nullable(z.string()) })),
  attempt: z.number(),
  process: z.nullable(processIdentity),
  /**
   * Every process that was or may have been started for it, oldest first, and whether it and all it started are proven gone.
   * `process` is null while only the intent to start one is known.
   */
  processes: z.array(
    z.object({
      attempt: z.number(),
      process: z.nullable(processIdentity),
      tree: z.enum(['pending', 'gone', 'unknown']),
    }),
  ),
  turns: z.number(),
  toolCalls: z.number(),
  usage,
  startedAt: z.nullable(z.number()),
  endedAt: z.nullable(z.number()),
  stopReason: z.nullable(z.string()),
  error: z.nullable(errorValue),
  result: z.nullable(z.object({ file: z.string(), bytes: z.number(), sha256: z.string() })),
  output: z.nullable(z.object({ path: z.string(), outcome: z.nullable(z.string()), error: z.nullable(z.string()) })),
  /** Models that were tried before the present one. */
  attemptedModels: z.array(z.string()),
  attention: z.array(attentionKind),
  timedOut: z.boolean(),
  /** A tool call was refused because its tool budget was used up; told when its work is over. */
  toolBudgetBlocked: z.optional(z.literal(true)),
  /** The word `verdict` of its structured answer: `blocked` ends its lane. */
  verdict: z.optional(z.string()),
  /** A person has asked for its end alone. */
  endRequested: z.optional(z.enum(['stop', 'interrupt'])),
  /** Whether its session file was found as it should be when it was over. */
  sessionState: z.nullable(z.enum(['ok', 'none', 'missing', 'damaged'])),
  exit: z.nullable(
    z.object({
      exitCode: z.nullable(z.number()),
      signal: z.nullable(z.string()),
      tree: z.enum(['gone', 'unknown']),
      note: z.nullable(z.string()),
    }),
  ),
});
export type ChildView = z.infer<typeof childView>;

export const questionView = z.object({
  id: z.string(),
  /** Null: the workflow itself asks. */
  child: z.nullable(z.number()),
  method: z.string(),
  title: z.string(),
  message: z.string(),
  options: z.array(z.string()),
  host: z.optional(askedCommand),
  expiresAt: z.number(),
});
export type QuestionView = z.infer<typeof questionView>;

export const steerView = z.object({
  requestId: z.string(),
  /** Of a workflow: the child it was said to. */
  child: z.optional(z.number()),
  mode: z.enum(['steer', 'follow-up']),
  preview: z.string(),
  state: z.enum(['pending', 'queued', 'delivered', 'missed', 'failed']),
  reason: z.nullable(z.string()),
  at: z.number(),
});
export type SteerView = z.infer<typeof steerView>;

export const runView = z.object({
  version: z.literal(1),
  runId,
  mode: z.enum(['single', 'workflow']),
  state: storedState,
  /** Of a workflow: `workflow`. */
  agent: z.string(),
  label: z.nullable(z.string()),
  /** First line of the task, at most 200 characters; of a workflow: its name. */
  title: z.string(),
  cwd: z.string(),
  owner,
  parentRunId: z.nullable(runId),
  workflowKey: z.nullable(z.string()),
  lane: z.nullable(lane),
  model: z.nullable(z.string()),
  createdAt: z.number(),
  startedAt: z.nullable(z.number()),
  endedAt: z.nullable(z.number()),
  updatedAt: z.number(),
  stopRequested: z.boolean(),
  interruptRequested: z.boolean(),
  /** Questions that wait for an answer now. */
  questions: z.array(questionView),
  /** The newest twenty. */
  steering: z.array(steerView),
  resumedFrom: z.nullable(runId),
  /** How many runners have owned this run. */
  epoch: z.number(),
  /** The newest of them; null before the first. */
  runner: z._default(z.nullable(processIdentity), null),
  error: z.nullable(errorValue),
  usage,
  children: z.array(childView),
  /** Only of a workflow. */
  workflow: z.optional(workflowView),
  /** The journal is full: what the child is doing is not recorded any more. Absent: it is. */
  progressCut: z.optional(z.literal(true)),
  /** Sequence number of the last event folded in. */
  seq: z.number(),
});
export type RunView = z.infer<typeof runView>;

/**
 * The journal's event union. A run is the fold of these; nothing else decides what its state is.
 * Every line of `journal.jsonl` is one event with `seq` (1, 2, 3, …, no gaps) and `t` (epoch milliseconds).
 */
import * as z from 'zod/mini';
import { errorValue } from './errors.ts';
import { lane, owner, runId, terminalState } from './run.ts';
import { usage } from './usage.ts';
import {
  askedCommand,
  HOST_STATES,
  plannedLane,
  workflowAsk,
  workflowFact,
  workflowFailure,
  workflowLimits,
} from './workflow-run.ts';
import { worktreePlan } from './worktree.ts';

const processIdentity = z.object({
  pid: z.number(),
  /** What makes a pid unique: boot and start time. Null where the platform cannot tell. */
  start: z.nullable(z.string()),
});
export type ProcessIdentity = z.infer<typeof processIdentity>;
export { processIdentity };

/** A body stored as its own file, synced before the event that names it. */
export const storedFile = z.object({ file: z.string(), bytes: z.number(), sha256: z.string() });
export type StoredFile = z.infer<typeof storedFile>;

/** What tells whether a file was changed. */
const fileLook = z.object({ mtimeMs: z.number(), size: z.number(), ino: z.number() });
export type FileLook = z.infer<typeof fileLook>;

/** What a living child is doing. */
export const childPhase = z.enum(['starting', 'idle', 'thinking', 'tool', 'retrying', 'compacting', 'ending']);
export type ChildPhase = z.infer<typeof childPhase>;

export const attentionKind = z.enum(['needs_attention', 'active_long_running', 'failing_tools']);
export type AttentionKind = z.infer<typeof attentionKind>;

const child = z.number().check(z.minimum(1));

export const journalEvent = z.discriminatedUnion('type', [
  /** First line: the launch record is durable. `digest`: sha256 of `run.json`. */
  z.object({ type: z.literal('run.created'), runId, digest: z.string() }),
  z.object({
    type: z.literal('runner.started'),
    epoch: z.number(),
    process: processIdentity,
    node: z.string(),
    version: z.string(),
    runtime: z.string(),
  }),
  /** The starter confirmed; from here on children may start. */
  z.object({ type: z.literal('run.proceeded') }),

  /** A child of a workflow, before anything of it exists. `id`: the script's call. `plan`: its `ChildPlan`. */
  z.object({
    type: z.literal('child.planned'),
    child,
    id: z.number(),
    key: z.string(),
    agent: z.string(),
    label: z.nullable(z.string()),
    phase: z.nullable(z.string()),
    lane: z.nullable(lane),
    model: z.nullable(z.string()),
    cwd: z.string(),
    plan: storedFile,
  }),

  /** Git is about to be asked for a worktree for the child. Neither path nor branch are there. */
  z.object({ type: z.literal('worktree.planned'), child, plan: worktreePlan }),
  /** It is there as planned. `record`: its `WorktreeRecord`. */
  z.object({ type: z.literal('worktree.made'), child, record: storedFile, warnings: z.array(errorValue) }),
  /** What the child needs was put there: only now may the child start. `record` takes the place of the earlier one. */
  z.object({ type: z.literal('worktree.provisioned'), child, record: storedFile, warnings: z.array(errorValue) }),
  /** It was not made, or was taken back before the child had begun. `left`: what could not be. */
  z.object({
    type: z.literal('worktree.undone'),
    child,
    path: z.string(),
    branch: z.string(),
    left: z.array(errorValue),
  }),
  /** The child goes on in a worktree that was made for an earlier one. `record`: a copy of its record. */
  z.object({
    type: z.literal('worktree.joined'),
    child,
    /** Whose worktree it is. */
    of: z.object({ runId, child }),
    path: z.string(),
    folder: z.string(),
    branch: z.string(),
    base: z.string(),
    record: storedFile,
  }),
  /** Everything in it is kept. `capture`: its `WorktreeCapture`; what belongs to it lies beside that file. */
  z.object({
    type: z.literal('worktree.captured'),
    child,
    capture: storedFile,
    changed: z.boolean(),
    commits: z.number(),
    files: z.number(),
    insertions: z.number(),
    deletions: z.number(),
    /** Files that are in no commit. */
    outside: z.number(),
    /** Why it must stay all the same: the first of as many as `blocked` says. */
    blockers: z.array(errorValue),
    blocked: z.number(),
  }),
  /** What is in it could not be kept: it stays. */
  z.object({ type: z.literal('worktree.capture.failed'), child, error: errorValue }),

  /** The child waits until whoever changes files in the checkout is done. `folder`: its top folder. */
  z.object({ type: z.literal('checkout.awaited'), child, folder: z.string(), owner: z.string() }),
  z.object({ type: z.literal('checkout.taken'), child, folder: z.string() }),

  /** `model`: what it is started with; null: Pi's default. */
  z.object({
    type: z.literal('child.spawn.intended'),
    child,
    attempt: z.number(),
    agent: z.string(),
    model: z.optional(z.nullable(z.string())),
  }),
  z.object({ type: z.literal('child.spawned'), child, attempt: z.number(), process: processIdentity }),
  z.object({ type: z.literal('child.spawn.failed'), child, attempt: z.number(), error: errorValue }),
  z.object({
    type: z.literal('child.ready'),
    child,
    session: z.object({ id: z.string(), file: z.nullable(z.string()) }),
    model: z.string(),
    thinking: z.nullable(z.string()),
  }),
  /**
   * The prompt is about to be written to the child. `sha256` of its UTF-8 text. `after`: the last entry of its session before
   * it, null for a new one: Pi may write another text into the session than it was given.
   */
  z.object({
    type: z.literal('child.prompt.intended'),
    child,
    promptId: z.string(),
    bytes: z.number(),
    sha256: z.string(),
    after: z.optional(z.nullable(z.string())),
  }),
  z.object({ type: z.literal('child.prompted'), child, promptId: z.string(), disposition: z.string() }),
  /** Coalesced, not synced: what the child is doing now. Counters are totals of this run. */
  z.object({
    type: z.literal('child.progress'),
    child,
    phase: childPhase,
    tool: z.nullable(z.string()),
    turns: z.number(),
    toolCalls: z.number(),
    usage,
  }),
  /** A line on the child's protocol stream that is not protocol (first 2,000 characters). Not a failure. */
  z.object({ type: z.literal('child.stdout'), child, text: z.string() }),
  /** The child's work is over and its result is durable. */
  z.object({
    type: z.literal('child.settled'),
    child,
    state: terminalState,
    stopReason: z.nullable(z.string()),
    error: z.nullable(errorValue),
    result: z.nullable(storedFile),
    turns: z.number(),
    toolCalls: z.number(),
    usage,
    /** A tool call was refused because the child's tool budget was used up. */
    toolBudgetBlocked: z.optional(z.literal(true)),
    /** The word `verdict` of its structured answer. */
    verdict: z.optional(z.string()),
  }),
  /** The child's process is over. `tree`: whether every process it started is proven gone. */
  z.object({
    type: z.literal('child.ended'),
    child,
    attempt: z.number(),
    exitCode: z.nullable(z.number()),
    signal: z.nullable(z.string()),
    tree: z.enum(['gone', 'unknown']),
    note: z.nullable(z.string()),
  }),

  /** The process failed before the work was over; `next` says what is done about it, after `delayMs`. */
  z.object({
    type: z.literal('child.attempt.failed'),
    child,
    attempt: z.number(),
    error: errorValue,
    next: z.enum(['retry', 'fallback', 'continue']),
    model: z.nullable(z.string()),
    delayMs: z.number(),
  }),
  /** The child's session file, looked at when the child was over. Anything but `ok` is kept as evidence. */
  z.object({
    type: z.literal('child.session.checked'),
    child,
    state: z.enum(['ok', 'none', 'missing', 'damaged']),
    note: z.nullable(z.string()),
  }),

  /**
   * A person or program asked for something. `child`: of one child of a workflow alone. `message`: the text of a steer, in a
   * file.
   */
  z.object({
    type: z.literal('control.requested'),
    requestId: z.string(),
    child: z.optional(child),
    action: z.enum(['stop', 'interrupt', 'steer', 'follow-up']),
    by: owner,
    message: z.nullable(storedFile),
    preview: z.nullable(z.string()),
  }),
  /**
   * What became of it. A steer is `queued` when the child has taken it into its queue, `delivered` only when the child's
   * model was asked with it, `missed` when the child ended before that.
   */
  z.object({
    type: z.literal('control.settled'),
    requestId: z.string(),
    outcome: z.enum(['done', 'too-late', 'queued', 'delivered', 'missed', 'failed']),
    reason: z.nullable(z.string()),
  }),
  z.object({
    type: z.literal('timeout.reached'),
    child,
    scope: z.enum(['run', 'child', 'tool']),
    tool: z.nullable(z.string()),
    phase: z.string(),
    limitMs: z.number(),
  }),

  /** A dialog of an extension inside the child that waits for a person. `expiresAt`: epoch milliseconds. */
  z.object({
    type: z.literal('question.asked'),
    questionId: z.string(),
    /** Null: the workflow itself asks. */
    child: z.nullable(child),
    method: z.string(),
    title: z.string(),
    message: z.string(),
    options: z.array(z.string()),
    expiresAt: z.number(),
    /** The command of the script that it asks to run: whether it may is what is asked. */
    host: z.optional(askedCommand),
  }),
  z.object({ type: z.literal('question.answered'), questionId: z.string(), by: owner, answer: z.string() }),
  z.object({ type: z.literal('question.expired'), questionId: z.string(), reason: z.string() }),

  z.object({ type: z.literal('attention.raised'), child, kind: attentionKind, text: z.string() }),
  z.object({ type: z.literal('attention.cleared'), child, kind: attentionKind }),

  /**
   * This run alone writes this file. Real path. `before`: what it looked like when the work began; null: it was not there. `child`
   * absent: it is for what the workflow itself comes to.
   */
  z.object({
    type: z.literal('output.claimed'),
    child: z.optional(child),
    path: z.string(),
    before: z.optional(z.nullable(fileLook)),
  }),
  /** `kept`: the child had written the file itself. */
  z.object({
    type: z.literal('output.settled'),
    child: z.optional(child),
    path: z.string(),
    outcome: z.enum(['saved', 'kept', 'failed']),
    bytes: z.number(),
    error: z.nullable(z.string()),
  }),

  /** Answers are about to be given to the script, in this order, at this time of its clock. `more`: the next line goes on. */
  z.object({
    type: z.literal('workflow.delivered'),
    step: z.number(),
    at: z.number(),
    facts: z.array(workflowFact),
    more: z.optional(z.literal(true)),
  }),
  /** What the script emitted and printed in a step: JSON texts, or the file of one that is long. */
  z.object({
    type: z.literal('workflow.said'),
    step: z.number(),
    emits: z.array(z.union([z.object({ json: z.string() }), z.object({ body: storedFile })])),
    console: z.array(z.object({ level: z.string(), text: z.string() })),
  }),
  /** Lanes that the script announced in a step. */
  z.object({ type: z.literal('workflow.planned'), step: z.number(), lanes: z.array(plannedLane) }),
  /** The script has nothing more to do until it is answered. Only after this line may anything start that it asked for. */
  z.object({
    type: z.literal('workflow.stepped'),
    step: z.number(),
    asks: z.array(workflowAsk),
    /** What the refusals of the step were decided by. */
    limits: workflowLimits,
    /** More of the same step follows. */
    more: z.optional(z.literal(true)),
    /** Launches that wait for their turn, first come, first served: those of the step, and how many altogether. Absent: none. */
    queue: z.optional(z.object({ added: z.array(z.number()), length: z.number() })),
    /** Where a limit interrupted it. */
    interruptAt: z.optional(z.object({ polls: z.number(), reason: z.enum(['deadline', 'stop', 'fuel']) })),
  }),
  /** A command of the script. `command`: its first 1,000 characters, tokens redacted. */
  z.object({
    type: z.literal('host.intended'),
    id: z.number(),
    key: z.string(),
    command: z.string(),
    role: z.nullable(z.string()),
    timeoutMs: z.number(),
  }),
  z.object({ type: z.literal('host.started'), id: z.number(), process: processIdentity }),
  z.object({
    type: z.literal('host.ended'),
    id: z.number(),
    state: z.enum(HOST_STATES),
    exitCode: z.nullable(z.number()),
    outputPath: z.nullable(z.string()),
    durationMs: z.number(),
    error: z.nullable(errorValue),
  }),
  /** The script is over. `value`: what it returned. `partial`: the limit that ended it while children were under way. */
  z.object({
    type: z.literal('workflow.ended'),
    ok: z.boolean(),
    state: terminalState,
    failure: z.nullable(workflowFailure),
    value: z.nullable(storedFile),
    partial: z.nullable(z.enum(['timeout', 'budget_exhausted'])),
    aborted: z.array(z.string()),
  }),
  /** A workflow that had ended, or whose runner is gone, goes on as the same run, with these limits. */
  z.object({
    type: z.literal('run.continued'),
    by: owner,
    limits: workflowLimits,
    timeoutMs: z.nullable(z.number()),
  }),

  /** A new runner took over from one that is gone. */
  z.object({
    type: z.literal('recovery.begun'),
    epoch: z.number(),
    settle: z.enum(['continue', 'stop']),
    ended: z.number(),
  }),
  /** What the journal and the session file say must happen with the child. */
  z.object({
    type: z.literal('recovery.decided'),
    child,
    decision: z.enum(['start', 'ask-again', 'continue', 'adopt', 'finish']),
    reason: z.string(),
  }),

  /** The journal has reached its limit (bytes): from here on it holds no progress. Written once. */
  z.object({ type: z.literal('journal.truncated'), limit: z.number() }),

  z.object({ type: z.literal('run.ended'), state: terminalState, error: z.nullable(errorValue) }),
]);
export type JournalEvent = z.infer<typeof journalEvent>;
export type JournalEventType = JournalEvent['type'];

/**
 * Events that only tell what is going on at the moment. Nothing is decided by them, and what they count is counted once more
 * when the child has settled; so they, and only they, give way when a journal has grown over its limit. Attention is none of
 * them: a person is called by it, and called off.
 */
const PROGRESS: ReadonlySet<JournalEventType> = new Set<JournalEventType>(['child.progress', 'child.stdout']);

export function isProgress(type: JournalEventType): boolean {
  return PROGRESS.has(type);
}

/** An event as it stands in the journal. */
export type JournalLine = JournalEvent & { seq: number; t: number };
export const journalStamp = z.object({ seq: z.number().check(z.minimum(1)), t: z.number() });

/** Version of the event union; an older client facing a newer one reads what it knows and refuses control. */
export const JOURNAL_VERSION = 1;

/**
 * The journal's event union. A run is the fold of these; nothing else decides what its state is.
 * Every line of `journal.jsonl` is one event with `seq` (1, 2, 3, …, no gaps) and `t` (epoch milliseconds).
 */
import * as z from 'zod/mini';
import { errorValue } from './errors.ts';
import { owner, runId, terminalState } from './run.ts';
import { usage } from './usage.ts';

const processIdentity = z.object({
  pid: z.number(),
  /** What makes a pid unique: boot and start time. Null where the platform cannot tell. */
  start: z.nullable(z.string()),
});
export type ProcessIdentity = z.infer<typeof processIdentity>;
export { processIdentity };

/** A body stored as its own file, synced before the event that names it. */
const storedFile = z.object({ file: z.string(), bytes: z.number(), sha256: z.string() });
export type StoredFile = z.infer<typeof storedFile>;

/** What a living child is doing. */
export const childPhase = z.enum(['starting', 'idle', 'thinking', 'tool', 'retrying', 'compacting', 'ending']);
export type ChildPhase = z.infer<typeof childPhase>;

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

  z.object({ type: z.literal('child.spawn.intended'), child, attempt: z.number(), agent: z.string() }),
  z.object({ type: z.literal('child.spawned'), child, attempt: z.number(), process: processIdentity }),
  z.object({ type: z.literal('child.spawn.failed'), child, attempt: z.number(), error: errorValue }),
  z.object({
    type: z.literal('child.ready'),
    child,
    session: z.object({ id: z.string(), file: z.nullable(z.string()) }),
    model: z.string(),
    thinking: z.nullable(z.string()),
  }),
  /** The prompt is about to be written to the child. `sha256` of its UTF-8 text. */
  z.object({
    type: z.literal('child.prompt.intended'),
    child,
    promptId: z.string(),
    bytes: z.number(),
    sha256: z.string(),
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
  /** A dialog of an extension inside the child that was answered without a person. */
  z.object({
    type: z.literal('child.dialog'),
    child,
    method: z.string(),
    title: z.string(),
    answer: z.literal('cancelled'),
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

  z.object({
    type: z.literal('control.requested'),
    requestId: z.string(),
    action: z.enum(['stop']),
    by: owner,
  }),
  z.object({
    type: z.literal('control.settled'),
    requestId: z.string(),
    outcome: z.enum(['done', 'too-late']),
  }),

  z.object({ type: z.literal('run.ended'), state: terminalState, error: z.nullable(errorValue) }),
]);
export type JournalEvent = z.infer<typeof journalEvent>;
export type JournalEventType = JournalEvent['type'];

/** An event as it stands in the journal. */
export type JournalLine = JournalEvent & { seq: number; t: number };
export const journalStamp = z.object({ seq: z.number().check(z.minimum(1)), t: z.number() });

/** Version of the event union; an older client facing a newer one reads what it knows and refuses control. */
export const JOURNAL_VERSION = 1;

/** A run as people see it: the fold of its launch record and journal. Pure data; also the body of `status.json`. */
import * as z from 'zod/mini';
import { errorValue } from './errors.ts';
import { childPhase, processIdentity } from './events.ts';
import { lane, owner, runId, storedState } from './run.ts';
import { usage } from './usage.ts';

export const childView = z.object({
  index: z.number(),
  agent: z.string(),
  label: z.nullable(z.string()),
  state: storedState,
  phase: z.nullable(childPhase),
  tool: z.nullable(z.string()),
  model: z.nullable(z.string()),
  thinking: z.nullable(z.string()),
  session: z.nullable(z.object({ id: z.string(), file: z.nullable(z.string()) })),
  attempt: z.number(),
  process: z.nullable(processIdentity),
  turns: z.number(),
  toolCalls: z.number(),
  usage,
  startedAt: z.nullable(z.number()),
  endedAt: z.nullable(z.number()),
  stopReason: z.nullable(z.string()),
  error: z.nullable(errorValue),
  result: z.nullable(z.object({ file: z.string(), bytes: z.number(), sha256: z.string() })),
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

export const runView = z.object({
  version: z.literal(1),
  runId,
  mode: z.literal('single'),
  state: storedState,
  agent: z.string(),
  label: z.nullable(z.string()),
  /** First line of the task, at most 200 characters. */
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
  error: z.nullable(errorValue),
  usage,
  children: z.array(childView),
  /** Sequence number of the last event folded in. */
  seq: z.number(),
});
export type RunView = z.infer<typeof runView>;

/**
 * What a client and a runner say to each other: JSON-RPC 2.0 over a socket or pipe. The first request must be `hello` with
 * the token of the run's lease, otherwise the connection is closed. Names of methods and their parameter and result
 * schemas stand here once for both sides.
 */
import * as z from 'zod/mini';
import { errorValue } from './errors.ts';
import { launchRecord, owner, runId } from './run.ts';
import { runView } from './view.ts';
import { workflowBounds } from './workflow-run.ts';

export const RPC_VERSION = 1;

/** `value`: the option or text chosen; `confirmed`: yes or no; `cancelled`: no answer. */
export const questionAnswer = z.union([
  z.strictObject({ value: z.string() }),
  z.strictObject({ confirmed: z.boolean() }),
  z.strictObject({ cancelled: z.literal(true) }),
]);
export type QuestionAnswer = z.infer<typeof questionAnswer>;

/** Made by whoever asks. The same one again is the same request; it also names the file of a message. */
const requestId = z.string().check(z.regex(/^[A-Za-z0-9_-]{1,64}$/));

/** Of a workflow: the one child that is meant. */
const child = z.optional(z.number().check(z.minimum(1)));

const ended = z.object({ outcome: z.enum(['done', 'too-late']) });

/** Longest text of a steer or follow-up in UTF-8 bytes. */
export const MAX_STEER_BYTES = 128 * 1024;

export const rpc = {
  hello: {
    method: 'hello',
    params: z.object({
      token: z.string(),
      version: z.number(),
      client: z.object({ kind: z.string(), version: z.string() }),
    }),
    result: z.object({ version: z.number(), runnerVersion: z.string(), runId }),
  },
  /** Starter only: hands the launch record over. The run is durable when this answers; no child has been started. */
  start: {
    method: 'start',
    params: z.object({ record: launchRecord }),
    result: z.object({ runId, directory: z.string() }),
  },
  /** Starter only: the commit point. Only now may the runner start children. */
  proceed: { method: 'proceed', params: z.object({}), result: z.object({}) },
  /** `endAskedMs`: for how many milliseconds the run has been asked to end; null: it has not. */
  ping: {
    method: 'ping',
    params: z.object({}),
    result: z.object({ seq: z.number(), endAskedMs: z.optional(z.nullable(z.number())) }),
  },
  status: { method: 'status', params: z.object({}), result: runView },
  /** Answers when the run, or the one child, has ended (every process of it gone or named as unknown). */
  stop: { method: 'stop', params: z.object({ requestId, by: owner, child }), result: ended },
  /**
   * Ends the child's present work and keeps its session: the run becomes `paused`. Of a workflow only children can be
   * interrupted. Answers when it has ended.
   */
  interrupt: { method: 'interrupt', params: z.object({ requestId, by: owner, child }), result: ended },
  /**
   * Says something to a child; of a single run to its only one. Answers with the receipt as far as it is known after three seconds; later receipts stand
   * in the journal.
   */
  steer: {
    method: 'steer',
    params: z.object({
      requestId,
      by: owner,
      child,
      mode: z.enum(['steer', 'follow-up']),
      message: z.string(),
    }),
    result: z.object({ state: z.enum(['queued', 'delivered', 'missed', 'failed']), reason: z.nullable(z.string()) }),
  },
  /** Answers a question; the first answer wins. */
  answer: {
    method: 'answer',
    params: z.object({ questionId: z.string(), by: owner, answer: questionAnswer }),
    result: z.object({ accepted: z.boolean(), reason: z.nullable(z.string()) }),
  },
} as const;

export type RpcMethod = keyof typeof rpc;
export type RpcParams<M extends RpcMethod> = z.infer<(typeof rpc)[M]['params']>;
export type RpcResult<M extends RpcMethod> = z.infer<(typeof rpc)[M]['result']>;

/** `data` of a JSON-RPC error answer. */
export const rpcErrorData = errorValue;

/** What a starter gives a new runner, through one environment variable that the runner deletes while loading. */
export const START_ENV = 'PI_LANES_START';
const order = {
  address: z.string(),
  token: z.string(),
  /** File behind the runner's stdout and stderr; the runner moves it into the run folder. */
  log: z.string(),
};

export const startOrder = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('new'), runId, projectDirectory: z.string(), ...order }),
  /** Take over a run whose runner is gone. `stop`: end what is left of it and write its end. */
  z.object({
    kind: z.literal('recover'),
    runId,
    projectDirectory: z.string(),
    settle: z.enum(['continue', 'stop']),
    by: owner,
    /** A workflow goes on as the same run, within these bounds. */
    bounds: z.optional(workflowBounds),
    ...order,
  }),
]);
export type StartOrder = z.infer<typeof startOrder>;
export type NewOrder = Extract<StartOrder, { kind: 'new' }>;
export type RecoverOrder = Extract<StartOrder, { kind: 'recover' }>;

/** Milliseconds a started runner waits for `proceed` before it gives up without starting a child. */
export const PROCEED_DEADLINE_MS = 30_000;

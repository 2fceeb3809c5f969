/**
 * What a client and a runner say to each other: JSON-RPC 2.0 over a socket or pipe. The first request must be `hello` with
 * the token of the run's lease, otherwise the connection is closed. Names of methods and their parameter and result
 * schemas stand here once for both sides.
 */
import * as z from 'zod/mini';
import { errorValue } from './errors.ts';
import { launchRecord, owner, runId } from './run.ts';
import { runView } from './view.ts';

export const RPC_VERSION = 1;

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
  ping: { method: 'ping', params: z.object({}), result: z.object({ seq: z.number() }) },
  status: { method: 'status', params: z.object({}), result: runView },
  /** Answers when the run has ended (every process of its children gone or named as unknown). */
  stop: {
    method: 'stop',
    params: z.object({ requestId: z.string(), by: owner }),
    result: z.object({ outcome: z.enum(['done', 'too-late']) }),
  },
} as const;

export type RpcMethod = keyof typeof rpc;
export type RpcParams<M extends RpcMethod> = z.infer<(typeof rpc)[M]['params']>;
export type RpcResult<M extends RpcMethod> = z.infer<(typeof rpc)[M]['result']>;

/** `data` of a JSON-RPC error answer. */
export const rpcErrorData = errorValue;

/** What a starter gives a new runner, through one environment variable that the runner deletes while loading. */
export const START_ENV = 'PI_LANES_START';
export const startOrder = z.object({
  runId,
  projectDirectory: z.string(),
  address: z.string(),
  token: z.string(),
  /** File behind the runner's stdout and stderr; the runner moves it into the run folder. */
  log: z.string(),
});
export type StartOrder = z.infer<typeof startOrder>;

/** Milliseconds a started runner waits for `proceed` before it gives up without starting a child. */
export const PROCEED_DEADLINE_MS = 30_000;

/** `executeWorkflow` and `replayWorkflow`: scripts without a disk and without a runner. Documented in docs/api.md. */
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import * as z from 'zod/mini';
import {
  type Capabilities,
  type Conductor,
  DEFAULT_CONCURRENCY,
  type Effect,
  type ExecutionRecord,
  type Fact,
  isObject,
  messageOf,
  readHostResult,
  replayExecution,
  runExecution,
  toJsonText,
} from '../core/workflow/index.ts';
import { DEFAULT_MAX_SPAWNS, describeFaults, MAX_DELAY_MS, usageBudget } from '../protocol/index.ts';
import type * as types from './workflow-execution-types.ts';

/** Beside this module when it is built. */
export const ENGINE_WORKER = fileURLToPath(new URL('./engine-worker.mjs', import.meta.url));

const positive = z.int('must be a whole number').check(z.positive('must be at least 1'));
const numbers = z.object({
  globalConcurrencyLimit: z.optional(positive),
  maxSubagentSpawnsPerRun: z.optional(positive),
  timeoutMs: z.optional(
    positive.check(
      z.maximum(MAX_DELAY_MS, `must be at most ${MAX_DELAY_MS} (about 24 days): a longer timer would ring at once`),
    ),
  ),
  seed: z.optional(
    z
      .int('must be a whole number')
      .check(z.nonnegative('must be at least 0'), z.maximum(2 ** 32, 'must be at most 2^32')),
  ),
  usageBudget: z.optional(usageBudget),
});

export interface ExecutionEnvironment {
  /** Path or URL of `engine-worker.mjs`. */
  worker: string | URL;
  now?: () => number;
}

export const executeWorkflow: typeof types.executeWorkflow = (options) =>
  executeWorkflowIn(options, { worker: ENGINE_WORKER });
export const replayWorkflow: typeof types.replayWorkflow = (record) =>
  replayWorkflowIn(record, { worker: ENGINE_WORKER });

export async function executeWorkflowIn(
  options: types.ExecuteWorkflowOptions,
  environment: ExecutionEnvironment,
): Promise<types.WorkflowExecution> {
  const fault = faultOf(options);
  if (fault !== undefined) return notStarted(fault);
  const { script, host, state, signal, onProgress } = options;
  const parsed = numbers.safeParse(options);
  if (!parsed.success) return notStarted(describeFaults(parsed.error));
  if (signal != null && !isSignal(signal)) return notStarted('signal is no AbortSignal.');
  let args: string | undefined;
  try {
    args = options.args === undefined ? undefined : toJsonText(options.args, 'args', 'strict');
  } catch (error) {
    return notStarted(messageOf(error), 'boundary');
  }
  const { globalConcurrencyLimit, maxSubagentSpawnsPerRun, timeoutMs, seed } = parsed.data;
  const capabilities: Capabilities = {
    steer: host.steer !== undefined,
    host: host.hostCommand !== undefined,
    status: host.status !== undefined,
    resolveResume: host.resolveResume !== undefined,
  };
  const { result, record } = await runExecution({
    script,
    ...(args === undefined ? {} : { args }),
    state: state !== undefined,
    seed: seed ?? randomInt(2 ** 32),
    settings: {
      globalConcurrencyLimit: globalConcurrencyLimit ?? DEFAULT_CONCURRENCY,
      maxSubagentSpawnsPerRun: maxSubagentSpawnsPerRun ?? DEFAULT_MAX_SPAWNS,
      ...(parsed.data.usageBudget ? { usageBudget: parsed.data.usageBudget } : {}),
      capabilities,
    },
    worker: environment.worker,
    ...(environment.now ? { now: environment.now } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(signal ? { signal } : {}),
    ...(onProgress
      ? { onProgress: ({ trace, emits, console }: Conductor) => onProgress({ trace, emits, console }) }
      : {}),
    perform: async (effect, ended) => perform(effect, ended, host, state),
  });
  return { ...result, record };
}

const OPTIONS: ReadonlySet<string> = new Set<keyof types.ExecuteWorkflowOptions>([
  'script',
  'args',
  'host',
  'state',
  'globalConcurrencyLimit',
  'timeoutMs',
  'maxSubagentSpawnsPerRun',
  'usageBudget',
  'seed',
  'signal',
  'onProgress',
]);
const HOST_FUNCTIONS = ['launch', 'steer', 'hostCommand', 'status', 'resolveResume'] as const;

/** What is wrong with the options beside their numbers, naming the field. Callers without types can give anything. */
function faultOf(options: unknown): string | undefined {
  if (!isObject(options)) return 'its options are missing; it takes one object with script and host.';
  const unknown = Object.keys(options).find((name) => !OPTIONS.has(name));
  if (unknown !== undefined) return `there is no option "${unknown}". Options: ${[...OPTIONS].join(', ')}.`;
  const { script, host, state, onProgress } = options;
  if (typeof script !== 'string') return `script is ${kindOf(script)}; it must be a string.`;
  if (!isObject(host)) return `host is ${kindOf(host)}; it must be an object with a function launch.`;
  for (const name of HOST_FUNCTIONS) {
    const value = host[name];
    if (typeof value !== 'function' && (name === 'launch' || value !== undefined))
      return `host.${name} is ${kindOf(value)}; it must be a function.`;
  }
  if (state !== undefined) {
    if (!isObject(state)) return `state is ${kindOf(state)}; it must be an object with the functions get and set.`;
    for (const name of ['get', 'set'])
      if (typeof state[name] !== 'function') return `state.${name} is ${kindOf(state[name])}; it must be a function.`;
  }
  if (onProgress !== undefined && typeof onProgress !== 'function')
    return `onProgress is ${kindOf(onProgress)}; it must be a function.`;
  return undefined;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  return value === null ? 'null' : typeof value;
}

export async function replayWorkflowIn(
  record: unknown,
  environment: ExecutionEnvironment,
): Promise<Omit<types.WorkflowExecution, 'record'>> {
  if (!isRecord(record)) {
    const { error } = recordSchema.safeParse(record);
    throw new TypeError(
      `The record is none of executeWorkflow: it must be the field "record" of its result. ${error ? describeFaults(error) : ''}`,
    );
  }
  return replayExecution(record, environment.worker);
}

function isSignal(value: unknown): value is AbortSignal {
  return isObject(value) && typeof value['aborted'] === 'boolean' && typeof value['addEventListener'] === 'function';
}

const facts = z.array(z.looseObject({ id: z.int(), key: z.string(), ok: z.boolean() }));
/** What a replay reads without looking twice. What facts and the end say is checked by what they contradict. */
const recordSchema = z.looseObject({
  version: z.literal(1),
  script: z.string(),
  args: z.optional(z.string()),
  state: z.boolean(),
  seed: z.int().check(z.nonnegative(), z.maximum(2 ** 32)),
  settings: z.looseObject({
    globalConcurrencyLimit: positive,
    maxSubagentSpawnsPerRun: positive,
    usageBudget: z.optional(usageBudget),
    capabilities: z.looseObject({
      steer: z.boolean(),
      host: z.boolean(),
      status: z.boolean(),
      resolveResume: z.boolean(),
    }),
  }),
  steps: z.array(
    z.looseObject({
      at: z.number(),
      facts,
      interruptAt: z.optional(z.strictObject({ polls: z.int(), reason: z.enum(['deadline', 'stop', 'fuel']) })),
    }),
  ),
  late: z.array(z.looseObject({ at: z.number(), facts })),
  end: z.optional(z.looseObject({ type: z.string() })),
});

function isRecord(value: unknown): value is ExecutionRecord {
  return recordSchema.safeParse(value).success;
}

function notStarted(reason: string, kind: types.WorkflowFailure['kind'] = 'validation'): types.WorkflowExecution {
  const error: types.WorkflowFailure = { kind, message: `The workflow was not started: ${reason}` };
  const record: ExecutionRecord = {
    version: 1,
    script: '',
    state: false,
    seed: 0,
    settings: {
      globalConcurrencyLimit: DEFAULT_CONCURRENCY,
      maxSubagentSpawnsPerRun: DEFAULT_MAX_SPAWNS,
      capabilities: { steer: false, host: false, status: false, resolveResume: false },
    },
    steps: [],
    late: [],
    end: { type: 'refused', error },
  };
  const engine = { steps: 0, fuel: 0, heapBytes: 0 };
  return { ok: false, error, trace: [], emits: [], console: [], abortedKeys: [], partialChildren: [], engine, record };
}

async function perform(
  effect: Effect,
  signal: AbortSignal,
  host: types.WorkflowHost,
  state: types.WorkflowState | undefined,
): Promise<Fact> {
  const { id } = effect;
  switch (effect.type) {
    case 'launch': {
      const { key } = effect;
      // Plain JSON: this way of copying it is the fastest.
      const params: Record<string, unknown> = JSON.parse(JSON.stringify(effect.params));
      if (isObject(params['resume'])) params['resume'] = await resolveResume(params['resume'], host);
      return { id, key, ok: true, value: readHostResult(key, await host.launch({ key, params, signal })).view };
    }
    case 'steer': {
      const { key, message, options } = effect;
      return {
        id,
        key,
        ok: true,
        value: plain(await host.steer?.({ key, message, options, signal }), `The receipt of '${key}'`),
      };
    }
    case 'host': {
      const { key, params } = effect;
      return {
        id,
        key,
        ok: true,
        value: plain(await host.hostCommand?.({ key, params, signal }), `The result of '${key}'`),
      };
    }
    case 'status':
      return {
        id,
        key: effect.target,
        ok: true,
        value: plain(await host.status?.(effect.runId), `The status of '${effect.runId}'`),
      };
    case 'state.get': {
      const value = await state?.get(effect.key);
      return {
        id,
        key: effect.key,
        ok: true,
        ...(value === undefined ? {} : { value: plain(value, `The state '${effect.key}'`) }),
      };
    }
    case 'state.set':
      await state?.set(effect.key, JSON.parse(effect.value));
      return { id, key: effect.key, ok: true };
  }
}

async function resolveResume(reference: Record<string, unknown>, host: types.WorkflowHost): Promise<string> {
  const { workflowRunId, key } = reference;
  const runId: unknown = await host.resolveResume?.({
    workflowRunId: String(workflowRunId),
    key: String(key),
    latest: true,
  });
  if (typeof runId !== 'string' || runId.trim() === '') {
    throw new Error(
      `The child '${String(key)}' of workflow ${String(workflowRunId)} cannot be resumed: no run id was found.`,
    );
  }
  return runId.trim();
}

function plain(value: unknown, what: string): unknown {
  return JSON.parse(toJsonText(value, what, 'return'));
}

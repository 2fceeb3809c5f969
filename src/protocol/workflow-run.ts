/** The vocabulary of workflow runs: what one is launched with, what its journal says of it, and how people see it. */
import * as z from 'zod/mini';
import { agentContract } from './agent-contract.ts';
import { errorValue } from './errors.ts';
import { launchDefaults, thinkingLevel } from './launch-defaults.ts';
import { positive } from './schema-parts.ts';
import { MAX_SCRIPT_BYTES } from './workflow.ts';
import { preflight } from './workflow-preflight.ts';

const limits = z
  .strictObject({ soft: z.optional(z.number().check(z.positive())), hard: z.number().check(z.positive()) })
  .check(z.refine(({ soft = 0, hard }) => soft <= hard, 'soft must not be larger than hard'));

/** What all children of a workflow may use together: tokens (input and output) and US dollars, as reported. */
export const usageBudget = z
  .strictObject({ tokens: z.optional(limits), costUsd: z.optional(limits) })
  .check(z.refine(({ tokens, costUsd }) => tokens !== undefined || costUsd !== undefined, 'needs tokens or costUsd'));
export type UsageBudget = z.infer<typeof usageBudget>;

/** Bounds of a workflow. When one was what ended it, it is continued by raising that. */
export const workflowLimits = z.object({
  /** Children at the same time. */
  globalConcurrencyLimit: positive,
  /** Children over the whole run, resumed ones not counted. */
  maxSubagentSpawnsPerRun: positive,
  usageBudget: z.optional(usageBudget),
});
export type WorkflowLimits = z.infer<typeof workflowLimits>;

/** `timeoutMs`: milliseconds of runner life over the whole run; null: no deadline. */
export const workflowBounds = z.object({ limits: workflowLimits, timeoutMs: z.nullable(z.number()) });
export type WorkflowBounds = z.infer<typeof workflowBounds>;

/** Whether host commands run: after a question, always, or never; `globs`: commands that need no question. */
export const hostPolicy = z.object({
  mode: z.enum(['ask', 'allow', 'deny']),
  globs: z.array(z.string().check(z.minLength(1), z.maxLength(1024))).check(z.maxLength(64)),
});
export type HostPolicy = z.infer<typeof hostPolicy>;

/** A command that a workflow may run under a key, exactly as it stands. */
export const hostGrant = z.object({ key: z.string(), command: z.string() });
export type HostGrant = z.infer<typeof hostGrant>;

/** Where the script of a workflow came from that was started by name. Only written by who knows the name. */
export const workflowResource = z.object({
  kind: z.literal('workflow'),
  name: z.string(),
  version: z.number(),
  invocation: z.literal('named'),
  expansion: z.literal('resolved'),
  id: z.string(),
});
export type WorkflowResource = z.infer<typeof workflowResource>;

/** What a workflow run is launched with. Everything a continuation needs is here: nothing is read again from the project. */
export const workflowPlan = z.object({
  /** One line, at most 96 characters: the file's name, or what the caller called it. */
  name: z.string().check(z.minLength(1), z.maxLength(96)),
  /** Where the script was read from, absolute; null: it was given as text. */
  file: z.nullable(z.string()),
  script: z
    .string()
    .check(
      z.refine(
        (text) => new TextEncoder().encode(text).length <= MAX_SCRIPT_BYTES,
        `must have at most ${MAX_SCRIPT_BYTES} bytes`,
      ),
    ),
  /**
   * File that what it comes to is also written to, absolute, links looked through. Children that name no output write beside it.
   * Absent: nothing is written.
   */
  output: z.optional(z.string()),
  /** JSON text; null: `args` is undefined. */
  args: z.nullable(z.string()),
  /** From which `Math.random` follows. */
  seed: z.number(),
  limits: workflowLimits,
  host: hostPolicy,
  /** The only commands it may run, with the consent it needs anyway; absent: any. */
  grants: z.optional(z.array(hostGrant).check(z.maxLength(32))),
  resource: z.optional(workflowResource),
  preflight: z.optional(preflight),
  /** The agents a script may name, as they were when it was launched, with the names they are also known by. */
  agents: z.array(
    z.object({
      contract: agentContract,
      /** Its name inside its package. */
      localName: z.optional(z.string()),
      aliases: z.array(z.string()),
      model: z.optional(z.string()),
      thinking: z.optional(z.string()),
    }),
  ),
  /** Agents that could not be launched when it was, and why: a call that names one fails with that. */
  refusedAgents: z.optional(
    z.array(
      z.object({
        name: z.string(),
        localName: z.optional(z.string()),
        aliases: z.array(z.string()),
        error: errorValue,
      }),
    ),
  ),
  /** Names of the models that were usable, `provider/id`. */
  models: z.array(z.string()),
  /** What Pi takes when nobody names a model. */
  piDefault: z.optional(z.object({ model: z.nullable(z.string()), thinking: z.nullable(thinkingLevel) })),
  /** What settings say for children that are told nothing else. */
  defaults: z.optional(launchDefaults),
  /** For agents that name none; absent: Pi's default. */
  defaultModel: z.optional(z.string()),
  /** Each child that does not say otherwise gets a worktree of its own. */
  worktree: z.optional(z.boolean()),
  /** What worktrees start from where the child does not say. */
  baseRef: z.optional(z.string()),
});
export type WorkflowPlan = z.infer<typeof workflowPlan>;

/** What answers one call of the script. A value that is long stands in a file of its own. */
export const workflowFact = z.object({
  /** Number of the call. */
  id: z.number(),
  key: z.string(),
  /** Fingerprint of what was asked for. */
  asked: z.string(),
  ok: z.boolean(),
  /** JSON text. Neither this nor `body`: undefined. */
  json: z.optional(z.string()),
  body: z.optional(z.object({ file: z.string(), bytes: z.number(), sha256: z.string() })),
  /** Why it failed. */
  message: z.optional(z.string()),
});
export type WorkflowFact = z.infer<typeof workflowFact>;

/** A call of the script that starts something or asks for something. */
export const workflowAsk = z.object({
  id: z.number(),
  type: z.enum(['launch', 'steer', 'host', 'status', 'state.get', 'state.set']),
  key: z.string(),
  /** Fingerprint of what was asked for. */
  asked: z.string(),
});
export type WorkflowAsk = z.infer<typeof workflowAsk>;

/** How a script failed. `line` and `column` are its own, from 1. */
export const workflowFailure = z.object({
  kind: z.string(),
  message: z.string(),
  line: z.optional(z.number()),
  column: z.optional(z.number()),
});
export type WorkflowFailure = z.infer<typeof workflowFailure>;

/** Stages that `runs.lanes` has announced. */
export const plannedLane = z.object({
  key: z.string(),
  stages: z.array(z.object({ key: z.string(), label: z.nullable(z.string()), agent: z.nullable(z.string()) })),
});
export type PlannedLane = z.infer<typeof plannedLane>;

export const HOST_STATES = [
  'asking',
  'running',
  'passed',
  'failed',
  'timed-out',
  'stopped',
  'denied',
  'unknown',
] as const;

/** A command that waits for a person's consent: the script's call, its key, and its text, tokens redacted. */
export const askedCommand = z.object({
  id: z.number(),
  key: z.string(),
  command: z.string(),
  role: z.nullable(z.string()),
});
export type AskedCommand = z.infer<typeof askedCommand>;

/** A command of the script on this machine. */
export const hostStepView = z.object({
  id: z.number(),
  key: z.string(),
  command: z.string(),
  role: z.nullable(z.string()),
  state: z.enum(HOST_STATES),
  exitCode: z.nullable(z.number()),
  /** File with what it printed, absolute. */
  outputPath: z.nullable(z.string()),
  startedAt: z.nullable(z.number()),
  endedAt: z.nullable(z.number()),
  error: z.nullable(errorValue),
});
export type HostStepView = z.infer<typeof hostStepView>;

/** What is shown of a workflow beside its children. */
export const workflowView = z.object({
  name: z.string(),
  file: z.nullable(z.string()),
  /** Steps of the script that are done. */
  steps: z.number(),
  lanes: z.array(plannedLane),
  hosts: z.array(hostStepView),
  /** Launches that waited for their turn when the script came to rest last: number of the call, and the step that asked. */
  waiting: z._default(z.array(z.object({ id: z.number(), key: z.string(), step: z.number() })), []),
  emits: z.number(),
  console: z.number(),
  /** What each step said and announced, of those that did: a step told again replaces what it told before. */
  told: z._default(
    z.array(z.object({ step: z.number(), emits: z.number(), console: z.number(), lanes: z.number() })),
    [],
  ),
  /** How often it was continued after an end. */
  continued: z.number(),
  failure: z.nullable(workflowFailure),
  /** The file that what it comes to is also written to. `outcome`: null until it is. */
  output: z.optional(z.object({ path: z.string(), outcome: z.nullable(z.string()), error: z.nullable(z.string()) })),
  resource: z.optional(workflowResource),
  preflight: z.optional(preflight),
  /** What it may use now; absent in the status of runs of earlier versions. */
  bounds: z.optional(workflowBounds),
});
export type WorkflowView = z.infer<typeof workflowView>;

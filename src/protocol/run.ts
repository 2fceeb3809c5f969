/** The vocabulary of runs: identity, states, owner, lane, and the launch record (`run.json`). */
import * as z from 'zod/mini';
import { agentContract, permission } from './agent-contract.ts';
import { outputSchema, toolBudget } from './child-contract.ts';
import { waitSettings } from './wait-settings.ts';
import { workflowPlan } from './workflow-run.ts';
import { worktreeSettings, worktreeWish } from './worktree.ts';

/** UUIDv7 in lower case: names sort by creation time. */
export const RUN_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
export const runId = z.string().check(z.regex(RUN_ID));

/** States the journal can prove. `lost` and `unresponsive` are derived by a client and never stored. */
export const STORED_STATES = [
  'queued',
  'running',
  'waiting',
  'paused',
  'complete',
  'partial',
  'failed',
  'stopped',
  'rejected',
] as const;
export const storedState = z.enum(STORED_STATES);
export type StoredState = z.infer<typeof storedState>;

export const TERMINAL_STATES = ['paused', 'complete', 'partial', 'failed', 'stopped', 'rejected'] as const;
export const terminalState = z.enum(TERMINAL_STATES);
export type TerminalState = z.infer<typeof terminalState>;

/**
 * `lost`: the runner is proven gone and the run is not terminal. `unresponsive`: the runner holds its socket and does
 * not answer. `unknown`: nothing can be said, because what is on disk cannot be read.
 */
export const runState = z.enum([...STORED_STATES, 'lost', 'unresponsive', 'unknown']);
export type RunState = z.infer<typeof runState>;

export function isTerminal(state: RunState): state is TerminalState {
  return (TERMINAL_STATES as readonly string[]).includes(state);
}

/** Who started a run. It limits only what a model may touch; a person may control every run they can see. */
export const owner = z.object({
  kind: z.enum(['pi-session', 'vscode', 'cli', 'schedule']),
  id: z.string().check(z.minLength(1), z.maxLength(256)),
});
export type Owner = z.infer<typeof owner>;

const utf8 = new TextEncoder();

/** One line of at most `max` bytes of UTF-8. */
const laneText = (max: number) =>
  z.string().check(
    z.regex(/^[^\0\r\n]*$/),
    z.refine((text) => utf8.encode(text).length <= max, `must have at most ${max} bytes`),
  );

/** Metadata of a parallel lane. Unknown fields are refused. */
export const lane = z.strictObject({
  version: z.literal(1),
  key: z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/)),
  mode: z.optional(z.enum(['mutation', 'review', 'scout', 'gate'])),
  sourceRef: z.optional(laneText(128)),
  claims: z.optional(z.array(laneText(160)).check(z.maxLength(20))),
  outputPaths: z.optional(z.array(laneText(256)).check(z.maxLength(10))),
});
export type Lane = z.infer<typeof lane>;

/** Largest task in UTF-8 bytes. Pi takes 2 MB in one RPC line; the limit keeps records readable. */
export const MAX_TASK_BYTES = 4 * 1024 * 1024;

export const outputPlan = z.object({
  /** Absolute. */
  path: z.string(),
  mode: z.enum(['inline', 'file-only']),
});
export type OutputPlan = z.infer<typeof outputPlan>;

/** Limits put on an agent from outside. They travel unchanged to everything that continues its work. */
const names = z.array(z.string().check(z.regex(/^[A-Za-z0-9_.:-]{1,128}$/))).check(z.maxLength(256));
export const capabilityCeiling = z.object({
  allowedTools: z.optional(names),
  allowedAgents: z.optional(names),
  denyExtensions: z.optional(z.boolean()),
});
export type CapabilityCeiling = z.infer<typeof capabilityCeiling>;

/** Rules for tools that hold in the whole run, at every depth. */
export const toolRules = z.record(z.string(), permission);
export type ToolRules = z.infer<typeof toolRules>;

/** The stored session a run goes on with. `fork`: on a copy, because the original is in use or its folder is gone. */
export const resumePlan = z.object({
  sourceRunId: runId,
  sourceChild: z.number(),
  session: z.string(),
  how: z.enum(['continue', 'fork']),
});
export type ResumePlan = z.infer<typeof resumePlan>;

/** One child as planned, before any process exists. */
export const childPlan = z.object({
  agent: agentContract,
  task: z.string().check(z.minLength(1)),
  label: z.optional(z.string().check(z.maxLength(96))),
  /** `provider/id`; absent: the default of the Pi settings. */
  model: z.optional(z.string()),
  thinking: z.optional(z.string()),
  /** Whether a person or script named the model for this run: then no other is ever used instead. */
  modelIsExplicit: z.boolean(),
  /** Where the answer is also written. `file-only`: whoever waits gets the path instead of the text. */
  output: z.optional(outputPlan),
  /** Milliseconds one tool call may take; absent: five minutes for Pi's file tools, no limit for others. */
  toolTimeoutMs: z.optional(z.number()),
  /** How many tool calls the child may make; absent: as many as it likes. */
  toolBudget: z.optional(toolBudget),
  /** JSON schema of the value the child must give at its end; absent: its last words are its answer. */
  outputSchema: z.optional(outputSchema),
  /*
   * What the launch made of agent, call, settings and ceiling. Absent in runs of earlier versions: then it is as the agent says.
   */

  /** Tried in order in the place of the model, when its provider fails before any tool was called. */
  fallbacks: z.optional(z.array(z.object({ model: z.string(), thinking: z.optional(z.string()) }))),
  /** `list`: these and no others, each of which must be there; `only`: what Pi offers, as far as it is among these; `denied`: never. */
  tools: z.optional(
    z.object({
      list: z.optional(z.array(z.string())),
      only: z.optional(z.array(z.string())),
      denied: z.optional(z.array(z.string())),
      asked: z.optional(z.array(z.string())),
    }),
  ),
  /** `found`: those Pi finds by itself are loaded too. */
  extensions: z.optional(z.object({ found: z.boolean(), paths: z.array(z.string()) })),
  /** The same; absolute paths of skills. */
  skills: z.optional(z.object({ found: z.boolean(), paths: z.array(z.string()) })),
  /** Files that are named to it, absolute; those that were there. */
  reads: z.optional(z.array(z.string())),
  /** Where it keeps notes of how far it is. `isNew`: nobody has begun them. */
  progress: z.optional(z.object({ file: z.string(), isNew: z.boolean() })),
  /** What it is given to remember. `text`: null: nothing was written down yet. */
  memory: z.optional(z.object({ file: z.string(), text: z.nullable(z.string()), isWritable: z.boolean() })),
  /** Session file whose copy it begins with. */
  forkOf: z.optional(z.string()),
  /** Handed to extensions, by `name/version`. */
  extensionBindings: z.optional(z.record(z.string(), z.unknown())),
  wait: z.optional(waitSettings),
  /** Lower-case hex sha256 of the definition, and of all that this child is started with. */
  digests: z.optional(z.object({ definition: z.string(), launch: z.string() })),
  /** Name of the Pi session, `<agent> · <label>`, at most 96 characters. */
  sessionName: z.string().check(z.maxLength(96)),
});
export type ChildPlan = z.infer<typeof childPlan>;

/** How a program is started without a shell: the executable and the arguments that come before our own. */
export const command = z.object({
  file: z.string(),
  args: z.array(z.string()),
  /** What the program itself needs in its environment (the editor's Node: `ELECTRON_RUN_AS_NODE`). */
  env: z.optional(z.record(z.string(), z.string())),
});
export type Command = z.infer<typeof command>;

export const piInstallation = z.object({
  command,
  version: z.string(),
  packageName: z.string(),
});
export type PiInstallation = z.infer<typeof piInstallation>;

export const writers = z.enum(['wait', 'refuse', 'any']);
export type Writers = z.infer<typeof writers>;

const anyRun = {
  version: z.literal(1),
  runId,
  createdAt: z.number(),
  cwd: z.string(),
  owner,
  parent: z.nullable(z.object({ runId, childIndex: z.optional(z.number()) })),
  workflowKey: z.nullable(z.string()),
  lane: z.nullable(lane),
  ceiling: z.nullable(capabilityCeiling),
  /** Absent: none. */
  toolRules: z.optional(toolRules),
  resume: z.nullable(resumePlan),
  /** Whether project resources (extensions, settings) of `cwd` may load: Pi's `--approve` or `--no-approve`. */
  trust: z.enum(['approve', 'no-approve']),
  /** Milliseconds of runner life after which the run is ended; null: no deadline. */
  timeoutMs: z.nullable(z.number()),
  /** Content hash of the bundle that executes this run. */
  runtime: z.string(),
  client: z.object({ kind: z.string(), version: z.string() }),
  agentDir: z.string(),
  node: z.string(),
  pi: piInstallation,
  /** Absent: those of a run without settings of its own. */
  worktrees: z.optional(worktreeSettings),
  /**
   * What a child does that may change files, in a checkout where another one does: wait until that is done (also when absent), fail, or
   * not care.
   */
  writers: z.optional(writers),
};

export const singleRecord = z.object({
  ...anyRun,
  mode: z.literal('single'),
  child: childPlan,
  /** The child gets a worktree made from `cwd`. */
  worktree: z.optional(worktreeWish),
  /** It goes on in the worktree that was made for this child, in which `cwd` lies. */
  worktreeOf: z.optional(z.object({ runId, child: z.number() })),
});
export type SingleRecord = z.infer<typeof singleRecord>;

export const workflowRecord = z.object({ ...anyRun, mode: z.literal('workflow'), workflow: workflowPlan });
export type WorkflowRecord = z.infer<typeof workflowRecord>;

/** `run.json`: written once by the runner before anything starts, never changed. */
export const launchRecord = z.discriminatedUnion('mode', [singleRecord, workflowRecord]);
export type LaunchRecord = z.infer<typeof launchRecord>;

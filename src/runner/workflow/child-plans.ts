/** From what a script asks for to a child as it is started. Pure: everything it needs stands in the launch record. */
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import * as z from 'zod/mini';
import { workflowAgent } from '../../core/agent-names/index.ts';
import type { SessionStart } from '../../core/children/index.ts';
import {
  agentOf,
  DEFAULT_TIMEOUT_MS as CHILD_TIMEOUT_MS,
  type LaunchCall,
  lookAround,
  planLaunch,
  progressFileOf,
  type Surroundings,
  settingsOf,
  usableIn,
} from '../../core/launch/index.ts';
import { holding, type ModelExclusion, readExclusions } from '../../core/models/index.ts';
import { rootLayout } from '../../core/projects/index.ts';
import { taskTitle } from '../../core/runs/index.ts';
import { configuredExclusionMs } from '../../core/settings/index.ts';
import { checkSchema } from '../../core/structured-output/index.ts';
import { childOutput, pathWord } from '../../core/workflow/index.ts';
import {
  type ChildPlan,
  cutText,
  describeFaults,
  type Lane,
  lane,
  lanesError,
  MAX_TASK_BYTES,
  type OutputPlan,
  outputSchema,
  toolBudget,
  type WorkflowRecord,
  type WorktreeWish,
} from '../../protocol/index.ts';
import { beginningSession } from '../only-child.ts';
import type { WorktreeOwner } from '../run-worktrees.ts';

export interface PlannedChild {
  plan: ChildPlan;
  /** Absolute. */
  cwd: string;
  session: SessionStart;
  /** Milliseconds it may take; null: as long as the workflow. */
  timeoutMs: number | null;
  lane: Lane | null;
  phase: string | null;
  /** It gets a worktree of its own, made from `cwd`. */
  worktree?: WorktreeWish;
  /** It goes on in the worktree of another child. */
  worktreeOf?: WorktreeOwner;
}

/** A child that is over and is gone on with: its contract is kept. */
export interface RetainedChild {
  plan: ChildPlan;
  cwd: string;
  /** Its session file. */
  session: string;
  /** Whose worktree it worked in. */
  worktreeOf?: WorktreeOwner | undefined;
}

type Params = Readonly<Record<string, unknown>>;

export interface LaunchFacts {
  around?: Surroundings;
  /** Models that are left out now. */
  exclusions?: readonly ModelExclusion[];
}

/**
 * Fields that change where or how the work is done. Leaving them out silently would do the work in another way than the script
 * says, so they are refused by name.
 */
const NOT_YET: Readonly<Record<string, (value: unknown) => boolean>> = {
  gate: () => true,
  acceptance: (value) => value !== false,
  async: (value) => value === true,
};

/**
 * @param outputs folder of outputs that are named by a relative path
 * @param facts what was found around it; absent: nothing
 * @throws LanesError when the child cannot be started as asked
 */
export function planChild(
  record: WorkflowRecord,
  key: string,
  params: Params,
  outputs: string,
  facts: LaunchFacts = {},
): PlannedChild {
  refuseMissingFeatures(params);
  const { workflow, trust, ceiling, toolRules } = record;
  const known = workflowAgent(workflow, words(params, 'agent') ?? '');
  const { around, exclusions = [] } = facts;
  const { cwd, timeoutMs, lane: metadata, phase } = places(params, record.cwd);
  const { toolTimeoutMs, toolBudget: budget, outputSchema: schema } = common(params);
  const { child, timeoutMs: ownLimit } = planLaunch({
    call: {
      task: taskOf(params),
      label: labelOf(params),
      key,
      model: words(params, 'model'),
      context: contextOf(params),
      skill: skillOf(params),
      ...outputOf(record, key, params, outputs),
      outputSchema: schema,
      timeoutMs: typeof timeoutMs === 'number' ? timeoutMs : undefined,
      toolTimeoutMs,
      toolBudget: budget,
      extensionBindings: bindingsOf(params),
    },
    agent: agentOf(known),
    settings: settingsOf(workflow),
    trust,
    limits: { ceiling, toolRules },
    models: { ...usableIn(workflow), exclusions },
    cwd,
    // What an agent names by itself must not meet what the same agent names under another key.
    outputs: join(outputs, pathWord(key)),
    progressFile: progressFileOf(dirname(outputs)),
    // As long as the workflow, where that has a limit.
    usualTimeoutMs: record.timeoutMs === null ? undefined : null,
    around,
  });
  return {
    plan: child,
    session: beginningSession(child),
    cwd,
    timeoutMs: ownLimit,
    lane: metadata,
    phase,
    ...isolationOf(record, params),
  };
}

/** What of a launch has to be looked up before it can be planned. */
export async function lookAroundChild(record: WorkflowRecord, params: Params, outputs: string): Promise<LaunchFacts> {
  const { agentDir, trust } = record;
  const agent = agentOf(workflowAgent(record.workflow, words(params, 'agent') ?? ''));
  const { cwd } = places(params, record.cwd);
  const progressFile = progressFileOf(dirname(outputs));
  const config = rootLayout(agentDir);
  const [around, left, ttlMs] = await Promise.all([
    lookAround({ agent, skill: skillOf(params), cwd, agentDir, home: homedir(), trust, progressFile }),
    readExclusions(process.env['PI_MODEL_EXCLUSIONS_PATH'] || config.modelExclusions),
    // Who launched the workflow was told when this is wrong.
    configuredExclusionMs(config.config).catch(() => undefined),
  ]);
  return { around, exclusions: holding(left, Date.now(), ttlMs) };
}

/** The next piece of work for a child that is over: what it is stays, what it is asked is new. */
export function planResumed(
  record: WorkflowRecord,
  key: string,
  retained: RetainedChild,
  params: Params,
  outputs: string,
): PlannedChild {
  refuseMissingFeatures(params);
  const { worktreeOf } = retained;
  if (worktreeOf === undefined && asksForWorktree(params))
    throw lanesError('launch_invalid:worktree-resumed', { folder: retained.cwd });
  // What it was told at its beginning stands in its session.
  const { output: _output, reads: _reads, progress: _progress, forkOf: _fork, ...contract } = retained.plan;
  const label = labelOf(params);
  const output = resumedOutput(record, key, params, outputs);
  const { timeoutMs, ...place } = places(params, retained.cwd);
  const usual = record.timeoutMs === null ? CHILD_TIMEOUT_MS : null;
  return {
    plan: {
      ...contract,
      task: taskOf(params),
      ...(label === undefined ? {} : { label }),
      ...(output === undefined ? {} : { output }),
      ...common(params),
    },
    session: { kind: 'continue', file: retained.session },
    ...place,
    timeoutMs: timeoutMs ?? usual,
    // A session goes on where it was made, whatever folder is named.
    cwd: retained.cwd,
    ...(worktreeOf ? { worktreeOf } : {}),
  };
}

/** Where the worktree of a launch would be made from; `undefined`: it gets none. */
export function isolationIn(record: WorkflowRecord, params: Params): Isolation | undefined {
  if (params['resume'] !== undefined) return undefined;
  const { worktree: wish } = isolationOf(record, params);
  return wish && { cwd: places(params, record.cwd).cwd, wish };
}

export interface Isolation {
  /** Absolute. */
  cwd: string;
  wish: WorktreeWish;
}

function isolationOf({ workflow }: WorkflowRecord, params: Params): { worktree?: WorktreeWish } {
  const isolated = ownIsolation(params) ?? workflow.worktree === true;
  const own = words(params, 'baseRef');
  if (!isolated && own !== undefined) throw lanesError('launch_invalid:base-alone', { ref: own });
  const baseRef = own ?? workflow.baseRef;
  return isolated ? { worktree: baseRef === undefined ? {} : { baseRef } } : {};
}

/** What the launch itself says; `undefined`: nothing. */
function ownIsolation({ isolation, worktree }: Params): boolean | undefined {
  if (isolation === 'worktree' || isolation === 'none') return isolation === 'worktree';
  return typeof worktree === 'boolean' ? worktree : undefined;
}

function asksForWorktree(params: Params): boolean {
  return ownIsolation(params) === true || params['baseRef'] !== undefined;
}

function refuseMissingFeatures(params: Params): void {
  for (const [field, isAsked] of Object.entries(NOT_YET)) {
    const value = params[field];
    if (value !== undefined && isAsked(value)) throw lanesError('child_unsupported', { field });
  }
}

function taskOf(params: Params): string {
  const task = params['task'];
  if (typeof task !== 'string' || task.trim() === '') throw lanesError('task_empty');
  const bytes = Buffer.byteLength(task);
  if (bytes > MAX_TASK_BYTES) throw lanesError('task_too_large', { bytes, max: MAX_TASK_BYTES });
  return task;
}

function labelOf(params: Params): string | undefined {
  const label = words(params, 'label');
  return label === undefined ? undefined : cutText(label.replace(/\p{Cc}+/gu, ' ').trim(), 96) || undefined;
}

/** What a new child and one that is gone on with take alike. */
function common(params: Params): Pick<ChildPlan, 'toolTimeoutMs' | 'toolBudget' | 'outputSchema'> {
  const { toolTimeoutMs } = params;
  const budget = toolBudget.safeParse(params['toolBudget']);
  const schema = params['outputSchema'] === undefined ? undefined : outputSchema.parse(params['outputSchema']);
  checkSchema(schema);
  return {
    ...(typeof toolTimeoutMs === 'number' ? { toolTimeoutMs } : {}),
    ...(budget.success ? { toolBudget: budget.data } : {}),
    ...(schema === undefined ? {} : { outputSchema: schema }),
  };
}

type AskedOutput = Pick<LaunchCall, 'output' | 'outputMode'>;

/** What the call and the workflow say; where both are silent the agent has the word. */
function outputOf(
  { workflow: { output: aggregate } }: WorkflowRecord,
  key: string,
  params: Params,
  outputs: string,
): AskedOutput {
  const mode = params['outputMode'];
  const outputMode = mode === 'file-only' || mode === 'inline' ? mode : undefined;
  const path = childOutput({ children: outputs, ...(aggregate === undefined ? {} : { aggregate }) }, key, params);
  return { output: path ?? (params['output'] === false ? false : undefined), outputMode };
}

/** One that is gone on with has had its agent's output. */
function resumedOutput(record: WorkflowRecord, key: string, params: Params, outputs: string): OutputPlan | undefined {
  const { output, outputMode = 'inline' } = outputOf(record, key, params, outputs);
  if (typeof output === 'string') return { path: output, mode: outputMode };
  if (outputMode === 'file-only') throw lanesError('launch_invalid:file-only');
  return undefined;
}

function places(params: Params, base: string) {
  const { timeoutMs = params['maxRuntimeMs'] } = params;
  return {
    cwd: resolve(base, words(params, 'cwd') ?? '.'),
    timeoutMs: typeof timeoutMs === 'number' ? timeoutMs : undefined,
    lane: laneOf(params),
    phase: words(params, 'phase')?.slice(0, 96) ?? null,
  };
}

function contextOf({ context }: Params): LaunchCall['context'] {
  return context === 'fresh' || context === 'fork' || context === 'profile' ? context : undefined;
}

function skillOf({ skill }: Params): LaunchCall['skill'] {
  if (typeof skill === 'boolean') return skill;
  if (typeof skill === 'string') return [skill];
  return Array.isArray(skill) ? skill.filter((name) => typeof name === 'string') : undefined;
}

function bindingsOf({ extensionBindings }: Params): LaunchCall['extensionBindings'] {
  const parsed = z.record(z.string(), z.unknown()).safeParse(extensionBindings);
  return parsed.success ? parsed.data : undefined;
}

function laneOf(params: Params): Lane | null {
  if (params['lane'] === undefined) return null;
  const parsed = lane.safeParse(params['lane']);
  if (!parsed.success) throw lanesError('launch_invalid:record', { faults: describeFaults(parsed.error) });
  return parsed.data;
}

/** A text that says something. */
function words(params: Params, field: string): string | undefined {
  const value = params[field];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** What a list shows of a child without a label. */
export function titleOf(plan: ChildPlan): string {
  return plan.label ?? taskTitle(plan.task);
}

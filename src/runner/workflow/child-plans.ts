/** From what a script asks for to a child as it is started. Pure: everything it needs stands in the launch record. */
import { resolve } from 'node:path';
import { workflowAgent } from '../../core/agent-names/index.ts';
import type { SessionStart } from '../../core/children/index.ts';
import { resolveModel, splitLevel } from '../../core/models/index.ts';
import { sessionName, taskTitle } from '../../core/runs/index.ts';
import { checkSchema } from '../../core/structured-output/index.ts';
import { childOutput } from '../../core/workflow/index.ts';
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

/** Milliseconds a child may take where neither it nor its workflow has a limit. */
export const CHILD_TIMEOUT_MS = 30 * 60 * 1000;

/**
 * Fields that change where or how the work is done. Leaving them out silently would do the work in another way than the script
 * says, so they are refused by name.
 */
const NOT_YET: Readonly<Record<string, (value: unknown) => boolean>> = {
  gate: () => true,
  acceptance: (value) => value !== false,
  context: (value) => value === 'fork',
  async: (value) => value === true,
  skill: (value) => value !== false,
  extensionBindings: () => true,
};

/**
 * @param outputs folder of outputs that are named by a relative path
 * @throws LanesError when the child cannot be started as asked
 */
export function planChild(record: WorkflowRecord, key: string, params: Params, outputs: string): PlannedChild {
  refuseMissingFeatures(params);
  const { workflow } = record;
  const {
    contract,
    model: ownModel,
    thinking: ownThinking,
  } = workflowAgent(record.workflow, words(params, 'agent') ?? '');
  const named = words(params, 'model');
  const wanted = splitLevel(named ?? ownModel ?? workflow.defaultModel ?? '');
  const model = wanted.model === '' ? undefined : modelNamed(record, wanted.model);
  const thinking = wanted.thinking ?? ownThinking;
  const task = taskOf(params);
  const label = labelOf(params);
  return {
    plan: {
      agent: contract,
      task,
      ...(label === undefined ? {} : { label }),
      ...(model === undefined ? {} : { model }),
      ...(thinking === undefined ? {} : { thinking }),
      modelIsExplicit: named !== undefined,
      ...common(record, key, params, outputs),
      sessionName: sessionName(contract.name, label ?? key),
    },
    session: { kind: 'new' },
    ...places(record, params, record.cwd),
    ...isolationOf(record, params),
  };
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
  const { output: _output, ...contract } = retained.plan;
  const label = labelOf(params);
  return {
    plan: {
      ...contract,
      task: taskOf(params),
      ...(label === undefined ? {} : { label }),
      ...common(record, key, params, outputs),
    },
    session: { kind: 'continue', file: retained.session },
    ...places(record, params, retained.cwd),
    // A session goes on where it was made, whatever folder is named.
    cwd: retained.cwd,
    ...(worktreeOf ? { worktreeOf } : {}),
  };
}

/** Where the worktree of a launch would be made from; `undefined`: it gets none. */
export function isolationIn(record: WorkflowRecord, params: Params): Isolation | undefined {
  if (params['resume'] !== undefined) return undefined;
  const { worktree: wish } = isolationOf(record, params);
  return wish && { cwd: places(record, params, record.cwd).cwd, wish };
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

function modelNamed({ workflow }: WorkflowRecord, wanted: string): string {
  return resolveModel(
    wanted,
    workflow.models.map((name) => ({ name })),
  ).name;
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
function common(record: WorkflowRecord, key: string, params: Params, outputs: string): Partial<ChildPlan> {
  const output = outputOf(record, key, params, outputs);
  const { toolTimeoutMs } = params;
  const budget = toolBudget.safeParse(params['toolBudget']);
  const schema = params['outputSchema'] === undefined ? undefined : outputSchema.parse(params['outputSchema']);
  checkSchema(schema);
  return {
    ...(output === undefined ? {} : { output }),
    ...(typeof toolTimeoutMs === 'number' ? { toolTimeoutMs } : {}),
    ...(budget.success ? { toolBudget: budget.data } : {}),
    ...(schema === undefined ? {} : { outputSchema: schema }),
  };
}

function outputOf(
  { workflow: { output: aggregate } }: WorkflowRecord,
  key: string,
  params: Params,
  outputs: string,
): OutputPlan | undefined {
  const mode = params['outputMode'] === 'file-only' ? 'file-only' : 'inline';
  const path = childOutput({ children: outputs, ...(aggregate === undefined ? {} : { aggregate }) }, key, params);
  if (path !== undefined) return { path, mode };
  if (mode === 'file-only') throw lanesError('launch_invalid:file-only');
  return undefined;
}

function places(record: WorkflowRecord, params: Params, base: string) {
  const { timeoutMs = params['maxRuntimeMs'] } = params;
  const limit = record.timeoutMs === null ? CHILD_TIMEOUT_MS : null;
  return {
    cwd: resolve(base, words(params, 'cwd') ?? '.'),
    timeoutMs: typeof timeoutMs === 'number' ? timeoutMs : limit,
    lane: laneOf(params),
    phase: words(params, 'phase')?.slice(0, 96) ?? null,
  };
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

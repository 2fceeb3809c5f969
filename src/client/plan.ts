/** From what a person asks for to a complete launch record. Everything that can be refused is refused here, before any file. */
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type FoundAgent, toContract } from '../core/agents/index.ts';
import { Git } from '../core/git/index.ts';
import { lookAround, type PlannedLaunch, planLaunch as planChild, progressFileOf } from '../core/launch/index.ts';
import {
  isThinkingLevel,
  THINKING_LEVELS,
  type ThinkingLevel,
  toEntry,
  type UsableModels,
} from '../core/models/index.ts';
import { checkOutput } from '../core/outputs/index.ts';
import { findProject, type Project, type ProjectLayout, runLayout } from '../core/projects/index.ts';
import { newRunId } from '../core/runs/index.ts';
import { MAX_LIMIT_MS } from '../core/settings/index.ts';
import { checkSchema } from '../core/structured-output/index.ts';
import { checkSources } from '../core/worktrees/index.ts';
import {
  capabilityCeiling,
  describeFaults,
  type Lane,
  type LaunchRecord,
  lanesError,
  MAX_TASK_BYTES,
  type OutputSchema,
  type Owner,
  type SingleRecord,
  singleRecord,
  type ToolBudget,
  toolBudget,
} from '../protocol/index.ts';
import { agentForLaunch } from './agents.ts';
import { ensureRuntime, ownRuntime, type Runtime } from './runtime.ts';
import type { Toolbox } from './toolbox.ts';

export { DEFAULT_TIMEOUT_MS } from '../core/launch/index.ts';

export interface LaunchRequest {
  agent: string;
  task: string;
  /** Absolute, or relative to `base`. */
  cwd: string;
  base?: string;
  /** Project root to use outside git. */
  fallbackRoot?: string;
  /** `provider/id` or a unique id, with an optional `:level`. */
  model?: string;
  /** The same, for when neither the request nor the agent names one; it does not count as named for this run. */
  defaultModel?: string;
  thinking?: string;
  label?: string;
  owner: Owner;
  trust: LaunchRecord['trust'];
  /** Whether it begins with a copy of its parent's conversation; `profile`: as the agent declares it. */
  context?: 'fresh' | 'fork' | 'profile';
  /** Session file of the parent, absolute. */
  parentSession?: string;
  /** The model that the parent uses now, `provider/id`. */
  parentModel?: string;
  /** Names of skills instead of the agent's; `false`: none. */
  skill?: readonly string[] | boolean;
  /** Handed to extensions, by `name/version`. */
  extensionBindings?: Record<string, unknown>;
  /** Null: no deadline. */
  timeoutMs?: number | null;
  /** The same, for when neither the request nor the agent says anything. */
  usualTimeoutMs?: number | null;
  /** Another name of `timeoutMs`. */
  maxRuntimeMs?: number | null;
  /** Milliseconds one tool call may take. */
  toolTimeoutMs?: number;
  /** How many tool calls the child may make. */
  toolBudget?: ToolBudget;
  /** JSON schema, with an object as its root, of the value the agent must give as its answer. */
  outputSchema?: OutputSchema;
  /** File the answer is also written to: absolute, or relative to the folder the agent works in. */
  output?: string;
  outputMode?: 'inline' | 'file-only';
  /** The agent gets a worktree of its own, made from the checkout that `cwd` lies in. */
  worktree?: boolean;
  /** The same in other words. */
  isolation?: 'none' | 'worktree';
  /** Branch or tag that the worktree starts from; absent: `HEAD`. */
  baseRef?: string;
  ceiling?: LaunchRecord['ceiling'];
  lane?: Lane;
  workflowKey?: string;
  parent?: LaunchRecord['parent'];
}

export interface LaunchPlan<R extends LaunchRecord = LaunchRecord> {
  record: R;
  project: Project | ProjectLayout;
  runtime: Runtime;
  /** The runner must be started with `ELECTRON_RUN_AS_NODE`. */
  electron: boolean;
}

/** What a launch will run, before anything of it is written. */
export interface PlannedRun extends LaunchPlan<SingleRecord> {
  planned: PlannedLaunch;
  agent: FoundAgent;
}

export async function planLaunch(toolbox: Toolbox, request: LaunchRequest): Promise<PlannedRun> {
  const { record, ...foreseen } = await foreseeLaunch(toolbox, request);
  const runtime = await ensureRuntime(toolbox.distDirectory, toolbox.root);
  // Now there is a store.
  await toolbox.cache.flush();
  return { ...foreseen, record: { ...record, runtime: runtime.hash }, runtime };
}

/** The same plan for somebody who only wants to see it: nothing is written. */
export async function foreseeLaunch(toolbox: Toolbox, request: LaunchRequest): Promise<Omit<PlannedRun, 'runtime'>> {
  checkTask(request.task);
  checkLane(request);
  checkModel(request.model);
  checkSchema(request.outputSchema);
  checkBudget(request.toolBudget);
  checkCeiling(request.ceiling);
  const thinking = checkThinking(request.thinking);
  const timeoutMs = runLimit(request);
  const toolTimeoutMs =
    request.toolTimeoutMs === undefined ? undefined : checkTimeout('toolTimeoutMs', request.toolTimeoutMs);
  const cwd = await checkFolder(request);
  const { trust, ceiling = null } = request;
  const agent = await agentForLaunch(toolbox, request.agent, { cwd, trust });
  const contract = toContract(agent);
  const [project, tools, { defaults, toolRules }, exclusions] = await Promise.all([
    findProject(toolbox.agentDir, cwd, request.fallbackRoot),
    toolbox.tools(),
    toolbox.launchSettings(cwd, trust),
    toolbox.exclusions(),
  ]);
  const isolation = await planWorktree(toolbox, request, cwd);
  const runId = newRunId();
  const { outputs, artifacts } = runLayout(join(project.layout.runs, runId));
  const { skill, usualTimeoutMs } = request;
  const progressFile = progressFileOf(artifacts);
  const { agentDir, home } = toolbox;
  const around = await lookAround({ agent: contract, skill, cwd, agentDir, home, trust, progressFile });
  const output = request.output === undefined ? undefined : resolve(cwd, request.output);
  const decide = ({ models, defaultModel, defaultThinking }: UsableModels) =>
    planChild({
      call: { ...request, output, thinking, timeoutMs, toolTimeoutMs },
      agent: contract,
      settings: {
        ...defaults,
        ...(request.defaultModel === undefined ? {} : { model: request.defaultModel }),
        ...(typeof usualTimeoutMs === 'number' ? { timeoutMs: usualTimeoutMs } : {}),
      },
      trust,
      limits: { ceiling, toolRules },
      models: {
        registry: models.map(toEntry),
        piDefault: { model: defaultModel, thinking: defaultThinking },
        exclusions,
      },
      parent: {
        model: request.parentModel,
        session: request.parentSession === undefined ? undefined : { file: request.parentSession },
      },
      cwd,
      outputs,
      progressFile,
      ...(usualTimeoutMs === null ? { usualTimeoutMs } : {}),
      around,
    });
  const planned = await tools.models.decide(decide);
  const path = planned.child.output && (await checkOutput(toolbox.root.claims, planned.child.output.path));
  const record: SingleRecord = {
    version: 1,
    runId,
    createdAt: Date.now(),
    mode: 'single',
    child: {
      ...planned.child,
      ...(planned.child.output && path ? { output: { ...planned.child.output, path } } : {}),
    },
    cwd,
    owner: request.owner,
    parent: request.parent ?? null,
    workflowKey: request.workflowKey ?? null,
    lane: request.lane ?? null,
    ceiling,
    ...(Object.keys(toolRules).length === 0 ? {} : { toolRules }),
    resume: null,
    trust,
    timeoutMs: planned.timeoutMs,
    runtime: (await ownRuntime(toolbox.distDirectory)) ?? '',
    client: toolbox.client,
    agentDir,
    node: tools.node.file,
    pi: tools.installation,
    writers: await toolbox.writers(),
    ...isolation,
  };
  return { record: checkRecord(record), project, electron: tools.node.electron, planned, agent };
}

function checkLane({ lane, workflowKey }: LaunchRequest): void {
  if (lane && lane.key !== workflowKey) {
    throw workflowKey
      ? lanesError('launch_invalid:lane', { key: lane.key, workflowKey })
      : lanesError('launch_invalid:lane-alone', { key: lane.key });
  }
}

/** Milliseconds; null: no limit; `undefined`: nobody has said. */
function runLimit({ timeoutMs, maxRuntimeMs }: LaunchRequest): number | null | undefined {
  if (timeoutMs !== undefined && maxRuntimeMs !== undefined && timeoutMs !== maxRuntimeMs) {
    throw lanesError('launch_invalid:two-limits', { timeoutMs: String(timeoutMs), maxRuntimeMs: String(maxRuntimeMs) });
  }
  const [name, ms] =
    timeoutMs === undefined ? (['maxRuntimeMs', maxRuntimeMs] as const) : (['timeoutMs', timeoutMs] as const);
  return ms === null || ms === undefined ? ms : checkTimeout(name, ms);
}

export function checkTimeout(name: string, ms: number): number {
  if (Number.isInteger(ms) && ms > 0 && ms <= MAX_LIMIT_MS) return ms;
  throw lanesError('launch_invalid:milliseconds', { name, value: ms, max: MAX_LIMIT_MS });
}

function checkBudget(budget: ToolBudget | undefined): void {
  const parsed = budget && toolBudget.safeParse(budget);
  if (parsed?.success === false)
    throw lanesError('launch_invalid:tool-budget', { faults: describeFaults(parsed.error) });
}

/** What is wished for a worktree, checked as far as it can be before the run exists; the runner looks once more when it is made. */
async function planWorktree(
  toolbox: Toolbox,
  { agent, workflowKey, worktree, isolation, baseRef }: LaunchRequest,
  cwd: string,
): Promise<Pick<SingleRecord, 'worktree' | 'worktrees'>> {
  if (worktree !== undefined && isolation !== undefined && worktree !== (isolation === 'worktree'))
    throw lanesError('launch_invalid:isolation', { isolation, worktree: String(worktree) });
  if (!(worktree ?? isolation === 'worktree')) {
    if (baseRef === undefined) return {};
    throw lanesError('launch_invalid:base-alone', { ref: baseRef });
  }
  const settings = await toolbox.worktreeSettings();
  const { folder, refused = [], setupHook } = settings;
  const options = { baseRef, folder, refused, setupHook: setupHook?.path };
  await checkSources(await Git.find({ env: toolbox.env, cwd }), [{ key: workflowKey ?? agent, cwd }], options);
  return { worktree: baseRef === undefined ? {} : { baseRef }, worktrees: settings };
}

function checkCeiling(ceiling: LaunchRecord['ceiling'] | undefined): void {
  const parsed = ceiling ? capabilityCeiling.safeParse(ceiling) : undefined;
  if (parsed?.success === false)
    throw lanesError('launch_invalid:record', { faults: `ceiling: ${describeFaults(parsed.error)}` });
}

/** The rules the runner would refuse it by, before one is started. */
function checkRecord(record: SingleRecord): SingleRecord {
  const parsed = singleRecord.safeParse(record);
  if (parsed.success) return parsed.data;
  throw lanesError('launch_invalid:record', { faults: describeFaults(parsed.error) });
}

export function checkTask(task: string): void {
  if (task.trim() === '') throw lanesError('task_empty');
  const bytes = Buffer.byteLength(task);
  if (bytes > MAX_TASK_BYTES) {
    throw lanesError('task_too_large', { bytes, max: MAX_TASK_BYTES });
  }
}

function checkThinking(level: string | undefined): ThinkingLevel | undefined {
  if (level === undefined || isThinkingLevel(level)) return level;
  throw lanesError('launch_invalid:thinking', { value: level, allowed: THINKING_LEVELS.join(', ') });
}

function checkModel(model: string | undefined): void {
  if (model?.trim() === '') throw lanesError('launch_invalid:empty-model');
}

export async function checkFolder(request: Pick<LaunchRequest, 'cwd' | 'base'>): Promise<string> {
  if (request.cwd.trim() === '') throw lanesError('launch_invalid:empty-folder');
  const path = request.base === undefined ? resolve(request.cwd) : resolve(request.base, request.cwd);
  const named = path === request.cwd ? `"${path}"` : `"${request.cwd}" (${path})`;
  const info = await stat(path).catch(() => undefined);
  if (!info) throw lanesError('cwd_missing', { folder: named });
  if (!info.isDirectory()) throw lanesError('cwd_not_directory', { folder: named });
  return path;
}

/** From what a person asks for to a complete launch record. Everything that can be refused is refused here, before any file. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { THINKING_LEVELS, toContract } from '../core/agents/index.ts';
import { Git } from '../core/git/index.ts';
import { splitLevel } from '../core/models/index.ts';
import { checkOutput } from '../core/outputs/index.ts';
import { findProject, type Project, type ProjectLayout, type RootLayout } from '../core/projects/index.ts';
import { newRunId, sessionName, taskTitle } from '../core/runs/index.ts';
import { MAX_LIMIT_MS } from '../core/settings/index.ts';
import { checkSchema } from '../core/structured-output/index.ts';
import { checkSources } from '../core/worktrees/index.ts';
import {
  cutText,
  describeFaults,
  type Lane,
  type LaunchRecord,
  lanesError,
  MAX_TASK_BYTES,
  type OutputPlan,
  type OutputSchema,
  type Owner,
  type SingleRecord,
  singleRecord,
  type ToolBudget,
  toolBudget,
} from '../protocol/index.ts';
import { agentForLaunch } from './agents.ts';
import { ensureRuntime, type Runtime } from './runtime.ts';
import type { Toolbox } from './toolbox.ts';

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
  /** Null: no deadline. */
  timeoutMs?: number | null;
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

/** Milliseconds a single run may take when nobody says otherwise. */
export const DEFAULT_TIMEOUT_MS = 30 * 60 * 1000;

export async function planLaunch(toolbox: Toolbox, request: LaunchRequest): Promise<LaunchPlan<SingleRecord>> {
  checkTask(request.task);
  checkLane(request);
  checkModel(request.model);
  checkSchema(request.outputSchema);
  checkBudget(request.toolBudget);
  const thinking = checkThinking(request.thinking);
  const timeoutMs = runLimit(request);
  const toolTimeoutMs =
    request.toolTimeoutMs === undefined ? undefined : checkTimeout('toolTimeoutMs', request.toolTimeoutMs);
  const cwd = await checkFolder(request);
  const agent = await agentForLaunch(toolbox, request.agent, { cwd, trust: request.trust });
  const [project, tools, runtime] = await Promise.all([
    findProject(toolbox.agentDir, cwd, request.fallbackRoot),
    toolbox.tools(),
    ensureRuntime(toolbox.distDirectory, toolbox.root),
  ]);
  const isolation = await planWorktree(toolbox, request, cwd);
  const output = await planOutput(toolbox.root, request, cwd);
  const wanted = splitLevel(request.model ?? ownModel(agent) ?? request.defaultModel ?? '');
  const model = await tools.models.resolve(wanted.model === '' ? undefined : wanted.model);
  const level = thinking ?? wanted.thinking ?? (agent.thinking || undefined);
  // One line: a label must not forge rows of a list.
  const label =
    cutText(request.label ?? '', 1000)
      .replace(/\p{Cc}+/gu, ' ')
      .trim() || undefined;
  const record: SingleRecord = {
    version: 1,
    runId: newRunId(),
    createdAt: Date.now(),
    mode: 'single',
    child: {
      agent: toContract(agent),
      task: request.task,
      ...(label === undefined ? {} : { label: cutText(label, 96) }),
      ...(model === undefined ? {} : { model: model.name }),
      ...(level === undefined ? {} : { thinking: level }),
      modelIsExplicit: request.model !== undefined,
      ...(output === undefined ? {} : { output }),
      ...(toolTimeoutMs === undefined ? {} : { toolTimeoutMs }),
      ...(request.toolBudget === undefined ? {} : { toolBudget: request.toolBudget }),
      ...(request.outputSchema === undefined ? {} : { outputSchema: request.outputSchema }),
      sessionName: sessionName(agent.name, label ?? taskTitle(request.task)),
    },
    cwd,
    owner: request.owner,
    parent: request.parent ?? null,
    workflowKey: request.workflowKey ?? null,
    lane: request.lane ?? null,
    ceiling: request.ceiling ?? null,
    resume: null,
    trust: request.trust,
    timeoutMs,
    runtime: runtime.hash,
    client: toolbox.client,
    agentDir: toolbox.agentDir,
    node: tools.node.file,
    pi: tools.installation,
    writers: await toolbox.writers(),
    ...isolation,
  };
  return { record: checkRecord(record), project, runtime, electron: tools.node.electron };
}

/** A run that is started here has no parent whose model could be inherited: what would be used without one is. */
export function ownModel({ model }: { model?: string }): string | undefined {
  return model === 'inherit' ? undefined : model;
}

function checkLane({ lane, workflowKey }: LaunchRequest): void {
  if (lane && lane.key !== workflowKey) {
    throw workflowKey
      ? lanesError('launch_invalid:lane', { key: lane.key, workflowKey })
      : lanesError('launch_invalid:lane-alone', { key: lane.key });
  }
}

/** Milliseconds; null: no limit. */
function runLimit({ timeoutMs, maxRuntimeMs }: LaunchRequest): number | null {
  if (timeoutMs !== undefined && maxRuntimeMs !== undefined && timeoutMs !== maxRuntimeMs) {
    throw lanesError('launch_invalid:two-limits', { timeoutMs: String(timeoutMs), maxRuntimeMs: String(maxRuntimeMs) });
  }
  const [name, ms] = timeoutMs === undefined ? ['maxRuntimeMs', maxRuntimeMs] : ['timeoutMs', timeoutMs];
  return ms === null ? null : checkTimeout(name ?? 'timeoutMs', ms ?? DEFAULT_TIMEOUT_MS);
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

async function planOutput(
  { claims }: RootLayout,
  request: LaunchRequest,
  cwd: string,
): Promise<OutputPlan | undefined> {
  const mode = request.outputMode ?? 'inline';
  if (request.output === undefined) {
    if (mode === 'inline') return undefined;
    throw lanesError('launch_invalid:file-only');
  }
  return { path: await checkOutput(claims, resolve(cwd, request.output)), mode };
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

function checkThinking(level: string | undefined): string | undefined {
  if (level === undefined || (THINKING_LEVELS as readonly string[]).includes(level)) return level;
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

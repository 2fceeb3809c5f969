/** From a script to a complete launch record of a workflow. Everything that can be refused is refused here, before any file. */
import { randomInt } from 'node:crypto';
import { basename, join, resolve } from 'node:path';
import { toContract } from '../core/agents/index.ts';
import { type ModelExclusion, splitLevel, type UsableModels } from '../core/models/index.ts';
import { checkOutput } from '../core/outputs/index.ts';
import { findProject } from '../core/projects/index.ts';
import { newRunId } from '../core/runs/index.ts';
import {
  DEFAULT_CONCURRENCY,
  type NamedWorkflow,
  namedWorkflow,
  ScriptValidator,
  toJsonText,
} from '../core/workflow/index.ts';
import {
  type AnalysisOptions,
  baseRefReason,
  cutText,
  DEFAULT_MAX_SPAWNS,
  describeFaults,
  type Finding,
  type HostPolicy,
  type LaunchRecord,
  lanesError,
  type Owner,
  type Preflight,
  preflight,
  type ScriptAnalysis,
  spellOut,
  type UsageBudget,
  type WorkflowRecord,
  wordsOf,
  workflowRecord,
} from '../protocol/index.ts';
import { agentsForWorkflow } from './agents.ts';
import { checkFolder, checkTimeout, type LaunchPlan } from './plan.ts';
import { ensureRuntime } from './runtime.ts';
import type { Toolbox } from './toolbox.ts';

export interface WorkflowRequest {
  script: string;
  /** Where it was read from, absolute; null: it was given as text. */
  file: string | null;
  /** What lists show; absent: the name of the file. */
  name?: string;
  /** Plain JSON. */
  args?: unknown;
  /** Absolute, or relative to `base`. */
  cwd: string;
  base?: string;
  fallbackRoot?: string;
  owner: Owner;
  trust: LaunchRecord['trust'];
  /** Milliseconds; null: no deadline. */
  timeoutMs?: number | null;
  globalConcurrencyLimit?: number;
  maxSubagentSpawnsPerRun?: number;
  usageBudget?: UsageBudget;
  /** Default: a person is asked about each command. */
  host?: HostPolicy;
  /** For agents that name none, as `provider/id` with an optional `:level`. */
  defaultModel?: string;
  /**
   * File that what it comes to is also written to: absolute, or relative to the folder it works in. Children that name no output write
   * beside it.
   */
  output?: string;
  /** Each child that does not say otherwise gets a worktree of its own. */
  worktree?: boolean;
  /** Branch or tag that worktrees start from where the child does not say; absent: `HEAD`. */
  baseRef?: string;
  /** What it is said beforehand that the script will do; checked here. */
  preflight?: unknown;
}

/** A workflow that comes with Pi Lanes, by its name. Its script, its number of children and its commands are its own. */
export type NamedRequest = Omit<
  WorkflowRequest,
  'script' | 'file' | 'name' | 'preflight' | 'globalConcurrencyLimit' | 'maxSubagentSpawnsPerRun'
> & {
  name: string;
  /** Somebody has asked for exactly this workflow and knows its commands: they need no further question. Default: they are asked about. */
  isChosen?: boolean;
};

/** What is known of a workflow before it starts. */
export interface PlannedWorkflow extends LaunchPlan<WorkflowRecord> {
  analysis: ScriptAnalysis;
  /** The models that are usable now, with their prices, and the one that Pi takes when none is named. */
  usable: Pick<UsableModels, 'models' | 'defaultModel'>;
  /** Models that are left out now. */
  exclusions: ModelExclusion[];
}

const NAME_CHARS = 96;

export function planWorkflow(toolbox: Toolbox, request: WorkflowRequest): Promise<PlannedWorkflow> {
  return plan(toolbox, request);
}

/** @throws LanesError `launch_invalid` for a name that is not known or arguments that do not fit it */
export async function planNamedWorkflow(toolbox: Toolbox, request: NamedRequest): Promise<PlannedWorkflow> {
  const { isChosen, ...given } = request;
  const named = namedWorkflow(request.name, request.args);
  const { mode, globs } = request.host ?? { mode: 'ask', globs: [] };
  const known = isChosen && mode === 'ask' ? named.grants.map(({ command }) => command) : [];
  const { script, args } = named;
  return plan(toolbox, { ...given, script, file: null, args, host: { mode, globs: [...globs, ...known] } }, named);
}

async function plan(toolbox: Toolbox, request: WorkflowRequest, named?: NamedWorkflow): Promise<PlannedWorkflow> {
  const { script, file, owner, trust } = request;
  const args = argsText(request.args);
  const timeoutMs =
    request.timeoutMs === undefined || request.timeoutMs === null ? null : checkTimeout('timeoutMs', request.timeoutMs);
  const cwd = await checkFolder(request);
  const limits = {
    globalConcurrencyLimit: request.globalConcurrencyLimit ?? DEFAULT_CONCURRENCY,
    maxSubagentSpawnsPerRun: request.maxSubagentSpawnsPerRun ?? DEFAULT_MAX_SPAWNS,
    ...(request.usageBudget ? { usageBudget: request.usageBudget } : {}),
  };
  const { agents, refused } = await agentsForWorkflow(toolbox, { cwd, trust });
  const output =
    request.output === undefined ? undefined : await checkOutput(toolbox.root.claims, resolve(cwd, request.output));
  const analysis = await checkScript(toolbox, script, {
    maxSubagentSpawnsPerRun: limits.maxSubagentSpawnsPerRun,
    ...(output === undefined ? {} : { aggregate: output }),
  });
  const [project, tools, runtime, { defaults, toolRules }] = await Promise.all([
    findProject(toolbox.agentDir, cwd, request.fallbackRoot),
    toolbox.tools(),
    ensureRuntime(toolbox.distDirectory, toolbox.root),
    toolbox.launchSettings(cwd, trust),
  ]);
  const { model: wanted, thinking } = splitLevel(request.defaultModel ?? '');
  const defaultModel = await tools.models.resolve(wanted === '' ? undefined : wanted);
  const usable = await tools.models.usable();
  const record: WorkflowRecord = {
    version: 1,
    runId: newRunId(),
    createdAt: Date.now(),
    mode: 'workflow',
    workflow: {
      name: nameOf(request),
      file,
      script,
      ...(output === undefined ? {} : { output }),
      args,
      seed: randomInt(2 ** 32),
      limits,
      host: request.host ?? { mode: 'ask', globs: [] },
      ...(named ? { grants: [...named.grants], resource: named.resource } : {}),
      ...(request.preflight === undefined ? {} : { preflight: readPreflight(request.preflight) }),
      agents: agents.map((agent) => ({
        contract: toContract(agent),
        ...(agent.package === undefined ? {} : { localName: agent.localName }),
        aliases: agent.aliases,
      })),
      ...(refused.length === 0 ? {} : { refusedAgents: refused.map((one) => ({ ...one, aliases: [...one.aliases] })) }),
      ...(request.worktree === undefined ? {} : { worktree: request.worktree }),
      ...(request.baseRef === undefined ? {} : { baseRef: checkBaseRef(request.baseRef) }),
      models: usable.models.map((model) => model.name),
      piDefault: { model: usable.defaultModel, thinking: usable.defaultThinking },
      defaults,
      ...(defaultModel === undefined
        ? {}
        : { defaultModel: thinking === undefined ? defaultModel.name : `${defaultModel.name}:${thinking}` }),
    },
    cwd,
    owner,
    parent: null,
    workflowKey: null,
    lane: null,
    ceiling: null,
    ...(Object.keys(toolRules).length === 0 ? {} : { toolRules }),
    resume: null,
    trust,
    timeoutMs,
    runtime: runtime.hash,
    client: toolbox.client,
    agentDir: toolbox.agentDir,
    node: tools.node.file,
    pi: tools.installation,
    worktrees: await toolbox.worktreeSettings(),
    writers: await toolbox.writers(),
  };
  const parsed = workflowRecord.safeParse(record);
  if (!parsed.success) throw lanesError('launch_invalid:record', { faults: describeFaults(parsed.error) });
  return {
    record: parsed.data,
    project,
    runtime,
    electron: tools.node.electron,
    analysis,
    usable,
    exclusions: await toolbox.exclusions(),
  };
}

function checkBaseRef(ref: string): string {
  const reason = baseRefReason(ref);
  if (reason) throw lanesError('launch_invalid:base-ref', { ref, reason: spellOut(reason) });
  return ref;
}

function readPreflight(value: unknown): Preflight {
  const parsed = preflight.safeParse(value);
  if (!parsed.success) throw lanesError('launch_invalid:preflight', { faults: describeFaults(parsed.error) });
  return parsed.data;
}

function argsText(args: unknown): string | null {
  if (args === undefined) return null;
  try {
    return toJsonText(args, 'args', 'strict');
  } catch (error) {
    throw lanesError('launch_invalid:args', { reason: wordsOf(error) });
  }
}

/** A script that must fail costs nothing: it is refused with its first mistake. */
async function checkScript(toolbox: Toolbox, script: string, options: AnalysisOptions): Promise<ScriptAnalysis> {
  await using validator = new ScriptValidator({ worker: join(toolbox.distDirectory, 'validate-worker.mjs') });
  const analysis = await validator.analyse(script, options);
  const errors = analysis.findings.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first) throw scriptInvalid(first, errors.length);
  return analysis;
}

function scriptInvalid({ line, column, message }: Finding, count: number) {
  const params = { line, column, message };
  return count === 1
    ? lanesError('script_invalid', params)
    : lanesError('script_invalid:several', { ...params, count });
}

function nameOf({ name, file }: WorkflowRequest): string {
  const given = name ?? (file === null ? 'workflow' : basename(file).replace(/(?:\.workflow)?\.m?js$/, ''));
  return cutText(given.replace(/\p{Cc}+/gu, ' ').trim() || 'workflow', NAME_CHARS);
}

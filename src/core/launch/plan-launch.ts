/**
 * From what is asked for, the agent, the settings and the bounds of the run to what will run. Pure: the runner, everybody who shows it
 * beforehand, and tests get the same from the same. What stands on disk comes in as `Surroundings`.
 */
import { createHash } from 'node:crypto';
import { isAbsolute, resolve, sep } from 'node:path';
import {
  type AgentContract,
  type CapabilityCeiling,
  type ChildPlan,
  canonicalJson,
  cutText,
  describeError,
  type ErrorValue,
  type LaunchDefaults,
  lanesError,
  type OutputPlan,
  type OutputSchema,
  type ToolBudget,
  type ToolRules,
} from '../../protocol/index.ts';
import {
  chooseModels,
  isThinkingLevel,
  type ModelChoice,
  type ModelEntry,
  type ModelExclusion,
  type ThinkingLevel,
} from '../models/index.ts';
import { sessionName, taskTitle } from '../runs/index.ts';
import { type Context, contextOf, type ParentSession } from './launch-context.ts';
import { effectiveTools } from './launch-tools.ts';
import type { Surroundings } from './look-around.ts';
import { promptOf, systemPromptOf } from './prompt.ts';

/** Milliseconds a run may take when nobody says otherwise. */
export const DEFAULT_TIMEOUT_MS = 30 * 60 * 1000;
/** Milliseconds a child waits for a run it has started, when nobody says otherwise. */
export const DEFAULT_WAIT_MS = 30 * 60 * 1000;

/** What is asked for. Checked before: values that are none are refused where they come in. */
export interface LaunchCall {
  task: string;
  /** One line. */
  label?: string | undefined;
  /** Of a child of a workflow. */
  key?: string | undefined;
  /** `provider/id`, or an id, with an optional `:level`. */
  model?: string | undefined;
  thinking?: ThinkingLevel | undefined;
  context?: 'fresh' | 'fork' | 'profile' | undefined;
  /** Names of skills instead of the agent's; `false`: none; `true`: the agent's. */
  skill?: readonly string[] | boolean | undefined;
  /** Absolute; `false`: none; `true` or absent: the agent's own. */
  output?: string | boolean | undefined;
  outputMode?: OutputPlan['mode'] | undefined;
  outputSchema?: OutputSchema | undefined;
  /** Milliseconds; null: no limit. */
  timeoutMs?: number | null | undefined;
  toolTimeoutMs?: number | undefined;
  toolBudget?: ToolBudget | undefined;
  extensionBindings?: Record<string, unknown> | undefined;
}

export interface LaunchInput {
  call: LaunchCall;
  agent: AgentContract;
  /** What call and agent leave open. */
  settings?: LaunchDefaults | undefined;
  /** Whether what stands in the project's folder may take part. */
  trust: 'approve' | 'no-approve';
  /** Bounds of the run, the same at every depth. */
  limits?: { ceiling?: CapabilityCeiling | null | undefined; toolRules?: ToolRules | undefined } | undefined;
  models: {
    /** The usable ones; null: nobody has asked Pi, and names are taken as they stand. */
    registry: readonly ModelEntry[] | null;
    /** What Pi takes when nobody names one. */
    piDefault?: { model: string | null; thinking: ThinkingLevel | null } | undefined;
    exclusions?: readonly ModelExclusion[] | undefined;
  };
  parent?: { model?: string | undefined; session?: ParentSession | undefined } | undefined;
  /** Folder it works in, absolute. */
  cwd: string;
  /** Folder for outputs that the agent names by a relative path; absolute. */
  outputs: string;
  /** File for notes of the whole run; absolute. */
  progressFile: string;
  /** A workflow has the last word about time where nobody names a limit: null, as long as that. */
  usualTimeoutMs?: number | null | undefined;
  around?: Surroundings | undefined;
}

export interface PlannedLaunch {
  /** What a record keeps and a child is started with. */
  child: ChildPlan & Required<Pick<ChildPlan, 'tools' | 'wait' | 'digests'>>;
  cwd: string;
  /** Milliseconds; null: no limit of its own. */
  timeoutMs: number | null;
  context: Context;
  /** The models in the order they are tried. */
  models: ModelChoice;
  trust: LaunchInput['trust'];
  /** What it is told first, and beside that. */
  prompt: string;
  systemPrompt: string;
  /** What could not be done as the agent says, and why it runs all the same. */
  warnings: ErrorValue[];
}

export const NOTHING_AROUND: Surroundings = {
  reads: [],
  skills: [],
  missingSkills: [],
  missingExtensions: [],
  memory: null,
  hasProgress: false,
};

/** @throws LanesError when it cannot be started as asked */
export function planLaunch(input: LaunchInput): PlannedLaunch {
  const { call, agent, settings = {}, trust, limits, cwd, around = NOTHING_AROUND } = input;
  const ceiling = limits?.ceiling ?? undefined;
  checkAgent(agent, ceiling);
  const models = modelsOf(input);
  const warnings = [...models.warnings];
  const context = contextOf({
    call: call.context,
    usual: settings.context,
    agent: agent.defaultContext,
    name: agent.name,
    parent: input.parent?.session,
  });
  const bounds = { ceiling, rules: limits?.toolRules };
  const wantsSkills = call.skill !== false && around.skills.length > 0;
  const tools = effectiveTools(agent, bounds, wantsSkills ? ['read'] : []);
  const mayUse = (tool: string) => !tools.denied?.includes(tool) && (tools.list ?? tools.only ?? [tool]).includes(tool);
  const isDropped = (agent.tools ?? []).filter(
    (tool) => !(tools.list ?? []).includes(tool) && !agent.excludeTools?.includes(tool),
  );
  if (isDropped.length > 0) warnings.push(describeError('tools_left_out', { tools: isDropped.join(', ') }));
  if (around.missingSkills.length > 0)
    warnings.push(describeError('skills_missing', { skills: around.missingSkills.join(', ') }));
  if (wantsSkills && !mayUse('read')) warnings.push(describeError('skills_missing:unread'));
  const extensions = extensionsOf(agent, ceiling, around);
  if (ceiling?.denyExtensions && hasExtensions(agent)) warnings.push(describeError('extensions_denied'));
  const output = outputOf(input);
  const label = labelOf(call.label);
  const timeoutMs = timeoutOf(input);
  const toolTimeoutMs = call.toolTimeoutMs ?? agent.toolTimeoutMs ?? settings.toolTimeoutMs;
  const toolBudget = call.toolBudget ?? agent.toolBudget ?? settings.toolBudget;
  const progress = progressOf(input, mayUse);
  const [primary, ...fallbacks] = models.candidates;
  const isWritable = ['write', 'edit', 'bash'].some(mayUse);
  const child: Omit<PlannedLaunch['child'], 'digests'> = {
    agent,
    task: call.task,
    ...(label === undefined ? {} : { label }),
    ...(primary.model === null ? {} : { model: primary.model }),
    ...(primary.thinking === null ? {} : { thinking: primary.thinking }),
    modelIsExplicit: models.isExplicit,
    ...(output === undefined ? {} : { output }),
    ...(toolTimeoutMs === undefined ? {} : { toolTimeoutMs }),
    ...(toolBudget === undefined ? {} : { toolBudget }),
    ...(call.outputSchema === undefined ? {} : { outputSchema: call.outputSchema }),
    ...(fallbacks.length === 0
      ? {}
      : {
          fallbacks: fallbacks.flatMap(({ model, thinking }) =>
            model === null ? [] : [{ model, ...(thinking === null ? {} : { thinking }) }],
          ),
        }),
    tools,
    extensions,
    skills: {
      found: agent.inheritSkills && call.skill !== false,
      paths: wantsSkills ? around.skills.map(({ path }) => path) : [],
    },
    ...(around.reads.length === 0 ? {} : { reads: [...around.reads] }),
    ...(progress === undefined ? {} : { progress }),
    ...(around.memory === null ? {} : { memory: { ...around.memory, isWritable } }),
    ...(context.forkOf === undefined ? {} : { forkOf: context.forkOf }),
    ...(call.extensionBindings === undefined ? {} : { extensionBindings: call.extensionBindings }),
    wait: settings.wait ?? { enabled: true, defaultTimeoutMs: DEFAULT_WAIT_MS },
    sessionName: sessionName(agent.name, label ?? call.key ?? taskTitle(call.task)),
  };
  const planned = { ...child, digests: digestsOf(child, models, call.output ?? agent.output) };
  return {
    child: planned,
    cwd,
    timeoutMs,
    context,
    models,
    trust,
    prompt: promptOf(planned),
    systemPrompt: systemPromptOf(planned),
    warnings,
  };
}

/** The part of a plan that says which models will be asked. */
export function modelsOf({
  call,
  agent,
  settings = {},
  models,
  parent,
}: Pick<LaunchInput, 'agent' | 'settings' | 'models' | 'parent'> & {
  call: Pick<LaunchCall, 'model' | 'thinking'>;
}): ModelChoice {
  const wishes = {
    call: call.model,
    agent: agent.model,
    usual: settings.model,
    parent: parent?.model,
    fallbacks: agent.fallbackModels,
    thinking: {
      call: call.thinking,
      agent: isThinkingLevel(agent.thinking) || agent.thinking === false ? agent.thinking : undefined,
      usual: settings.thinking,
    },
  };
  return chooseModels(wishes, {
    agent: agent.name,
    ...models,
    preferredProvider: agent.defaultProvider ?? settings.preferredProvider,
    scope: settings.modelScope,
    maxThinking: settings.maxThinking,
  });
}

function checkAgent({ name }: AgentContract, ceiling: CapabilityCeiling | undefined): void {
  const allowed = ceiling?.allowedAgents;
  if (allowed && !allowed.includes(name))
    throw lanesError('agent_restricted', { name, allowed: allowed.join(', ') || '-' });
}

function hasExtensions({ extensions, subagentOnlyExtensions = [] }: AgentContract): boolean {
  return (extensions?.length ?? 0) + subagentOnlyExtensions.length > 0;
}

function extensionsOf(
  { name, extensions, subagentOnlyExtensions = [] }: AgentContract,
  ceiling: CapabilityCeiling | undefined,
  { missingExtensions }: Surroundings,
): NonNullable<ChildPlan['extensions']> {
  if (ceiling?.denyExtensions) return { found: false, paths: [] };
  // Pi would not even start.
  const [missing] = missingExtensions;
  if (missing !== undefined) throw lanesError('launch_invalid:extension', { name, file: missing });
  const paths = [...new Set([...(extensions ?? []), ...subagentOnlyExtensions])];
  return { found: extensions === undefined, paths };
}

function outputOf({ call, agent, outputs }: LaunchInput): OutputPlan | undefined {
  const mode = call.outputMode ?? (typeof call.output === 'string' ? 'inline' : (agent.outputMode ?? 'inline'));
  const own = agent.output === undefined ? undefined : ownOutput(agent.output, outputs);
  const path = call.output === false ? undefined : typeof call.output === 'string' ? call.output : own;
  if (path !== undefined) return { path, mode };
  // Of an agent it is a habit; only a wish that nothing comes of is refused.
  if (call.outputMode === 'file-only') throw lanesError('launch_invalid:file-only');
  return undefined;
}

/** A relative path of an agent never reaches the project, nor anything else of the run. */
function ownOutput(path: string, outputs: string): string {
  const absolute = resolve(outputs, path);
  if (isAbsolute(path) || absolute.startsWith(outputs + sep)) return absolute;
  throw lanesError('output_unusable', { file: path, reason: 'it leads out of the folder of outputs' });
}

function timeoutOf({ call, agent, settings, usualTimeoutMs }: LaunchInput): number | null {
  if (call.timeoutMs !== undefined) return call.timeoutMs;
  if (agent.timeoutMs !== undefined) return agent.timeoutMs;
  if (usualTimeoutMs === null) return null;
  return settings?.timeoutMs ?? DEFAULT_TIMEOUT_MS;
}

/** A child that cannot write keeps no notes. */
function progressOf(
  { agent, progressFile, around = NOTHING_AROUND }: LaunchInput,
  mayUse: (tool: string) => boolean,
): ChildPlan['progress'] {
  if (!agent.defaultProgress || agent.acceptanceRole === 'read-only') return undefined;
  if (!['write', 'edit'].some(mayUse)) return undefined;
  return { file: progressFile, isNew: !around.hasProgress };
}

/** One line: a label must not forge rows of a list. */
function labelOf(label = ''): string | undefined {
  const line = cutText(label, 1000)
    .replace(/\p{Cc}+/gu, ' ')
    .trim();
  return line === '' ? undefined : cutText(line, 96);
}

/** Nothing of a session or a run goes into it: the same launch has the same digest wherever and whenever it is planned. */
function digestsOf(
  child: ChildPlan,
  { candidates }: ModelChoice,
  declaredOutput: string | boolean | undefined,
): NonNullable<ChildPlan['digests']> {
  const { agent, task, tools, extensions, skills, output, outputSchema, extensionBindings } = child;
  const definition = sha256(canonicalJson(agent));
  const launch = sha256(
    canonicalJson({
      version: 1,
      definition,
      task: sha256(task),
      systemPrompt: sha256(systemPromptOf({ ...child, memory: undefined })),
      candidates: candidates.map(({ model, thinking }) => ({ model, thinking })),
      tools,
      extensions,
      skills,
      output: [declaredOutput, output?.mode],
      outputSchema,
      extensionBindings,
    }),
  );
  return { definition, launch };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

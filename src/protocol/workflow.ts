/**
 * The rules of the workflow language: keys, launch parameters, lanes, host steps, steering, batch results. Each stands
 * here once; the static check of scripts and the engine that runs them ask the same functions.
 *
 * A value may be known only in part while a script is read: `UNKNOWN` stands for what only a run can tell. A rule
 * that would need it stays silent, so nothing is refused that might be right.
 */
import * as z from 'zod/mini';
import { canonicalJson } from './canonical-json.ts';
import { describeFaults } from './errors.ts';
import { lane } from './run.ts';

/** Stands for a value that is not known before the script runs. */
export const UNKNOWN: unique symbol = Symbol('unknown');

/** A rule that is broken. `path` leads from the checked value to the place; empty: the value itself. */
export interface RuleFault {
  rule: WorkflowRule;
  path: (string | number)[];
  /** Names the field, the value and the rule. */
  message: string;
}

export const WORKFLOW_RULES = [
  'key_format',
  'launch_field_removed',
  'launch_field_invalid',
  'launch_agent_missing',
  'launch_field_conflict',
  'resume_invalid',
  'base_ref_invalid',
  'lane_metadata_invalid',
  'host_field_unknown',
  'host_field_invalid',
  'host_timeout_missing',
  'lanes_bounds',
  'lanes_field_invalid',
  'lanes_resume_first_stage',
  'lanes_stage_invalid',
  'lanes_key_repeated',
  'steer_argument_invalid',
] as const;
export type WorkflowRule = (typeof WORKFLOW_RULES)[number];

export const MAX_KEY_LENGTH = 128;
export const WORKFLOW_KEY = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
export const workflowKey = z.string().check(z.regex(WORKFLOW_KEY));

export const MAX_SCRIPT_BYTES = 4 * 1024 * 1024;
/** Distinct children a run tree may launch when nobody says otherwise. */
export const DEFAULT_MAX_SPAWNS = 64;
export const MAX_LANES = 32;
export const MAX_STAGES_PER_LANE = 16;
export const MAX_STAGES = 64;
export const MAX_LANES_BYTES = 64 * 1024;
export const MAX_LANE_TASK_BYTES = 1024 * 1024;
export const MAX_LANE_PATH_BYTES = 32 * 1024;
export const MAX_HOST_COMMAND_BYTES = 16_384;
export const MAX_HOST_TIMEOUT_MS = 86_400_000;
export const MAX_HOST_OUTPUT_BYTES = 240;
export const MAX_HOST_PROVIDER_BYTES = 64;
export const MAX_STEER_INDEX = 1_000_000;
export const MAX_BASE_REF_BYTES = 1024;
/** Longest delay a timer can have. */
export const MAX_DELAY_MS = 2_147_483_647;

/** Members of the global `runs`. */
export const RUNS_MEMBERS = ['run', 'all', 'lanes', 'host', 'steer', 'status', 'ref', 'refs'] as const;
export type RunsMember = (typeof RUNS_MEMBERS)[number];

const utf8 = new TextEncoder();
const bytes = (text: string) => utf8.encode(text).length;
const atMost = (max: number) => z.refine<string>((text) => bytes(text) <= max, `must have at most ${max} bytes`);
const notBlank = z.refine<string>((text) => text.trim() !== '', 'must not be blank');
const positive = z.int('must be a whole number').check(z.positive('must be at least 1'));
const delay = positive.check(z.maximum(MAX_DELAY_MS, `must be at most ${MAX_DELAY_MS}`));
const record = z.record(z.string(), z.unknown());

// ---- keys

/** What is wrong with a key, or nothing. `what` says whose key it is: `runs.run key`. */
export function keyFault(key: unknown, what: string, path: RuleFault['path'] = []): RuleFault[] {
  if (key === UNKNOWN || (typeof key === 'string' && WORKFLOW_KEY.test(key))) return [];
  const shown = typeof key === 'string' ? ` is ${short(key)}; it` : '';
  return [
    {
      rule: 'key_format',
      path,
      message: `The ${what}${shown} must be a string of 1 to ${MAX_KEY_LENGTH} characters: A–Z, a–z, 0–9, ".", "_", "-", beginning with a letter or digit.`,
    },
  ];
}

// ---- launch parameters

/** Why a git reference is refused as base of a worktree; `undefined` when it is not. */
export function baseRefReason(ref: string): string | undefined {
  if (ref === '') return 'is empty';
  if (bytes(ref) > MAX_BASE_REF_BYTES) return `has more than ${MAX_BASE_REF_BYTES} bytes`;
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(ref)) return 'is an object id; name a branch, a tag or HEAD';
  if (ref === '@' || ref.includes('@{')) return 'uses "@"';
  if (/[\u0000-\u0020\u007f[\]\\~^:?*]/.test(ref)) return 'has a character that names of branches cannot have';
  if (ref.startsWith('/') || ref.endsWith('/') || ref.includes('//')) return 'has an empty part between slashes';
  if (ref.includes('..')) return 'has ".."';
  if (ref.split('/').some((part) => part.startsWith('.') || part.endsWith('.') || part.endsWith('.lock'))) {
    return 'has a part that begins or ends with "." or ends with ".lock"';
  }
  return undefined;
}

const BINDING_NAMESPACE =
  /^(?=[^/]*(?:\/[^/]*)?\/[1-9][0-9]{0,8}$)(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*\/[1-9][0-9]{0,8}$/;

function bindingsReason(value: Record<string, unknown>): string | undefined {
  const names = Object.keys(value);
  if (names.length > 16) return 'must have at most 16 namespaces';
  for (const name of names) {
    if (!BINDING_NAMESPACE.test(name) || name.slice(0, name.lastIndexOf('/')).length > 63) {
      return `has the namespace ${short(name)}; it must be <package>/<version>, like "my-tool/1"`;
    }
  }
  let properties = 0;
  const open: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (next.depth > 16) return 'must be nested at most 16 levels deep';
    for (const inner of Object.values(next.value)) {
      if (!Array.isArray(next.value)) properties += 1;
      open.push({ value: inner, depth: next.depth + 1 });
    }
  }
  if (properties > 256) return 'must have at most 256 properties';
  return bytes(canonicalJson(value)) > 16_384 ? 'must have at most 16384 bytes as JSON' : undefined;
}

const budget = z
  .strictObject({
    soft: z.optional(positive),
    hard: positive,
    block: z.optional(z.union([z.literal('*'), z.array(z.string()).check(z.minLength(1))])),
  })
  .check(z.refine(({ soft = 0, hard }) => soft <= hard, 'soft must not be larger than hard'));

/** Fields of a launch that have a rule of their own. Further fields are passed on to the child unchanged. */
export const childLaunchFields = {
  agent: z.string().check(notBlank),
  task: z.string(),
  resume: z.unknown(),
  index: z.int().check(z.nonnegative()),
  label: z.string(),
  phase: z.string(),
  as: z.string(),
  context: z.enum(['fresh', 'fork', 'profile']),
  model: z.string().check(notBlank),
  fast: z.boolean(),
  skill: z.union([z.string(), z.array(z.string()), z.boolean()]),
  cwd: z.string().check(notBlank),
  output: z.union([z.string().check(notBlank), z.boolean()]),
  outputMode: z.enum(['inline', 'file-only']),
  outputSchema: record,
  acceptance: z.union([z.string(), z.literal(false), record]),
  gate: z.string().check(notBlank),
  agentContract: z.strictObject({ version: z.literal(1) }),
  worktree: z.boolean(),
  isolation: z.enum(['none', 'worktree']),
  baseRef: z.string(),
  lane,
  async: z.boolean(),
  timeoutMs: delay,
  maxRuntimeMs: delay,
  toolTimeoutMs: delay,
  toolBudget: budget,
  control: record,
  intercomBridge: z.union([record, z.boolean()]),
  extensionBindings: record,
  agentScope: z.string(),
  artifacts: z.boolean(),
  includeProgress: z.boolean(),
  share: z.boolean(),
  sessionDir: z.string().check(notBlank),
  maxOutput: z.unknown(),
} as const;

/** The parameters of `runs.run`, and of the items of `runs.all` without their key. */
export const childLaunchParameters = z.looseObject({
  agent: z.optional(childLaunchFields.agent),
  task: z.optional(childLaunchFields.task),
  resume: z.optional(childLaunchFields.resume),
  index: z.optional(childLaunchFields.index),
  label: z.optional(childLaunchFields.label),
  phase: z.optional(childLaunchFields.phase),
  as: z.optional(childLaunchFields.as),
  context: z.optional(childLaunchFields.context),
  model: z.optional(childLaunchFields.model),
  fast: z.optional(childLaunchFields.fast),
  skill: z.optional(childLaunchFields.skill),
  cwd: z.optional(childLaunchFields.cwd),
  output: z.optional(childLaunchFields.output),
  outputMode: z.optional(childLaunchFields.outputMode),
  outputSchema: z.optional(childLaunchFields.outputSchema),
  acceptance: z.optional(childLaunchFields.acceptance),
  gate: z.optional(childLaunchFields.gate),
  agentContract: z.optional(childLaunchFields.agentContract),
  worktree: z.optional(childLaunchFields.worktree),
  isolation: z.optional(childLaunchFields.isolation),
  baseRef: z.optional(childLaunchFields.baseRef),
  lane: z.optional(childLaunchFields.lane),
  async: z.optional(childLaunchFields.async),
  timeoutMs: z.optional(childLaunchFields.timeoutMs),
  maxRuntimeMs: z.optional(childLaunchFields.maxRuntimeMs),
  toolTimeoutMs: z.optional(childLaunchFields.toolTimeoutMs),
  toolBudget: z.optional(childLaunchFields.toolBudget),
  control: z.optional(childLaunchFields.control),
  intercomBridge: z.optional(childLaunchFields.intercomBridge),
  extensionBindings: z.optional(childLaunchFields.extensionBindings),
  agentScope: z.optional(childLaunchFields.agentScope),
  artifacts: z.optional(childLaunchFields.artifacts),
  includeProgress: z.optional(childLaunchFields.includeProgress),
  share: z.optional(childLaunchFields.share),
  sessionDir: z.optional(childLaunchFields.sessionDir),
  maxOutput: z.optional(childLaunchFields.maxOutput),
});
export type ChildLaunchParameters = z.infer<typeof childLaunchParameters>;

export const CHILD_LAUNCH_FIELDS: readonly string[] = Object.keys(childLaunchFields);

/** Fields that a launch must not have, not even as `undefined`, with what to do instead. */
export const REMOVED_LAUNCH_FIELDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      'action',
      'workflowScript',
      'tasks',
      'chain',
      'parallel',
      'concurrency',
      'chainDir',
      'globalConcurrencyLimit',
      'maxSubagentSpawnsPerRun',
    ].map((name) => [name, 'a launch is one child, by agent and task; use runs.all and plain JavaScript for more']),
  ),
  clarify: 'workflows have no dialog that asks back; put what is known into the task',
  turnBudget: 'it was removed; use timeoutMs or usageBudget',
};

/** A resumed child keeps its agent and what was agreed with it. */
const NOT_WITH_RESUME = ['agent', 'gate', 'extensionBindings'] as const;

const savedChild = z.strictObject({
  workflowRunId: z.string().check(notBlank),
  key: workflowKey,
  latest: z.literal(true),
});

export type LaunchObject = Readonly<Record<string, unknown>>;

export interface LaunchPlace {
  /** As messages name the call: `runs.run`. */
  what: string;
  /** The key of the child, where it is known. */
  key?: unknown;
  /** Whether the object may have fields nobody can know yet (a spread): then missing fields are no fault. */
  open?: boolean;
  /** For stages of lanes: then `resume: "previous"` is known. */
  stage?: 'first' | 'later';
}

/** Every rule on one launch. Fields whose value is `UNKNOWN`, or has it inside, are taken to be right. */
export function launchFaults(params: LaunchObject, place: LaunchPlace): RuleFault[] {
  const faults: RuleFault[] = [];
  const refuse = (rule: WorkflowRule, path: RuleFault['path'], message: string) => faults.push({ rule, path, message });
  for (const [name, advice] of Object.entries(REMOVED_LAUNCH_FIELDS)) {
    if (Object.hasOwn(params, name))
      refuse('launch_field_removed', [name], `${place.what} does not take "${name}": ${advice}.`);
  }
  for (const [name, schema] of Object.entries(childLaunchFields)) {
    const value = params[name];
    if (value === undefined || !isKnown(value)) continue;
    const parsed = z.safeParse(schema, value);
    if (parsed.success) continue;
    const rule = name === 'lane' ? 'lane_metadata_invalid' : 'launch_field_invalid';
    const detail = describeFaults(parsed.error).replaceAll('the value: ', '');
    refuse(rule, [name], `"${name}" of ${place.what} is ${short(value)}: ${detail}.`);
  }
  const { baseRef, lane: metadata, extensionBindings, resume, gate, acceptance, timeoutMs, maxRuntimeMs } = params;
  if (typeof baseRef === 'string') {
    const reason = baseRefReason(baseRef);
    if (reason)
      refuse('base_ref_invalid', ['baseRef'], `"baseRef" of ${place.what} is ${short(baseRef)}: it ${reason}.`);
  }
  const laneKey = isObject(metadata) ? metadata['key'] : undefined;
  if (typeof laneKey === 'string' && typeof place.key === 'string' && laneKey !== place.key) {
    const message = `"lane.key" is ${short(laneKey)}; it must be the child's key ${short(place.key)}.`;
    refuse('lane_metadata_invalid', ['lane', 'key'], message);
  }
  if (isObject(extensionBindings) && isKnown(extensionBindings)) {
    const reason = bindingsReason(extensionBindings);
    if (reason) refuse('launch_field_invalid', ['extensionBindings'], `"extensionBindings" ${reason}.`);
  }
  if (typeof gate === 'string' && acceptance !== undefined && acceptance !== UNKNOWN && acceptance !== false) {
    const message = `"gate" (${short(gate)}) and "acceptance" (${short(acceptance)}) exclude each other: a gate is an acceptance.`;
    refuse('launch_field_conflict', ['gate'], message);
  }
  if (typeof timeoutMs === 'number' && typeof maxRuntimeMs === 'number' && timeoutMs !== maxRuntimeMs) {
    const message = `"timeoutMs" (${timeoutMs}) and "maxRuntimeMs" (${maxRuntimeMs}) are two names of one limit and differ; keep one.`;
    refuse('launch_field_conflict', ['maxRuntimeMs'], message);
  }
  if (params['outputMode'] === 'file-only' && params['output'] === false) {
    refuse(
      'launch_field_conflict',
      ['outputMode'],
      '"outputMode" is "file-only" and "output" is false: there is no file.',
    );
  }
  if (resume === undefined) {
    if (params['agent'] === undefined && !place.open) {
      const message = `${place.what} needs "agent", the name of the agent to start (or "resume" to go on with a child).`;
      refuse('launch_agent_missing', [], message);
    }
  } else if (resume !== UNKNOWN) faults.push(...resumeFaults(params, place));
  return faults;
}

function resumeFaults(params: LaunchObject, place: LaunchPlace): RuleFault[] {
  const faults: RuleFault[] = [];
  const refuse = (path: RuleFault['path'], message: string, rule: WorkflowRule = 'resume_invalid') =>
    faults.push({ rule, path, message });
  const { resume, task } = params;
  if (place.stage === 'first') {
    const message =
      resume === 'previous'
        ? 'The first stage of a lane has no previous one to resume. Start with an agent.'
        : 'The first stage of a lane cannot resume a run. Start with an agent, or resume it by runs.run(key, {resume}) outside lanes.';
    return [{ rule: 'lanes_resume_first_stage', path: ['resume'], message }];
  }
  if (place.stage === 'later') {
    if (resume !== 'previous')
      refuse(['resume'], `"resume" of a stage is ${short(resume)}; only "previous" is possible.`);
  } else if (resume === 'previous')
    refuse(['resume'], '"resume" is "previous", which only the stages of runs.lanes know.');
  else if (typeof resume === 'string') {
    if (resume.trim() === '') refuse(['resume'], '"resume" is blank; it must be a run id.');
  } else if (isKnown(resume) && !z.safeParse(savedChild, resume).success) {
    const message = `"resume" of ${place.what} is ${short(resume)}; it must be a run id or {workflowRunId, key, latest: true}, with nothing else.`;
    refuse(['resume'], message);
  }
  for (const name of NOT_WITH_RESUME) {
    if (params[name] !== undefined) {
      refuse([name], `"${name}" and "resume" exclude each other: a resumed child keeps what it was started with.`);
    }
  }
  const blank = typeof task === 'string' && task.trim() === '';
  if (blank || (task === undefined && !place.open)) {
    refuse(
      task === undefined ? [] : ['task'],
      `${place.what} with "resume" needs "task": what the child is told to go on with.`,
    );
  }
  return faults;
}

/** Two launches are the same when this is: canonical JSON, in which a gate says what `acceptance: false` beside it does. */
export function launchFingerprint(params: LaunchObject): string {
  const { acceptance, ...rest } = params;
  return canonicalJson(params['gate'] !== undefined && acceptance === false ? rest : params);
}

// ---- batch results

const ARRAY_MEMBERS = new Set([
  ...Object.getOwnPropertyNames(Array.prototype),
  ...Object.getOwnPropertyNames(Object.prototype),
  'then',
  'toJSON',
]);

/**
 * Whether reading this property of what `runs.all` resolves to fails, because it is neither a member of arrays nor an
 * index. Names that libraries try out (`@@iterator`, `$$typeof`, `nodeType`) are answered with `undefined`.
 */
export function isKeyedRead(property: string): boolean {
  return !ARRAY_MEMBERS.has(property) && !/^(?:-?\d+|@@.*|\$\$.*|_.*|nodeType|asymmetricMatch|inspect)$/.test(property);
}

// ---- host steps

const hostFields = {
  kind: z.literal('command', 'must be "command"'),
  command: z.string().check(
    notBlank,
    atMost(MAX_HOST_COMMAND_BYTES),
    z.refine((text: string) => !text.includes('\0'), 'must not contain NUL'),
  ),
  timeoutMs: positive.check(z.maximum(MAX_HOST_TIMEOUT_MS, `must be at most ${MAX_HOST_TIMEOUT_MS} (one day)`)),
  output: z.string().check(
    notBlank,
    atMost(MAX_HOST_OUTPUT_BYTES),
    z.refine((path: string) => !/^(?:[/\\]|[A-Za-z]:)/.test(path), 'must be a relative path'),
    z.refine((path: string) => !path.split(/[/\\]/).includes('..'), 'must not contain ".."'),
    z.refine((path: string) => !/[\u0000-\u001f\u007f]/.test(path), 'must not contain control characters'),
  ),
  role: z.enum(['ci', 'gate'], 'must be "ci" or "gate"'),
  provider: z.string().check(
    notBlank,
    atMost(MAX_HOST_PROVIDER_BYTES),
    z.refine((text: string) => !/[\r\n]/.test(text), 'must be one line'),
  ),
} as const;

/** The parameters of `runs.host`. Unknown fields are refused. */
export const hostParameters = z.strictObject({
  ...hostFields,
  output: z.optional(hostFields.output),
  role: z.optional(hostFields.role),
  provider: z.optional(hostFields.provider),
});
export type HostParameters = z.infer<typeof hostParameters>;

/** Every rule on the parameters of a host step. */
export function hostFaults(params: LaunchObject, open = false): RuleFault[] {
  const faults: RuleFault[] = [];
  for (const [name, value] of Object.entries(params)) {
    if (!isFieldOf(hostFields, name)) {
      const message =
        name === 'cwd'
          ? 'runs.host has no "cwd": a host step runs in the folder of the workflow. Set cwd on the request that starts the workflow, or change the folder inside the command.'
          : `runs.host does not know "${name}". It takes ${Object.keys(hostFields).join(', ')}.`;
      faults.push({ rule: 'host_field_unknown', path: [name], message });
    } else if (isKnown(value) && value !== undefined) {
      const parsed = z.safeParse(hostFields[name], value);
      if (parsed.success) continue;
      const detail = describeFaults(parsed.error).replaceAll('the value: ', '');
      const message = `"${name}" of runs.host is ${short(value)}: ${detail}.`;
      faults.push({ rule: 'host_field_invalid', path: [name], message });
    }
  }
  if (open) return faults;
  if (params['kind'] === undefined) {
    faults.push({ rule: 'host_field_invalid', path: [], message: 'runs.host needs "kind": "command".' });
  }
  if (params['command'] === undefined) {
    faults.push({
      rule: 'host_field_invalid',
      path: [],
      message: 'runs.host needs "command", the shell command to run.',
    });
  }
  if (params['timeoutMs'] === undefined) {
    const message = `runs.host needs "timeoutMs": after how many milliseconds, 1 to ${MAX_HOST_TIMEOUT_MS}, the command is ended.`;
    faults.push({ rule: 'host_timeout_missing', path: [], message });
  }
  return faults;
}

// ---- steering

const steerOptions = {
  mode: z.enum(['steer', 'follow_up', 'auto'], 'must be "steer", "follow_up" or "auto"'),
  index: z.int().check(z.nonnegative(), z.maximum(MAX_STEER_INDEX)),
  ackTimeoutMs: delay,
} as const;

/** Every rule on the arguments of `runs.steer`; paths begin with the number of the argument. */
export function steerFaults(key: unknown, message: unknown, options: unknown): RuleFault[] {
  const faults = keyFault(key, 'key of runs.steer', [0]);
  const refuse = (path: RuleFault['path'], text: string) =>
    faults.push({ rule: 'steer_argument_invalid', path, message: text });
  if (message !== UNKNOWN && (typeof message !== 'string' || message.trim() === '')) {
    refuse([1], `The message of runs.steer is ${short(message)}; it must be a string that is not blank.`);
  }
  if (options === undefined || options === UNKNOWN) return faults;
  if (!isObject(options)) {
    refuse([2], `The options of runs.steer are ${short(options)}; they must be an object.`);
    return faults;
  }
  for (const [name, value] of Object.entries(options)) {
    if (!isFieldOf(steerOptions, name)) {
      refuse([2, name], `runs.steer does not know the option "${name}". It takes mode, index and ackTimeoutMs.`);
    } else if (isKnown(value) && value !== undefined) {
      const parsed = z.safeParse(steerOptions[name], value);
      if (!parsed.success) {
        const detail = describeFaults(parsed.error).replaceAll('the value: ', '');
        refuse([2, name], `"${name}" of runs.steer is ${short(value)}: ${detail}.`);
      }
    }
  }
  return faults;
}

// ---- values that are known in part

function isFieldOf<Fields extends object>(fields: Fields, name: PropertyKey): name is keyof Fields {
  return Object.hasOwn(fields, name);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether nothing inside is `UNKNOWN`. */
export function isKnown(value: unknown): boolean {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (next === UNKNOWN) return false;
    if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) open.push(inner);
  }
  return true;
}

const SHOWN = 80;

/** A value as messages show it. */
export function short(value: unknown): string {
  if (value === undefined) return 'missing';
  if (!isKnown(value)) return 'an expression';
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

/** What one child is launched with: the schema of its fields, and the rules between them. */
import * as z from 'zod/mini';
import { canonicalJson } from './canonical-json.ts';
import { toolBudget } from './child-contract.ts';
import { describeFaults } from './errors.ts';
import { lane } from './run.ts';
import { delay, notBlank, record, utf8Bytes } from './schema-parts.ts';
import {
  isKnown,
  isObject,
  MAX_BASE_REF_BYTES,
  type RuleFault,
  short,
  UNKNOWN,
  type WorkflowRule,
  workflowKey,
} from './workflow.ts';

/** Why a git reference is refused as base of a worktree; `undefined` when it is not. */
export function baseRefReason(ref: string): string | undefined {
  if (ref === '') return 'is empty';
  if (utf8Bytes(ref) > MAX_BASE_REF_BYTES) return `has more than ${MAX_BASE_REF_BYTES} bytes`;
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
  return utf8Bytes(canonicalJson(value)) > 16_384 ? 'must have at most 16384 bytes as JSON' : undefined;
}

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
  toolBudget,
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
export const childLaunchParameters = z.partial(z.looseObject(childLaunchFields));
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

/** Taken apart once: a workflow checks thousands of launches. */
const REMOVED_ENTRIES = Object.entries(REMOVED_LAUNCH_FIELDS);
const FIELD_ENTRIES = Object.entries(childLaunchFields);

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
  for (const [name, advice] of REMOVED_ENTRIES) {
    if (Object.hasOwn(params, name))
      refuse('launch_field_removed', [name], `${place.what} does not take "${name}": ${advice}.`);
  }
  for (const [name, schema] of FIELD_ENTRIES) {
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

/** What one child is launched with: the schema of its fields, and the rules between them. */
import * as z from 'zod/mini';
import { canonicalJson } from './canonical-json.ts';
import { toolBudget } from './child-contract.ts';
import { lane } from './run.ts';
import { delay, notBlank, record, utf8Bytes } from './schema-parts.ts';
import { type Phrase, ruleWords, say, type Words } from './words.ts';
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
export function baseRefReason(ref: string): Phrase | undefined {
  if (ref === '') return say('base_ref:empty');
  if (utf8Bytes(ref) > MAX_BASE_REF_BYTES) return say('base_ref:bytes', { max: MAX_BASE_REF_BYTES });
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(ref)) return say('base_ref:object');
  if (ref === '@' || ref.includes('@{')) return say('base_ref:at');
  if (/[\u0000-\u0020\u007f[\]\\~^:?*]/.test(ref)) return say('base_ref:character');
  if (ref.startsWith('/') || ref.endsWith('/') || ref.includes('//')) return say('base_ref:slashes');
  if (ref.includes('..')) return say('base_ref:dots');
  if (ref.split('/').some((part) => part.startsWith('.') || part.endsWith('.') || part.endsWith('.lock'))) {
    return say('base_ref:part');
  }
  return undefined;
}

const BINDING_NAMESPACE =
  /^(?=[^/]*(?:\/[^/]*)?\/[1-9][0-9]{0,8}$)(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*\/[1-9][0-9]{0,8}$/;

function bindingsReason(value: Record<string, unknown>): Phrase | undefined {
  const names = Object.keys(value);
  if (names.length > 16) return say('bindings:count', { max: 16 });
  for (const name of names) {
    if (!BINDING_NAMESPACE.test(name) || name.slice(0, name.lastIndexOf('/')).length > 63) {
      return say('bindings:namespace', { name: short(name) });
    }
  }
  let properties = 0;
  const open: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (next.depth > 16) return say('bindings:depth', { max: 16 });
    for (const inner of Object.values(next.value)) {
      if (!Array.isArray(next.value)) properties += 1;
      open.push({ value: inner, depth: next.depth + 1 });
    }
  }
  if (properties > 256) return say('bindings:properties', { max: 256 });
  return utf8Bytes(canonicalJson(value)) > 16_384 ? say('bindings:bytes', { max: 16_384 }) : undefined;
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
export const REMOVED_LAUNCH_FIELDS: Readonly<Record<string, Phrase>> = {
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
    ].map((name) => [name, say('instead:one-child')]),
  ),
  clarify: say('instead:clarify'),
  turnBudget: say('instead:turnBudget'),
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
  what: Words;
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
  const refuse = (rule: WorkflowRule, path: RuleFault['path'], message: Phrase) => faults.push({ rule, path, message });
  for (const [name, instead] of REMOVED_ENTRIES) {
    if (Object.hasOwn(params, name))
      refuse('launch_field_removed', [name], say('launch_field_removed', { what: place.what, name, instead }));
  }
  for (const [name, schema] of FIELD_ENTRIES) {
    const value = params[name];
    if (value === undefined || !isKnown(value)) continue;
    const parsed = z.safeParse(schema, value);
    if (parsed.success) continue;
    const rule = name === 'lane' ? 'lane_metadata_invalid' : 'launch_field_invalid';
    const rules = ruleWords(parsed.error);
    refuse(rule, [name], say('field_invalid', { name, what: place.what, value: short(value), rules }));
  }
  const { baseRef, lane: metadata, extensionBindings, resume, gate, acceptance, timeoutMs, maxRuntimeMs } = params;
  if (typeof baseRef === 'string') {
    const reason = baseRefReason(baseRef);
    if (reason) {
      const message = say('base_ref_invalid', { what: place.what, value: short(baseRef), reason });
      refuse('base_ref_invalid', ['baseRef'], message);
    }
  }
  const laneKey = isObject(metadata) ? metadata['key'] : undefined;
  if (typeof laneKey === 'string' && typeof place.key === 'string' && laneKey !== place.key) {
    const message = say('lane_metadata_invalid:key', { laneKey: short(laneKey), key: short(place.key) });
    refuse('lane_metadata_invalid', ['lane', 'key'], message);
  }
  if (isObject(extensionBindings) && isKnown(extensionBindings)) {
    const reason = bindingsReason(extensionBindings);
    if (reason) refuse('launch_field_invalid', ['extensionBindings'], say('bindings_invalid', { reason }));
  }
  if (typeof gate === 'string' && acceptance !== undefined && acceptance !== UNKNOWN && acceptance !== false) {
    const message = say('launch_field_conflict:gate', { gate: short(gate), acceptance: short(acceptance) });
    refuse('launch_field_conflict', ['gate'], message);
  }
  if (typeof timeoutMs === 'number' && typeof maxRuntimeMs === 'number' && timeoutMs !== maxRuntimeMs) {
    const message = say('launch_field_conflict:limits', { timeoutMs, maxRuntimeMs });
    refuse('launch_field_conflict', ['maxRuntimeMs'], message);
  }
  const { isolation, worktree } = params;
  if (isKnown(isolation) && typeof worktree === 'boolean' && isolation !== undefined) {
    if (worktree !== (isolation === 'worktree')) {
      const message = say('launch_field_conflict:isolation', {
        isolation: short(isolation),
        worktree: String(worktree),
      });
      refuse('launch_field_conflict', ['isolation'], message);
    }
  }
  if (baseRef !== undefined && (worktree === false || isolation === 'none'))
    refuse('launch_field_conflict', ['baseRef'], say('launch_field_conflict:base'));
  if (params['outputMode'] === 'file-only' && params['output'] === false) {
    refuse('launch_field_conflict', ['outputMode'], say('launch_field_conflict:output'));
  }
  if (resume === undefined) {
    if (params['agent'] === undefined && !place.open) {
      refuse('launch_agent_missing', [], say('launch_agent_missing', { what: place.what }));
    }
  } else if (resume !== UNKNOWN) faults.push(...resumeFaults(params, place));
  return faults;
}

function resumeFaults(params: LaunchObject, place: LaunchPlace): RuleFault[] {
  const faults: RuleFault[] = [];
  const refuse = (path: RuleFault['path'], message: Phrase) => faults.push({ rule: 'resume_invalid', path, message });
  const { resume, task } = params;
  if (place.stage === 'first') {
    const message =
      resume === 'previous'
        ? say('lanes_resume_first_stage:previous')
        : say('lanes_resume_first_stage:run', { call: 'runs.run(key, {resume})' });
    return [{ rule: 'lanes_resume_first_stage', path: ['resume'], message }];
  }
  if (place.stage === 'later') {
    if (resume !== 'previous') refuse(['resume'], say('resume_invalid:stage', { value: short(resume) }));
  } else if (resume === 'previous') refuse(['resume'], say('resume_invalid:previous'));
  else if (typeof resume === 'string') {
    if (resume.trim() === '') refuse(['resume'], say('resume_invalid:blank'));
  } else if (isKnown(resume) && !z.safeParse(savedChild, resume).success) {
    refuse(['resume'], say('resume_invalid:value', { what: place.what, value: short(resume) }));
  }
  for (const name of NOT_WITH_RESUME) {
    if (params[name] !== undefined) refuse([name], say('resume_invalid:beside', { name }));
  }
  const blank = typeof task === 'string' && task.trim() === '';
  if (blank || (task === undefined && !place.open)) {
    refuse(task === undefined ? [] : ['task'], say('resume_invalid:task', { what: place.what }));
  }
  return faults;
}

/** Two launches are the same when this is: canonical JSON, in which a gate says what `acceptance: false` beside it does. */
export function launchFingerprint(params: LaunchObject): string {
  const { acceptance, ...rest } = params;
  return canonicalJson(params['gate'] !== undefined && acceptance === false ? rest : params);
}

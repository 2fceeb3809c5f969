/**
 * The rules of the workflow language: keys, launch parameters, lanes, host steps, steering, batch results. Each stands
 * here once; the static check of scripts and the engine that runs them ask the same functions.
 *
 * A value may be known only in part while a script is read: `UNKNOWN` stands for what only a run can tell. A rule
 * that would need it stays silent, so nothing is refused that might be right.
 */
import * as z from 'zod/mini';
import { say, type Words } from './words.ts';

/** Stands for a value that is not known before the script runs. */
export const UNKNOWN: unique symbol = Symbol('unknown');

/** A rule that is broken. `path` leads from the checked value to the place; empty: the value itself. */
export interface RuleFault {
  rule: WorkflowRule;
  path: (string | number)[];
  /** Names the field, the value and the rule. */
  message: Words;
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

/** Members of the global `runs`. */
export const RUNS_MEMBERS = ['run', 'all', 'lanes', 'host', 'steer', 'status', 'ref', 'refs'] as const;
export type RunsMember = (typeof RUNS_MEMBERS)[number];

// ---- keys

/** What is wrong with a key, or nothing. `what` says whose key it is: a text `key_of`. */
export function keyFault(key: unknown, what: Words, path: RuleFault['path'] = []): RuleFault[] {
  if (key === UNKNOWN || (typeof key === 'string' && WORKFLOW_KEY.test(key))) return [];
  const message =
    typeof key === 'string'
      ? say('key_format', { what, value: short(key), max: MAX_KEY_LENGTH })
      : say('key_format:no-text', { what, max: MAX_KEY_LENGTH });
  return [{ rule: 'key_format', path, message }];
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

// ---- values that are known in part

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
export function short(value: unknown): Words {
  if (value === undefined) return say('value:missing');
  if (!isKnown(value)) return say('value:expression');
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

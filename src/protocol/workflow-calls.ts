/** The rules on host steps and on steering. */
import * as z from 'zod/mini';
import { atMost, delay, notBlank, positive } from './schema-parts.ts';
import { type Phrase, ruleWords, say } from './words.ts';
import {
  isKnown,
  isObject,
  keyFault,
  MAX_HOST_COMMAND_BYTES,
  MAX_HOST_OUTPUT_BYTES,
  MAX_HOST_PROVIDER_BYTES,
  MAX_HOST_TIMEOUT_MS,
  MAX_STEER_INDEX,
  type RuleFault,
  short,
  UNKNOWN,
} from './workflow.ts';
import type { LaunchObject } from './workflow-launch.ts';

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
          ? say('host_field_unknown:cwd')
          : say('host_field_unknown', { name, known: Object.keys(hostFields).join(', ') });
      faults.push({ rule: 'host_field_unknown', path: [name], message });
    } else if (isKnown(value) && value !== undefined) {
      const parsed = z.safeParse(hostFields[name], value);
      if (parsed.success) continue;
      const rules = ruleWords(parsed.error);
      const message = say('field_invalid', { name, what: 'runs.host', value: short(value), rules });
      faults.push({ rule: 'host_field_invalid', path: [name], message });
    }
  }
  if (open) return faults;
  if (params['kind'] === undefined) {
    faults.push({ rule: 'host_field_invalid', path: [], message: say('host_field_invalid:kind') });
  }
  if (params['command'] === undefined) {
    faults.push({ rule: 'host_field_invalid', path: [], message: say('host_field_invalid:command') });
  }
  if (params['timeoutMs'] === undefined) {
    const message = say('host_timeout_missing', { max: MAX_HOST_TIMEOUT_MS });
    faults.push({ rule: 'host_timeout_missing', path: [], message });
  }
  return faults;
}

function isFieldOf<Fields extends object>(fields: Fields, name: PropertyKey): name is keyof Fields {
  return Object.hasOwn(fields, name);
}

// ---- steering

const steerOptions = {
  mode: z.enum(['steer', 'follow_up', 'auto'], 'must be "steer", "follow_up" or "auto"'),
  index: z.int().check(z.nonnegative(), z.maximum(MAX_STEER_INDEX)),
  ackTimeoutMs: delay,
} as const;

/** Every rule on the arguments of `runs.steer`; paths begin with the number of the argument. */
export function steerFaults(key: unknown, message: unknown, options: unknown): RuleFault[] {
  const faults = keyFault(key, say('key_of', { what: 'runs.steer' }), [0]);
  const refuse = (path: RuleFault['path'], text: Phrase) =>
    faults.push({ rule: 'steer_argument_invalid', path, message: text });
  if (message !== UNKNOWN && (typeof message !== 'string' || message.trim() === '')) {
    refuse([1], say('steer_argument_invalid:message', { value: short(message) }));
  }
  if (options === undefined || options === UNKNOWN) return faults;
  if (!isObject(options)) {
    refuse([2], say('steer_argument_invalid:options', { value: short(options) }));
    return faults;
  }
  for (const [name, value] of Object.entries(options)) {
    if (!isFieldOf(steerOptions, name)) {
      refuse([2, name], say('steer_argument_invalid:name', { name }));
    } else if (isKnown(value) && value !== undefined) {
      const parsed = z.safeParse(steerOptions[name], value);
      if (!parsed.success) {
        const rules = ruleWords(parsed.error);
        refuse([2, name], say('field_invalid', { name, what: 'runs.steer', value: short(value), rules }));
      }
    }
  }
  return faults;
}

/** What is asked for when an agent is created or changed: fields of its file by name, and its prompt. Strict: nothing is passed over. */
import { lanesError } from '../../protocol/index.ts';
import { nearest } from '../spelling/index.ts';
import { FIELDS } from './agent-fields.ts';
import type { DefinitionChange } from './edit-definition.ts';

export type AgentConfig = Readonly<Record<string, unknown>>;

/** Short names of fields. */
const SHORT: Readonly<Record<string, string>> = { reads: 'defaultReads', progress: 'defaultProgress' };
const KEYS: readonly string[] = [...FIELDS, ...Object.keys(SHORT), 'systemPrompt'];

/** Fields in which `false` is a value; in all others it takes the field away. */
const WITH_FALSE: readonly string[] = [
  'allowNestedSubagents',
  'fast',
  'thinking',
  'inheritProjectContext',
  'inheritGlobalContext',
  'inheritSkills',
  'async',
  'acceptance',
  'defaultProgress',
  'interactive',
  'completionGuard',
  'advertise',
] satisfies (typeof FIELDS)[number][];

const TEXTS: readonly string[] = ['name', 'description', 'package', 'model', 'output', 'systemPrompt'];

/**
 * `null`, an empty text and, where it is no value, `false` take a field away.
 *
 * @throws LanesError `agent_config_invalid` naming a field there is none of, or a value that no field can have
 */
export function readConfig(config: AgentConfig): DefinitionChange {
  const fields: [string, unknown][] = [];
  let systemPrompt: string | undefined;
  for (const [key, value] of Object.entries(config)) {
    if (!KEYS.includes(key)) throw unknownField(key);
    const field = SHORT[key] ?? key;
    const isGone =
      value === null || value === undefined || value === '' || (value === false && !WITH_FALSE.includes(field));
    if (!isGone && TEXTS.includes(field) && typeof value !== 'string')
      throw lanesError('agent_config_invalid:text', { field, value: JSON.stringify(value) ?? String(value) });
    if (field === 'systemPrompt') systemPrompt = isGone ? '' : String(value);
    else fields.push([field, isGone ? undefined : value]);
  }
  return { fields, ...(systemPrompt === undefined ? {} : { systemPrompt }) };
}

function unknownField(field: string) {
  const meant = nearest(field, KEYS);
  return meant === undefined
    ? lanesError('agent_config_invalid:unknown', { field, known: KEYS.join(', ') })
    : lanesError('agent_config_invalid:meant', { field, meant });
}

/** A value as it is typed: what is no text in its field is a number, a truth, or JSON where it looks like it. */
export function typedValue(field: string, typed: string): unknown {
  if (TEXTS.includes(field)) return typed;
  if (typed === 'true' || typed === 'false') return typed === 'true';
  if (/^\d+$/.test(typed)) return Number(typed);
  if (!/^[[{]/.test(typed)) return typed;
  try {
    return JSON.parse(typed);
  } catch (error) {
    throw lanesError('agent_config_invalid:json', { field, value: typed }, { cause: error });
  }
}

/** What can be done with agents on the command line, in the place where else the name of one stands. */
export const AGENT_WORDS = [
  'show',
  'create',
  'import',
  'update',
  'delete',
  'eject',
  'reset',
  'disable',
  'enable',
  'undo',
] as const;

/** The name of an agent that has had another one, or none. Throws `agent_config_invalid`. */
export function newName(given: unknown): string {
  const name = plainName(String(given ?? ''));
  if (AGENT_WORDS.some((word) => word === name))
    throw lanesError('agent_config_invalid:word', { name, words: AGENT_WORDS.join(', ') });
  return name;
}

/** A name as files and command lines like them. Throws `agent_config_invalid` when nothing is left of it. */
export function plainName(given: string): string {
  const name = given
    .trim()
    .toLowerCase()
    .replaceAll(/\s+/g, '-')
    .replaceAll(/[^a-z0-9-]/g, '');
  if (/[a-z0-9]/.test(name)) return name;
  throw lanesError('agent_config_invalid:name', { value: given });
}

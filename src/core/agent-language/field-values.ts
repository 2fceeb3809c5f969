/** What can stand in each field: for completion and hover. */
import type { AgentFieldName } from '../../protocol/index.ts';
import { ADAPTERS, EVIDENCE } from '../agents/index.ts';
import { THINKING_LEVELS } from '../models/index.ts';

/** `model`: also `inherit`; `agent`: names of agents are told about and led to, never offered. */
export type Values =
  | { kind: 'model' | 'tool' | 'skill' | 'path' | 'agent' | 'text' | 'number' }
  | { kind: 'option'; options: readonly string[] }
  | { kind: 'map'; keys: Readonly<Record<string, Values>> }
  /** A map from tools. */
  | { kind: 'rules'; of: Values };

export interface FieldValues {
  values: Values;
  isList: boolean;
}

const FLAG = option('true', 'false');
const TEXT: Values = { kind: 'text' };
const NUMBER: Values = { kind: 'number' };
const TOOL: Values = { kind: 'tool' };
const RULES: Values = { kind: 'rules', of: option('allow', 'ask', 'deny') };
const LEVELS = ['none', 'auto', 'attested', 'checked', 'verified'];

function option(...options: readonly string[]): Values {
  return { kind: 'option', options };
}

const one = (values: Values): FieldValues => ({ values, isList: false });
const list = (kind: 'model' | 'tool' | 'skill' | 'path' | 'agent'): FieldValues => ({ values: { kind }, isList: true });

export const FIELD_VALUES: Readonly<Record<AgentFieldName, FieldValues>> = {
  name: one({ kind: 'agent' }),
  description: one(TEXT),
  package: one(TEXT),
  aliases: list('agent'),
  alias: list('agent'),
  tools: list('tool'),
  excludeTools: list('tool'),
  allowNestedSubagents: one(FLAG),
  model: one({ kind: 'model' }),
  fallbackModels: list('model'),
  fast: one(FLAG),
  thinking: one(option(...THINKING_LEVELS, 'false')),
  systemPromptMode: one(option('replace', 'append')),
  inheritProjectContext: one(FLAG),
  inheritGlobalContext: one(FLAG),
  inheritSkills: one(FLAG),
  defaultContext: one(option('fresh', 'fork')),
  async: one(FLAG),
  timeoutMs: one(NUMBER),
  toolTimeoutMs: one(NUMBER),
  acceptance: one({
    kind: 'map',
    keys: {
      level: option(...LEVELS),
      criteria: TEXT,
      evidence: option(...EVIDENCE),
      verify: TEXT,
      review: FLAG,
      stopRules: TEXT,
      reason: TEXT,
      report: option('on', 'off'),
    },
  }),
  acceptanceRole: one(option('read-only', 'writer')),
  skills: list('skill'),
  skill: list('skill'),
  skillPath: list('path'),
  extensions: list('path'),
  subagentOnlyExtensions: list('path'),
  mutationTools: list('tool'),
  output: one({ kind: 'text' }),
  outputMode: one(option('inline', 'file-only')),
  defaultReads: list('path'),
  defaultProgress: one(FLAG),
  interactive: one(FLAG),
  maxSubagentDepth: one(NUMBER),
  completionGuard: one(FLAG),
  toolBudget: one({ kind: 'map', keys: { soft: NUMBER, hard: NUMBER, block: TOOL } }),
  permission: one(RULES),
  permissions: one(RULES),
  memory: one({ kind: 'map', keys: { scope: option('project', 'user'), path: TEXT } }),
  runner: one({
    kind: 'map',
    keys: {
      type: option('pi', 'external-cli', 'external-job'),
      command: TEXT,
      args: TEXT,
      adapter: option(...ADAPTERS),
      promptDelivery: option('stdin'),
      capabilities: TEXT,
      provider: TEXT,
      options: TEXT,
    },
  }),
  advertise: one(FLAG),
};

export function isKnownField(name: string): name is AgentFieldName {
  return Object.hasOwn(FIELD_VALUES, name);
}

/** What can stand at a place in a field; `undefined`: nobody knows. @param keys of maps on the way */
export function valuesAt(field: string, keys: readonly string[]): Values | undefined {
  if (!isKnownField(field)) return undefined;
  let { values }: { values: Values } = FIELD_VALUES[field];
  for (const key of keys) {
    if (values.kind === 'rules') values = values.of;
    else if (values.kind === 'map' && Object.hasOwn(values.keys, key)) values = values.keys[key] ?? TEXT;
    else return undefined;
  }
  return values;
}

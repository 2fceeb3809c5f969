/**
 * What settings change in agents: `agentOverrides` and its kin below `subagents`. An entry with a mistake is not used by half:
 * its agent is refused until it is mended.
 */
import { findNodeAtLocation, type Node } from 'jsonc-parser';
import * as z from 'zod/mini';
import {
  type AgentDiagnostic,
  type AgentProblem,
  agentProblem,
  describeFaults,
  type TextRange,
  toolBudget,
} from '../../protocol/index.ts';
import { THINKING_LEVELS } from '../models/index.ts';
import { nearest } from '../spelling/index.ts';
import type { TextPositions } from '../text-positions/index.ts';

const text = z.string('must be a text').check(z.minLength(1, 'must not be empty'));
const flag = z.boolean('must be true or false');
const list = z.array(text);
const none = z.literal(false);
const textOrNone = z.union([none, text], 'must be a text or false');
const listOrNone = z.union([none, list], 'must be a list of texts or false');
const option = <const T extends readonly string[]>(names: T) => z.enum(names, `must be one of ${names.join(', ')}`);
const optionOrNone = <const T extends readonly string[]>(names: T) =>
  z.union([none, z.enum(names)], `must be one of ${names.join(', ')} or false`);

/** Every field that settings can change. `false` takes away what the definition says; of `tools` it leaves none. */
const FIELDS = {
  description: text,
  systemPrompt: textOrNone,
  systemPromptMode: option(['replace', 'append']),
  inheritProjectContext: flag,
  inheritGlobalContext: flag,
  inheritSkills: flag,
  defaultContext: optionOrNone(['fresh', 'fork']),
  model: textOrNone,
  defaultProvider: textOrNone,
  fallbackModels: listOrNone,
  fast: flag,
  thinking: optionOrNone(THINKING_LEVELS),
  tools: z.union([none, z.literal('inherit'), list], 'must be a list of texts, "inherit" or false'),
  excludeTools: listOrNone,
  allowNestedSubagents: flag,
  toolBudget: z.union([none, toolBudget], 'must be {soft?, hard, block?} or false'),
  skills: listOrNone,
  extensions: listOrNone,
  subagentOnlyExtensions: listOrNone,
  mutationTools: listOrNone,
  output: textOrNone,
  outputMode: optionOrNone(['inline', 'file-only']),
  defaultReads: listOrNone,
  acceptanceRole: optionOrNone(['read-only', 'writer']),
  completionGuard: flag,
  disabled: flag,
} as const;
type Fields = { [K in keyof typeof FIELDS]: z.infer<(typeof FIELDS)[K]> };
export type OverrideField = keyof Fields;
export type OverrideValues = { [K in OverrideField]?: Fields[K] };

export const OVERRIDE_FIELDS: readonly string[] = Object.keys(FIELDS);

export interface Override {
  values: OverrideValues;
  /** Where each field stands, with its name in the settings. */
  places: { [K in OverrideField]?: SettingPlace };
  /** Mistakes; with one the agent cannot be used. */
  broken?: AgentDiagnostic;
}

/** A value in settings. */
export interface SettingPlace extends TextRange {
  /** Absolute. */
  file: string;
  /** As `subagents.agentOverrides.worker.model`. */
  setting: string;
}

/** By the name of the agent. */
export type Overrides = ReadonlyMap<string, Override>;

export interface OverrideSettings {
  overrides: Overrides;
  byProvider: ReadonlyMap<string, Overrides>;
  diagnostics: AgentDiagnostic[];
}

export interface SettingsText {
  file: string;
  positions: TextPositions;
  tree: Node | undefined;
}

/** @param settings as JSON has them: an agent may have any name */
export function readOverrides(settings: unknown, source: SettingsText): OverrideSettings {
  const subagents = asObject(asObject(settings)?.['subagents']) ?? {};
  const diagnostics: AgentDiagnostic[] = [];
  const plain = ['subagents', 'agentOverrides'];
  const overrides = readEntries(subagents['agentOverrides'], plain, source, diagnostics);
  const byProvider = new Map<string, Overrides>();
  const path = ['subagents', 'agentOverridesByProvider'];
  for (const [provider, entries] of Object.entries(asObject(subagents['agentOverridesByProvider']) ?? {})) {
    byProvider.set(provider, readEntries(entries, [...path, provider], source, diagnostics));
  }
  return { overrides, byProvider, diagnostics };
}

function readEntries(
  given: unknown,
  path: readonly string[],
  source: SettingsText,
  diagnostics: AgentDiagnostic[],
): Overrides {
  const entries = asObject(given) ?? {};
  return new Map(
    Object.entries(entries).map(([name, entry]) => {
      const { found, ...override } = readEntry(name, entry, [...path, name], source);
      diagnostics.push(...found);
      return [name, override];
    }),
  );
}

function readEntry(name: string, entry: unknown, path: readonly string[], source: SettingsText) {
  const override: Override & { found: AgentDiagnostic[] } = { values: {}, places: {}, found: [] };
  const say = (problem: AgentProblem, at: readonly string[]): AgentDiagnostic => {
    const { setting: _setting, ...place } = placeOf(at, source);
    const diagnostic = { name, ...problem, ...place };
    override.found.push(diagnostic);
    return diagnostic;
  };
  const fields = asObject(entry);
  if (!fields) {
    override.broken = say(agentProblem('override_invalid', { name, faults: 'it must be an object of fields' }), path);
    return override;
  }
  for (const [field, value] of Object.entries(fields)) {
    const at = [...path, field];
    if (!isField(field)) {
      const meant = nearest(field, OVERRIDE_FIELDS);
      const problem =
        meant === undefined
          ? agentProblem('override_unknown', { field, name })
          : agentProblem('override_unknown:meant', { field, name, meant });
      say(problem, at);
      continue;
    }
    const parsed = z.object({ [field]: FIELDS[field] }).safeParse({ [field]: value });
    if (parsed.success) {
      Object.assign(override.values, parsed.data);
      override.places[field] = placeOf(at, source);
    } else {
      override.broken = say(agentProblem('override_invalid', { name, faults: describeFaults(parsed.error) }), at);
    }
  }
  return override;
}

function isField(name: string): name is OverrideField {
  return Object.hasOwn(FIELDS, name);
}

/** Where a setting stands; of an array or object its name, so that a squiggle does not cover half a file. */
export function placeOf(path: readonly string[], { file, positions, tree }: SettingsText): SettingPlace {
  const value = tree && findNodeAtLocation(tree, [...path]);
  const [key] = value?.parent?.type === 'property' ? (value.parent.children ?? []) : [];
  const isLong = value?.type === 'object' || value?.type === 'array';
  const start = (key ?? value)?.offset ?? 0;
  const last = isLong ? key : value;
  const end = last ? last.offset + last.length : start;
  return { file, setting: path.join('.'), ...positions.range(start, end) };
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : undefined;
}

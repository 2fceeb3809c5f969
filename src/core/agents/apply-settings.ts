/**
 * What an agent is once settings have had their say. One rule for every field and every source of agents: what the project's
 * settings say counts before what the user's say, and that before the definition; defaults fill what nobody has said. Within
 * one file of settings the entry for a provider counts before the plain one.
 */
import type { AgentDiagnostic } from '../../protocol/index.ts';
import { resolveDotted, splitTools } from './agent-fields.ts';
import type { AgentSettings } from './agent-settings.ts';
import type { FoundAgent } from './discovery.ts';
import type { Override, OverrideField, OverrideValues, SettingPlace } from './overrides.ts';

export type Applied =
  | { state: 'usable'; agent: FoundAgent }
  /** By settings; nothing weaker of its name takes its place. */
  | { state: 'disabled'; agent: FoundAgent; by: SettingPlace }
  | { state: 'refused'; diagnostic: AgentDiagnostic };

/**
 * @param settings from the weakest to the strongest
 * @param provider of the models of whoever launches, for `agentOverridesByProvider`
 */
export function applySettings(
  given: FoundAgent,
  settings: readonly AgentSettings[],
  provider: string | undefined,
): Applied {
  const layers = settings.flatMap((file) => layersOf(given.name, file, provider));
  const broken = layers.find(({ override }) => override.broken)?.override.broken;
  if (broken) return { state: 'refused', diagnostic: broken };
  const isBuiltin = given.source === 'builtin';
  const agent: FoundAgent = { ...given };
  const origins: Record<string, SettingPlace> = {};
  if (isBuiltin) {
    const withoutThinking = last(settings, 'disableThinking');
    if (withoutThinking?.value && agent.thinking !== undefined) {
      delete agent.thinking;
      origins['thinking'] = withoutThinking.place;
    }
  }
  const withoutBuiltins = last(settings, 'disableBuiltins');
  let by = isBuiltin && withoutBuiltins?.value ? withoutBuiltins.place : undefined;
  const taken = new Set<string>();
  for (const { override, base } of layers) {
    const { values, places } = override;
    assign(agent, values, base);
    for (const [field, place] of Object.entries(places)) origins[field] = place;
    if (values.disabled !== undefined) by = values.disabled ? places.disabled : undefined;
    for (const [field, value] of Object.entries(values)) {
      if (value === false) taken.add(field);
      else taken.delete(field);
    }
  }
  delete origins['disabled'];
  fillGaps(agent, settings, taken, origins);
  if (Object.keys(origins).length > 0) agent.fromSettings = origins;
  return by ? { state: 'disabled', agent, by } : { state: 'usable', agent };
}

interface Layer {
  override: Override;
  /** Folder that relative paths begin in. */
  base: string;
}

function layersOf(name: string, { overrides, byProvider, base }: AgentSettings, provider: string | undefined): Layer[] {
  const ofProvider = provider === undefined ? undefined : byProvider.get(provider)?.get(name);
  return [overrides.get(name), ofProvider].flatMap((override) => (override ? [{ override, base }] : []));
}

type Defaults = AgentSettings['defaults'];

/** The strongest file that says something counts. */
function last<K extends keyof Defaults>(settings: readonly AgentSettings[], name: K): Defaults[K] {
  return settings.findLast(({ defaults }) => defaults[name] !== undefined)?.defaults[name];
}

/** @param taken fields that an override has taken away: no default brings them back */
function fillGaps(
  agent: FoundAgent,
  settings: readonly AgentSettings[],
  taken: ReadonlySet<string>,
  origins: Record<string, SettingPlace>,
): void {
  const isOpen = (field: keyof FoundAgent) => agent[field] === undefined && !taken.has(field);
  const model = last(settings, 'defaultModel');
  if (model && isOpen('model')) {
    agent.model = model.value;
    origins['model'] = model.place;
  }
  const provider = last(settings, 'defaultProvider');
  if (provider && isOpen('defaultProvider')) {
    agent.defaultProvider = provider.value;
    origins['defaultProvider'] = provider.place;
  }
  const thinking = last(settings, 'defaultThinking');
  if (thinking && isOpen('thinking')) {
    agent.thinking = thinking.value;
    origins['thinking'] = thinking.place;
  }
  const extensions = last(settings, 'defaultExtensions');
  if (extensions && isOpen('extensions')) {
    agent.extensions = extensions.value;
    origins['extensions'] = extensions.place;
  }
}

const PATH_LISTS: readonly OverrideField[] = ['extensions', 'subagentOnlyExtensions'];

function assign(agent: FoundAgent, values: OverrideValues, base: string): void {
  const { tools, disabled: _disabled, systemPrompt, thinking, ...others } = values;
  if (tools !== undefined) assignTools(agent, tools, base);
  if (systemPrompt !== undefined) agent.systemPrompt = systemPrompt || '';
  if (thinking !== undefined) agent.thinking = thinking;
  const cleared: Partial<Record<OverrideField, undefined>> = {};
  const given: Partial<FoundAgent> = {};
  for (const [field, value] of Object.entries(others)) {
    if (value === false && !isFlag(field)) Object.assign(cleared, { [field]: undefined });
    else Object.assign(given, { [field]: isPathList(field, value) ? resolveDotted(value, base) : value });
  }
  Object.assign(agent, given);
  for (const field of Object.keys(cleared)) Reflect.deleteProperty(agent, field);
}

/** Fields in which `false` is a value like any other. */
const FLAGS: readonly string[] = [
  'inheritProjectContext',
  'inheritGlobalContext',
  'inheritSkills',
  'fast',
  'allowNestedSubagents',
  'completionGuard',
] satisfies OverrideField[];

function isFlag(field: string): boolean {
  return FLAGS.includes(field);
}

function isPathList(field: string, value: unknown): value is string[] {
  return PATH_LISTS.some((name) => name === field) && Array.isArray(value);
}

function assignTools(agent: FoundAgent, given: NonNullable<OverrideValues['tools']>, base: string): void {
  const { tools, mcpDirectTools, toolExtensions } = splitTools(Array.isArray(given) ? given : []);
  agent.mcpDirectTools = mcpDirectTools;
  agent.toolExtensions = resolveDotted(toolExtensions, base);
  if (given === 'inherit') delete agent.tools;
  else agent.tools = tools ?? [];
}

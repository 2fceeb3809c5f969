import {
  type AgentCapabilities,
  capabilitiesOf,
  type DisabledAgent,
  type Discovered,
  type FoundAgent,
} from '../../core/agents/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { type AgentDiagnostic, cutText, lanesError } from '../../protocol/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { agentFieldsCommand } from './agent-fields.ts';

export interface AgentsOptions {
  capabilities: boolean | undefined;
  scope: string | undefined;
  json: boolean | undefined;
}

const SCOPES = ['user', 'project', 'both'] as const;
const SECTIONS = ['package', 'user', 'project', 'runtime', 'builtin'] as const;
const MAX_DESCRIPTION_CHARS = 240;

/**
 * Lists the agents of this folder, with what is wrong with their files, or shows one with where each of its fields comes from.
 * Prompts are never shown.
 */
export async function agentsCommand(
  context: CliContext,
  name: string | undefined,
  options: AgentsOptions,
): Promise<number> {
  const found = await discover(context, scopeOf(options.scope));
  if (name !== undefined) return agentFieldsCommand(context, name, found, options.json ?? false);
  if (options.json) printJson(context, asJson(found, options.capabilities ?? false));
  else context.out(visible(asText(found, options.capabilities ?? false)));
  return EXIT.ok;
}

function scopeOf(value: string | undefined): (typeof SCOPES)[number] {
  const scope = SCOPES.find((one) => one === (value ?? 'both'));
  if (scope !== undefined) return scope;
  throw lanesError('launch_invalid:scope', { value: value ?? '', allowed: SCOPES.join(', ') });
}

/** In a folder that is gone there is no project, but there are agents. */
function discover(context: CliContext, scope: (typeof SCOPES)[number]): Promise<Discovered> {
  const { toolbox } = context;
  let cwd: string;
  try {
    cwd = context.cwd;
  } catch {
    return toolbox.discoverAgents(toolbox.agentDir, { scope, projectTrusted: false });
  }
  return toolbox.discoverAgents(cwd, { scope });
}

function asJson({ agents, disabled, diagnostics, directories }: Discovered, withCapabilities: boolean) {
  return {
    agents: agents.map(({ name, description, aliases, source, tools, file, model, fromPackage, fromSettings }) => ({
      name,
      description,
      aliases,
      source,
      tools,
      file,
      model,
      ...(fromPackage ? { package: fromPackage } : {}),
      ...(fromSettings ? { fromSettings } : {}),
    })),
    disabled: disabled.map(({ agent: { name, source, file }, by }) => ({ name, source, file, by })),
    ...(withCapabilities ? { capabilities: agents.map(capabilitiesOf) } : {}),
    diagnostics: diagnostics.map(({ text: _text, params: _params, ...diagnostic }) => diagnostic),
    directories,
  };
}

function asText({ agents, disabled, diagnostics }: Discovered, withCapabilities: boolean): string {
  const rows = SECTIONS.flatMap((source) =>
    agents
      .filter((agent) => agent.source === source)
      .map((agent) => (withCapabilities ? capabilityRow(capabilitiesOf(agent)) : row(agent))),
  );
  const faults = diagnostics.filter(({ severity }) => severity !== 'info');
  return [
    withCapabilities ? 'Agents and what they can do:' : 'Agents:',
    ...rows,
    ...(disabled.length === 0 ? [] : ['', 'Disabled:', ...disabled.map(disabledRow)]),
    ...(faults.length === 0 ? [] : ['', 'Problems:', ...faults.map(faultRow)]),
  ].join('\n');
}

function row({ name, source, fromPackage, defaultContext, aliases, description, fromSettings }: FoundAgent): string {
  const facts = [
    fromPackage ? `package ${[fromPackage.name, fromPackage.version].filter(Boolean).join(' ')}` : source,
    ...(defaultContext === undefined ? [] : [`context: ${defaultContext}`]),
    ...(aliases.length === 0 ? [] : [`aliases: ${aliases.join(', ')}`]),
    ...(fromSettings ? [`from settings: ${Object.keys(fromSettings).join(', ')}`] : []),
  ];
  return `- ${name} (${facts.join(', ')}): ${oneLine(description)}`;
}

function disabledRow({ agent: { name, source }, by: { file, line, column, setting } }: DisabledAgent): string {
  return `- ${name} (${source}): ${setting} in ${file}:${line}:${column}`;
}

function capabilityRow({ name, description, source, tools, model, unsupported }: AgentCapabilities): string {
  const facts = [
    source,
    `tools: ${tools.ambient ? 'default' : [...tools.names, ...tools.mcpDirectTools].join(', ') || 'none'}`,
    `model: ${model.value ?? 'inherits'}`,
    `thinking: ${model.thinking ?? 'default'}`,
    ...(unsupported.length === 0 ? [] : [`cannot be launched yet: ${unsupported.join(', ')}`]),
  ];
  return `- ${name} (${facts.join('; ')}): ${cutText(oneLine(description), MAX_DESCRIPTION_CHARS)}`;
}

function faultRow({ file, line, column, severity, message, hint }: AgentDiagnostic): string {
  return `- ${file}:${line}:${column} ${severity}: ${message} ${hint}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

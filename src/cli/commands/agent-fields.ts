import { findAgent } from '../../core/agent-names/index.ts';
import type { Discovered, FoundAgent } from '../../core/agents/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { describeError, LanesError } from '../../protocol/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';

/** Where a value comes from; without a file it is the default. */
interface Origin {
  from: 'settings' | 'definition' | 'default';
  file?: string;
  line?: number;
  /** As `subagents.agentOverrides.worker.model`. */
  setting?: string;
}

interface FieldRow extends Origin {
  field: string;
  /** `null`: settings have taken the field away. */
  value: unknown;
}

/** What an agent says of itself and of its place, and its prompt, which is never shown. */
const NO_FIELDS: readonly string[] = [
  'name',
  'localName',
  'source',
  'file',
  'places',
  'fromSettings',
  'fromPackage',
  'isOfProject',
  'systemPrompt',
  'extraFields',
];

/** Every field of one agent, with its value and where that was said. Throws for one that cannot be used, and why. */
export function agentFieldsCommand(context: CliContext, name: string, found: Discovered, json: boolean): number {
  const agent = usable(name, found);
  const fields = fieldsOf(agent);
  if (json) printJson(context, { agent: { name: agent.name, source: agent.source, file: agent.file, fields } });
  else context.out(visible([`${agent.name} (${agent.source}): ${agent.file}`, ...fields.map(row)].join('\n')));
  return EXIT.ok;
}

function usable(name: string, { agents, disabled, refused }: Discovered): FoundAgent {
  const found = findAgent(name, [
    ...agents,
    ...disabled.map(({ agent, by: { file, line, column, setting } }) => ({
      name: agent.name,
      localName: agent.localName,
      aliases: agent.aliases,
      error: describeError('agent_disabled', { name: agent.name, file, line, column, setting }),
    })),
    ...refused.map(({ name: its, diagnostic: { file, line, column, message } }) => ({
      name: its,
      aliases: [],
      error: describeError('agent_invalid', { name: its, file, line, column, reason: message }),
    })),
  ]);
  if ('error' in found) throw new LanesError(found.error);
  return found;
}

function fieldsOf(agent: FoundAgent): FieldRow[] {
  const values = new Map<string, unknown>(Object.entries(agent).filter(([field]) => !NO_FIELDS.includes(field)));
  const ofSettings = Object.keys(agent.fromSettings ?? {}).filter((field) => field !== 'systemPrompt');
  const names = new Set([...values.keys(), ...ofSettings]);
  return [...names].map((field) => ({ field, value: values.get(field) ?? null, ...originOf(agent, field) }));
}

/** Fields that the file has under another name, or as a part of another field. */
const WRITTEN_AS: Readonly<Record<string, string>> = {
  skills: 'skill',
  aliases: 'alias',
  permissions: 'permission',
  mcpDirectTools: 'tools',
  toolExtensions: 'tools',
};

function originOf({ fromSettings, places, file }: FoundAgent, field: string): Origin {
  const other = WRITTEN_AS[field] ?? field;
  const setting = fromSettings?.[field] ?? fromSettings?.[other];
  if (setting) return { from: 'settings', file: setting.file, line: setting.line, setting: setting.setting };
  const place = places[field] ?? places[other];
  return place ? { from: 'definition', file, line: place.line } : { from: 'default' };
}

function row({ field, value, from, file, line, setting }: FieldRow): string {
  const shown = typeof value === 'string' ? value.replace(/\s+/g, ' ') : JSON.stringify(value);
  const where =
    from === 'settings' ? `${setting} in ${file}:${line}` : from === 'definition' ? `line ${line}` : 'default';
  return `  ${field}: ${value === null ? 'none' : shown}  (${where})`;
}

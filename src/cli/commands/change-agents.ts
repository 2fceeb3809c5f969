import { resolve } from 'node:path';
import { unknownNamesOf } from '../../client/index.ts';
import {
  AGENT_WORDS,
  type AgentChange,
  type AgentConfig,
  type ChangeScope,
  type ImportedAgent,
  importClaudeAgent,
  typedValue,
} from '../../core/agents/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { lanesError } from '../../protocol/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { readGiven } from '../given-file.ts';

/** The words that change something. */
export const CHANGES = AGENT_WORDS.filter((word) => word !== 'show');
type Change = (typeof CHANGES)[number];

export interface ChangeAgentsOptions {
  scope: string | undefined;
  description: string | undefined;
  set: string[] | undefined;
  'prompt-file': string | undefined;
  json: boolean | undefined;
}

/** Changes an agent, says which files were written, and how to take it back. */
export async function changeAgentsCommand(
  context: CliContext,
  action: Change,
  name: string,
  options: ChangeAgentsOptions,
): Promise<number> {
  const imported = action === 'import' ? await readImported(name) : undefined;
  const change = await make(context, action, name, options, imported?.config);
  const warnings = ['create', 'import', 'update'].includes(action) ? await unknownIn(context, change) : [];
  const { left: notTaken } = imported ?? {};
  if (options.json)
    printJson(context, { ...change, ...(notTaken && { notTaken }), ...(warnings.length === 0 ? {} : { warnings }) });
  else
    context.out(
      visible([asText(change), ...(notTaken ?? []).map(notTakenRow), ...warnings.map(warningRow)].join('\n')),
    );
  return EXIT.ok;
}

/** @param name of the agent; of `import` the file it is in */
async function make(
  context: CliContext,
  action: Change,
  name: string,
  options: ChangeAgentsOptions,
  imported: AgentConfig = {},
) {
  const changes = context.toolbox.agentChanges(context.cwd);
  const scope = scopeOf(options.scope);
  switch (action) {
    case 'create':
      return changes.create({ name, ...(await configOf(options)) }, scope);
    case 'import':
      return changes.create(imported, scope);
    case 'update':
      return changes.update(name, await configOf(options), scope);
    case 'disable':
    case 'enable':
      return changes.switch(name, action === 'enable', scope);
    case 'undo':
      return changes.undo();
    default:
      return changes[action](name, scope);
  }
}

/** Models, tools and skills that the agent names and nobody has here: it may be right elsewhere, or tomorrow. */
async function unknownIn({ toolbox, cwd }: CliContext, { name, files }: AgentChange) {
  if (files.length === 0) return [];
  const found = await unknownNamesOf(toolbox, name, cwd);
  return found.map(({ field, message, hint }) => ({ field, message, hint }));
}

async function readImported(file: string): Promise<ImportedAgent> {
  const text = await readGiven(file, (reason) => lanesError('launch_invalid:import-file', { file, reason }));
  return importClaudeAgent(text, resolve(file));
}

function notTakenRow({ field, value }: ImportedAgent['left'][number]): string {
  return `  Not taken over: ${field} ${value}`;
}

function warningRow({ message, hint }: { message: string; hint: string }): string {
  return `  Warning: ${message} ${hint}`;
}

const SCOPES: readonly ChangeScope[] = ['user', 'project'];

function scopeOf(value: string | undefined): ChangeScope | undefined {
  if (value === undefined) return undefined;
  const scope = SCOPES.find((one) => one === value);
  if (scope !== undefined) return scope;
  throw lanesError('launch_invalid:scope', { value, allowed: SCOPES.join(', ') });
}

async function configOf(options: ChangeAgentsOptions): Promise<AgentConfig> {
  const file = options['prompt-file'];
  return {
    ...(options.description === undefined ? {} : { description: options.description }),
    ...Object.fromEntries((options.set ?? []).map(assignment)),
    ...(file === undefined ? {} : { systemPrompt: await readPrompt(file) }),
  };
}

function assignment(value: string): [string, unknown] {
  const at = value.indexOf('=');
  if (at < 1) throw lanesError('agent_config_invalid:assignment', { value });
  const field = value.slice(0, at).trim();
  return [field, typedValue(field, value.slice(at + 1))];
}

function readPrompt(file: string): Promise<string> {
  return readGiven(file, (reason) => lanesError('launch_invalid:prompt-file', { file, reason }));
}

const DONE: Readonly<Record<AgentChange['action'], string>> = {
  load: 'Loaded',
  create: 'Created',
  update: 'Changed',
  delete: 'Deleted',
  duplicate: 'Copied',
  eject: 'Copied',
  reset: 'Reset',
  disable: 'Disabled',
  enable: 'Enabled',
  undo: 'Taken back:',
};

const NOTHING: Readonly<Partial<Record<AgentChange['action'], string>>> = {
  update: 'it says so already',
  reset: 'nothing of your own to remove',
  disable: 'it is disabled already',
  enable: 'it is enabled already',
};

function asText({ action, name, files, hides, undone, left }: AgentChange): string {
  if (files.length === 0) return `${name}: ${NOTHING[action] ?? 'nothing to do'}.`;
  return [
    `${DONE[action]} ${undone === undefined ? name : `${undone} of ${name}`}.`,
    ...files.map((file) => `  ${file}`),
    ...(hides === undefined ? [] : [`  It takes the place of the one whose source is ${hides}.`]),
    ...(left ?? []).map((setting) => `  Not taken along, because there is one of the new name: ${setting}.`),
    ...(action === 'undo' ? [] : ['  To take it back: pi-lanes agents undo']),
  ].join('\n');
}

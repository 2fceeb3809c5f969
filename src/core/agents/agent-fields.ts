/** Every field of a definition but its names, with what it is when it is absent, and what happens to a wrong value. */
import { resolve } from 'node:path';
import { agentProblem, MAX_DELAY_MS, toolBudget } from '../../protocol/index.ts';
import { THINKING_LEVELS } from '../models/index.ts';
import { nearest } from '../spelling/index.ts';
import type { Agent } from './agent.ts';
import type { FieldReader } from './field-reader.ts';
import { acceptance, memory, permissions, runner, WITHOUT_PERMISSION } from './field-shapes.ts';
import type { HeaderField } from './header.ts';

type Fields = Omit<
  Agent,
  | 'name'
  | 'localName'
  | 'package'
  | 'description'
  | 'aliases'
  | 'source'
  | 'file'
  | 'systemPrompt'
  | 'extraFields'
  | 'places'
  | 'defaultProvider'
>;

export const FIELDS = [
  'name',
  'description',
  'package',
  'aliases',
  'alias',
  'tools',
  'excludeTools',
  'allowNestedSubagents',
  'model',
  'fallbackModels',
  'fast',
  'thinking',
  'systemPromptMode',
  'inheritProjectContext',
  'inheritGlobalContext',
  'inheritSkills',
  'defaultContext',
  'async',
  'timeoutMs',
  'toolTimeoutMs',
  'acceptance',
  'acceptanceRole',
  'skills',
  'skill',
  'skillPath',
  'extensions',
  'subagentOnlyExtensions',
  'mutationTools',
  'output',
  'outputMode',
  'defaultReads',
  'defaultProgress',
  'interactive',
  'maxSubagentDepth',
  'completionGuard',
  'toolBudget',
  'permission',
  'permissions',
  'memory',
  'runner',
  'advertise',
] as const;
type FieldName = (typeof FIELDS)[number];

const DELAY = { least: 1, most: MAX_DELAY_MS };

/** @param folder of the file: relative paths of extensions and skills begin there */
export function readFields(reader: FieldReader, folder: string): Fields {
  const at = (paths: string[] | undefined) => paths && resolveDotted(paths, folder);
  const { tools, mcpDirectTools, toolExtensions } = splitTools(reader.list('tools'));
  const fields = {
    ...optional({
      tools,
      excludeTools: reader.list('excludeTools'),
      allowNestedSubagents: reader.flag('allowNestedSubagents'),
      model: reader.text('model'),
      fallbackModels: reader.list('fallbackModels'),
      thinking: thinkingOf(reader),
      defaultContext: reader.option('defaultContext', ['fresh', 'fork'], 'field_ignored'),
      async: reader.flag('async'),
      timeoutMs: reader.whole('timeoutMs', DELAY, 'field_invalid'),
      toolTimeoutMs: reader.whole('toolTimeoutMs', DELAY, 'field_invalid'),
      toolBudget: reader.shaped('toolBudget', toolBudget),
      maxSubagentDepth: reader.whole('maxSubagentDepth', { least: 0, most: 1000 }, 'field_ignored'),
      acceptance: acceptanceOf(reader),
      acceptanceRole: reader.option('acceptanceRole', ['read-only', 'writer'], 'field_invalid'),
      skills: either(reader, 'skills', 'skill'),
      skillPath: at(reader.list('skillPath')),
      extensions: at(reader.list('extensions')),
      subagentOnlyExtensions: at(reader.list('subagentOnlyExtensions')),
      mutationTools: reader.list('mutationTools'),
      output: reader.text('output'),
      outputMode: reader.option('outputMode', ['inline', 'file-only'], 'field_invalid'),
      defaultReads: reader.list('defaultReads'),
      memory: reader.shaped('memory', memory, 'field_ignored'),
      permissions: permissionsOf(reader),
    }),
    systemPromptMode: reader.option('systemPromptMode', ['replace', 'append'], 'field_ignored') ?? 'replace',
    inheritProjectContext: reader.lenientFlag('inheritProjectContext', false) ?? false,
    inheritGlobalContext: reader.lenientFlag('inheritGlobalContext', false) ?? false,
    inheritSkills: reader.lenientFlag('inheritSkills', false) ?? false,
    defaultProgress: reader.lenientFlag('defaultProgress', false) ?? false,
    interactive: reader.lenientFlag('interactive', false) ?? false,
    completionGuard: reader.lenientFlag('completionGuard', true) ?? true,
    fast: reader.flag('fast') ?? false,
    advertise: reader.flag('advertise') ?? false,
    mcpDirectTools,
    toolExtensions: at(toolExtensions) ?? [],
    runner: reader.shaped('runner', runner) ?? { type: 'pi' as const },
  };
  checkRunner(reader, fields.runner);
  return fields;
}

/** Only what is there: an absent field is not one that is `undefined`. */
function optional<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const given: { [K in keyof T]?: Exclude<T[K], undefined> } = {};
  for (const key in fields) {
    const value = fields[key];
    if (isGiven(value)) given[key] = value;
  }
  return given;
}

function isGiven<T>(value: T): value is Exclude<T, undefined> {
  return value !== undefined;
}

/** Two names of one field. */
function either(reader: FieldReader, name: FieldName, other: FieldName): string[] | undefined {
  if (reader.has(name) && reader.has(other))
    reader.complain(other, agentProblem('field_conflict', { field: other, other: name }));
  return reader.list(name) ?? reader.list(other);
}

/** Paths that begin with `./` or `../` begin in a folder; names are no paths. */
export function resolveDotted(paths: readonly string[], folder: string): string[] {
  return paths.map((path) => (/^\.\.?[\\/]/.test(path) ? resolve(folder, path) : path));
}

export function splitTools(list: readonly string[] | undefined) {
  const mcpDirectTools: string[] = [];
  const toolExtensions: string[] = [];
  const tools = list?.filter((entry) => {
    if (entry.startsWith('mcp:')) mcpDirectTools.push(entry.slice(4).trim());
    else if (/[\\/]/.test(entry) || /\.[cm]?[jt]s$/.test(entry)) toolExtensions.push(entry);
    else return true;
    return false;
  });
  return { tools: tools && [...new Set(tools)], mcpDirectTools, toolExtensions };
}

function thinkingOf(reader: FieldReader): Agent['thinking'] {
  const level = reader.option('thinking', [...THINKING_LEVELS, 'false'], 'field_invalid');
  return level === 'false' ? false : level;
}

function acceptanceOf(reader: FieldReader): Agent['acceptance'] {
  const value = reader.shaped('acceptance', acceptance);
  return value === 'false' ? false : value;
}

function permissionsOf(reader: FieldReader): Agent['permissions'] {
  if (reader.has('permission') && reader.has('permissions'))
    return reader.complain(
      'permissions',
      agentProblem('field_conflict', { field: 'permissions', other: 'permission' }),
    );
  const name = reader.has('permission') ? 'permission' : 'permissions';
  const rules = reader.shaped(name, permissions);
  for (const tool of Object.keys(rules ?? {})) {
    if (WITHOUT_PERMISSION.includes(tool))
      reader.complain(name, agentProblem('field_invalid:permission-tool', { value: tool }));
  }
  return rules;
}

/** What only Pi understands. */
const OF_PI: readonly FieldName[] = [
  'tools',
  'excludeTools',
  'allowNestedSubagents',
  'model',
  'fallbackModels',
  'fast',
  'thinking',
  'skills',
  'skill',
  'skillPath',
  'extensions',
  'subagentOnlyExtensions',
  'mutationTools',
  'toolBudget',
  'toolTimeoutMs',
  'permission',
  'permissions',
  'memory',
];

function checkRunner(reader: FieldReader, { type, ...rest }: Agent['runner']): void {
  if (type === 'pi') return;
  if ('adapter' in rest && rest.adapter !== undefined && rest.args !== undefined)
    reader.complain('runner', agentProblem('field_invalid:adapter-args'));
  for (const field of OF_PI) {
    if (reader.has(field)) reader.complain(field, agentProblem('field_invalid:beside-runner', { field, runner: type }));
  }
}

const REMOVED = ['turnBudget'];

/** Fields nobody knows are kept, because others may; one that looks like a slip of the pen is told. */
export function extraFields(reader: FieldReader, fields: ReadonlyMap<string, HeaderField>): Record<string, string> {
  const extra: Record<string, string> = {};
  const known: readonly string[] = FIELDS;
  for (const [name, { lines }] of fields) {
    if (known.includes(name)) continue;
    const isRemoved = REMOVED.includes(name);
    if (isRemoved) reader.complain(name, agentProblem('field_ignored:removed', { field: name }));
    const meant = isRemoved ? undefined : nearest(name, known);
    if (meant !== undefined) reader.complain(name, agentProblem('field_unknown', { field: name, meant }));
    const plain = lines?.plain ?? '';
    extra[name] = typeof plain === 'string' ? plain : plain.join(', ');
  }
  return extra;
}

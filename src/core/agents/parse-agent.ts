/** From the text of a file to a definition, and to everything that is wrong with it. */
import { dirname } from 'node:path';
import { type AgentDiagnostic, type AgentProblem, agentProblem, type TextRange } from '../../protocol/index.ts';
import { TextPositions } from '../text-positions/index.ts';
import type { Agent, AgentSource } from './agent.ts';
import { extraFields, readFields } from './agent-fields.ts';
import { FieldReader, shown } from './field-reader.ts';
import { readHeader } from './header.ts';
import { findHeader, lineFields, type Span } from './header-lines.ts';
import { unsupportedProblems } from './unsupported.ts';

export interface ParsedAgent {
  /** Absent: the file cannot be used. */
  agent?: Agent;
  /** What it would be called, as far as that can be made out. */
  name?: string;
  diagnostics: AgentDiagnostic[];
}

export interface AgentFile {
  /** Absolute; of a builtin agent the name of the file it is made from. */
  file: string;
  source: AgentSource;
}

const MAX_NAME_CHARS = 128;
const PACKAGE = /^[a-z0-9][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*)*$/;

export function parseAgent(given: string, { file, source }: AgentFile): ParsedAgent {
  // An editor does not count a byte order mark as a column.
  const text = given.replace(/^\uFEFF/, '');
  const positions = new TextPositions(text);
  const whole = positions.range(0, 0);
  const say = (problem: AgentProblem, range: TextRange, name?: string): AgentDiagnostic => ({
    file,
    ...(name === undefined ? {} : { name }),
    ...problem,
    ...range,
  });
  const found = findHeader(text);
  if (found === 'empty') return { diagnostics: [say(agentProblem('header_missing:empty'), whole)] };
  if (found === 'missing') return { diagnostics: [say(agentProblem('header_missing'), whole)] };
  const opening = { start: text.indexOf('---'), end: text.indexOf('---') + 3 };
  if (found === 'unclosed') {
    const name = nameIn(text);
    const diagnostic = say(agentProblem('header_unclosed'), placeOf(positions, opening), name);
    return { ...(name === undefined ? {} : { name }), diagnostics: [diagnostic] };
  }
  const header = readHeader(text, found.header);
  if (header.fields.size === 0 && header.found.length > 0) {
    return { diagnostics: header.found.map(({ problem, span }) => say(problem, placeOf(positions, span))) };
  }
  const reader = new FieldReader(text, header, opening);
  const names = readNames(reader);
  const agent: Agent = {
    ...names,
    ...readFields(reader, dirname(file)),
    source,
    file,
    systemPrompt: found.body,
    extraFields: extraFields(reader, header.fields),
    places: Object.fromEntries(
      [...header.fields].map(([field, { key, span }]) => [field, rangeOf(positions, key, span)]),
    ),
  };
  const isUsable = !reader.found.some(({ problem }) => problem.severity === 'error');
  if (isUsable) {
    for (const { field, problem } of unsupportedProblems(agent)) reader.complain(field, problem);
  }
  const name = names.name === '' ? undefined : names.name;
  const diagnostics = reader.found.map(({ problem, span }) => say(problem, placeOf(positions, span), name));
  diagnostics.sort((a, b) => a.line - b.line || a.column - b.column);
  return { ...(isUsable ? { agent } : {}), ...(name === undefined ? {} : { name }), diagnostics };
}

function rangeOf(positions: TextPositions, key: Span, value: Span): TextRange {
  return placeOf(positions, { start: key.start, end: Math.max(key.end, value.end) });
}

/** Without the line end that a block may have. */
function placeOf(positions: TextPositions, { start, end }: Span): TextRange {
  const text = positions.text.slice(start, end);
  return positions.range(start, start + text.trimEnd().length);
}

function nameIn(text: string): string | undefined {
  const { fields } = lineFields(text, { start: text.indexOf('---') + 3, end: text.length });
  const name = fields.find((field) => field.name === 'name')?.plain;
  return typeof name === 'string' && name !== '' ? name : undefined;
}

function readNames(reader: FieldReader) {
  const localName = required(reader, 'name');
  const description = required(reader, 'description');
  if (/[\p{Cc}\\/]/u.test(localName) || localName === '.' || localName === '..' || localName.length > MAX_NAME_CHARS)
    reader.complain('name', agentProblem('field_invalid:name', { value: shown(localName), max: MAX_NAME_CHARS }));
  const given = reader.text('package');
  const prefix = given
    ?.toLowerCase()
    .replaceAll(/\s+/g, '-')
    .replaceAll(/[^a-z0-9.-]/g, '');
  if (prefix !== undefined && !PACKAGE.test(prefix))
    reader.complain('package', agentProblem('field_invalid:package', { value: shown(given) }));
  const name = prefix === undefined || localName === '' ? localName : `${prefix}.${localName}`;
  const aliases = [...(reader.list('aliases') ?? []), ...(reader.list('alias') ?? [])];
  return {
    name,
    localName,
    ...(prefix === undefined ? {} : { package: prefix }),
    description,
    aliases: [...new Set(aliases)].filter((alias) => alias !== name && alias !== localName),
  };
}

/** Empty: it is missing, or no text. */
function required(reader: FieldReader, field: string): string {
  const before = reader.found.length;
  const value = reader.text(field);
  const isExplained = reader.found.slice(before).some(({ problem }) => problem.severity === 'error');
  if (value === undefined && !isExplained) reader.complain(field, agentProblem('field_missing', { field }));
  return value ?? '';
}

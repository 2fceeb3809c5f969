/**
 * The text of a definition with some fields changed. Everything else stays as it is, to the byte: comments, the order of fields,
 * fields nobody knows, line ends, a byte order mark.
 */
import { isDeepStrictEqual } from 'node:util';
import { Lexer, stringify } from 'yaml';
import { lanesError } from '../../protocol/index.ts';
import type { Agent } from './agent.ts';
import { FIELDS } from './agent-fields.ts';
import { readHeader } from './header.ts';
import { findHeader, lineFields } from './header-lines.ts';
import { type ParsedAgent, parseAgent } from './parse-agent.ts';

/** A value of a field; `undefined` takes the field away. */
export type FieldChange = readonly [field: string, value: unknown];

export interface DefinitionChange {
  fields: readonly FieldChange[];
  /** The body. */
  systemPrompt?: string;
}

/** Fields that have two names: the one the file has is kept. */
const SPELLINGS: Readonly<Record<string, string>> = {
  aliases: 'alias',
  skills: 'skill',
  permissions: 'permission',
};

/**
 * @param file that the text is from
 * @throws LanesError `agent_config_invalid` when a value is not what its field may be, `agent_not_editable` when the header is
 * written in a way that no single field of it can be changed
 */
export function editDefinition(given: string, change: DefinitionChange, file: string): string {
  const mark = given.startsWith('\uFEFF') ? '\uFEFF' : '';
  const before = given.slice(mark.length);
  const eol = before.includes('\r\n') ? '\r\n' : '\n';
  if (typeof findHeader(before) === 'string') throw lanesError('agent_not_editable:header', { file });
  let text = before;
  for (const [field, value] of change.fields) text = withField(text, field, value, eol, file);
  if (change.systemPrompt !== undefined) text = withBody(text, change.systemPrompt, eol);
  check(before, text, change, file);
  return mark + text;
}

function headerOf(text: string) {
  const found = findHeader(text);
  if (typeof found === 'string') throw new Error('the header was there before');
  return found.header;
}

function withField(text: string, given: string, value: unknown, eol: string, file: string): string {
  const span = headerOf(text);
  const { fields } = readHeader(text, span);
  const other = SPELLINGS[given];
  const name = !fields.has(given) && other !== undefined && fields.has(other) ? other : given;
  const lines = lineFields(text, span).fields.filter((line) => line.name === name);
  if (lines.length === 0 && fields.has(name)) throw lanesError('agent_not_editable:header', { file });
  if (value === undefined) {
    return lines.toReversed().reduce((rest, { whole }) => {
      const next = rest.indexOf('\n', whole.end);
      return rest.slice(0, whole.start) + rest.slice(next === -1 ? rest.length : next + 1);
    }, text);
  }
  const written = writeField(name, value).replaceAll('\n', eol);
  const last = lines.at(-1);
  if (!last) return text.slice(0, span.end) + written + eol + text.slice(span.end);
  const { start, end } = last.whole;
  const comments = commentsIn(text.slice(start, end));
  const [comment] = comments;
  if (comments.length === 1 && comment !== undefined && !/[\r\n]/.test(text.slice(start, end) + written))
    return `${text.slice(0, start)}${written} ${comment}${text.slice(end)}`;
  return text.slice(0, start) + [...comments, written].join(eol) + text.slice(end);
}

/** What a field that is written anew has of comments. */
function commentsIn(text: string): string[] {
  const comments: string[] = [];
  let isScalar = false;
  for (const token of new Lexer().lex(text)) {
    if (!isScalar && token.startsWith('#')) comments.push(token.trimEnd());
    // What comes next is a scalar, whatever it begins with.
    isScalar = token === '\u001F';
  }
  return comments;
}

/** A field as YAML, in the form that programs without YAML understand as well wherever there is one. */
export function writeField(name: string, value: unknown): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return `${name}:`;
    const isPlain = value.every((item) => typeof item === 'string' && !/[,\n]/.test(item) && item === item.trim());
    return yaml(name, isPlain ? value.join(', ') : value);
  }
  // Others read this one field as JSON.
  if (name === 'toolBudget') return `${name}: ${JSON.stringify(value)}`;
  return yaml(name, value);
}

function yaml(name: string, value: unknown): string {
  return stringify({ [name]: value }, { lineWidth: 0, blockQuote: 'literal' }).trimEnd();
}

function withBody(text: string, body: string, eol: string): string {
  const { end } = headerOf(text);
  const line = text.indexOf('\n', end);
  const head = line === -1 ? text + eol : text.slice(0, line + 1);
  const lines = body.replaceAll('\r\n', '\n').trim().replaceAll('\n', eol);
  return lines === '' ? head : `${head}${eol}${lines}${eol}`;
}

/** Nothing but what was asked for has changed, and what was asked for is what the file says now. */
function check(before: string, after: string, { fields, systemPrompt }: DefinitionChange, file: string): void {
  const was = parseAgent(before, { file, source: 'user' });
  const is = parseAgent(after, { file, source: 'user' });
  const fault = newFault(was, is);
  if (fault) throw lanesError('agent_config_invalid:value', { reason: fault.message });
  if (!was.agent || !is.agent) return;
  const changed = new Set(fields.flatMap(([name]) => [name, SPELLINGS[name] ?? name]));
  const others = (agent: Agent) => othersOf(agent, changed, systemPrompt !== undefined);
  if (!isDeepStrictEqual(others(was.agent), others(is.agent))) throw lanesError('agent_not_editable:header', { file });
}

function newFault(was: ParsedAgent, is: ParsedAgent) {
  const known = new Set(was.diagnostics.map(({ message }) => message));
  return is.diagnostics.find(
    ({ severity, code, message }) => (severity === 'error' || code === 'field_ignored') && !known.has(message),
  );
}

/** What a field makes of others: a list of tools has more in it than tools, a name is part of the whole one. */
const MADE_OF: Readonly<Record<string, readonly string[]>> = {
  tools: ['mcpDirectTools', 'toolExtensions'],
  name: ['localName', 'aliases'],
  package: ['name', 'aliases'],
};

function othersOf(agent: Agent, changed: ReadonlySet<string>, isBodyChanged: boolean): Record<string, unknown> {
  const left = new Set([...changed, 'places', ...[...changed].flatMap((name) => MADE_OF[name] ?? [])]);
  if (isBodyChanged) left.add('systemPrompt');
  return Object.fromEntries(Object.entries(agent).filter(([name]) => !left.has(name)));
}

/** A new definition, with its fields in the order they are documented in. */
export function writeDefinition(fields: ReadonlyMap<string, unknown>, systemPrompt: string): string {
  const known = FIELDS.filter((name) => fields.has(name) && fields.get(name) !== undefined);
  const header = known.map((name) => writeField(name, fields.get(name)));
  const body = systemPrompt.replaceAll('\r\n', '\n').trim();
  return ['---', ...header, '---', '', ...(body === '' ? [] : [body, ''])].join('\n');
}

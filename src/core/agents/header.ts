/**
 * The header of a definition as fields with places. It is read as YAML; where it is none, field by field, so that one mistake
 * costs one field, and the lines of that field as programs without YAML read them.
 */
import { type Document, isMap, isNode, isScalar, type Node, type ParsedNode, parseDocument } from 'yaml';
import { type AgentProblem, agentProblem, wordsOf } from '../../protocol/index.ts';
import { type LineField, lineFields, type Span } from './header-lines.ts';

/** A value that YAML understands: its node, the document that resolves its aliases, and where that begins in the text. */
export interface YamlValue {
  kind: 'yaml';
  node: Node | null;
  document: Document;
  base: number;
}

/** A value that is no YAML: what its lines say, and what is wrong with it as YAML. */
export interface PlainValue {
  kind: 'plain';
  value: string | string[];
  reason: string;
  /** Where YAML stopped. */
  at: Span;
}

export interface HeaderField {
  name: string;
  key: Span;
  span: Span;
  value: YamlValue | PlainValue;
  /** What programs without YAML read; absent when they do not see the field. */
  lines?: LineField;
}

export interface Found {
  problem: AgentProblem;
  span: Span;
}

export interface Header {
  /** In the order of the text; of a field that stands there twice, the last. */
  fields: Map<string, HeaderField>;
  found: Found[];
}

// Names of fields are unique in our own way: what is there twice is no reason to read nothing.
const OPTIONS = {
  uniqueKeys: false,
  prettyErrors: false,
  schema: 'core',
  logLevel: 'silent',
  stringKeys: true,
} as const;

export function readHeader(text: string, span: Span): Header {
  const { fields: lines, strays } = lineFields(text, span);
  const document = parseDocument(text.slice(span.start, span.end), OPTIONS);
  const found: Found[] = [];
  const all =
    document.errors.length === 0 ? fieldsOf(document, span, lines) : lines.map((line) => readField(text, line));
  if (all.length === 0 && (document.errors.length > 0 || document.contents !== null)) {
    found.push({ problem: agentProblem('header_not_fields'), span });
  }
  if (document.errors.length > 0) {
    for (const { line } of strays) found.push({ problem: agentProblem('header_line_ignored'), span: line });
  }
  const fields = new Map<string, HeaderField>();
  for (const field of all) {
    if (fields.delete(field.name)) {
      found.push({ problem: agentProblem('field_duplicate', { field: field.name }), span: field.key });
    }
    fields.set(field.name, field);
  }
  return { fields, found };
}

function fieldsOf(document: Document.Parsed, { start }: Span, lines: readonly LineField[]): HeaderField[] {
  const { contents } = document;
  if (!isMap<ParsedNode, ParsedNode | null>(contents)) return [];
  return contents.items.flatMap(({ key, value: node }): HeaderField[] => {
    if (!isScalar(key)) return [];
    const name = String(key.value);
    const at = within(key, start);
    const line = lines.find((one) => one.key.start === at.start);
    const value = isNode(node) ? node : null;
    return [
      {
        name,
        key: at,
        span: value ? within(value, start) : { start: at.end, end: at.end },
        value: { kind: 'yaml', node: value, document, base: start },
        ...(line && { lines: line }),
      },
    ];
  });
}

function within({ range }: Pick<ParsedNode, 'range'>, base: number): Span {
  return { start: base + range[0], end: base + range[1] };
}

/** One field by itself. */
function readField(text: string, line: LineField): HeaderField {
  const { start } = line.whole;
  const document = parseDocument(text.slice(start, line.whole.end), OPTIONS);
  const [error] = document.errors;
  const [field] = error ? [] : fieldsOf(document, line.whole, [line]);
  if (field) return field;
  const at = error ? { start: start + error.pos[0], end: start + error.pos[1] } : line.value;
  return {
    name: line.name,
    key: line.key,
    span: line.value,
    value: {
      kind: 'plain',
      value: line.plain,
      reason: firstLine(error?.message ?? 'a space is missing behind the colon'),
      at,
    },
    lines: line,
  };
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? text;
}

/** What a value is in JavaScript. Throws for one that refers to what is not there, or makes too much of too little. */
export function toData({ node, document }: YamlValue): unknown {
  if (node === null) return null;
  try {
    return node.toJS(document, { maxAliasCount: 100 });
  } catch (error) {
    throw new BadReference(firstLine(wordsOf(error)));
  }
}

export class BadReference extends Error {}

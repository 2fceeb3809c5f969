/**
 * What stands at a place of a definition, also while it is being typed and no YAML yet: the fields are found as discovery
 * finds them, by their lines, and what a field holds is followed from its beginning, so that a bracket or a quote nobody has
 * closed yet reaches no further than its own field. Pure.
 */
import { findHeader, type LineField, lineFields, type Span } from '../agents/index.ts';

/** The name of a field, whole or begun. */
export interface FieldPlace {
  at: 'field';
  span: Span;
  /** What stands there. */
  text: string;
  /** The other fields of the header. */
  others: string[];
  /** A colon is there already. */
  isClosed: boolean;
}

/** Something that a field holds: a text, one of a list, or a key or value of a map in it. */
export interface ValuePlace {
  at: 'value';
  field: string;
  /** Keys of the maps on the way from the field to it. */
  keys: string[];
  part: 'key' | 'value';
  /** Without quotes. */
  span: Span;
  text: string;
  /** What stands beside it in the same list or map. */
  others: string[];
  /** A space is missing between the colon and it. */
  needsSpace: boolean;
}

export type DefinitionPlace = FieldPlace | ValuePlace;

/** @param offset in UTF-16 units; @returns `undefined` where nothing of the header is meant: prompt, comments, block text */
export function placeIn(text: string, offset: number): DefinitionPlace | undefined {
  const header = headerOf(text);
  if (!header || offset < header.start || offset > header.end) return undefined;
  const { fields } = lineFields(text, header);
  const line = lineAt(text, offset);
  if (line.start >= header.end && header.end < text.length) return undefined;
  const written = text.slice(line.start, line.end);
  if (written.startsWith('#')) return undefined;
  const own = fields.find(({ key }) => key.start === line.start);
  if (own && offset <= own.key.end) return fieldPlace(own.key, own.name, fields, true);
  if (!own && /^[\w-]*\s*$/.test(written) && !/^\s/.test(written) && !/^-(?:\s|$)/.test(written)) {
    const name = written.trimEnd();
    const span = { start: line.start, end: line.start + name.length };
    return offset <= span.end ? fieldPlace(span, name, fields, false) : undefined;
  }
  const at = fields.findLastIndex(({ key }) => key.start <= offset);
  const field = fields[at];
  if (!field) return undefined;
  return placeInField(text, field, fields[at + 1]?.key.start ?? header.end, offset);
}

/** A header that nobody has closed yet reaches to the end. */
function headerOf(text: string): Span | undefined {
  const found = findHeader(text);
  if (typeof found !== 'string') return found.header;
  if (found !== 'unclosed') return undefined;
  const opening = text.indexOf('---');
  const feed = text.indexOf('\n', opening);
  return feed === -1 ? undefined : { start: feed + 1, end: text.length };
}

function lineAt(text: string, offset: number): Span {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const feed = text.indexOf('\n', offset);
  const end = feed === -1 ? text.length : feed;
  return { start, end: text[end - 1] === '\r' && end > start ? end - 1 : end };
}

function fieldPlace(span: Span, name: string, fields: readonly LineField[], isClosed: boolean): FieldPlace {
  const others = fields.filter(({ key }) => key.start !== span.start).map((field) => field.name);
  return { at: 'field', span, text: name, others, isClosed };
}

function placeInField(text: string, field: LineField, end: number, offset: number): ValuePlace | undefined {
  const colon = text.indexOf(':', field.key.end);
  const inline = withoutComment(field.inline);
  if (/^[|>]/.test(inline)) return undefined;
  const holder = { field: field.name, keys: [] };
  if (inline !== '') return inLine(text, { start: colon + 1, end }, holder, offset);
  const line = lineAt(text, colon);
  if (offset <= line.end) return inLine(text, { start: colon + 1, end: line.end }, holder, offset);
  return inBlock(text, field.name, { start: line.end + 1, end }, offset);
}

interface Holder {
  field: string;
  keys: string[];
}

const DASH = /^(\s*)-(?:\s+|$)/;
const ENTRY = /^(\s+)("[^"]*"|'[^']*'|[^\s"'#[{:,]+)\s*:(?=\s|$)/;

/** Below the line of the field: `- item`, `key: value`, or a value that goes on. */
function inBlock(text: string, field: string, region: Span, offset: number): ValuePlace | undefined {
  const line = lineAt(text, offset);
  const written = text.slice(line.start, line.end);
  if (/^\s*#/.test(written)) return undefined;
  const indent = indentOf(written);
  const lines = linesOf(text, region);
  const parent = lines.findLast(
    ({ start, text: one }) => start < line.start && ENTRY.test(one) && indentOf(one) < indent,
  );
  const holder = { field, keys: parent ? [unquotedKey(ENTRY.exec(parent.text)?.[2] ?? '')] : [] };
  const beside = lines.filter(({ start, text: one }) => start !== line.start && indentOf(one) === indent);
  const dash = DASH.exec(written);
  if (dash) {
    const from = line.start + dash[0].length;
    if (offset < from) return undefined;
    const found = inLine(text, { start: from, end: line.end }, holder, offset);
    const others = beside.flatMap(({ text: one }) => {
      const item = DASH.exec(one);
      return item ? [unquotedKey(withoutComment(one.slice(item[0].length)))] : [];
    });
    return found && { ...found, others, needsSpace: false };
  }
  const others = beside.flatMap(({ text: one }) => {
    const name = ENTRY.exec(one)?.[2];
    return name === undefined ? [] : [unquotedKey(name)];
  });
  const entry = ENTRY.exec(written);
  if (entry) {
    const name = entry[2] ?? '';
    const start = line.start + indent;
    if (offset >= start && offset <= start + name.length) {
      const text = unquotedKey(name);
      const quote = text === name ? 0 : 1;
      const span = { start: start + quote, end: start + name.length - quote };
      return { at: 'value', ...holder, part: 'key', span, text, others, needsSpace: false };
    }
    const from = line.start + entry[0].length;
    const keys = [...holder.keys, unquotedKey(name)];
    return offset < from ? undefined : inLine(text, { start: from, end: line.end }, { field, keys }, offset);
  }
  const name = written.trim();
  if (!/^[\w-]*$/.test(name)) return inLine(text, { start: line.start, end: line.end }, holder, offset);
  const start = name === '' ? offset : line.start + indent;
  if (offset < start || offset > start + name.length) return undefined;
  const span = { start, end: start + name.length };
  return { at: 'value', ...holder, part: 'key', span, text: name, others, needsSpace: false };
}

/** A line, or a bracket in it, that is being read. */
interface Frame {
  kind: '[' | '{' | 'line';
  outer: Frame | undefined;
  /** Keys of the maps on the way to it. */
  keys: string[];
  /** In a map the key whose value comes next. */
  key: string | undefined;
  /** Where what is being read begins. */
  from: number;
  /** What stands in it beside the place: items of a list, keys of a map. */
  others: string[];
}

interface FoundEntry {
  frame: Frame;
  span: Span;
  part: ValuePlace['part'];
  keys: string[];
}

/** Values in one line, or in brackets over several: `a, b`, `[a, b]`, `{a: b}`. */
function inLine(text: string, region: Span, { field, keys }: Holder, offset: number): ValuePlace | undefined {
  let frame: Frame = { kind: 'line', outer: undefined, keys, key: undefined, from: region.start, others: [] };
  let found: FoundEntry | undefined;
  /** Nothing of what is being read has come yet. */
  let isBlank = true;
  const begin = (from: number) => {
    frame.from = from;
    isBlank = true;
  };
  const close = (end: number) => {
    const span = trimmed(text, frame.from, end);
    const part = frame.kind === '{' && frame.key === undefined ? 'key' : 'value';
    if (!found && offset >= frame.from && offset <= end) found = { frame, span, part, keys: keysOf(frame) };
    else if ((frame.kind !== '{' || part === 'key') && span.end > span.start)
      frame.others.push(text.slice(span.start, span.end));
  };
  for (let at = region.start; at < region.end; at += 1) {
    const char = text[at] ?? '';
    if ((char === '"' || char === "'") && isBlank) {
      at = closingQuote(text, at, region.end);
      isBlank = false;
    } else if (char === '#' && /\s/.test(text[at - 1] ?? '\n')) {
      const { end } = lineAt(text, at);
      if (offset > at && offset <= end) return undefined;
      if (frame.kind === 'line') {
        close(at);
        return placeOf(found, field, offset, text, region);
      }
      // Inside of brackets what is read goes on behind the comment.
      if (isBlank) begin(end);
      at = end;
    } else if ((char === '[' || char === '{') && isBlank) {
      frame = { kind: char, outer: frame, keys: keysOf(frame), key: undefined, from: at + 1, others: [] };
      isBlank = true;
    } else if (char === ',' || (char === ']' && frame.kind === '[') || (char === '}' && frame.kind === '{')) {
      close(at);
      if (char !== ',' && frame.outer) frame = frame.outer;
      else frame.key = undefined;
      begin(at + 1);
    } else if (char === ':' && frame.kind === '{' && frame.key === undefined && endsKey(text, at)) {
      const name = trimmed(text, frame.from, at);
      close(at);
      frame.key = text.slice(name.start, name.end);
      begin(at + 1);
    } else if (char.trim() !== '') isBlank = false;
  }
  close(region.end);
  return placeOf(found, field, offset, text, region);
}

function keysOf({ keys, key }: Frame): string[] {
  return key === undefined ? keys : [...keys, key];
}

function placeOf(
  found: FoundEntry | undefined,
  field: string,
  offset: number,
  text: string,
  region: Span,
): ValuePlace | undefined {
  if (!found) return undefined;
  const isInside = offset >= found.span.start && offset <= found.span.end;
  const span = isInside ? found.span : { start: offset, end: offset };
  return {
    at: 'value',
    field,
    keys: found.keys,
    part: found.part,
    span,
    text: text.slice(span.start, span.end),
    // The value of a key stands beside nothing.
    others: found.frame.kind === '{' && found.part === 'value' ? [] : found.frame.others,
    needsSpace: span.start === region.start && text[region.start - 1] === ':',
  };
}

/** Where a quoted text ends: at its quote, or at the end of its line while nobody has closed it. */
function closingQuote(text: string, opening: number, end: number): number {
  const closing = text.indexOf(text[opening] ?? '', opening + 1);
  const last = Math.min(lineAt(text, opening).end, end);
  return closing === -1 || closing >= last ? last - 1 : closing;
}

/** A colon inside of a word ends no key: `anthropic:x`. */
function endsKey(text: string, colon: number): boolean {
  return /[\s"']/.test(text[colon + 1] ?? ' ') || /["']/.test(text[colon - 1] ?? '');
}

/** Without spaces and quotes around it. */
function trimmed(text: string, from: number, to: number): Span {
  const written = text.slice(from, to);
  const start = from + (written.length - written.trimStart().length);
  const end = Math.max(start, from + written.trimEnd().length);
  const quote = text[start];
  if ((quote !== '"' && quote !== "'") || end === start) return { start, end };
  const isClosed = end - start > 1 && text[end - 1] === quote;
  return { start: start + 1, end: isClosed ? end - 1 : end };
}

function withoutComment(inline: string): string {
  return inline.replace(/(^|\s)#.*$/, '').trim();
}

function unquotedKey(name: string): string {
  return /^(["']).*\1$/.test(name) ? name.slice(1, -1) : name;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function linesOf(text: string, { start, end }: Span): { start: number; text: string }[] {
  const lines: { start: number; text: string }[] = [];
  for (let from = start; from < end; ) {
    const line = lineAt(text, from);
    const written = text.slice(line.start, line.end);
    if (written.trim() !== '' && !/^\s*#/.test(written)) lines.push({ start: line.start, text: written });
    const feed = text.indexOf('\n', from);
    from = feed === -1 ? end : feed + 1;
  }
  return lines;
}

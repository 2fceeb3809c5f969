/**
 * Where the header of a definition begins and ends, and what its lines say to programs that do not read YAML: a field is an
 * unindented `name: value`, a block is what is indented below it, everything else is passed over. Many definitions were
 * written for such programs, so what is no YAML is read like this.
 */

/** Offsets in the text, the end exclusive. */
export interface Span {
  start: number;
  end: number;
}

export interface HeaderLines {
  /** Between the lines of `---`. */
  header: Span;
  body: string;
}

export type HeaderFault = 'empty' | 'missing' | 'unclosed';

const OPENING = /^(?:[ \t]*\r?\n)*---[ \t]*(?:\r?\n|$)/;

/** @param text without a byte order mark */
export function findHeader(text: string): HeaderLines | HeaderFault {
  const opening = OPENING.exec(text);
  if (!opening) return text.trim() === '' ? 'empty' : 'missing';
  const start = opening[0].length;
  const closing = /^---.*$/gm;
  closing.lastIndex = start;
  const end = closing.exec(text);
  if (!end) return 'unclosed';
  const after = end.index + end[0].length;
  return { header: { start, end: end.index }, body: text.slice(after).replaceAll('\r\n', '\n').trim() };
}

export interface LineField {
  name: string;
  key: Span;
  /** From the key to the end of what belongs to it. */
  whole: Span;
  /** From behind the colon to the end of what belongs to it. */
  value: Span;
  /** What stands behind the colon, without spaces around it. */
  inline: string;
  /** A text, or the items of a list below the key. */
  plain: string | string[];
}

export interface StrayLine {
  line: Span;
}

const KEY = /^([\w-]+)[ \t]*:(.*)$/;

/** Fields line by line, and lines that belong to none. */
export function lineFields(text: string, { start, end }: Span): { fields: LineField[]; strays: StrayLine[] } {
  const fields: { name: string; key: Span; colon: number; end: number; inline: string; block: string[] }[] = [];
  const strays: StrayLine[] = [];
  for (const { line, from, to, next } of linesOf(text, start, end)) {
    const key = KEY.exec(line);
    const last = fields.at(-1);
    if (key) {
      const [, name = '', inline = ''] = key;
      const colon = from + line.indexOf(':');
      fields.push({
        name,
        key: { start: from, end: from + name.length },
        colon,
        end: to,
        inline: inline.trim(),
        block: [],
      });
    } else if (line.trim() === '') {
      last?.block.push(line);
    } else if (line.startsWith('#')) {
      // A comment.
    } else if (last && (/^[ \t\]}]/.test(line) || /^-[ \t]/.test(line))) {
      last.block.push(line);
      last.end = to;
    } else strays.push({ line: { start: from, end: to } });
    if (next >= end) break;
  }
  return {
    fields: fields.map(({ name, key, colon, end: last, inline, block }) => ({
      name,
      key,
      whole: { start: key.start, end: last },
      value: { start: valueStart(text, colon + 1, last), end: last },
      inline,
      plain: plainValue(inline, block),
    })),
    strays,
  };
}

function* linesOf(text: string, start: number, end: number) {
  for (let from = start; from < end; ) {
    const feed = text.indexOf('\n', from);
    const next = feed === -1 || feed >= end ? end : feed + 1;
    const line = text.slice(from, next).replace(/\r?\n$/, '');
    yield { line, from, to: from + line.length, next };
    from = next;
  }
}

function valueStart(text: string, from: number, end: number): number {
  const blank = /^\s*/.exec(text.slice(from, end));
  return from + (blank?.[0].length ?? 0);
}

function plainValue(inline: string, block: readonly string[]): string | string[] {
  if (inline !== '' && !/^[>|][+-]?$/.test(inline)) return unquoted(inline);
  const lines = block.map((line) => line.trim());
  while (lines.at(-1) === '') lines.pop();
  const items = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (inline === '' && items.length > 0 && items.every((line) => /^-(?:[ \t]|$)/.test(line))) {
    return items.map((line) => unquoted(line.slice(1).trim())).filter((item) => item !== '');
  }
  return inline.startsWith('>') ? lines.join(' ').trim() : lines.join('\n').trim();
}

/** Without the quotes around it, if there are the same at both ends. Nothing inside is taken to be more than it is. */
export function unquoted(text: string): string {
  const quote = text[0];
  return text.length > 1 && (quote === '"' || quote === "'") && text.endsWith(quote) ? text.slice(1, -1) : text;
}

/** `a, b` as a list. */
export function commaList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

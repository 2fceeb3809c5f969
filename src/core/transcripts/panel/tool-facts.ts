/** What a tool call says about itself: the one line that names it, the file it is about, and what it changed. */
import { cutText, MAX_DIFF_CHARS, type PanelItem } from '../../../protocol/index.ts';

type ToolItem = Extract<PanelItem, { kind: 'tool' }>;
type Diff = NonNullable<ToolItem['diff']>;

const MAX_TITLE_CHARS = 200;
const MAX_DIFF_LINES = 1000;

/** Arguments that tell one call from another, in the order in which they are looked for. */
const TELLING = ['command', 'path', 'file_path', 'pattern', 'query', 'url', 'task', 'name', 'title', 'agent', 'action'];

/** Tools of Pi that are about one file. */
const FILE_TOOLS = new Set(['read', 'edit', 'write']);

function fields(args: unknown): Record<string, unknown> {
  return typeof args === 'object' && args !== null && !Array.isArray(args) ? { ...args } : {};
}

const textField = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined;

function oneLine(text: string): string {
  // Cut first: a command can be of any length.
  const line = text
    .slice(0, 4 * MAX_TITLE_CHARS)
    .replace(/\s+/g, ' ')
    .trim();
  const chars = [...line];
  return chars.length > MAX_TITLE_CHARS ? `${chars.slice(0, MAX_TITLE_CHARS - 1).join('')}…` : line;
}

export function toolTitle(args: unknown): string {
  const given = fields(args);
  for (const name of TELLING) {
    const text = textField(given[name]);
    // Together with where it looks: a pattern alone says half of it.
    const place = name === 'pattern' ? textField(given['path']) : undefined;
    if (text !== undefined) return oneLine(place === undefined ? text : `${text} ${place}`);
  }
  const first = Object.values(given)
    .map(textField)
    .find((text) => text !== undefined);
  return first === undefined ? '' : oneLine(first);
}

export function toolFile(name: string, args: unknown): ToolItem['file'] {
  if (!FILE_TOOLS.has(name)) return null;
  const given = fields(args);
  const path = textField(given['path']) ?? textField(given['file_path']);
  if (path === undefined) return null;
  const line = name === 'read' ? given['offset'] : undefined;
  return { path, line: typeof line === 'number' && Number.isInteger(line) && line > 0 ? line : null };
}

function bounded(lines: Diff['lines']): Diff {
  const kept: Diff['lines'] = [];
  let chars = 0;
  for (const line of lines) {
    chars += line.text.length;
    if (kept.length === MAX_DIFF_LINES || chars > MAX_DIFF_CHARS) return { lines: kept, cut: true };
    kept.push(line);
  }
  return { lines: kept, cut: false };
}

const KINDS: Readonly<Record<string, Diff['lines'][number]['kind']>> = { '+': 'added', '-': 'removed', ' ': 'context' };

/** Pi's own display of an edit: per line a mark, the padded number of the line, and the line. */
export function diffFromPi(text: string): { diff: Diff; firstLine: number | null } {
  const whole = text.length <= MAX_DIFF_CHARS;
  const rows = text.slice(0, MAX_DIFF_CHARS).split('\n');
  // The last row may have been cut in its middle, by us or by whoever wrote it.
  if (text.length >= MAX_DIFF_CHARS) rows.pop();
  let firstLine: number | null = null;
  const lines = rows.map((row) => {
    const kind = KINDS[row.charAt(0)] ?? 'context';
    const numbered = /^.( *\d+|\s+(?=\.\.\.$)) ?(.*)$/s.exec(row);
    if (kind !== 'context' && firstLine === null && numbered?.[1]) firstLine = Number(numbered[1]) || null;
    return { kind, text: numbered ? (numbered[2] ?? '') : row.slice(1) };
  });
  const { lines: kept, cut } = bounded(lines);
  return { diff: { lines: kept, cut: cut || !whole || text.length === MAX_DIFF_CHARS }, firstLine };
}

const rows = (text: string) => text.replace(/\n$/, '').split('\n');

/** What a call that succeeded must have changed, where the tool did not say it itself. */
export function diffFromArguments(name: string, args: unknown): Diff | null {
  const given = fields(args);
  if (name === 'write') {
    const content = given['content'];
    if (typeof content !== 'string') return null;
    const start = cutText(content, MAX_DIFF_CHARS);
    const diff = bounded(rows(start).map((text) => ({ kind: 'added', text })));
    return { ...diff, cut: diff.cut || start.length < content.length };
  }
  if (name !== 'edit') return null;
  const edits = Array.isArray(given['edits']) ? given['edits'] : [given];
  const lines = edits.flatMap((edit: unknown) => {
    const { oldText, newText } = fields(edit);
    if (typeof oldText !== 'string' || typeof newText !== 'string') return [];
    return [
      ...rows(cutText(oldText, MAX_DIFF_CHARS)).map((text) => ({ kind: 'removed' as const, text })),
      ...rows(cutText(newText, MAX_DIFF_CHARS)).map((text) => ({ kind: 'added' as const, text })),
    ];
  });
  return lines.length === 0 ? null : bounded(lines);
}

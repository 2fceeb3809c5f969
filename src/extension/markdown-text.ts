/** Text of others inside Markdown that is read as it stands as well as rendered. */

/** A fence that nothing inside can close. */
export function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`;
}

/** On one line, with what could become a picture, a link, HTML or the end of a cell made harmless; the rest is left readable. */
export function escaped(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[\\`*<[|]/g, (mark) => `\\${mark}`)
    .replace(/&(?=#?\w+;)/g, '\\&');
}

/** Wider cells stand out of their column instead of making it wide. */
const MAX_WIDTH = 60;

/** A table whose columns stand under each other; the cells are Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.min(MAX_WIDTH, Math.max(3, title.length, ...rows.map((cells) => cells[column]?.length ?? 0))),
  );
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

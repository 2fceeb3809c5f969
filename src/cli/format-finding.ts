import { visible } from '../core/transcripts/index.ts';
import type { Finding } from '../protocol/index.ts';

/** Columns of a source line that are shown. */
const WIDTH = 120;

/** `file:line:column code message`, the line of the script, and marks under the place. */
export function formatFinding(file: string, script: string, finding: Finding): string {
  const { code, severity, message, line, column, endLine, endColumn } = finding;
  const kind = severity === 'warning' ? `${code} (warning)` : code;
  const [first = '', ...further] = message.split('\n');
  const source = script.split(/\r\n|\n|\r/)[line - 1] ?? '';
  // A long line is shown from a little before the place.
  const from = column > WIDTH ? column - 1 - WIDTH / 4 : 0;
  const shown = source.slice(from, from + WIDTH);
  const before = source.slice(from, column - 1).replace(/[^\t]/g, ' ');
  const end = endLine === line ? endColumn : source.length + 1;
  const marks = '^'.repeat(Math.max(1, Math.min(end - column, shown.length - before.length)));
  const related = (finding.related ?? []).map((entry) => `  ${file}:${entry.line}:${entry.column} ${entry.message}`);
  const rows = [`${file}:${line}:${column} ${kind} ${first}`, `  ${shown}`, `  ${before}${marks}`];
  return visible([...rows, ...related, ...further.map((row) => `  ${row}`)].join('\n'));
}

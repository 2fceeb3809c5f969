/** How what a child or a tool said is written into the page as plain text. */
import { cutText, visible } from '../../src/protocol/index.ts';

/** Colours and cursor movements of terminals; they say nothing on a page. */
const TERMINAL =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b\n]{0,4096}(?:\u0007|\u001b\\)|[()][0-9A-B]|[=>78cDEHMNOZ])/g;
/** Text of a message: marks that steer how text runs become visible. */
export function messageText(text: string): string {
  return visible(text);
}

/** Output of a program: as a terminal would leave it, without its colours. */
export function outputText(text: string): string {
  const plain = text.replace(TERMINAL, '').replaceAll('\r\n', '\n');
  return visible(plain.includes('\r') ? plain.split('\n').map(lastWritten).join('\n') : plain);
}

/** What a progress bar left of a line that it wrote over itself. */
function lastWritten(line: string): string {
  const kept = line.replace(/\r+$/, '');
  return kept.slice(kept.lastIndexOf('\r') + 1);
}

/** The first line that says something, cut. */
export function firstLine(text: string, max: number): string {
  const line = /\S[^\r\n]*/.exec(text)?.[0] ?? '';
  const clean = visible(line).trim();
  return clean.length > max ? `${cutText(clean, max - 1)}…` : clean;
}

/** The first line without the marks of Markdown, for a line that is not drawn as such. */
export function preview(text: string, max: number): string {
  return firstLine(text, max).replace(/^#+\s+|\*\*|__|`/g, '');
}

/** The last lines, without empty ones at the end. */
export function lastLines(text: string, count: number): string {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

/** Size of a text in the units that files have: characters of source text are mostly one byte. */
export function sizeText(chars: number): string {
  if (chars < 1024) return `${chars} B`;
  return chars < 1024 * 1024 ? `${Math.round(chars / 1024)} KB` : `${(chars / 1024 / 1024).toFixed(1)} MB`;
}

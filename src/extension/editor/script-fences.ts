/** Workflow scripts inside Markdown: fences whose first line is ```` ```js workflow ````. */

export interface ScriptFence {
  text: string;
  /** Lines of the document before the script's first one. */
  lines: number;
}

const OPENING = /^(?: {0,3})(`{3,}|~{3,})\s*(?:js|javascript)\s+workflow\b[^`]*$/;

/** The scripts of a Markdown text. A fence that is not closed ends with the text. */
export function scriptFences(markdown: string): ScriptFence[] {
  const rows = markdown.split(/\r\n|\n|\r/);
  const fences: ScriptFence[] = [];
  for (let at = 0; at < rows.length; at += 1) {
    const mark = OPENING.exec(rows[at] ?? '')?.[1];
    if (!mark) continue;
    const closing = new RegExp(`^ {0,3}${mark[0] === '~' ? '~' : '`'}{${mark.length},}\\s*$`);
    const end = rows.findIndex((row, index) => index > at && closing.test(row));
    const last = end === -1 ? rows.length : end;
    fences.push({ text: rows.slice(at + 1, last).join('\n'), lines: at + 1 });
    at = last;
  }
  return fences;
}

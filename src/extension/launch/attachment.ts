/** What a task is about: a selection, files or problems, as text that stands below the task. */
import { cutText } from '../../protocol/index.ts';
import { fenced } from '../markdown-text.ts';

export interface Attachment {
  /** How a person is shown it: `src/berths.js:3-7`. */
  label: string;
  /** What the agent gets. */
  text: string;
}

/** Characters of a selection that are sent along; the agent can read the rest itself. */
const MAX_SELECTION = 60_000;
const MAX_PROBLEMS = 100;

export interface SelectionPlace {
  path: string;
  /** Counted from 1. */
  firstLine: number;
  lastLine: number;
  language: string;
  text: string;
  /** The file on disk is another than the one in the editor. */
  unsaved: boolean;
}

export function selectionText({ path, firstLine, lastLine, language, text, unsaved }: SelectionPlace): string {
  const where = firstLine === lastLine ? `line ${firstLine}` : `lines ${firstLine} to ${lastLine}`;
  const note = unsaved ? ', with changes that are not saved yet' : '';
  const cut = text.length > MAX_SELECTION;
  const shown = cut ? cutText(text, MAX_SELECTION) : text;
  const end = cut ? `\nOnly the first ${MAX_SELECTION} characters are shown here; read the rest in the file.` : '';
  return `This is about ${where} of ${path}${note}:\n\n${fenced(shown, language)}${end}`;
}

export function filesText(paths: readonly string[]): string {
  if (paths.length === 1) return `This is about ${paths[0]}`;
  return `This is about these files and folders:\n\n${paths.map((path) => `- ${path}`).join('\n')}`;
}

export interface Problem {
  path: string;
  /** Counted from 1. */
  line: number;
  column: number;
  severity: 'error' | 'warning' | 'information' | 'hint';
  message: string;
  /** Who reports it, with its code: `ts(2304)`. */
  source: string;
}

const WEIGHT = { error: 0, warning: 1, information: 2, hint: 3 };

/** The most severe first; within one severity by place. */
export function problemsText(problems: readonly Problem[]): string {
  const ordered = problems.toSorted(
    (a, b) =>
      WEIGHT[a.severity] - WEIGHT[b.severity] ||
      (a.path < b.path ? -1 : a.path > b.path ? 1 : 0) ||
      a.line - b.line ||
      a.column - b.column,
  );
  const lines = ordered.slice(0, MAX_PROBLEMS).map(({ path, line, column, severity, message, source }) => {
    const by = source === '' ? '' : ` [${source}]`;
    return `- ${path}:${line}:${column}: ${severity}: ${message.replaceAll(/\s*\n\s*/g, ' ')}${by}`;
  });
  const more = problems.length - lines.length;
  if (more > 0) lines.push(`- and ${more} more`);
  return `The editor reports these problems:\n\n${lines.join('\n')}`;
}

export function withAttachment(task: string, attached: Attachment | undefined): string {
  return attached ? `${task.trimEnd()}\n\n${attached.text}` : task;
}

/**
 * Every text of an error of ours, by its code, or by `code:variant` where one code has several. Places in braces are
 * filled with the error's parameters. In English for the command line and the journal; the editor shows the translation of
 * its language, which stands in l10n/ like all texts of the editor. Imports nothing else: the script that collects texts reads this.
 */
import { AGENTS } from './agents.ts';
import { CHILD } from './child.ts';
import { COMMAND_LINE } from './command-line.ts';
import { CONTROL } from './control.ts';
import type { ErrorText } from './error-text.ts';
import { INTERNAL } from './internal.ts';
import { RUNNER } from './runner.ts';
import { RUNS } from './runs.ts';
import { STARTING } from './starting.ts';
import { TOOLCHAIN } from './toolchain.ts';
import { TRANSCRIPTS } from './transcripts.ts';
import { WORKTREES } from './worktrees.ts';

export type { ErrorText } from './error-text.ts';

/** In the order in which things go wrong. No two have a text of the same id. */
export const PARTS = [
  STARTING,
  AGENTS,
  COMMAND_LINE,
  TOOLCHAIN,
  RUNNER,
  CONTROL,
  RUNS,
  TRANSCRIPTS,
  CHILD,
  WORKTREES,
  INTERNAL,
] as const;

export const ERROR_TEXTS = {
  ...STARTING,
  ...AGENTS,
  ...COMMAND_LINE,
  ...TOOLCHAIN,
  ...RUNNER,
  ...CONTROL,
  ...RUNS,
  ...TRANSCRIPTS,
  ...CHILD,
  ...WORKTREES,
  ...INTERNAL,
} as const satisfies Record<string, ErrorText>;

export type ErrorTextId = keyof typeof ERROR_TEXTS;

/** A run with one child: what becomes of the child becomes of the run. */

import type { SessionStart } from '../core/children/index.ts';
import type { ErrorValue, TerminalState } from '../protocol/index.ts';
import type { Beginning, ChildTools } from './child-tools.ts';
import { workOnChild } from './child-work.ts';
import type { OpenRun } from './open-run.ts';

/** The run's only child. */
export const ONLY_CHILD = 1;

export interface RunResult {
  state: TerminalState;
  error: ErrorValue | null;
}

/** Runs to the end. The terminal event is left to the caller. */
export async function executeSingleRun(tools: ChildTools, beginning: Beginning): Promise<RunResult> {
  const { state, error } = await workOnChild(tools, beginning);
  return { state, error };
}

/** Where a run begins that has never been started: with its task, on the session it was launched with. */
export function firstBeginning(run: OpenRun): Beginning {
  const { child, resume } = run.record;
  const session: SessionStart = resume ? { kind: resume.how, file: resume.session } : { kind: 'new' };
  return { kind: 'ask', session, prompt: child.task };
}

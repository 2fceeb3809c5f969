import type { SessionStart } from '../core/children/index.ts';
import type { SingleRecord } from '../protocol/index.ts';
import type { Beginning } from './child-tools.ts';

/** Number of the one child of a single run. */
export const ONLY_CHILD = 1;

/** Where a run begins that has never been started: with its task, on the session it was launched with. */
export function firstBeginning({ child, resume }: SingleRecord): Beginning {
  const session: SessionStart = resume ? { kind: resume.how, file: resume.session } : { kind: 'new' };
  return { kind: 'ask', session, prompt: child.task };
}

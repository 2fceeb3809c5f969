import type { SessionStart } from '../core/children/index.ts';
import { promptOf } from '../core/launch/index.ts';
import type { ChildPlan, SingleRecord } from '../protocol/index.ts';
import type { Beginning } from './child-tools.ts';

/** Number of the one child of a single run. */
export const ONLY_CHILD = 1;

/** The conversation a child begins with that goes on with nobody's work. */
export function beginningSession({ forkOf }: ChildPlan): SessionStart {
  return forkOf === undefined ? { kind: 'new' } : { kind: 'fork', file: forkOf };
}

/** Where a run begins that has never been started: with its task, on the session it was launched with. */
export function firstBeginning({ child, resume }: SingleRecord): Beginning {
  const session: SessionStart = resume ? { kind: resume.how, file: resume.session } : beginningSession(child);
  return { kind: 'ask', session, prompt: promptOf(child) };
}

import type { ChildDriver, SessionStart } from '../core/children/index.ts';
import type { OutputClaim } from '../core/outputs/index.ts';
import type { ChildLayout } from '../core/projects/index.ts';
import type { ChildPlan } from '../protocol/index.ts';
import type { ChildDesk } from './child-desk.ts';
import type { OpenRun } from './open-run.ts';
import type { RunControl } from './run-control.ts';
import type { Workplace } from './workplace.ts';

/** Everything that work on one child of a run needs. */
export interface ChildTools {
  run: OpenRun;
  /** From 1. */
  index: number;
  plan: ChildPlan;
  /** Where it works. */
  workplace: Workplace;
  driver: ChildDriver;
  /** Why this child is to end before its work is done. */
  control: RunControl;
  desk: ChildDesk;
  layout: ChildLayout;
  /** The file of the whole workflow, which its run has claimed; a child may write it. */
  aggregate?: OutputClaim;
}

/** Where the work begins: with the task, in the middle after a crash, or with an answer that is already there. */
export type Beginning =
  | { kind: 'ask'; session: SessionStart; prompt: string }
  | { kind: 'adopt'; text: string; stopReason: string };

/** The commit point of a run: it is written in one step with what it allows. */
import type { JournalEvent } from '../protocol/index.ts';
import type { OpenRun } from './open-run.ts';

export function proceeded(run: OpenRun): JournalEvent[] {
  return run.view.startedAt === null ? [{ type: 'run.proceeded' }] : [];
}

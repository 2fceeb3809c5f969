/** What the journal of a workflow says since it was continued last. Small, for every runner loads it. */
import type { JournalLine } from '../../protocol/index.ts';

export function sinceContinued(lines: readonly JournalLine[]): readonly JournalLine[] {
  return lines.slice(lines.findLastIndex(({ type }) => type === 'run.continued') + 1);
}

/** Whether somebody has asked for the end of the whole workflow. */
export function isStopAsked(lines: readonly JournalLine[]): boolean {
  return lines.some((line) => line.type === 'control.requested' && line.action === 'stop' && line.child === undefined);
}

/** Whether the end of a workflow is clear: a person stopped it, or its script is over. */
export function isDecided(lines: readonly JournalLine[]): boolean {
  const since = sinceContinued(lines);
  return isStopAsked(since) || since.some(({ type }) => type === 'workflow.ended');
}

/** What a runner that is gone left behind: processes that must end, and requests that nobody answers any more. */
import { setTimeout as delay } from 'node:timers/promises';
import { childMarker, findTree, killTree, liveness, MARKER_IS_PROOF } from '../core/processes/index.ts';
import type { ChildView, JournalLine, ProcessIdentity } from '../protocol/index.ts';
import type { OpenRun } from './open-run.ts';
import { startedChildren } from './started-children.ts';

const KILL_MS = 5000;
/** Milliseconds a child has to leave by itself, as in the ladder that ends it otherwise. */
const LEAVE_MS = 2000;
const LOOK_MS = 25;

/** Kills what the children of the old runner left, each by verified identity. Returns how many processes there were. */
export async function endLeftovers(run: OpenRun, children: readonly ChildView[]): Promise<number> {
  const unnamed = (await startedChildren(run)).filter((index) => !children.some((child) => child.index === index));
  const all = [...children, ...unnamed.map((index) => ({ index, processes: [] }))];
  const counts = await Promise.all(all.map((child) => endLeftoversOf(run, child)));
  return counts.reduce((sum, count) => sum + count, 0);
}

async function endLeftoversOf(
  run: OpenRun,
  { index: child, processes }: Pick<ChildView, 'index' | 'processes'>,
): Promise<number> {
  const marker = childMarker(run.record.runId, child);
  // What a runner started that died before its first line about it is looked for by its mark alone.
  const roots = processes.length > 0 ? processes : [{ attempt: 0, process: null, tree: 'unknown' as const }];
  let count = 0;
  for (const { attempt, process, tree } of roots) {
    const root: ProcessIdentity = process ?? { pid: 0, start: null };
    const known = await findTree(root, marker);
    count += known.length;
    await letLeave(root, marker);
    const left = await killTree(root, marker, { deadlineMs: KILL_MS, known });
    if (tree !== 'pending') continue;
    const proven = process || MARKER_IS_PROOF ? left : 'unknown';
    const note = process ? 'Ended when a new runner took over.' : 'Its start was not seen; a new runner took over.';
    await run.append({ type: 'child.ended', child, attempt, exitCode: null, signal: null, tree: proven, note });
  }
  return count;
}

/**
 * A Pi whose runner is gone sees its input end: it saves what it has and exits. One that is killed at once may lose that, and
 * one that is still starting leaves its lock of `auth.json` behind, for which every other Pi then waits 30 seconds.
 */
async function letLeave(root: ProcessIdentity, marker: string): Promise<void> {
  const isThere = async () =>
    root.pid === 0 ? (await findTree(root, marker)).length > 0 : (await liveness(root)) === 'alive';
  const deadline = performance.now() + LEAVE_MS;
  while (performance.now() < deadline && (await isThere())) await delay(LOOK_MS);
}

/** Messages and questions that waited for the old runner: nobody knows whether they were taken up. */
export async function settleRequests(run: OpenRun, earlier: readonly JournalLine[]): Promise<void> {
  const messages = new Set<string>();
  const open = new Set<string>();
  for (const line of earlier) {
    if (line.type === 'control.requested' && (line.action === 'steer' || line.action === 'follow-up'))
      messages.add(line.requestId);
    if (line.type === 'control.settled' && line.outcome !== 'queued') messages.delete(line.requestId);
    if (line.type === 'question.asked') open.add(line.questionId);
    if (line.type === 'question.answered' || line.type === 'question.expired') open.delete(line.questionId);
  }
  const reason = 'outcome unknown: the runner was lost';
  for (const requestId of messages) await run.append({ type: 'control.settled', requestId, outcome: 'missed', reason });
  for (const questionId of open)
    await run.append({ type: 'question.expired', questionId, reason: 'the runner was lost' });
}

/**
 * Force Stop: for a runner that does not answer, or that answers and does not come to the end it was asked for. Works from what
 * the journal says alone where lease or record cannot be read.
 */
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readJournal } from '../core/journal/index.ts';
import { inspectLock } from '../core/locks/index.ts';
import { childMarker, killTree, liveness, signalProcess } from '../core/processes/index.ts';
import { runLayout } from '../core/projects/index.ts';
import { readLaunchRecord } from '../core/runs/index.ts';
import {
  describeError,
  type ErrorValue,
  isTerminal,
  type JournalLine,
  LanesError,
  lanesError,
  type Owner,
  type ProcessIdentity,
  type RunState,
  type RunView,
  toErrorValue,
} from '../protocol/index.ts';
import { answers, connectRunner } from './connect.ts';
import { type Ended, stopLost } from './control.ts';
import { projectOf } from './recover.ts';
import { RunStore } from './run-store.ts';
import { waitForEnd } from './run-watcher.ts';
import type { Toolbox } from './toolbox.ts';

/** Milliseconds a runner has for an end it was asked for, before force is used although it answers. */
const END_PATIENCE_MS = 10_000;
const KILL_MS = 5000;
const PING_MS = 2000;

export interface ForceStopped extends Ended {
  /** What could not be done or proven; null: everything is. */
  note: ErrorValue | null;
}

/** Whether a person is offered force, as far as the state tells. */
export function mayNeedForce(
  state: RunState,
  view: Pick<RunView, 'stopRequested' | 'interruptRequested'> | null,
): boolean {
  if (state === 'unresponsive' || state === 'unknown') return true;
  return !isTerminal(state) && state !== 'lost' && (view?.stopRequested === true || view?.interruptRequested === true);
}

/**
 * Ends the runner and everything its children left, each by verified identity; then a new runner writes the end. A runner that
 * answers is let be, unless it was asked for its end ten seconds ago or more. A run without a readable record keeps
 * its folder as it is: only its processes are ended, which `note` says.
 */
export async function forceStopRun(toolbox: Toolbox, directory: string, by: Owner): Promise<ForceStopped> {
  const { lines, unreadable } = await look(directory);
  if (lines.some(({ type }) => type === 'run.ended')) return { outcome: 'too-late', note: null };
  const lease = await inspectLock(runLayout(directory).lease);
  if (lease.state === 'held' && (await answers(directory, toolbox.client))) {
    const ended = await waitForAskedEnd(toolbox, directory);
    if (ended) return { ...ended, note: null };
  }
  const holders = [lease.owner?.process, runnerOf(lines)].filter((holder) => holder !== undefined);
  for (const holder of holders) await endHolder(holder);
  const left = [...(await stillThere(holders)), ...(await endChildren(directory, lines))];
  const unproven = left.length === 0 ? null : describeError('processes_unproven', { pids: left.join(', ') });
  if (unreadable)
    return { outcome: 'done', note: unproven ?? describeError('run_unreadable:ended', { reason: unreadable.message }) };
  try {
    return { ...(await stopLost(toolbox, directory, by)), note: unproven };
  } catch (error) {
    // What was done all the same is worth more than why the end could not be written.
    throw unproven ? new LanesError(unproven, { cause: error }) : error;
  }
}

/** Throws when there is nothing to go by: neither a record nor a line of the journal. */
async function look(directory: string): Promise<{ lines: JournalLine[]; unreadable: ErrorValue | null }> {
  const record = await readLaunchRecord(directory).then(
    () => null,
    (error: unknown) => error,
  );
  const lines = await readJournal(runLayout(directory).journal).then(
    (content) => content.lines,
    () => [],
  );
  if (record && lines.length === 0) throw record;
  return { lines, unreadable: record === null ? null : toErrorValue(record) };
}

/** `undefined`: it has not come. Throws `runner_refused` when nobody has asked for an end. */
async function waitForAskedEnd(toolbox: Toolbox, directory: string): Promise<Ended | undefined> {
  const askedMs = await endAskedMs(toolbox, directory);
  if (askedMs === null) throw lanesError('runner_refused:force');
  const signal = AbortSignal.timeout(Math.max(1, Math.round(END_PATIENCE_MS - askedMs)));
  const store = new RunStore(projectOf(directory));
  const snapshot = await waitForEnd(store, basename(directory), { signal }).catch(() => undefined);
  if (!snapshot || !isTerminal(snapshot.state)) return undefined;
  return { outcome: snapshot.state === 'stopped' ? 'done' : 'too-late' };
}

/** Asked of the runner: on a full disk the journal does not have the wish. One that does not say so is not asked to end. */
async function endAskedMs(toolbox: Toolbox, directory: string): Promise<number | null> {
  const peer = await connectRunner(directory, toolbox.client);
  try {
    return (await peer.request('ping', {}, { deadlineMs: PING_MS })).endAskedMs ?? null;
  } finally {
    peer.close();
  }
}

function runnerOf(lines: readonly JournalLine[]): ProcessIdentity | undefined {
  const line = lines.findLast(({ type }) => type === 'runner.started');
  return line?.type === 'runner.started' ? line.process : undefined;
}

async function endHolder(holder: ProcessIdentity): Promise<void> {
  // A suspended process takes no other signal.
  await signalProcess(holder, 'SIGKILL', { group: false });
  for (let waited = 0; waited < KILL_MS && (await liveness(holder)) === 'alive'; waited += 25) await delay(25);
}

/** Pids that are not proven gone. */
async function stillThere(processes: readonly ProcessIdentity[]): Promise<number[]> {
  const states = await Promise.all(processes.map(liveness));
  return processes.filter((_, at) => states[at] !== 'gone').map(({ pid }) => pid);
}

/** Ends every child that was or may have been started. @returns the pids whose trees are not proven gone */
async function endChildren(directory: string, lines: readonly JournalLine[]): Promise<number[]> {
  const runId = basename(directory);
  const roots = new Map<number, ProcessIdentity[]>();
  for (const line of lines) {
    // Started perhaps, without anybody having come to write that down: found by its mark alone.
    if (line.type === 'child.spawn.intended' && !roots.has(line.child)) roots.set(line.child, []);
    if (line.type === 'child.spawned') roots.set(line.child, [...(roots.get(line.child) ?? []), line.process]);
  }
  const left: number[] = [];
  for (const [child, processes] of roots) {
    const marker = childMarker(runId, child);
    for (const root of processes.length > 0 ? processes : [{ pid: 0, start: null }]) {
      const tree = await killTree(root, marker, { deadlineMs: KILL_MS });
      if (tree !== 'gone' && root.pid !== 0) left.push(root.pid);
    }
  }
  return left;
}

/** What a workflow run consists of: lanes with their stages, other children, commands; in the order of the script's calls. Pure. */
import type { RunSnapshot } from '../../client/index.ts';
import {
  type ChildView,
  type HostStepView,
  isTerminal,
  type PlannedLane,
  type RunState,
  type WorkflowView,
} from '../../protocol/index.ts';
import { childState } from './child-state.ts';

/**
 * Of what has not been started: `planned`: it may still be; `skipped`: a stage before it did not come to its end;
 * `omitted`: the run ended before.
 */
export type Unstarted = 'planned' | 'skipped' | 'omitted';
export type RowState = RunState | Unstarted;

export interface ChildRow {
  kind: 'child';
  child: ChildView;
  state: RunState;
  /** A later attempt took its place. */
  replaced: boolean;
}

/** A stage of a lane: as announced, and its newest child once there is one. */
export type StageRow = {
  kind: 'stage';
  lane: string;
  /** Of its child, `lane.stage`. */
  key: string;
  label: string | null;
  agent: string | null;
} & ({ child: ChildView; state: RunState } | { child: undefined; state: Unstarted });

export interface LaneRow {
  kind: 'lane';
  key: string;
  state: RowState;
  /** In order; earlier attempts of a stage stand before it. */
  rows: (StageRow | ChildRow)[];
}

export interface HostRow {
  kind: 'host';
  host: HostStepView;
}

export type WorkflowRow = LaneRow | ChildRow | HostRow;

interface Placed {
  row: WorkflowRow;
  /** Number of the script's call. */
  call: number;
}

export function workflowRows(snapshot: RunSnapshot): WorkflowRow[] {
  const { view } = snapshot;
  if (!view?.workflow) return [];
  const { lanes, hosts } = view.workflow;
  const newest = newestByKey(view.children);
  const stageKeys = new Set(lanes.flatMap(({ stages }) => stages.map(({ key }) => key)));
  const childRow = (child: ChildView): ChildRow => ({
    kind: 'child',
    child,
    state: childState(child, snapshot),
    replaced: newest.get(child.key ?? '') !== child,
  });
  const others = view.children.filter(({ key }) => key === undefined || !stageKeys.has(key));
  const placed: Placed[] = [
    ...placedLanes(lanes, snapshot, view.children, childRow),
    ...others.map((child) => ({ row: childRow(child), call: child.call ?? 0 })),
    ...hosts.map((host) => ({ row: { kind: 'host' as const, host }, call: host.id })),
  ];
  return placed.toSorted((a, b) => a.call - b.call).map(({ row }) => row);
}

function newestByKey(children: readonly ChildView[]): Map<string, ChildView> {
  return new Map(children.map((child) => [child.key ?? '', child]));
}

/** A lane stands where its first child was asked for; one that has none yet, behind the lane before it. */
function placedLanes(
  lanes: WorkflowView['lanes'],
  snapshot: RunSnapshot,
  children: readonly ChildView[],
  childRow: (child: ChildView) => ChildRow,
): Placed[] {
  const ofKey = new Map<string, ChildView[]>();
  for (const child of children) ofKey.set(child.key ?? '', [...(ofKey.get(child.key ?? '') ?? []), child]);
  let call = 0;
  return mergedLanes(lanes).map(({ key: lane, stages }) => {
    const isOver = isTerminal(snapshot.state);
    const rows: LaneRow['rows'] = [];
    let isBlocked = false;
    for (const { key, label, agent } of stages) {
      const attempts = ofKey.get(key) ?? [];
      const child = attempts.at(-1);
      rows.push(...attempts.slice(0, -1).map(childRow));
      const stage = { kind: 'stage' as const, lane, key, label, agent };
      rows.push(
        child
          ? { ...stage, child, state: childState(child, snapshot) }
          : { ...stage, child, state: isBlocked ? 'skipped' : isOver ? 'omitted' : 'planned' },
      );
      isBlocked ||= child !== undefined && hasBlocked(child);
    }
    const calls = rows.flatMap(({ child }) => (child?.call === undefined ? [] : [child.call]));
    call = calls.length > 0 ? Math.min(...calls) : call;
    return { row: { kind: 'lane', key: lane, state: laneState(rows, isOver), rows }, call };
  });
}

/** Nothing follows a stage that did not come to its end, or said so. */
function hasBlocked({ state, verdict }: ChildView): boolean {
  return (isTerminal(state) && state !== 'complete') || verdict === 'blocked';
}

/** A lane that is announced twice is one. */
function mergedLanes(lanes: readonly PlannedLane[]): PlannedLane[] {
  const merged = new Map<string, PlannedLane>();
  for (const { key, stages } of lanes) {
    const known = merged.get(key)?.stages ?? [];
    const more = stages.filter((stage) => known.every((one) => one.key !== stage.key));
    merged.set(key, { key, stages: [...known, ...more] });
  }
  return [...merged.values()];
}

/** What calls for a person goes first, then what goes on, then what went wrong. */
const FIRST: readonly RowState[] = ['waiting', 'unresponsive', 'lost', 'unknown', 'running', 'queued'];
const WRONG: readonly RowState[] = ['failed', 'partial', 'paused', 'stopped', 'rejected'];

function laneState(rows: LaneRow['rows'], isOver: boolean): RowState {
  const states = rows.flatMap((row) => (row.kind === 'stage' ? [row.state] : []));
  const loud = FIRST.find((state) => states.includes(state)) ?? WRONG.find((state) => states.includes(state));
  if (loud) return loud;
  if (states.every((state) => state === 'complete')) return 'complete';
  // A verdict has ended it.
  if (states.includes('skipped')) return 'partial';
  if (states.includes('complete')) return isOver ? 'partial' : 'running';
  return isOver ? 'omitted' : 'planned';
}

export interface Progress {
  /** Came to an end, whatever it is. */
  done: number;
  failed: number;
  /** As far as it is known: a script may ask for more. */
  total: number;
}

/** How far a workflow is: its stages, other children and commands, each counted once. */
export function progressOf(rows: readonly WorkflowRow[]): Progress {
  const progress = { done: 0, failed: 0, total: 0 };
  for (const row of rows.flatMap<WorkflowRow | StageRow>((one) => (one.kind === 'lane' ? one.rows : [one])))
    count(row, progress);
  return progress;
}

/** The same of one lane. */
export function laneProgress({ rows }: LaneRow): Progress {
  const progress = { done: 0, failed: 0, total: 0 };
  for (const row of rows) count(row, progress);
  return progress;
}

function count(row: WorkflowRow | StageRow, progress: Progress): void {
  if (row.kind === 'lane' || (row.kind === 'child' && row.replaced)) return;
  progress.total += 1;
  if (row.kind === 'host') {
    const { state } = row.host;
    if (state !== 'asking' && state !== 'running') progress.done += 1;
    if (state === 'failed' || state === 'timed-out') progress.failed += 1;
    return;
  }
  if (row.child && isTerminal(row.child.state)) progress.done += 1;
  if (row.child?.state === 'failed') progress.failed += 1;
}

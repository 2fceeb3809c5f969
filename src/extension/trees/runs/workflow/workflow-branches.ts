/**
 * What stands below workflow runs in the Runs view. A branch is made when somebody opens its run; from then on it is known
 * what was drawn, so that of a change only the rows are asked for again that look different.
 */
import type * as vscode from 'vscode';
import type { RunSnapshot } from '../../../../client/index.ts';
import { isTerminal } from '../../../../protocol/index.ts';
import { type LaneRow, type StageRow, type WorkflowRow, workflowRows } from '../../../runs/workflow-rows.ts';
import { createChildItem, createHostItem, createLaneItem, createLaunchItem, createStageItem } from './row-items.ts';
import { createChildTooltip, createHostTooltip, createLaneTooltip, createUnstartedTooltip } from './row-tooltips.ts';

export type BranchNode =
  | { kind: 'lane'; runId: string; lane: string }
  | { kind: 'stage'; runId: string; lane: string; key: string }
  | { kind: 'child'; runId: string; child: number }
  | { kind: 'launch'; runId: string; call: number }
  | { kind: 'host'; runId: string; host: number };

type Row = WorkflowRow | StageRow;

interface Branch {
  rows: WorkflowRow[];
  snapshot: RunSnapshot;
  byKey: Map<string, Row>;
}

/** What became of a branch: it has other rows, or these of its rows look different. */
export type BranchChange = 'whole' | BranchNode[];

export class WorkflowBranches {
  readonly #find: (runId: string) => RunSnapshot | undefined;
  readonly #node: (key: string, make: () => BranchNode) => BranchNode;
  readonly #branches = new Map<string, Branch>();

  /** @param node gives the one object by which the view knows a row */
  constructor(
    find: (runId: string) => RunSnapshot | undefined,
    node: (key: string, make: () => BranchNode) => BranchNode,
  ) {
    this.#find = find;
    this.#node = node;
  }

  /** Whether somebody has the branch of this run open. */
  isOpen(runId: string): boolean {
    return this.#branches.has(runId);
  }

  close(runId: string): void {
    this.#branches.delete(runId);
  }

  children(runId: string): BranchNode[] {
    const branch = this.#read(runId);
    if (!branch) return [];
    this.#branches.set(runId, branch);
    return branch.rows.map((row) => this.#nodeOf(runId, row));
  }

  laneChildren({ runId, lane }: Extract<BranchNode, { kind: 'lane' }>): BranchNode[] {
    const row = this.#row({ kind: 'lane', runId, lane });
    return row?.kind === 'lane' ? row.rows.map((one) => this.#nodeOf(runId, one)) : [];
  }

  /** Looks at a run that changed; `undefined`: its branch is not open. */
  change(runId: string): BranchChange | undefined {
    const before = this.#branches.get(runId);
    if (!before) return undefined;
    const after = this.#read(runId);
    if (!after) return 'whole';
    this.#branches.set(runId, after);
    // Whoever still works ends now.
    const isStopped = before.snapshot.view?.stopRequested !== after.snapshot.view?.stopRequested;
    if (isStopped || keysOf(before.rows) !== keysOf(after.rows)) return 'whole';
    return after.rows.flatMap((row) => this.#changed(runId, row, before));
  }

  #changed(runId: string, row: WorkflowRow, before: Branch): BranchNode[] {
    const old = before.byKey.get(keyOf(row));
    if (row.kind !== 'lane') return old && isSame(old, row) ? [] : [this.#nodeOf(runId, row)];
    // With a lane everything in it is asked for again.
    const isSameLane = old?.kind === 'lane' && keysOf(old.rows) === keysOf(row.rows) && isSame(old, row);
    if (!isSameLane) return [this.#nodeOf(runId, row)];
    return row.rows.flatMap((one) => {
      const known = before.byKey.get(keyOf(one));
      return known && isSame(known, one) ? [] : [this.#nodeOf(runId, one)];
    });
  }

  /** Rows of an open branch whose time goes on. */
  ticking(runId: string): BranchNode[] {
    const rows = [...(this.#branches.get(runId)?.byKey.values() ?? [])];
    return rows.filter(isTicking).map((row) => this.#nodeOf(runId, row));
  }

  #read(runId: string): Branch | undefined {
    const snapshot = this.#find(runId);
    if (!snapshot?.view?.workflow) return undefined;
    const rows = workflowRows(snapshot);
    const all: Row[] = rows.flatMap((row): Row[] => (row.kind === 'lane' ? [row, ...row.rows] : [row]));
    return { rows, snapshot, byKey: new Map(all.map((row) => [keyOf(row), row])) };
  }

  #row(node: BranchNode): Row | undefined {
    const branch = this.#branches.get(node.runId) ?? this.#read(node.runId);
    return branch?.byKey.get(keyOfNode(node));
  }

  #nodeOf(runId: string, row: Row): BranchNode {
    return this.#node(`${runId} ${keyOf(row)}`, () => nodeFor(runId, row));
  }

  item(node: BranchNode): vscode.TreeItem | undefined {
    const row = this.#row(node);
    const snapshot = this.#find(node.runId);
    if (!row || !snapshot) return undefined;
    const now = Date.now();
    switch (row.kind) {
      case 'lane':
        return createLaneItem(row, node.runId);
      case 'stage':
        return createStageItem(row, snapshot, now);
      case 'child':
        return createChildItem(row, snapshot, now);
      case 'launch':
        return createLaunchItem(row, node.runId);
      case 'host':
        return createHostItem(row, node.runId, now);
      default:
        return row satisfies never;
    }
  }

  tooltip(node: BranchNode): vscode.MarkdownString | undefined {
    const row = this.#row(node);
    const snapshot = this.#find(node.runId);
    if (!row || !snapshot) return undefined;
    if (row.kind === 'lane') return createLaneTooltip(row);
    if (row.kind === 'host') return createHostTooltip(row.host, Date.now());
    if (row.kind !== 'launch' && row.child) return createChildTooltip(row.child, row.state, snapshot, Date.now());
    return createUnstartedTooltip(row);
  }

  /** The lane a row stands in; `undefined`: it stands below the run itself. */
  parent(node: BranchNode): BranchNode | undefined {
    const branch = this.#branches.get(node.runId) ?? this.#read(node.runId);
    const key = keyOfNode(node);
    const lane = branch?.rows.find((row) => row.kind === 'lane' && row.rows.some((one) => keyOf(one) === key));
    return lane && this.#nodeOf(node.runId, lane);
  }

  /** The row that stands for a child. */
  ofChild(runId: string, child: number): BranchNode | undefined {
    const branch = this.#branches.get(runId) ?? this.#read(runId);
    const rows = [...(branch?.byKey.values() ?? [])];
    const row = rows.find((one) => (one.kind === 'stage' || one.kind === 'child') && one.child?.index === child);
    return row && this.#nodeOf(runId, row);
  }

  /** Number of the child a row stands for. */
  childOf(node: BranchNode): number | undefined {
    const row = this.#row(node);
    return row?.kind === 'stage' || row?.kind === 'child' ? row.child?.index : undefined;
  }
}

function nodeFor(runId: string, row: Row): BranchNode {
  switch (row.kind) {
    case 'lane':
      return { kind: 'lane', runId, lane: row.key };
    case 'stage':
      return { kind: 'stage', runId, lane: row.lane, key: row.key };
    case 'child':
      return { kind: 'child', runId, child: row.child.index };
    case 'launch':
      return { kind: 'launch', runId, call: row.call };
    case 'host':
      return { kind: 'host', runId, host: row.host.id };
    default:
      return row satisfies never;
  }
}

function keyOf(row: Row): string {
  if (row.kind === 'child') return `child ${row.child.index}`;
  if (row.kind === 'launch') return `launch ${row.call}`;
  return row.kind === 'host' ? `host ${row.host.id}` : `${row.kind} ${row.key}`;
}

function keyOfNode(node: BranchNode): string {
  switch (node.kind) {
    case 'lane':
      return `lane ${node.lane}`;
    case 'stage':
      return `stage ${node.key}`;
    case 'child':
      return `child ${node.child}`;
    case 'launch':
      return `launch ${node.call}`;
    case 'host':
      return `host ${node.host}`;
    default:
      return node satisfies never;
  }
}

const keysOf = (rows: readonly Row[]): string => rows.map(keyOf).join('\n');

/** Whether a row still looks as it was drawn. Parts of a view that nothing happened to stay the same objects. */
function isSame(before: Row, after: Row): boolean {
  if (before.kind === 'lane' && after.kind === 'lane') {
    const word = ({ state, rows }: LaneRow) => [state, ...rows.map((row) => row.state)].join(' ');
    return word(before) === word(after);
  }
  if (before.kind === 'launch' && after.kind === 'launch') return before.state === after.state;
  if (before.kind === 'host' && after.kind === 'host') return before.host === after.host;
  if (before.kind === 'child' && after.kind === 'child')
    return before.child === after.child && before.state === after.state && before.replaced === after.replaced;
  return (
    before.kind === 'stage' && after.kind === 'stage' && before.child === after.child && before.state === after.state
  );
}

function isTicking(row: Row): boolean {
  if (row.kind === 'host') return row.host.state === 'running';
  if (row.kind === 'lane' || row.kind === 'launch' || !row.child) return false;
  return row.child.startedAt !== null && !isTerminal(row.child.state);
}

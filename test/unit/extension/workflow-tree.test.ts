/** Workflow runs in the Runs view: what stands below them, what of it is drawn again, and what each row offers. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { applyLine, childRunId } from '../../../src/core/runs/index.ts';
import { ITEM } from '../../../src/extension/command-ids.ts';
import { ActiveFilter } from '../../../src/extension/runs/active-filter.ts';
import type { RunsModel } from '../../../src/extension/runs/runs-model.ts';
import { SeenRuns } from '../../../src/extension/runs/seen-runs.ts';
import { type RunsNode, RunsTree } from '../../../src/extension/trees/runs/runs-tree.ts';
import type { JournalEvent } from '../../../src/protocol/index.ts';
import { oneOfEach } from '../builders/events.ts';
import { MemoryRuns } from './memory-runs.ts';
import * as editor from './vscode-stand-in.ts';
import { announced, asks, asksToRun, aWorkflowSnapshot, begun, lane, settled, works } from './workflows.ts';

/** Changes that come further apart are drawn at once. */
const APART_MS = 250;

vi.mock('vscode', () => import('./vscode-stand-in.ts'));

let model: MemoryRuns;
let tree: RunsTree;
let drawn: (RunsNode | RunsNode[] | undefined)[];

beforeEach(() => {
  vi.useFakeTimers();
  model = new MemoryRuns();
  const seen = new SeenRuns(new editor.Memento() as never);
  tree = new RunsTree(model as unknown as RunsModel, seen, new ActiveFilter(new editor.Memento() as never));
  drawn = [];
  tree.onDidChangeTreeData((node) => drawn.push(node));
});
afterEach(() => {
  vi.useRealTimers();
  tree.dispose();
});

/** What happens next in a run that is shown. */
function happens(runId: string, ...events: JournalEvent[]): void {
  const { snapshot } = model.runs.get(runId) ?? {};
  if (!snapshot?.view) throw new Error('there is no such run');
  let { view } = snapshot;
  for (const event of events) view = applyLine(view, { ...event, seq: view.seq + 1, t: view.updatedAt + 1 });
  vi.advanceTimersByTime(APART_MS);
  drawn.length = 0;
  model.put({ ...snapshot, view, state: view.state });
}

interface Shown {
  node: RunsNode;
  item: ReturnType<RunsTree['getTreeItem']>;
  line: string;
}

/** Every row below a node, indented. */
async function shown(parent: RunsNode, depth = 0): Promise<Shown[]> {
  const all: Shown[] = [];
  for (const node of await tree.getChildren(parent)) {
    const item = tree.getTreeItem(node);
    all.push(
      { node, item, line: `${'  '.repeat(depth)}${item.label}: ${item.description}` },
      ...(await shown(node, depth + 1)),
    );
  }
  return all;
}

/** The only run, with its branch opened. */
async function opened(): Promise<{ run: RunsNode; rows: Shown[] }> {
  const [section] = await tree.getChildren();
  const [run] = section ? await tree.getChildren(section) : [];
  if (!run) throw new Error('no run is shown');
  tree.getTreeItem(run);
  return { run, rows: await shown(run) };
}

const three = [
  ...begun(1, 'survey', 1),
  { ...oneOfEach['child.ready'], child: 1 },
  settled(1),
  announced(lane('north', 'draft', 'review'), lane('south', 'draft', 'review')),
  ...begun(2, 'north.draft', 2),
  ...begun(3, 'south.draft', 3),
];

function put(events: readonly JournalEvent[] = three): string {
  const snapshot = aWorkflowSnapshot(events);
  model.put(snapshot);
  return snapshot.runId;
}

describe('a workflow in the Runs view', () => {
  it('says how far it is, and has its lanes, stages and children below it', async () => {
    vi.useFakeTimers({ now: 1_000_000 });
    const runId = put();
    const { run, rows } = await opened();
    const item = tree.getTreeItem(run);
    expect(item.description).toMatch(/^1 of 5 done · 117 tok · \$0\.50$/);
    expect(item.collapsibleState).toBe(editor.TreeItemCollapsibleState.Expanded);
    expect(item.command).toBeUndefined();
    expect(rows.map(({ line }) => line)).toEqual([
      'survey: 0s · scout · scripted · 117 tok · $0.50',
      'north: 0 of 2 done',
      '  draft: 0s · scout',
      '  review: planned · scout',
      'south: 0 of 2 done',
      '  draft: 0s · scout',
      '  review: planned · scout',
    ]);
    expect(rows.map(({ item: { id } }) => id)).toEqual([
      childRunId(runId, 1),
      `${runId} lane north`,
      `${runId} stage north.draft`,
      `${runId} stage north.review`,
      `${runId} lane south`,
      `${runId} stage south.draft`,
      `${runId} stage south.review`,
    ]);
  });

  it('names its rows in whole sentences', async () => {
    put([...three, { ...oneOfEach['host.intended'], id: 9, key: 'ci' }]);
    const { run, rows } = await opened();
    const name = ({ item }: Pick<Shown, 'item'>) => item.accessibilityInformation?.label;
    expect(name({ item: tree.getTreeItem(run) })).toBe('harbour: workflow is running.');
    expect(rows.map(name)).toEqual([
      'survey: scout has completed its work.',
      'Lane north: running, 0 of 2 stages done.',
      'north.draft: scout is running.',
      'north.review has not started yet.',
      'Lane south: running, 0 of 2 stages done.',
      'south.draft: scout is running.',
      'south.review has not started yet.',
      'Command ci: running.',
    ]);
  });

  it('finds the parent of each row, and the child a row stands for', async () => {
    put();
    const { run, rows } = await opened();
    const walk = async (parent: RunsNode): Promise<void> => {
      for (const node of await tree.getChildren(parent)) {
        expect(tree.getParent(node)).toBe(parent);
        await walk(node);
      }
    };
    await walk(run);
    expect(rows.map(({ node }) => tree.childOf(node))).toEqual([1, undefined, 2, undefined, undefined, 3, undefined]);
    expect(tree.childOf(run)).toBeUndefined();
    // As a notice or a panel names it.
    expect(tree.childOf({ runId: 'r', child: 7 })).toBe(7);
    const stage = rows[2];
    editor.created.view.selection = [stage?.node];
    expect(tree.childOf(undefined)).toBe(2);
    expect(tree.runIdOf(undefined)).toBe(run.kind === 'run' ? run.runId : '');
  });

  it('opens the transcript of the child that is clicked, and none of what has not begun', async () => {
    const runId = put();
    const { rows } = await opened();
    expect(rows.map(({ item }) => item.command?.arguments)).toEqual([
      [{ runId, child: 1 }],
      undefined,
      [{ runId, child: 2 }],
      undefined,
      undefined,
      [{ runId, child: 3 }],
      undefined,
    ]);
  });

  it('offers of each row only what is possible', async () => {
    put([...three, asks(3), asksToRun(9, 'ci', 'make')]);
    const contexts = async () => (await opened()).rows.map(({ item }) => item.contextValue);
    const { activeChild, endedChild, waitingChild, lane: inLane, unstartedStage, askingHost } = ITEM;
    const after = [inLane, waitingChild, unstartedStage, askingHost];
    expect(await contexts()).toEqual([endedChild, inLane, activeChild, unstartedStage, ...after]);
    expect(tree.getTreeItem((await opened()).run).contextValue).toBe(ITEM.waitingWorkflow);
    const [runId = ''] = model.runs.keys();
    happens(runId, { ...oneOfEach['control.requested'], child: 2, action: 'stop' });
    expect((await contexts())[2]).toBe(ITEM.endingChild);
    const { view } = model.runs.get(runId)?.snapshot ?? {};
    expect(view?.stopRequested).toBe(false);
  });

  it('offers to continue what a limit has ended, and nothing that cannot be', async () => {
    const failed = (kind: string): JournalEvent[] => [
      { ...oneOfEach['workflow.ended'], failure: { kind, message: 'No.' } },
      { ...oneOfEach['run.ended'], state: 'failed', error: null },
    ];
    const contextOf = async (events: JournalEvent[]) => {
      model.runs.clear();
      put([...three, ...events]);
      return tree.getTreeItem((await opened()).run).contextValue;
    };
    expect(await contextOf(failed('limit'))).toBe(ITEM.unseenWorkflow);
    expect(await contextOf(failed('script'))).toBe(ITEM.unseenFinalWorkflow);
    expect(await contextOf([{ ...oneOfEach['run.ended'], state: 'complete', error: null }])).toBe(ITEM.endedWorkflow);
    expect(await contextOf([{ ...oneOfEach['run.ended'], state: 'partial', error: null }])).toBe(
      ITEM.resumableWorkflow,
    );
  });

  it('tells at its row who asks for what', async () => {
    const runId = put([...three, asksToRun(9, 'ci', 'make')]);
    const words = () => tree.getTreeItem({ kind: 'run', runId }).description;
    expect(words()).toMatch(/^ci asks to run a command · 1 of 6 done/);
    happens(runId, asks(3));
    expect(words()).toMatch(/^2 questions · /);
    happens(runId, { ...oneOfEach['question.answered'], questionId: 'host-9-1', answer: 'no' });
    expect(words()).toMatch(/^south\.draft asks · 2 of 6 done/);
  });

  it('has tooltips that say more, with the error of what failed', async () => {
    put([...three, settled(2, 'failed'), { ...oneOfEach['host.intended'], id: 9, key: 'ci' }]);
    const { run, rows } = await opened();
    const tooltip = ({ item, node }: Pick<Shown, 'item' | 'node'>) => {
      const { tooltip: text } = tree.resolveTreeItem(item, node);
      return text && typeof text === 'object' ? text.value : '';
    };
    expect(tooltip({ node: run, item: tree.getTreeItem(run) })).toMatch(/harbour.*1 failed/s);
    const [, north, draft, review] = rows;
    if (!north || !draft || !review) throw new Error('rows are missing');
    expect(tooltip(north)).toContain('1 of 2 done, 1 failed');
    expect(tooltip(draft)).toMatch(/north\.draft.*failed.*scout.*117.*The model failed\..*\.2/s);
    expect(tooltip(review)).toContain('north.review is skipped');
    const host = rows.at(-1);
    expect(host && tooltip(host)).toContain('npm test');
  });
});

describe('a workflow that is open', () => {
  it('draws of a child that works on only its row, also among 64', async () => {
    const many = Array.from({ length: 64 }, (_, n) => begun(n + 1, `child-${n}`)).flat();
    const runId = put(many);
    await opened();
    happens(runId, works(40, 'bash'));
    expect(drawn).toEqual([[{ kind: 'child', runId, child: 40 }]]);
    // Nothing that a row shows.
    happens(runId, { ...oneOfEach['workflow.delivered'], step: 9 });
    expect(drawn).toEqual([]);
  });

  it('draws of a stage that works on only its row, and its lane when that looks different', async () => {
    const runId = put();
    await opened();
    happens(runId, works(2, 'bash'));
    expect(drawn).toEqual([[{ kind: 'stage', runId, lane: 'north', key: 'north.draft' }]]);
    happens(runId, ...begun(4, 'north.review'));
    expect(drawn).toEqual([[{ kind: 'lane', runId, lane: 'north' }]]);
  });

  it('draws the run when its own row changes, or what stands below it', async () => {
    const runId = put();
    await opened();
    happens(runId, settled(2));
    expect(drawn).toEqual([[{ kind: 'run', runId }]]);
    await opened();
    happens(runId, ...begun(4, 'north.review'), ...begun(5, 'more'));
    expect(drawn).toEqual([[{ kind: 'run', runId }]]);
  });

  it('draws the run alone once it is closed', async () => {
    const runId = put();
    const { run } = await opened();
    editor.created.collapsed.fire({ element: run });
    happens(runId, works(2, 'bash'));
    expect(drawn).toEqual([[{ kind: 'run', runId }]]);
  });

  it('moves on the time of its children every second, and says less often what it has cost', async () => {
    model = new MemoryRuns();
    const seen = new SeenRuns(new editor.Memento() as never);
    const ticking = new RunsTree(model as unknown as RunsModel, seen, new ActiveFilter(new editor.Memento() as never));
    const runId = put();
    const draws: unknown[] = [];
    ticking.onDidChangeTreeData((node) => draws.push(node));
    editor.created.view.visible = true;
    await ticking.getChildren({ kind: 'run', runId });
    vi.advanceTimersByTime(1000);
    expect(draws).toEqual([
      [
        { kind: 'stage', runId, lane: 'north', key: 'north.draft' },
        { kind: 'stage', runId, lane: 'south', key: 'south.draft' },
      ],
    ]);
    // Also while another child waits for a person.
    happens(runId, asks(3));
    draws.length = 0;
    vi.advanceTimersByTime(1000);
    expect(draws[0]).toContainEqual({ kind: 'stage', runId, lane: 'north', key: 'north.draft' });
    vi.advanceTimersByTime(8000);
    expect(draws.at(-1)).toEqual([{ kind: 'run', runId }]);
    ticking.dispose();
  });
});

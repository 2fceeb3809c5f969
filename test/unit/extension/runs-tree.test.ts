/** What the Runs view asks the editor to draw again, and what it says around the rows. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunSnapshot } from '../../../src/client/index.ts';
import { ActiveFilter } from '../../../src/extension/runs/active-filter.ts';
import type { RunsModel } from '../../../src/extension/runs/runs-model.ts';
import { SeenRuns } from '../../../src/extension/runs/seen-runs.ts';
import { type RunsNode, RunsTree } from '../../../src/extension/trees/runs/runs-tree.ts';
import { MemoryRuns } from './memory-runs.ts';
import { aSnapshot } from './snapshots.ts';
import * as editor from './vscode-stand-in.ts';

vi.mock('vscode', () => import('./vscode-stand-in.ts'));

let model: MemoryRuns;
let seen: SeenRuns;
let filter: ActiveFilter;
let tree: RunsTree;
let drawn: (RunsNode | RunsNode[] | undefined)[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
  editor.contexts.clear();
  model = new MemoryRuns();
  seen = new SeenRuns(new editor.Memento() as never);
  filter = new ActiveFilter(new editor.Memento() as never);
  tree = new RunsTree(model as unknown as RunsModel, seen, filter);
  drawn = [];
  tree.onDidChangeTreeData((node) => drawn.push(node));
});
afterEach(() => {
  tree.dispose();
  vi.useRealTimers();
});

/** Lets the editor show what it was told to draw; what comes next is drawn at once. */
function rest(): void {
  vi.advanceTimersByTime(500);
  drawn.length = 0;
}

/** The whole tree as lines, indented. */
async function lines(parent?: RunsNode, depth = 0): Promise<string[]> {
  const result: string[] = [];
  for (const node of await tree.getChildren(parent)) {
    const { label } = tree.getTreeItem(node);
    result.push(`${'  '.repeat(depth)}${label}`, ...(await lines(node, depth + 1)));
  }
  return result;
}

const now = Date.now();
const change = (snapshot: RunSnapshot, state: RunSnapshot['state']) => ({
  ...snapshot,
  state,
  view: snapshot.view && { ...snapshot.view, endedAt: state === 'running' ? null : Date.now() },
});

describe('the Runs view', () => {
  it('draws only the row of a run that changed, whatever else there is', async () => {
    for (let i = 0; i < 1000; i++) model.put(aSnapshot('complete', { at: now - i * 60_000 }));
    const running = aSnapshot('running', { at: now });
    model.put(running);
    await tree.getChildren();
    rest();
    model.put({ ...running, view: running.view && { ...running.view, seq: 9 } });
    expect(drawn).toEqual([[{ kind: 'run', runId: running.runId }]]);
  });

  it('lets the elapsed times of drawn rows move on, and only those that have', async () => {
    vi.setSystemTime(now + 500);
    const fresh = aSnapshot('running', { at: now, task: 'fresh' });
    const old = aSnapshot('running', { at: now - 20_000, task: 'old' });
    for (const snapshot of [fresh, old, aSnapshot('complete', { at: now })]) model.put(snapshot);
    vi.advanceTimersByTime(1000);
    await lines();
    editor.created.view.visible = true;
    drawn.length = 0;
    vi.advanceTimersByTime(5000);
    // After its first ten seconds a run's time moves on every five.
    const rows = (snapshots: RunSnapshot[]) => snapshots.map(({ runId }) => ({ kind: 'run', runId }));
    expect(drawn.filter((nodes) => Array.isArray(nodes) && nodes.length === 2)).toEqual([rows([fresh, old])]);
    expect(drawn.filter((nodes) => Array.isArray(nodes) && nodes.length === 1)).toEqual(Array(4).fill(rows([fresh])));
  });

  it('does not let a tick come between two changes', async () => {
    vi.setSystemTime(now + 500);
    const running = aSnapshot('running', { at: now, task: 'runs' });
    model.put(running);
    vi.advanceTimersByTime(300);
    await lines();
    editor.created.view.visible = true;
    drawn.length = 0;
    vi.advanceTimersByTime(600);
    // A tenth of a second before the tick; the next change comes when the rows are at rest again.
    model.put({ ...running, view: running.view && { ...running.view, seq: 9 } });
    vi.advanceTimersByTime(220);
    expect(drawn).toHaveLength(1);
    model.put({ ...running, view: running.view && { ...running.view, seq: 10 } });
    expect(drawn).toHaveLength(2);
  });

  it('says nothing around the rows again that it has said', async () => {
    const said: unknown[] = [];
    Object.defineProperty(editor.created.view, 'message', { set: (value) => said.push(value), get: () => said.at(-1) });
    const one = aSnapshot('running', { at: now, task: 'mine' });
    model.put(one);
    model.put({ ...one, view: one.view && { ...one.view, seq: 9 } });
    expect(said).toEqual([]);
    await filter.set({ text: 'mine', states: [] });
    model.put({ ...one, view: one.view && { ...one.view, seq: 10 } });
    expect(said).toEqual(['1 of 1 runs: "mine"']);
    await filter.set({ text: '', states: [] });
    expect(said).toEqual(['1 of 1 runs: "mine"', undefined]);
  });

  it('draws the two sections between which a run moved', async () => {
    model.put(aSnapshot('complete', { at: now - 2, task: 'done before' }));
    model.put(aSnapshot('running', { at: now, task: 'stays' }));
    const one = aSnapshot('running', { at: now, task: 'moves' });
    model.put(one);
    await tree.getChildren();
    rest();
    model.put(change(one, 'complete'));
    expect(drawn).toEqual([
      [
        { kind: 'section', key: 'one/active' },
        { kind: 'section', key: expect.stringMatching(/^one\/\d{4}-\d\d-\d\d$/) },
      ],
    ]);
    expect(await lines()).toEqual(['Active', '  stays', 'Today', '  moves', '  done before']);
  });

  it('draws everything when a section comes or goes', async () => {
    const one = aSnapshot('running', { at: now });
    model.put(one);
    rest();
    model.put(change(one, 'waiting'));
    expect(drawn).toEqual([undefined]);
  });

  it('counts in the badge what needs a person, also what a filter hides', async () => {
    const one = aSnapshot('running', { at: now, task: 'mine' });
    model.put(one);
    expect(editor.created.view.badge).toBeUndefined();
    model.put(change(one, 'failed'));
    expect(editor.created.view.badge).toEqual({ value: 1, tooltip: '1 run needs you.' });
    await filter.set({ text: 'other', states: [] });
    expect(editor.created.view.badge?.value).toBe(1);
    expect(editor.contexts.get('piLanes.runsEmpty')).toBe('filtered');
    seen.markSeen(model.active());
    expect(editor.created.view.badge).toBeUndefined();
  });

  it('says why it is empty', async () => {
    const reason = () => editor.contexts.get('piLanes.runsEmpty');
    seen.markSeen([]);
    await filter.set({ text: '', states: [] });
    expect(reason()).toBe('none');
    model.problemList = [{ kind: 'store', title: 'One', error: { code: 'internal', message: 'EACCES' } }];
    await filter.set({ text: '', states: [] });
    expect(reason()).toBe('store');
    // The welcome tells it; with runs beside it, a row does.
    expect(await lines()).toEqual([]);
    model.put(aSnapshot('complete', { at: now, task: 'there' }));
    expect(reason()).toBeUndefined();
    expect(await lines()).toEqual(['One', 'Today', '  there']);
    model.shownProjects = [{ name: 'one', title: 'One', hasMore: true }];
    model.problemList = [];
    await filter.set({ text: 'nowhere', states: [] });
    expect(reason()).toBe('filtered-older');
  });

  it('names rows in whole sentences that do not change with the clock', async () => {
    const one = aSnapshot('running', { at: now - 5000, task: 'mend' });
    model.put(one);
    const [section] = await tree.getChildren();
    const [row] = await tree.getChildren(section);
    const nameOf = () => row && tree.getTreeItem(row).accessibilityInformation?.label;
    const before = nameOf();
    vi.setSystemTime(now + 60_000);
    expect(nameOf()).toBe(before);
    expect(before).toBe('mend: worker is running.');
    expect(section && tree.getTreeItem(section).accessibilityInformation?.label).toBe('1 run is active.');
  });

  it('keeps ids and nodes stable, and finds the parents of rows', async () => {
    model.shownProjects = [
      { name: 'one', title: 'One', hasMore: true },
      { name: 'two', title: 'Two', hasMore: false },
    ];
    model.put(aSnapshot('complete', { at: now, task: 'a' }));
    model.put(aSnapshot('complete', { at: now, task: 'b' }), 'two');
    model.put(aSnapshot('lost', { at: now, task: 'c' }), 'two');
    expect(await lines()).toEqual([
      'Needs You',
      '  c',
      'One',
      '  Today',
      '    a',
      '  Show Older Runs…',
      'Two',
      '  Today',
      '    b',
    ]);
    const ids = new Set<string | undefined>();
    const walk = async (parent?: RunsNode): Promise<void> => {
      for (const node of await tree.getChildren(parent)) {
        expect(tree.getParent(node)).toBe(parent);
        ids.add(tree.getTreeItem(node).id);
        await walk(node);
      }
    };
    await walk();
    expect(ids.size).toBe(9);
  });

  it('forgets nothing that was seen, however much there is', async () => {
    const failures = Array.from({ length: 600 }, (_, i) => aSnapshot('failed', { at: Date.now() + 1000 + i }));
    seen.markSeen(failures);
    expect(failures.filter(seen.needsPerson)).toEqual([]);
    expect(seen.needsPerson(aSnapshot('failed', { at: Date.now() + 60_000 }))).toBe(true);
  });
});

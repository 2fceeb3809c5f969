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
  editor.contexts.clear();
  model = new MemoryRuns();
  seen = new SeenRuns(new editor.Memento() as never);
  filter = new ActiveFilter(new editor.Memento() as never);
  tree = new RunsTree(model as unknown as RunsModel, seen, filter);
  drawn = [];
  tree.onDidChangeTreeData((node) => drawn.push(node));
});
afterEach(() => tree.dispose());

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
    drawn.length = 0;
    model.put({ ...running, view: running.view && { ...running.view, seq: 9 } });
    expect(drawn).toEqual([{ kind: 'run', runId: running.runId }]);
  });

  it('draws the two sections between which a run moved', async () => {
    model.put(aSnapshot('complete', { at: now - 2, task: 'done before' }));
    model.put(aSnapshot('running', { at: now, task: 'stays' }));
    const one = aSnapshot('running', { at: now, task: 'moves' });
    model.put(one);
    await tree.getChildren();
    drawn.length = 0;
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
    drawn.length = 0;
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
    vi.useFakeTimers({ now: now + 60_000 });
    expect(nameOf()).toBe(before);
    vi.useRealTimers();
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

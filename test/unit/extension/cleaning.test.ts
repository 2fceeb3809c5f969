/** When a window removes old runs, by whose word, and what is seen of it. */
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Toolbox } from '../../../src/client/index.ts';
import { ensureProject, findProject, type ProjectLayout } from '../../../src/core/projects/index.ts';
import { Cleaning } from '../../../src/extension/cleaning.ts';
import { windowSettings } from '../../../src/extension/configuration.ts';
import { ActiveFilter } from '../../../src/extension/runs/active-filter.ts';
import { RunsModel } from '../../../src/extension/runs/runs-model.ts';
import { SeenRuns } from '../../../src/extension/runs/seen-runs.ts';
import { type RunsNode, RunsTree } from '../../../src/extension/trees/runs/runs-tree.ts';
import { type TempDir, tempDir } from '../../support/temp.ts';
import { waitFor } from '../../support/wait-for.ts';
import { DAY, type OldRun, writeOldRun } from '../builders/old-run.ts';
import * as editor from './vscode-stand-in.ts';

vi.mock('vscode', () => import('./vscode-stand-in.ts'));

const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn(), debug: vi.fn() };
let folder: TempDir;
let toolbox: Toolbox;
let project: ProjectLayout;
const disposables: { dispose(): void }[] = [];

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  const workspace = join(folder.path, 'workspace');
  await mkdir(workspace);
  const env = { PI_CODING_AGENT_DIR: join(folder.path, 'agent') };
  const client = { kind: 'vscode', version: 'test' };
  toolbox = new Toolbox({ env, distDirectory: '', client, overrides: windowSettings });
  const found = await findProject(toolbox.agentDir, workspace, workspace);
  await ensureProject(found);
  project = found.layout;
  editor.workspace.workspaceFolders = [{ name: 'workspace', uri: { scheme: 'file', fsPath: workspace } }];
});

afterEach(async () => {
  vi.useRealTimers();
  vi.clearAllMocks();
  for (const disposable of disposables.splice(0).reverse()) disposable.dispose();
  editor.workspace.settings.clear();
  editor.workspace.isTrusted = true;
  await folder.remove();
});

const old = (days: number): Promise<OldRun> => writeOldRun(project.directory, { endedAt: Date.now() - days * DAY });

/** A window that cleans at once. */
function cleaning(): void {
  disposables.push(new Cleaning(toolbox, log as never, 1));
}

const said = (what: 'info' | 'error' | 'warn') => log[what].mock.calls.flat().join('\n');

describe('a window', () => {
  it('begins a minute after its start, not before, and looks again each day', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const looks = vi.spyOn(toolbox, 'retentionDays').mockRejectedValue(new Error('not now'));
    disposables.push(new Cleaning(toolbox, log as never));
    await vi.advanceTimersByTimeAsync(59_999);
    expect(looks).toHaveBeenCalledTimes(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(looks).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(DAY - 1);
    expect(looks).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(looks).toHaveBeenCalledTimes(2);
    disposables.pop()?.dispose();
    await vi.advanceTimersByTimeAsync(3 * DAY);
    expect(looks).toHaveBeenCalledTimes(2);
  });

  it('keeps runs for 30 days, and says what it removed', async () => {
    const [due, young] = [await old(31), await old(29)];
    cleaning();
    await waitFor('the run to be gone', () => said('info') !== '');
    expect(said('info')).toBe('Removed 1 run(s) that ended more than 30 days ago, and 0 leftover(s).');
    expect([existsSync(due.directory), existsSync(young.directory)]).toEqual([false, true]);
  });

  it('keeps them for as long as the setting says', async () => {
    const [due, young] = [await old(7), await old(3)];
    editor.workspace.settings.set('piLanes.retention.days', 5);
    cleaning();
    await waitFor('the run to be gone', () => said('info') !== '');
    expect([existsSync(due.directory), existsSync(young.directory)]).toEqual([false, true]);
  });

  it.each(['30', -1, 2.5, {}])('removes nothing when the setting is %j, and names it', async (value) => {
    const run = await old(400);
    editor.workspace.settings.set('piLanes.retention.days', value);
    cleaning();
    await waitFor('the complaint', () => said('error') !== '');
    expect(said('error')).toContain(`The setting piLanes.retention.days is ${JSON.stringify(value)}`);
    expect(existsSync(run.directory)).toBe(true);
  });

  it('goes on after a minute while there is more', async () => {
    for (let i = 0; i < 130; i++) await old(40 + i / 100);
    cleaning();
    await waitFor('the second part', () => log.info.mock.calls.length === 2, { timeoutMs: 15_000 });
    expect(said('info')).toMatch(/^Removed 100 run.*\nRemoved 30 run/);
  });

  it('removes nothing from a workspace that is not trusted', async () => {
    const run = await old(400);
    editor.workspace.isTrusted = false;
    const days = vi.spyOn(toolbox, 'retentionDays');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    disposables.push(new Cleaning(toolbox, log as never));
    await vi.advanceTimersByTimeAsync(120_000);
    expect(days).not.toHaveBeenCalled();
    expect(existsSync(run.directory)).toBe(true);
    // It may be trusted by the next day.
    editor.workspace.isTrusted = true;
    days.mockRejectedValue(new Error('not now'));
    await vi.advanceTimersByTimeAsync(DAY);
    expect(days).toHaveBeenCalledTimes(1);
  });
});

describe('the Runs view', () => {
  it('loses the rows of runs that were removed, and no others', async () => {
    const [due, young] = [await old(40), await old(2)];
    const runs = new RunsModel(toolbox, log as never);
    const seen = new SeenRuns(new editor.Memento() as never);
    const filter = new ActiveFilter(new editor.Memento() as never);
    const tree = new RunsTree(runs, seen, filter);
    disposables.push(tree, runs);
    const shown = async (parent?: RunsNode): Promise<string[]> => {
      const ids: string[] = [];
      for (const node of await tree.getChildren(parent))
        ids.push(...(node.kind === 'run' ? [node.runId] : await shown(node)));
      return ids;
    };
    await runs.ready();
    expect((await shown()).sort()).toEqual([due.runId, young.runId].sort());
    cleaning();
    await waitFor('the row to go', async () => (await shown()).length === 1);
    expect(await shown()).toEqual([young.runId]);
    expect(runs.get(due.runId)).toBeUndefined();
  });

  it('has older runs move up where rows went', async () => {
    for (let i = 0; i < 60; i++) await old(2 + i / 100);
    const due = await Promise.all([old(1), old(1.5)]);
    const runs = new RunsModel(toolbox, log as never);
    disposables.push(runs);
    await runs.ready();
    expect(runs.all()).toHaveLength(50);
    // A search goes on where the rows end.
    const every = await runs.every();
    expect(every.map(({ runId }) => runId)).toEqual(
      every
        .map(({ runId }) => runId)
        .toSorted()
        .reverse(),
    );
    expect(every).toHaveLength(62);
    expect((await every.at(-1)?.read())?.state).toBe('complete');
    for (const { directory } of due) await rm(directory, { recursive: true });
    await waitFor(
      'the rows to be filled up',
      () => due.every(({ runId }) => !runs.get(runId)) && runs.all().length === 50,
    );
  });
});

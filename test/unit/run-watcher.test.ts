import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunSnapshot } from '../../src/client/run-snapshot.ts';
import { RunStore } from '../../src/client/run-store.ts';
import { RunWatcher, type RunWatcherOptions, waitForEnd } from '../../src/client/run-watcher.ts';
import { JournalWriter } from '../../src/core/journal/index.ts';
import { identify } from '../../src/core/processes/index.ts';
import { projectLayout, runLayout } from '../../src/core/projects/index.ts';
import { newRunId } from '../../src/core/runs/index.ts';
import type { JournalEvent } from '../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';
import { oneOfEach } from './builders/events.ts';
import { ended, goneIdentity, me, writeRun } from './builders/run.ts';
import { aWorkflow } from './builders/workflow.ts';

/** Folders that are watched now. */
const { open } = vi.hoisted(() => ({ open: [] as string[] }));
vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>();
  const watch = (path: string, options: object, listener: () => void) => {
    const watcher = fs.watch(path, options, listener);
    open.push(path);
    watcher.once('close', () => open.splice(open.indexOf(path), 1));
    return watcher;
  };
  return { ...fs, watch };
});

const NEVER = 60 * 60_000;
let folder: TempDir;
let store: RunStore;
let seen: RunSnapshot[];
const watchers: RunWatcher[] = [];

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  store = new RunStore(projectLayout(folder.path));
  for (const path of [store.layout.active, store.layout.runs]) await mkdir(path, { recursive: true });
  seen = [];
});

afterEach(async () => {
  for (const watcher of watchers.splice(0)) watcher.dispose();
  await folder.remove();
});

/** A watcher that is told of changes only by the file system, unless it is given a shorter poll. */
async function watching(options: RunWatcherOptions = { pollMs: NEVER }): Promise<RunWatcher> {
  const watcher = new RunWatcher(store, (snapshot) => seen.push(snapshot), options);
  watchers.push(watcher);
  await watcher.refresh();
  return watcher;
}

const statesOf = (runId: string) =>
  seen.filter((snapshot) => snapshot.runId === runId).map((snapshot) => snapshot.state);

async function append(directory: string, ...events: JournalEvent[]): Promise<void> {
  const journal = await JournalWriter.open(runLayout(directory).journal);
  await journal.append(events, { sync: true });
  await journal.close();
}

describe('the watcher', () => {
  it('reports a run that came and went between two looks, once', async () => {
    const watcher = await watching();
    const { runId } = await writeRun(folder.path, { events: [ended('complete')] });
    await watcher.refresh();
    await writeRun(folder.path, { events: [ended('complete')], record: { runId: newRunId(Date.now() - 60_000) } });
    await watcher.refresh();
    expect(seen.map((snapshot) => [snapshot.runId, snapshot.state])).toEqual([[runId, 'complete']]);
  });

  it('shows the live runs at once, and no others', async () => {
    const live = await writeRun(folder.path, { events: [oneOfEach['run.proceeded']], lease: await me() });
    await writeRun(folder.path, { events: [ended('complete')] });
    await watching();
    expect(seen.map((snapshot) => [snapshot.runId, snapshot.state])).toEqual([[live.runId, 'running']]);
  });

  it('notices a change within 250 ms', async () => {
    const { runId, directory } = await writeRun(folder.path, {
      events: [oneOfEach['run.proceeded']],
      lease: await me(),
    });
    await watching();
    const took: number[] = [];
    for (let turns = 1; turns <= 6; turns++) {
      await append(directory, { ...oneOfEach['child.progress'], turns });
      const from = performance.now();
      await waitFor('the change', () => seen.at(-1)?.view?.children[0]?.turns === turns, { everyMs: 2 });
      took.push(performance.now() - from);
    }
    expect(statesOf(runId)).not.toContain('unknown');
    // Never by the poll; and on a machine that is not overloaded in time.
    expect(Math.min(...took)).toBeLessThan(250);
  });

  it('follows the first notice at once, and gathers those that come soon after', async () => {
    const { directory } = await writeRun(folder.path, { events: [oneOfEach['run.proceeded']], lease: await me() });
    await watching({ pollMs: NEVER, gatherMs: 300 });
    const turnsSeen = () => seen.map(({ view }) => view?.children[0]?.turns).filter((turns) => turns !== undefined);
    await delay(300);
    const from = performance.now();
    await append(directory, { ...oneOfEach['child.progress'], turns: 1 });
    await waitFor('the first', () => turnsSeen().includes(1), { everyMs: 2 });
    const first = performance.now() - from;
    for (let turns = 2; turns <= 20; turns++) await append(directory, { ...oneOfEach['child.progress'], turns });
    await waitFor('the last', () => turnsSeen().at(-1) === 20, { everyMs: 2 });
    expect(performance.now() - from).toBeGreaterThan(300);
    expect(first).toBeLessThan(300);
    expect(turnsSeen().length).toBeLessThan(10);
  });

  it('run-23 notices a journal of the same time, size and length that was put in the place of the old', async () => {
    const events: JournalEvent[] = [oneOfEach['run.proceeded'], { ...oneOfEach['child.progress'], turns: 3 }];
    const { runId, directory } = await writeRun(folder.path, { events, lease: await me() });
    const { journal } = runLayout(directory);
    const old = new Date(1_700_000_000_000);
    await utimes(journal, old, old);
    const watcher = await watching();
    await watcher.refresh();
    expect(seen.map(({ view }) => view?.children[0]?.turns)).toEqual([3]);
    await writeFile(`${journal}.new`, (await readFile(journal, 'utf8')).replace('"turns":3', '"turns":4'));
    await utimes(`${journal}.new`, old, old);
    await rename(`${journal}.new`, journal);
    await waitFor('the other journal', () => seen.at(-1)?.view?.children[0]?.turns === 4);
    await watcher.refresh();
    // A look in the middle of the exchange reads it once more.
    expect([...new Set(seen.map(({ view }) => view?.children[0]?.turns))]).toEqual([3, 4]);
    expect(new Set(statesOf(runId))).toEqual(new Set(['running']));
    expect(seen.at(-1)?.view?.seq).toBe(2);
  });

  it('shows each change once, and the end last', async () => {
    const { runId, directory } = await writeRun(folder.path, {
      events: [oneOfEach['run.proceeded']],
      lease: await me(),
    });
    const watcher = await watching();
    await watcher.refresh();
    expect(seen).toHaveLength(1);
    await append(directory, ended('complete'));
    await waitFor('the end', () => statesOf(runId).includes('complete'));
    await append(directory, oneOfEach['child.stdout']);
    await watcher.refresh();
    expect(statesOf(runId).filter((state) => state === 'complete')).toHaveLength(1);
    expect(statesOf(runId).at(-1)).toBe('complete');
  });

  it('shows a run that goes on after its end, also when its marker was there before that was written', async () => {
    const { runId, directory } = await writeRun(folder.path, {
      record: aWorkflow(),
      events: [ended('partial')],
      lease: await me(),
    });
    const marker = join(store.layout.active, runId);
    await writeFile(marker, '');
    const watcher = await watching();
    expect(statesOf(runId)).toEqual(['partial']);
    await watcher.refresh();
    expect(statesOf(runId)).toEqual(['partial']);
    await append(directory, oneOfEach['run.continued']);
    await watcher.refresh();
    expect(statesOf(runId)).toEqual(['partial', 'running']);
    await append(directory, ended('complete'));
    await waitFor('its end', () => statesOf(runId).at(-1) === 'complete');
  });

  it('shows the end of a run that went on and was over before it was looked at again', async () => {
    const { runId, directory } = await writeRun(folder.path, {
      record: aWorkflow(),
      events: [ended('partial')],
      lease: await me(),
    });
    const marker = join(store.layout.active, runId);
    await writeFile(marker, '');
    const watcher = await watching();
    await append(directory, oneOfEach['run.continued'], ended('complete'));
    await rm(marker);
    await watcher.refresh();
    expect(statesOf(runId)).toEqual(['partial', 'complete']);
    await watcher.refresh();
    expect(statesOf(runId)).toEqual(['partial', 'complete']);
  });

  it('watches live runs and the folders where they appear, and nothing else', async () => {
    const live = await writeRun(folder.path, { events: [oneOfEach['run.proceeded']], lease: await me() });
    await writeRun(folder.path, { events: [ended('complete')] });
    const watcher = await watching();
    const own = () => open.filter((path) => path.startsWith(folder.path)).sort();
    expect(own()).toEqual([store.layout.active, store.layout.runs, live.directory].sort());
    await append(live.directory, ended('stopped'));
    await rm(join(store.layout.active, live.runId));
    await waitFor('the run to be let go', () => !own().includes(live.directory));
    watcher.dispose();
    await waitFor('all to be let go', () => own().length === 0);
  });

  it('notices a new run, whose marker is there before it', async () => {
    await watching();
    const runId = newRunId();
    const staging = await tempDir();
    const written = await writeRun(staging.path, {
      record: { runId },
      events: [oneOfEach['run.proceeded']],
      lease: await me(),
    });
    await writeFile(join(store.layout.active, runId), '');
    // Long enough for the watcher to look for the run in vain.
    await delay(60);
    expect(seen).toEqual([]);
    await rename(written.directory, store.directoryOf(runId));
    await waitFor('the run', () => statesOf(runId).includes('running'));
    await append(store.directoryOf(runId), ended('complete'));
    await waitFor('its end', () => statesOf(runId).includes('complete'));
    await staging.remove();
  });

  it('finds runs of a project that had none yet', async () => {
    await rm(folder.path, { recursive: true });
    await watching({ pollMs: 20 });
    const { runId } = await writeRun(folder.path, { events: [oneOfEach['run.proceeded']], lease: await me() });
    await waitFor('the run', () => statesOf(runId).includes('running'));
  });

  it('looks again when something changes while it looks', async () => {
    const watcher = new RunWatcher(store, (snapshot) => seen.push(snapshot), { pollMs: NEVER });
    watchers.push(watcher);
    const ids = vi.spyOn(store, 'activeIds');
    const { runId } = await writeRun(folder.path, { events: [oneOfEach['run.proceeded']], lease: await me() });
    // The first look was over just before the run came.
    ids.mockImplementationOnce(async () => {
      await delay(1);
      void watcher.refresh();
      return [];
    });
    await watcher.refresh();
    expect(statesOf(runId)).toEqual(['running']);
  });

  it('B26 finds a runner that died without a word', async () => {
    const runner = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const lease = await identify(runner.pid ?? 0);
    const { runId } = await writeRun(folder.path, { events: [oneOfEach['run.proceeded']], lease });
    await watching({ pollMs: 20 });
    expect(statesOf(runId)).toEqual(['running']);
    runner.kill('SIGKILL');
    await once(runner, 'exit');
    await waitFor('the loss', () => statesOf(runId).includes('lost'));
    expect(statesOf(runId)).toEqual(['running', 'lost']);
  });

  it('shows a run that cannot be read, and goes on with the others', async () => {
    const broken = await writeRun(folder.path, {});
    await writeFile(runLayout(broken.directory).record, '{');
    const live = await writeRun(folder.path, { events: [oneOfEach['run.proceeded']], lease: await me() });
    await watching();
    expect(statesOf(broken.runId)).toEqual(['unknown']);
    expect(statesOf(live.runId)).toEqual(['running']);
  });

  it('tells which runs were removed, once, and shows one that is put back', async () => {
    const removed: string[][] = [];
    const ids = [3, 2, 1].map((hours) => newRunId(Date.now() - hours * 3_600_000));
    for (const runId of ids) await writeRun(folder.path, { record: { runId }, events: [ended('complete')] });
    await watching({ pollMs: NEVER, onRemoved: (gone) => removed.push(gone) });
    const [first = '', second = '', third = ''] = ids;
    await rename(store.directoryOf(first), join(store.layout.runs, `.${first}.1.gone`));
    await waitFor('the first to be gone', () => removed.flat().includes(first));
    await rm(store.directoryOf(second), { recursive: true });
    await waitFor('the second to be gone', () => removed.flat().includes(second));
    expect(seen).toEqual([]);
    await rename(join(store.layout.runs, `.${first}.1.gone`), store.directoryOf(first));
    await waitFor('the first to be back', () => statesOf(first).includes('complete'));
    expect(removed.flat().sort()).toEqual([first, second].sort());
    expect(statesOf(first)).toEqual(['complete']);
    expect(await store.runIds()).toEqual([third, first]);
  });

  it('does not take runs for removed that cannot be listed', async () => {
    const removed: string[][] = [];
    await writeRun(folder.path, { events: [ended('complete')] });
    const watcher = await watching({ pollMs: NEVER, onRemoved: (gone) => removed.push(gone) });
    vi.spyOn(store, 'runIds').mockRejectedValue(new Error('EACCES'));
    await writeFile(join(store.layout.runs, 'change'), '');
    await watcher.refresh();
    vi.restoreAllMocks();
    await watcher.refresh();
    expect(removed).toEqual([]);
  });

  it('says nothing any more once it is disposed', async () => {
    const { directory } = await writeRun(folder.path, { events: [oneOfEach['run.proceeded']], lease: await me() });
    const watcher = await watching({ pollMs: 5 });
    watcher.dispose();
    const before = seen.length;
    await append(directory, ended('complete'));
    await watcher.refresh();
    await delay(30);
    expect(seen).toHaveLength(before);
  });
});

describe('a run whose end was seen before its marker', () => {
  it('is told once', async () => {
    const watcher = await watching({ pollMs: 20 });
    // Ids of the same millisecond have no order.
    await delay(5);
    const { runId } = await writeRun(folder.path, { events: [ended('complete')], active: false });
    await waitFor('the end to be told', () => statesOf(runId).includes('complete'));
    await watcher.refresh();
    await writeFile(join(store.layout.active, runId), '');
    await watcher.refresh();
    expect(statesOf(runId)).toEqual(['complete']);
  });
});

describe('waiting for the end', () => {
  it('is over at once when the run has ended or is lost', async () => {
    const done = await writeRun(folder.path, { events: [ended('partial')] });
    expect((await waitForEnd(store, done.runId)).state).toBe('partial');
    const lost = await writeRun(folder.path, { events: [oneOfEach['run.proceeded']], lease: goneIdentity() });
    expect((await waitForEnd(store, lost.runId)).state).toBe('lost');
  });

  it('is over with the end, and tells what happens until then', async () => {
    const { runId, directory } = await writeRun(folder.path, {
      events: [oneOfEach['run.proceeded']],
      lease: await me(),
    });
    const changes: RunSnapshot[] = [];
    const waiting = waitForEnd(store, runId, { onChange: (snapshot) => changes.push(snapshot) });
    await waitFor('the first look', () => changes.length > 0);
    await append(directory, oneOfEach['child.progress']);
    await waitFor('the progress', () => changes.some((snapshot) => snapshot.view?.children[0]?.tool === 'bash'));
    await append(directory, ended('complete'));
    expect(await waiting).toMatchObject({ runId, state: 'complete' });
  });

  it('is over when the run ended without its marker', async () => {
    const { runId, directory } = await writeRun(folder.path, {
      events: [oneOfEach['run.proceeded']],
      lease: await me(),
      active: false,
    });
    const waiting = waitForEnd(store, runId);
    await append(directory, ended('complete'));
    expect((await waiting).state).toBe('complete');
  });

  it('is over when the run cannot be read at all', async () => {
    const { runId, directory } = await writeRun(folder.path, {});
    await writeFile(runLayout(directory).record, '{');
    expect(await waitForEnd(store, runId)).toMatchObject({ state: 'unknown', error: { code: 'run_unreadable' } });
    expect((await waitForEnd(store, newRunId())).error?.code).toBe('run_not_found');
  });

  it('stops at its signal, also when that came first', async () => {
    const { runId } = await writeRun(folder.path, { events: [oneOfEach['run.proceeded']], lease: await me() });
    const late = new AbortController();
    const waiting = waitForEnd(store, runId, { signal: late.signal, onChange: () => late.abort(new Error('enough')) });
    await expect(waiting).rejects.toThrow('enough');
    const signal = AbortSignal.abort(new Error('before'));
    await expect(waitForEnd(store, runId, { signal })).rejects.toThrow('before');
  });
});

import { mkdir, readdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { formatDetails } from '../../src/cli/format.ts';
import { deriveState, RunFollower, readSnapshot } from '../../src/client/run-snapshot.ts';
import { allStores, findRun, RunStore } from '../../src/client/run-store.ts';
import { projectLayout, rootLayout, runLayout } from '../../src/core/projects/index.ts';
import { initialView, newRunId } from '../../src/core/runs/index.ts';
import { type RunView, TERMINAL_STATES } from '../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { oneOfEach, someError } from './builders/events.ts';
import { anOwner, aRecord, ended, goneIdentity, me, writeRun } from './builders/run.ts';

let folder: TempDir;
let store: RunStore;

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  store = new RunStore(projectLayout(folder.path));
});

afterEach(async () => {
  vi.restoreAllMocks();
  await folder.remove();
});

/** Ids of runs that began one second apart. */
const idsFrom = (count: number, start = 1_700_000_000_000) =>
  Array.from({ length: count }, (_, i) => newRunId(start + i * 1_000));

describe('run-23 the final status', () => {
  it('is read anew each time: one of the same time and size in its place is noticed', async () => {
    const { runId, directory } = await writeRun(folder.path, { events: [ended('complete')] });
    const { status } = runLayout(directory);
    const old = new Date(1_700_000_000_000);
    await utimes(status, old, old);
    expect((await store.read(runId)).view?.agent).toBe('worker');
    const text = await readFile(status, 'utf8');
    await writeFile(`${status}.new`, text.replace('"agent":"worker"', '"agent":"walker"'));
    await utimes(`${status}.new`, old, old);
    await rename(`${status}.new`, status);
    expect((await store.read(runId)).view?.agent).toBe('walker');
  });
});

describe('a run that is damaged', () => {
  it('is unreadable with the file that is in the way or missing, not unknown', async () => {
    const { runId, directory } = await writeRun(folder.path, { events: [oneOfEach['run.proceeded']] });
    const { journal, record } = runLayout(directory);
    const unreadable = (path: string) => ({
      state: 'unknown',
      error: { code: 'run_unreadable', message: expect.stringContaining(path) },
    });
    await rm(journal);
    await mkdir(journal);
    expect(await store.read(runId)).toMatchObject(unreadable(journal));
    await rm(record);
    expect(await store.read(runId)).toMatchObject(unreadable(record));
    await rm(directory, { recursive: true });
    expect(await store.read(runId)).toMatchObject({ error: { code: 'run_not_found' } });
  });
});

describe('the runs of a project', () => {
  it('are listed newest first, whatever else lies there', async () => {
    const ids = idsFrom(5);
    for (const [i, runId] of [2, 0, 4, 1, 3].map((at) => ids[at] ?? '').entries())
      await writeRun(folder.path, {
        record: { runId },
        events: i % 2 ? [ended('complete')] : [oneOfEach['run.proceeded']],
      });
    await mkdir(join(store.layout.runs, `.${newRunId()}.new`));
    await writeFile(join(store.layout.runs, 'notes.txt'), '');
    const newest = [...ids].reverse();
    expect(await store.runIds()).toEqual(newest);
    expect((await store.list(3)).map((snapshot) => snapshot.runId)).toEqual(newest.slice(0, 3));
    expect(await store.activeIds()).toEqual([ids[4], ids[3], ids[2]].sort().reverse());
  });

  it('are none before the first', async () => {
    expect(await store.runIds()).toEqual([]);
    expect(await store.activeIds()).toEqual([]);
    expect(await store.list(10)).toEqual([]);
  });

  it('are not called none where a file is in the way: that is an error, which is shown', async () => {
    await writeFile(store.layout.runs, '');
    const told = { code: 'run_unreadable', message: expect.stringContaining(store.layout.runs) };
    await expect(store.runIds()).rejects.toMatchObject(told);
    // In another project it is still found; where it may be in this one, that is not called "no such run".
    const other = new RunStore(projectLayout(join(folder.path, 'other')));
    const { runId } = await writeRun(other.layout.directory, {});
    expect(await findRun(runId, store, [other])).toMatchObject({ runId });
    await expect(findRun(newRunId(), store, [other])).rejects.toMatchObject(told);
  });

  it('are not called none either where the projects cannot be listed', async () => {
    const root = rootLayout(folder.path);
    await mkdir(root.root, { recursive: true });
    await writeFile(root.projects, '');
    await expect(allStores(root)).rejects.toMatchObject({
      code: 'run_unreadable',
      message: expect.stringContaining(root.projects),
    });
  });

  it('lie in one store for each project', async () => {
    const root = rootLayout(folder.path);
    expect(await allStores(root)).toEqual([]);
    for (const name of ['b-2', 'a-1']) await mkdir(join(root.projects, name, 'runs'), { recursive: true });
    expect((await allStores(root)).map((one) => one.layout.runs)).toEqual(
      ['a-1', 'b-2'].map((name) => join(root.projects, name, 'runs')),
    );
    // Files that other programs leave about are no projects.
    await writeFile(join(root.projects, '.DS_Store'), '');
    expect(await allStores(root)).toHaveLength(2);
  });
});

describe('the run a person means', () => {
  const first = '01890000-0000-7000-8000-00000000aaaa';
  const second = '01890000-1111-7000-8000-00000000bbbb';
  const third = '01890000-2222-7000-8000-00001234bbbb';
  let other: RunStore;

  beforeEach(async () => {
    other = new RunStore(projectLayout(join(folder.path, 'other')));
    for (const runId of [first, second]) await writeRun(store.layout.directory, { record: { runId } });
    await writeRun(other.layout.directory, { record: { runId: third } });
  });

  const found = async (wanted: string) => {
    const { store: where, runId } = await findRun(wanted, store, [other]);
    return [where === store ? 'here' : 'other', runId];
  };

  it('is found by its id, by its beginning and by its end', async () => {
    expect(await found(first)).toEqual(['here', first]);
    expect(await found('01890000-0')).toEqual(['here', first]);
    expect(await found('0000aaaa')).toEqual(['here', first]);
    expect(await found(third)).toEqual(['other', third]);
    expect(await found('1234bbbb')).toEqual(['other', third]);
    expect(await found('01890000-2')).toEqual(['other', third]);
  });

  it('is looked for here first', async () => {
    expect(await found('0000bbbb')).toEqual(['here', second]);
    expect(await found('1234bbbb')).toEqual(['other', third]);
  });

  it('can be the last one of this project', async () => {
    expect(await found('last')).toEqual(['here', second]);
    const none = new RunStore(projectLayout(join(folder.path, 'none')));
    await expect(findRun('last', none, [store])).rejects.toMatchObject({
      code: 'run_not_found',
      hint: expect.stringContaining('pi-lanes run'),
    });
  });

  it('run-58 is the one of exactly this id, also when others could be meant', async () => {
    // Links and files of other names never count, so only ids are compared; a whole id ends the search.
    const ids = vi.spyOn(other, 'runIds');
    expect(await found(second)).toEqual(['here', second]);
    expect(ids).not.toHaveBeenCalled();
  });

  it('run-58 is not guessed among several: all that fit are listed', async () => {
    await expect(found('01890000')).rejects.toMatchObject({
      code: 'run_ambiguous',
      message: '"01890000" fits 2 runs.',
      hint: expect.stringContaining(`${second}, ${first}`),
    });
  });

  it('must exist', async () => {
    for (const wanted of ['01890000-9', newRunId()])
      await expect(found(wanted)).rejects.toMatchObject({
        code: 'run_not_found',
        message: `There is no run "${wanted}".`,
      });
  });

  it('run-60 must be named by eight characters at least; with fewer nobody looks at the disk', async () => {
    const looks = [vi.spyOn(store, 'runIds'), vi.spyOn(other, 'runIds')];
    for (const wanted of ['a', '0189', '0189000'])
      await expect(found(wanted)).rejects.toMatchObject({
        code: 'run_not_found',
        message: `"${wanted}" is too short for a run.`,
        hint: expect.stringContaining('at least 8 characters'),
      });
    for (const look of looks) expect(look).not.toHaveBeenCalled();
  });

  it.each([
    '..',
    '.',
    '',
    '../../etc/passwd',
    '01890000/../x',
    'a\\b',
    '/tmp',
    'C:',
    `${first}/`,
    `${first}\0`,
    'zzzzzzzz',
  ])('run-59 cannot be named by %j: it is refused before any file is looked at', async (wanted) => {
    const looks = [vi.spyOn(store, 'runIds'), vi.spyOn(other, 'runIds')];
    await expect(found(wanted)).rejects.toMatchObject({ code: 'run_not_found' });
    for (const look of looks) expect(look).not.toHaveBeenCalled();
    expect(() => store.directoryOf(wanted)).toThrow(expect.objectContaining({ code: 'run_not_found' }));
    expect(() => store.read(wanted)).toThrow(expect.objectContaining({ code: 'run_not_found' }));
  });

  it('run-59 is not a link, wherever it leads', async () => {
    const runId = newRunId();
    const outside = await writeRun(join(folder.path, 'outside'), { events: [ended('complete')] });
    await symlink(outside.directory, store.directoryOf(runId));
    expect(await store.runIds()).not.toContain(runId);
    await expect(found(runId)).rejects.toMatchObject({ code: 'run_not_found' });
    // Nor when it is asked for by its id.
    expect(await store.read(runId)).toMatchObject({
      state: 'unknown',
      view: null,
      error: { code: 'run_unreadable', message: expect.stringContaining('is a link') },
    });
  });
});

describe('the state a person is shown', () => {
  const running = { ...initialView(aRecord({ createdAt: 5_000 })), state: 'running' as const };
  const lease = () => runLayout(folder.path).lease;
  const writeLease = (content: unknown) =>
    writeFile(`${lease()}.1`, typeof content === 'string' ? content : JSON.stringify(content));

  it('is the terminal one, whatever the lease says', async () => {
    await writeLease(anOwner(goneIdentity()));
    for (const state of TERMINAL_STATES) expect(await deriveState(folder.path, { ...running, state })).toBe(state);
  });

  it('is that of the journal while the runner lives', async () => {
    await writeLease(anOwner(await me()));
    for (const state of ['queued', 'running', 'waiting'] as const)
      expect(await deriveState(folder.path, { ...running, state })).toBe(state);
  });

  it('is unresponsive when a living runner does not answer, and that of the journal when it does', async () => {
    await writeLease(anOwner(await me(), { socket: '/nowhere.sock' }));
    const probe = vi.fn(async () => false);
    for (const state of ['queued', 'running', 'waiting'] as const) {
      expect(await deriveState(folder.path, { ...running, state }, probe)).toBe('unresponsive');
      expect(await deriveState(folder.path, { ...running, state }, async () => true)).toBe(state);
    }
    expect(probe).toHaveBeenCalledTimes(3);
    // Without a probe it is asked, and there is nobody at this address.
    expect(await deriveState(folder.path, running)).toBe('unresponsive');
  });

  it('is told without asking anybody when that would tell nothing', async () => {
    const probe = vi.fn(async () => false);
    const states = async (owner: unknown, view: RunView = running) => {
      if (owner !== undefined) await writeLease(owner);
      return deriveState(folder.path, view, probe);
    };
    const socket = '/nowhere.sock';
    expect(await states(anOwner(await me(), { socket }), { ...running, state: 'complete' })).toBe('complete');
    expect(await states(anOwner(goneIdentity(), { socket }))).toBe('lost');
    expect(await states(anOwner(goneIdentity(), { socket, released: true }))).toBe('lost');
    // The lease is there before its address.
    expect(await states(anOwner(await me()))).toBe('running');
    expect(await states('{"being wri')).toBe('running');
    expect(probe).not.toHaveBeenCalled();
  });

  it('is asked for where nothing is known about the process: it may answer', async () => {
    await writeLease(anOwner({ pid: process.pid, start: null }, { socket: '/nowhere.sock' }));
    expect(await deriveState(folder.path, running, async () => true)).toBe('running');
    expect(await deriveState(folder.path, running, async () => false)).toBe('unknown');
  });

  it('without a lease is that of the runner its journal names', async () => {
    const created = Date.now();
    const of = (runner: RunView['runner']) => deriveState(folder.path, { ...running, createdAt: created, runner });
    expect(await of(await me())).toBe('unresponsive');
    expect(await of(goneIdentity())).toBe('lost');
    expect(await of({ pid: process.pid, start: null })).toBe('unknown');
  });

  it('is lost when the runner is proven gone', async () => {
    await writeLease(anOwner(goneIdentity()));
    expect(await deriveState(folder.path, running)).toBe('lost');
  });

  it('is lost without a lease or with one that was given back, but not in the first second', async () => {
    const now = vi.spyOn(Date, 'now');
    for (const prepare of [async () => undefined, () => writeLease(anOwner(goneIdentity(), { released: true }))]) {
      await prepare();
      now.mockReturnValue(5_999);
      expect(await deriveState(folder.path, running)).toBe('running');
      now.mockReturnValue(6_000);
      expect(await deriveState(folder.path, running)).toBe('lost');
    }
  });

  it('is unknown when nothing is proven', async () => {
    await writeLease(anOwner({ pid: process.pid, start: null }));
    expect(await deriveState(folder.path, running)).toBe('unknown');
    await writeLease('{"torn');
    const long = new Date(Date.now() - 60_000);
    await utimes(`${lease()}.1`, long, long);
    expect(await deriveState(folder.path, running)).toBe('unknown');
    await mkdir(`${lease()}.2`);
    expect(await deriveState(folder.path, running)).toBe('unknown');
  });
});

describe('a run at one moment', () => {
  it('is its final status when it has one, without its journal', async () => {
    const events = [oneOfEach['child.settled'], { type: 'run.ended', state: 'failed', error: someError } as const];
    const { runId, directory } = await writeRun(folder.path, { events });
    await writeFile(runLayout(directory).journal, 'destroyed\n');
    expect(await readSnapshot(runId, directory)).toMatchObject({
      runId,
      directory,
      state: 'failed',
      error: someError,
      skipped: 0,
      view: { state: 'failed', seq: 2 },
    });
  });

  it('is its journal when the status is missing, of another version or not final', async () => {
    const { runId, directory } = await writeRun(folder.path, { events: [ended('partial')], status: false });
    const statuses = [undefined, '{"version":7}', JSON.stringify(initialView(aRecord()))];
    for (const status of statuses) {
      if (status !== undefined) await writeFile(runLayout(directory).status, status);
      const snapshot = await readSnapshot(runId, directory);
      expect(snapshot).toMatchObject({ state: 'partial', view: { seq: 1 } });
      expect(snapshot).not.toHaveProperty('damage');
    }
  });

  it('run-22 whose status is no JSON is its journal, with the file named and left as it is', async () => {
    const { runId, directory } = await writeRun(folder.path, { events: [ended('partial')], status: false });
    const { status } = runLayout(directory);
    for (const content of ['{"torn', '', '\0\0\0']) {
      await writeFile(status, content);
      expect(await readSnapshot(runId, directory)).toMatchObject({
        state: 'partial',
        view: { seq: 1 },
        damage: `${status} is not JSON. It was left as it is.`,
      });
      expect(await readFile(status, 'utf8')).toBe(content);
    }
  });

  it('run-22 whose record is no JSON is unknown, with the file named and left as it is', async () => {
    const { runId, directory } = await writeRun(folder.path, { events: [oneOfEach['run.proceeded']] });
    const { record } = runLayout(directory);
    await writeFile(record, '{"version":1,');
    expect(await readSnapshot(runId, directory)).toMatchObject({
      state: 'unknown',
      view: null,
      error: { code: 'run_unreadable', message: `${record} is not JSON. It was left as it is.` },
    });
    expect(await readFile(record, 'utf8')).toBe('{"version":1,');
  });

  it.each([
    ['a state there is not', { type: 'run.ended', state: 'splendid', error: null }],
    ['a number that is a text', { ...oneOfEach['child.progress'], turns: 'many' }],
    ['a field that is missing', { type: 'child.spawned', child: 1 }],
    ['a child that is nobody', { ...oneOfEach['child.progress'], child: 0 }],
  ])('run-27 with %s in its journal shows the rest, and the damage', async (_, malformed) => {
    const { runId, directory } = await writeRun(folder.path, {
      events: [oneOfEach['run.proceeded']],
      lease: await me(),
    });
    const rest = { ...oneOfEach['attention.raised'], seq: 3, t: 2_002 };
    const lines = [{ ...malformed, seq: 2, t: 2_001 }, rest].map((line) => `${JSON.stringify(line)}\n`).join('');
    await writeFile(runLayout(directory).journal, lines, { flag: 'a' });
    const snapshot = await readSnapshot(runId, directory);
    expect(snapshot).toMatchObject({ state: 'running', skipped: 1, view: { seq: 3 } });
    expect(snapshot.view?.children[0]?.attention).toEqual(['needs_attention']);
    expect(formatDetails(snapshot)).toMatch(/^unreadable 1 journal record\(s\)$/m);
  });

  it('run-51 whose runner died without a result is lost, with what it printed and without its tokens', async () => {
    const events = [{ ...oneOfEach['runner.started'], epoch: 1, process: goneIdentity() }, oneOfEach['run.proceeded']];
    const { runId, directory } = await writeRun(folder.path, { events, lease: goneIdentity() });
    const before = await readdir(directory);
    expect((await readSnapshot(runId, directory)).error?.message).toMatch(/restarted\.$/);
    const token = `sk-ant-${'x'.repeat(30)}`;
    await writeFile(runLayout(directory).log, `${'noise '.repeat(2_000)}\nRangeError: out of ${token} memory\n`);
    const { state, error } = await readSnapshot(runId, directory);
    expect([state, error?.code]).toEqual(['lost', 'run_lost']);
    expect(error?.message).toMatch(/The runner printed last:\n[\s\S]*RangeError: out of \[redacted\] memory$/);
    expect(error?.message.length).toBeLessThan(4_500);
    // That it is told does not hang on anything being written.
    expect(await readdir(directory)).toEqual([...before, 'runner.log'].sort());
  });

  it('says how much of its journal could not be read', async () => {
    const { runId, directory } = await writeRun(folder.path, {
      events: [oneOfEach['run.proceeded']],
      lease: await me(),
    });
    await writeFile(runLayout(directory).journal, 'x\ny\n', { flag: 'a' });
    expect(await readSnapshot(runId, directory)).toMatchObject({ state: 'running', skipped: 2, error: null });
  });

  it('is lost with what can be done about it', async () => {
    const { runId, directory } = await writeRun(folder.path, {
      events: [oneOfEach['run.proceeded']],
      lease: goneIdentity(),
    });
    expect(await readSnapshot(runId, directory)).toMatchObject({
      state: 'lost',
      error: { code: 'run_lost', message: expect.stringContaining('gone'), hint: expect.stringContaining('Resume') },
      view: { state: 'running', error: null },
    });
  });

  it('is unknown, with the reason, when it cannot be read', async () => {
    const { runId, directory } = await writeRun(folder.path, {});
    await writeFile(runLayout(directory).record, '{"version":9}');
    expect(await readSnapshot(runId, directory)).toEqual({
      runId,
      directory,
      state: 'unknown',
      view: null,
      error: expect.objectContaining({ code: 'journal_newer' }),
      skipped: 0,
    });
    const missing = join(store.layout.runs, newRunId());
    expect(await readSnapshot('x', missing)).toMatchObject({ state: 'unknown', error: { code: 'run_not_found' } });
  });

  it('is read again when it could not be read the first time', async () => {
    const { runId, directory, record } = await writeRun(folder.path, { lease: await me() });
    await writeFile(runLayout(directory).record, '{');
    const follower = new RunFollower(runId, directory);
    expect((await follower.snapshot()).state).toBe('unknown');
    await writeFile(runLayout(directory).record, JSON.stringify(record));
    expect((await follower.snapshot()).state).toBe('queued');
  });

  it.skipIf(process.platform === 'win32')('is unknown when a link leads nowhere', async () => {
    await mkdir(store.layout.runs, { recursive: true });
    const runId = newRunId();
    await symlink(join(folder.path, 'nowhere'), store.directoryOf(runId));
    expect((await store.read(runId)).state).toBe('unknown');
  });
});

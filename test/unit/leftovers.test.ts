/** What the dead have left beside the runs: what goes, and what does not. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inspectLock } from '../../src/core/locks/index.ts';
import { OutputClaim } from '../../src/core/outputs/index.ts';
import {
  type ProjectLayout,
  projectLayout,
  type RootLayout,
  rootLayout,
  runLayout,
} from '../../src/core/projects/index.ts';
import { cleanStore } from '../../src/core/retention/index.ts';
import { newRunId } from '../../src/core/runs/index.ts';
import { leaseSession } from '../../src/core/sessions/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { oneOfEach } from './builders/events.ts';
import { DAY, setAge, writeOldRun } from './builders/old-run.ts';
import { anOwner, ended, goneIdentity, me, writeRun } from './builders/run.ts';

let folder: TempDir;
let root: RootLayout;
let project: ProjectLayout;
const now = Date.now();

beforeEach(async () => {
  folder = await tempDir();
  root = rootLayout(folder.path);
  project = projectLayout(join(root.projects, 'fence-0123456789abcdef'));
  for (const path of [project.runs, project.active, project.starting, root.claims, root.sessionLocks, root.runtime])
    await mkdir(path, { recursive: true });
});

afterEach(() => folder.remove());

/** What was tidied up, by name. A look alone says the same and changes nothing. Runs themselves are kept for ever here. */
async function tidied(runtime?: string): Promise<string[]> {
  const options = { root, days: 0, now: () => now, runtime };
  const names = (paths: readonly string[]) => paths.map((path) => path.slice(root.root.length + 1)).sort();
  const before = await readdir(folder.path, { recursive: true });
  const dry = await cleanStore({ ...options, dryRun: true });
  expect(await readdir(folder.path, { recursive: true })).toEqual(before);
  const report = await cleanStore(options);
  expect(report.problems).toEqual([]);
  expect(names(dry.leftovers)).toEqual(names(report.leftovers));
  for (const path of report.leftovers) expect(existsSync(path), path).toBe(false);
  return names(report.leftovers);
}

const here = (...parts: string[]) => ['projects', 'fence-0123456789abcdef', ...parts].join('/');

/** A file of that age. */
async function file(path: string, age: number, content = ''): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  await setAge(path, now - age);
}

describe('markers of live runs', () => {
  it('go when the runner was killed after the end, together with its lease and its socket', async () => {
    const socket = join(folder.path, 'dead.sock');
    await writeFile(socket, '');
    const lease = { lease: goneIdentity(), owner: { socket } };
    const { runId, directory } = await writeRun(project.directory, {
      events: [oneOfEach['run.proceeded'], ended('complete')],
      status: false,
      active: true,
      ...lease,
    });
    expect(await tidied()).toEqual([here('active', runId)]);
    expect(await inspectLock(runLayout(directory).lease)).toMatchObject({
      state: 'missing',
      owner: { released: true },
    });
    expect(existsSync(socket)).toBe(false);
    expect(await tidied()).toEqual([]);
  });

  it('stay while the runner is still ending, and for runs that are lost', async () => {
    await writeRun(project.directory, { events: [ended('complete')], active: true, lease: await me() });
    await writeRun(project.directory, { events: [oneOfEach['run.proceeded']], lease: goneIdentity() });
    await writeRun(project.directory, {});
    expect(await tidied()).toEqual([]);
    expect(await readdir(project.active)).toHaveLength(3);
  });

  it('go a day after a runner died that never came to make its run', async () => {
    const [young, old] = [newRunId(), newRunId()];
    await file(join(project.active, young), DAY - 60_000);
    await file(join(project.active, old), DAY);
    await file(join(project.active, 'notes.txt'), 9 * DAY);
    expect(await tidied()).toEqual([here('active', old)]);
  });

  it('do not keep an old run whose runner was killed after the end', async () => {
    const endedAt = now - 40 * DAY;
    const run = await writeOldRun(project.directory, { endedAt, status: false, active: true, lease: goneIdentity() });
    const options = { root, days: 30, now: () => now };
    expect((await cleanStore({ ...options, dryRun: true })).removed).toMatchObject([{ runId: run.runId }]);
    expect((await cleanStore(options)).removed).toMatchObject([{ runId: run.runId }]);
  });
});

describe('locks', () => {
  it('of sessions go when they were given back or their owner is gone, and nobody wanted them for a day', async () => {
    const paths: string[] = [];
    const session = (name: string) => join(folder.path, 'sessions', `${name}.jsonl`);
    await mkdir(join(folder.path, 'sessions'));
    const lock = async (name: string) => leaseSession(root.sessionLocks, session(name), name);
    const newest = async (before: readonly string[]) => {
      const name = (await readdir(root.sessionLocks)).find((one) => !before.includes(one)) ?? '';
      paths.push(name);
      return join(root.sessionLocks, name);
    };
    const held = await lock('held');
    await setAge(await newest([]), now - 9 * DAY);
    await (await lock('released')).release();
    await setAge(await newest(paths), now - DAY);
    await (await lock('young')).release();
    await setAge(await newest(paths), now - DAY + 60_000);
    await file(join(root.sessionLocks, 'aa.4'), DAY, JSON.stringify(anOwner(goneIdentity(), { epoch: 4 })));
    await file(join(root.sessionLocks, 'bb.1'), 9 * DAY, 'nonsense');
    await file(join(root.sessionLocks, 'cc.1.77.abcd.new'), DAY, 'half');
    await file(join(root.sessionLocks, 'notes.txt'), 9 * DAY);
    const gone = ['aa.4', 'cc.1.77.abcd.new', paths[1] ?? ''];
    expect(await tidied()).toEqual(gone.map((name) => `session-locks/${name}`).sort());
    expect(await held.stillHeld()).toBe(true);
    await expect(lock('held')).rejects.toMatchObject({ code: 'session_in_use' });
    for (const name of ['released', 'young']) await (await lock(name)).release();
  });

  it('of output files go by the same rule', async () => {
    const claim = await OutputClaim.take(root.claims, join(folder.path, 'a.md'), 'run 1');
    const other = await OutputClaim.take(root.claims, join(folder.path, 'b.md'), 'run 2');
    const names = await readdir(root.claims);
    await claim.release();
    for (const name of names) await setAge(join(root.claims, name), now - 2 * DAY);
    const [gone] = await tidied();
    expect(gone).toMatch(/^claims\/[0-9a-f]{32}\.1$/);
    expect(await readdir(root.claims)).toHaveLength(1);
    await expect(OutputClaim.take(root.claims, join(folder.path, 'b.md'), 'x')).rejects.toMatchObject({
      code: 'output_in_use',
    });
    await other.release();
    await (await OutputClaim.take(root.claims, join(folder.path, 'a.md'), 'run 3')).release();
  });
});

describe('output of runners that came to nothing', () => {
  it('goes after a day, unless its run lives', async () => {
    const living = await writeRun(project.directory, { events: [oneOfEach['run.proceeded']], lease: await me() });
    await file(join(project.starting, `${living.runId}-aa.log`), 9 * DAY);
    await file(join(project.starting, `${newRunId()}-bb.log`), DAY - 60_000);
    const old = `${newRunId()}-cc.log`;
    await file(join(project.starting, old), DAY);
    expect(await tidied()).toEqual([here('starting', old)]);
  });

  it('and the folder of a run that was never finished', async () => {
    const make = async (age: number, lease: boolean) => {
      const path = join(project.runs, `.${newRunId()}.new`);
      await file(runLayout(path).record, age, '{}');
      if (lease) await file(`${runLayout(path).lease}.1`, age, JSON.stringify(anOwner(await me())));
      await setAge(path, now - age);
      return path.slice(root.root.length + 1);
    };
    const [old] = [await make(DAY, false), await make(DAY - 60_000, false), await make(9 * DAY, true)];
    expect(await tidied()).toEqual([old]);
  });
});

describe('runtimes', () => {
  it('go when no unfinished run names them and nobody used them for a day, but never the own one', async () => {
    for (const name of ['own', 'needed', 'unused', 'young', '.half.1.aa']) {
      await file(join(root.runtime, name, 'runner.mjs'), 0);
      await setAge(join(root.runtime, name), now - (name === 'young' ? DAY - 60_000 : 9 * DAY));
    }
    await writeRun(project.directory, { record: { runtime: 'needed' }, events: [oneOfEach['run.proceeded']] });
    expect(await tidied('own')).toEqual(['runtime/.half.1.aa', 'runtime/unused']);
  });
});

describe('a part of the store that cannot be read', () => {
  it('is named, and the rest is tidied up', async () => {
    await rm(root.sessionLocks, { recursive: true });
    await writeFile(root.sessionLocks, 'a file in the way');
    const old = `${newRunId()}-cc.log`;
    await file(join(project.starting, old), DAY);
    const report = await cleanStore({ root, days: 30, now: () => now });
    expect(report.leftovers).toEqual([join(project.starting, old)]);
    expect(report.problems).toEqual([expect.stringMatching(/ENOTDIR/)]);
    expect(report.problems[0]).toContain(root.sessionLocks);
    expect(await readFile(root.sessionLocks, 'utf8')).toBe('a file in the way');
  });

  it('is one run: it is named, and those beside it are tidied up', async () => {
    const runs = [1, 2, 3].map((hour) => newRunId(now - 9 * DAY + hour));
    for (const runId of runs) {
      const events = [oneOfEach['run.proceeded'], ended('complete')];
      await writeRun(project.directory, { record: { runId }, events, active: true, at: now - DAY });
    }
    const broken = runLayout(join(project.runs, runs[1] ?? '')).journal;
    await rm(broken);
    await mkdir(broken);
    const report = await cleanStore({ root, days: 30, now: () => now });
    expect(report.leftovers.sort()).toEqual(
      [runs[0], runs[2]].map((runId) => join(project.active, runId ?? '')).sort(),
    );
    expect(report.problems).toEqual([expect.stringContaining(`${broken} cannot be read: it is a folder`)]);
    expect(await readdir(project.active)).toEqual([runs[1]]);
  });

  it('is a project: it is named, and the others are cleaned', async () => {
    const other = projectLayout(join(root.projects, 'gate-0123456789abcdef'));
    const { directory } = await writeOldRun(other.directory, { endedAt: now - 60 * DAY });
    await rm(project.runs, { recursive: true });
    // A loop of links stands for every folder that cannot be looked into.
    await symlink(project.runs, project.runs);
    const report = await cleanStore({ root, days: 30, now: () => now });
    expect(existsSync(directory)).toBe(false);
    expect(report.problems.join('\n')).toContain(`${project.runs} cannot be read: ELOOP`);
  });

  it('is an old run: it stays, with the file that is damaged, and the others of its project go', async () => {
    const [damaged, sound] = await Promise.all(
      [60, 61].map((days) => writeOldRun(project.directory, { endedAt: now - days * DAY })),
    );
    if (!damaged || !sound) throw new Error('no runs');
    const { record } = runLayout(damaged.directory);
    await rm(record);
    await mkdir(record);
    const report = await cleanStore({ root, days: 30, now: () => now });
    expect(report.removed.map(({ runId }) => runId)).toEqual([sound.runId]);
    expect(report.kept).toMatchObject([
      { runId: damaged.runId, kept: { reason: 'invalid-status', detail: expect.stringContaining(record) } },
    ]);
  });
});

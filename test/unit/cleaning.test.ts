/** Cleaners at work: one at a time, a part at a time, and what one leaves that dies. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { planResume } from '../../src/client/resume.ts';
import { Toolbox } from '../../src/client/toolbox.ts';
import { acquireLock, inspectLock } from '../../src/core/locks/index.ts';
import {
  type ProjectLayout,
  projectLayout,
  type RootLayout,
  rootLayout,
  runLayout,
} from '../../src/core/projects/index.ts';
import { CLEANER_MS, cleanStore, PASS_LIMIT } from '../../src/core/retention/index.ts';
import { removeRun } from '../../src/core/retention/tombstone.ts';
import { newRunId } from '../../src/core/runs/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { DAY, type OldRunOptions, setAge, writeOldRun } from './builders/old-run.ts';
import { anOwner, goneIdentity, me } from './builders/run.ts';

/** What a rename does besides; and whether removing fails. */
const { disk } = vi.hoisted(() => {
  type Step = (from: string, to: string) => Promise<void>;
  const nothing: Step = async () => undefined;
  const refusesToRemove: (path: string) => boolean = () => false;
  return { disk: { nothing, before: nothing, after: nothing, refusesToRemove } };
});
vi.mock('node:fs/promises', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs/promises')>();
  return {
    ...fs,
    rename: async (from: string, to: string) => {
      await disk.before(from, to);
      await fs.rename(from, to);
      await disk.after(from, to);
    },
    rm: async (path: string, options?: object) => {
      if (disk.refusesToRemove(path)) throw Object.assign(new Error('EBUSY: in use'), { code: 'EBUSY' });
      await fs.rm(path, options);
    },
  };
});

let folder: TempDir;
let root: RootLayout;
let now: number;

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  root = rootLayout(folder.path);
  now = Date.now();
});

afterEach(async () => {
  disk.before = disk.after = disk.nothing;
  disk.refusesToRemove = () => false;
  await folder.remove();
});

const projectOf = (name = 'fence-0123456789abcdef'): ProjectLayout => projectLayout(join(root.projects, name));
const old = (days: number, options: Partial<OldRunOptions> = {}, project = projectOf()) =>
  writeOldRun(project.directory, { endedAt: now - days * DAY, ...options });
const clean = (options: Partial<Parameters<typeof cleanStore>[0]> = {}) =>
  cleanStore({ root, days: 30, now: () => now, ...options });
const runsIn = async (project = projectOf()) => (await readdir(project.runs)).sort();
const idsOf = (runs: readonly { runId: string }[]) => runs.map(({ runId }) => runId);

describe('run-57 two cleaners', () => {
  it('at the same time: one works, the other finds it at work', async () => {
    for (let i = 0; i < 10; i++) await old(40 + i);
    const reports = await Promise.all([clean(), clean(), clean()]);
    expect(reports.map(({ state }) => state).sort()).toEqual(['busy', 'busy', 'done']);
    expect(reports.map(({ removed }) => removed.length).sort()).toEqual([0, 0, 10].sort());
    expect(await runsIn()).toEqual([]);
    expect((await inspectLock(root.cleaning)).state).toBe('missing');
    expect((await clean()).state).toBe('done');
  });

  it('one of which died: the other takes over at once', async () => {
    await old(40);
    await writeFile(`${root.cleaning}.3`, JSON.stringify(anOwner(goneIdentity(), { epoch: 3 })));
    expect(await clean()).toMatchObject({ state: 'done', removed: [{}] });
  });

  it('one of which does not come to an end: the other takes over after a day, and the first stops', async () => {
    const runs = [await old(40), await old(41), await old(42)];
    const own = async (acquiredAt: number) =>
      writeFile(`${root.cleaning}.3`, JSON.stringify(anOwner(await me(), { epoch: 3, acquiredAt })));
    await own(Date.now() - CLEANER_MS + 60_000);
    expect((await clean()).state).toBe('busy');
    await own(Date.now() - CLEANER_MS);
    // While the second removes its first run, a third comes a day later.
    disk.after = async (from) => {
      if (!from.endsWith(runs[0]?.runId ?? '')) return;
      disk.after = disk.nothing;
      vi.spyOn(Date, 'now').mockReturnValue(now + CLEANER_MS + 60_000);
      await acquireLock(root.cleaning, { purpose: 'a third', expiresMs: CLEANER_MS });
      vi.restoreAllMocks();
    };
    const report = await clean();
    expect(idsOf(report.removed)).toEqual([runs[0]?.runId]);
    expect(report.failed.map(({ reason }) => reason)).toEqual(Array(2).fill('another cleaner has taken over'));
    expect(await runsIn()).toEqual([runs[1]?.runId, runs[2]?.runId].sort());
  });
});

describe('run-57 a cleaner that died after it put a run out of sight', () => {
  const tombstone = (runId: string, at: number) => join(projectOf().runs, `.${runId}.${at}.gone`);

  it('leaves it to the next, a day later', async () => {
    const { runId, directory } = await old(40);
    const path = tombstone(runId, now);
    await rename(directory, path);
    now += CLEANER_MS - 1;
    await clean();
    expect(existsSync(path)).toBe(true);
    now += 1;
    expect((await clean()).leftovers).toEqual([path]);
    expect(await runsIn()).toEqual([]);
  });

  it('leaves the rest of it, when it died while it removed it', async () => {
    const { runId, directory } = await old(40);
    const path = tombstone(runId, now - CLEANER_MS);
    await rename(directory, path);
    await rm(runLayout(path).record);
    await rm(runLayout(path).journal);
    expect((await clean({ days: 0, dryRun: true })).leftovers).toEqual([path]);
    expect(await runsIn()).toEqual([`.${runId}.${now - CLEANER_MS}.gone`]);
    await clean({ days: 0 });
    expect(await runsIn()).toEqual([]);
  });

  it('has it put back when it must stay: it is wanted by now, or runs are kept for longer', async () => {
    const wanted = await old(40);
    await rename(wanted.directory, tombstone(wanted.runId, now - 2 * DAY));
    await old(20, {
      record: {
        resume: { sourceRunId: wanted.runId, sourceChild: 1, session: wanted.session, how: 'continue' },
      },
    });
    const longer = await old(41, { state: 'paused' });
    await rename(longer.directory, tombstone(longer.runId, now - 2 * DAY));
    await clean();
    expect(await runsIn()).toEqual(expect.arrayContaining([wanted.runId, longer.runId]));
    expect((await stat(wanted.session)).isFile()).toBe(true);
  });

  it('is not taken up while the clock is doubted', async () => {
    const { runId, directory } = await old(1);
    await rename(directory, tombstone(runId, now));
    await old(2);
    now += 365 * DAY;
    await clean();
    expect(await runsIn()).toContain(`.${runId}.${now - 365 * DAY}.gone`);
  });

  it('never overwrites a run of the same name', async () => {
    const run = await old(40, { state: 'paused' });
    const path = tombstone(run.runId, now - 2 * DAY);
    await mkdir(path);
    await writeFile(runLayout(path).record, '{}');
    await clean();
    expect(await runsIn()).toEqual([run.runId, `.${run.runId}.${now - 2 * DAY}.gone`].sort());
  });

  it('keeps what it needs, while it may come back', async () => {
    const source = await old(50);
    const out = await old(40, {
      record: { resume: { sourceRunId: source.runId, sourceChild: 1, session: source.session, how: 'continue' } },
      session: false,
    });
    await rename(out.directory, tombstone(out.runId, now));
    expect((await clean()).kept).toMatchObject([{ runId: source.runId, kept: { reason: 'resume-reference' } }]);
  });
});

describe('a run that is wanted while it is being removed', () => {
  it('is put back whole when somebody used it just before', async () => {
    const run = await old(40);
    disk.before = async (from) => {
      if (from === run.directory) await setAge(run.session, now - DAY);
    };
    const report = await clean();
    expect(report).toMatchObject({ removed: [], kept: [{ runId: run.runId, kept: { reason: 'recent' } }] });
    expect(await runsIn()).toEqual([run.runId]);
  });

  it('is put back when another run was started on it just before', async () => {
    const run = await old(40);
    disk.before = async (from) => {
      disk.before = disk.nothing;
      if (from !== run.directory) return;
      await writeOldRun(projectOf().directory, {
        endedAt: now,
        record: { resume: { sourceRunId: run.runId, sourceChild: 1, session: run.session, how: 'continue' } },
      });
    };
    expect(await clean()).toMatchObject({ removed: [], kept: [{ kept: { reason: 'resume-reference' } }] });
    expect(existsSync(run.session)).toBe(true);
  });

  it('counts as used as soon as somebody wants to resume it', async () => {
    const run = await old(40);
    const env = { PI_CODING_AGENT_DIR: folder.path, PATH: '' };
    const toolbox = new Toolbox({ env, distDirectory: '', client: { kind: 'test', version: '0' } });
    const request = { directory: run.directory, owner: { kind: 'cli', id: 'me' } } as const;
    // It cannot be resumed here; to have wanted it is enough.
    await expect(planResume(toolbox, request)).rejects.toMatchObject({ code: 'cwd_gone' });
    expect((await clean({ now: () => Date.now() })).kept).toMatchObject([{ kept: { reason: 'recent' } }]);
  });

  it('stays for the next pass when it cannot be moved or removed, and the others go', async () => {
    const [first, second, third] = [await old(40), await old(41), await old(42)];
    disk.before = async (from) => {
      if (from === second.directory) throw Object.assign(new Error('EPERM: somebody has it open'), { code: 'EPERM' });
    };
    const report = await clean();
    expect(idsOf(report.removed)).toEqual([first.runId, third.runId]);
    expect(report.failed).toMatchObject([{ runId: second.runId, reason: expect.stringMatching(/EPERM/) }]);
    expect(await runsIn()).toEqual([second.runId]);
    disk.before = disk.nothing;
    expect(idsOf((await clean()).removed)).toEqual([second.runId]);
  });

  it('is no run any more once its removal has begun', async () => {
    const run = await old(40);
    disk.refusesToRemove = (path) => path.endsWith('.gone');
    expect((await clean()).failed).toMatchObject([{ runId: run.runId, reason: expect.stringMatching(/EBUSY/) }]);
    const [left = ''] = await runsIn();
    expect(left).toBe(`.${run.runId}.${now}.gone`);
    expect(existsSync(runLayout(join(projectOf().runs, left)).record)).toBe(false);
    disk.refusesToRemove = () => false;
    now += 2 * DAY;
    await clean();
    expect(await runsIn()).toEqual([]);
  });

  it('says so when it was removed by somebody else', async () => {
    const outcome = await removeRun(projectOf().runs, newRunId(), async () => undefined, now);
    expect(outcome).toMatchObject({ outcome: 'failed', reason: expect.stringMatching(/ENOENT/) });
  });
});

describe('a large store', () => {
  it('is gone through a hundred runs at a time, in turn, all projects alike', async () => {
    const names = ['a', 'b', 'c'].map((letter) => `${letter}-0123456789abcdef`);
    // The first project is full of runs that stay: it must not keep the cleaner from the others.
    for (let i = 0; i < 110; i++) await old(40 + i / 100, { state: 'paused', session: false }, projectOf(names[0]));
    for (let i = 0; i < 60; i++) await old(40 + i / 100, { session: false }, projectOf(names[1]));
    for (let i = 0; i < 50; i++) await old(40 + i / 100, { session: false }, projectOf(names[2]));
    const seen: [number, number, number][] = [];
    for (let pass = 0; pass < 4; pass++) {
      const { removed, kept, left } = await clean();
      seen.push([removed.length, kept.length, left]);
    }
    expect(PASS_LIMIT).toBe(100);
    expect(seen).toEqual([
      [0, 100, 120],
      // The ten that were left, and ninety of the others.
      [90, 10, 120],
      // The last twenty, and round to the beginning again.
      [20, 80, 30],
      [0, 100, 10],
    ]);
    expect((await Promise.all(names.map((name) => runsIn(projectOf(name))))).map((ids) => ids.length)).toEqual([
      110, 0, 0,
    ]);
  });

  it('comes back to a run that could not be removed, but not for ever', async () => {
    const [first, second, third] = [await old(40), await old(41), await old(42)];
    disk.before = async (from) => {
      if (from === first.directory) throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
    };
    const looked = async () => {
      const { removed, failed } = await clean({ limit: 1 });
      return [...idsOf(removed), ...idsOf(failed).map((id) => `failed ${id}`)];
    };
    expect(await looked()).toEqual([`failed ${first.runId}`]);
    expect(await looked()).toEqual([`failed ${first.runId}`]);
    expect(await looked()).toEqual([second.runId]);
    expect(await looked()).toEqual([third.runId]);
  });

  it('is gone through from the beginning when nobody knows where the last pass stopped', async () => {
    const run = await old(40);
    for (const text of [
      '',
      '{',
      '{"version":9}',
      '{"version":1,"cursor":"zzz/nothing","stuckAt":null,"lastAt":null,"doubtedAt":null}',
    ]) {
      await writeFile(root.cleaningState, text);
      expect(idsOf((await clean({ dryRun: true })).removed)).toEqual([run.runId]);
    }
  });

  it('is not changed by somebody who only looks', async () => {
    const run = await old(40);
    const before = await readdir(folder.path, { recursive: true });
    expect(idsOf((await clean({ dryRun: true })).removed)).toEqual([run.runId]);
    expect(await readdir(folder.path, { recursive: true })).toEqual(before);
    expect(await readFile(runLayout(run.directory).record, 'utf8')).toContain(run.runId);
  });

  it('leaves the event loop its turns', async () => {
    for (let i = 0; i < 60; i++) await old(40 + i / 100);
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    expect((await clean()).removed).toHaveLength(60);
    isOver = true;
    expect(turns).toBeGreaterThan(60);
  });
});

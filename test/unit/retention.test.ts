/** Which runs are removed after their time, and which stay for what reason. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunStore } from '../../src/client/run-store.ts';
import {
  type ProjectLayout,
  projectLayout,
  type RootLayout,
  rootLayout,
  runLayout,
} from '../../src/core/projects/index.ts';
import { cleanStore, describeReason, KEEP_REASONS, type KeepReason } from '../../src/core/retention/index.ts';
import { whyKept } from '../../src/core/retention/own-verdict.ts';
import { readRunFacts } from '../../src/core/retention/run-facts.ts';
import { newRunId } from '../../src/core/runs/index.ts';
import { leaseSession } from '../../src/core/sessions/index.ts';
import type { JournalEvent, ResumePlan } from '../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { oneOfEach } from './builders/events.ts';
import { DAY, type OldRun, type OldRunOptions, setAge, writeOldRun } from './builders/old-run.ts';
import { ended, goneIdentity, me, writeRun } from './builders/run.ts';

const NAME = 'fence-0123456789abcdef';
let folder: TempDir;
let root: RootLayout;
let project: ProjectLayout;
let now: number;

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  root = rootLayout(folder.path);
  project = projectLayout(join(root.projects, NAME));
  await mkdir(project.runs, { recursive: true });
  now = Date.now();
});

afterEach(() => folder.remove());

type Clean = Partial<Parameters<typeof cleanStore>[0]>;
const clean = (options: Clean = {}) => cleanStore({ root, days: 30, now: () => now, ...options });

/** A run that ended so many days ago. */
function old(days: number, options: Partial<OldRunOptions> = {}): Promise<OldRun> {
  return writeOldRun(project.directory, { endedAt: now - days * DAY, ...options });
}

const idsOf = (runs: readonly { runId: string }[]) => runs.map(({ runId }) => runId).sort();

/** Why each run stays: a dry look and a real pass agree, and nobody but those without a reason goes. */
async function reasons(options: Clean = {}): Promise<Record<string, KeepReason | 'gone'>> {
  const dry = await clean({ ...options, dryRun: true });
  const report = await clean(options);
  expect([report.state, report.failed, report.problems]).toEqual(['done', [], []]);
  expect(idsOf(dry.removed)).toEqual(idsOf(report.removed));
  expect(dry.kept).toEqual(report.kept);
  for (const { runId } of report.removed) expect(existsSync(join(project.runs, runId))).toBe(false);
  for (const { runId } of report.kept) expect(existsSync(join(project.runs, runId))).toBe(true);
  return Object.fromEntries([
    ...report.removed.map(({ runId }) => [runId, 'gone'] as const),
    ...report.kept.map(({ runId, kept }) => [runId, kept.reason] as const),
  ]);
}

describe('run-56 retention', () => {
  it('removes a proven-terminal run of 31 days with its whole folder, and nothing else', async () => {
    const run = await old(31);
    const young = await old(3);
    await mkdir(join(run.directory, 'artifacts'));
    await writeFile(join(run.directory, 'artifacts', 'big.log'), 'x');
    expect(await reasons()).toEqual({ [run.runId]: 'gone', [young.runId]: 'recent' });
    expect(await new RunStore(project).runIds()).toEqual([young.runId]);
    expect((await stat(young.session)).isFile()).toBe(true);
    // Nothing of it is left under another name either.
    expect(await readdir(project.runs)).toEqual([young.runId]);
  });

  it.each(['complete', 'failed', 'stopped', 'rejected'] as const)('removes what is %s', async (state) => {
    const run = await old(40, { state });
    expect(await reasons()).toEqual({ [run.runId]: 'gone' });
  });

  it('removes one whose runner was killed before it wrote the status, from the journal alone', async () => {
    const run = await old(40, { status: false });
    expect(await reasons()).toEqual({ [run.runId]: 'gone' });
  });

  it('removes one for which no process was ever started', async () => {
    const run = await old(40, { events: [oneOfEach['run.proceeded'], ended('failed')] });
    expect(await reasons()).toEqual({ [run.runId]: 'gone' });
  });

  const spawned: JournalEvent[] = [
    oneOfEach['run.proceeded'],
    { ...oneOfEach['child.spawn.intended'], attempt: 1 },
    { ...oneOfEach['child.spawned'], attempt: 1 },
  ];

  const alone: Record<string, { reason: KeepReason; make: () => Promise<OldRun> }> = {
    'whose record is that of another': {
      reason: 'identity-mismatch',
      make: async () => {
        const run = await old(40);
        const other = await old(41);
        await writeFile(runLayout(run.directory).record, await readFile(runLayout(other.directory).record));
        await rm(other.directory, { recursive: true });
        return run;
      },
    },
    'whose journal is that of another': {
      reason: 'identity-mismatch',
      make: () =>
        old(40, { events: [{ ...oneOfEach['run.created'], runId: newRunId() }, ended('complete')], status: false }),
    },
    'whose status is that of another': {
      reason: 'identity-mismatch',
      make: async () => {
        const [run, other] = [await old(40), await old(41)];
        await writeFile(runLayout(run.directory).status, await readFile(runLayout(other.directory).status));
        await rm(other.directory, { recursive: true });
        return run;
      },
    },
    'that is a link to a folder elsewhere': {
      reason: 'identity-mismatch',
      make: async () => {
        const run = await old(40);
        const elsewhere = join(folder.path, 'elsewhere');
        await rename(run.directory, elsewhere);
        await symlink(elsewhere, run.directory);
        return run;
      },
    },
    'without a record': {
      reason: 'invalid-status',
      make: async () => {
        const run = await old(40);
        await rm(runLayout(run.directory).record);
        return run;
      },
    },
    'whose record cannot be read': {
      reason: 'invalid-status',
      make: async () => {
        const run = await old(40);
        await writeFile(runLayout(run.directory).record, '{"version":1');
        return run;
      },
    },
    'of a newer version': {
      reason: 'invalid-status',
      make: async () => {
        const run = await old(40);
        await writeFile(runLayout(run.directory).record, `{"version":2,"runId":"${run.runId}"}`);
        return run;
      },
    },
    'whose journal does not end as its status says': {
      reason: 'invalid-status',
      make: async () => {
        const run = await old(40);
        await rm(runLayout(run.directory).journal);
        return run;
      },
    },
    'whose journal cannot be read in full, without a status': {
      reason: 'invalid-status',
      make: async () => {
        const run = await old(40, { status: false });
        const { journal } = runLayout(run.directory);
        await writeFile(journal, `no event\n${await readFile(journal, 'utf8')}`);
        await setAge(journal, now - 40 * DAY);
        return run;
      },
    },
    'that a runner is working on': {
      reason: 'non-terminal',
      make: async () => old(40, { state: null, lease: await me() }),
    },
    'whose runner is gone': { reason: 'lost', make: () => old(40, { state: null, lease: goneIdentity() }) },
    'that is paused': { reason: 'resumable', make: () => old(40, { state: 'paused' }) },
    'that ended in part': { reason: 'needs-attention', make: () => old(40, { state: 'partial' }) },
    'whose lease is held': { reason: 'lease-held', make: async () => old(40, { lease: await me() }) },
    'whose lease cannot be understood': {
      reason: 'lease-held',
      make: async () => {
        const run = await old(40);
        const lease = `${runLayout(run.directory).lease}.1`;
        await writeFile(lease, 'nonsense');
        await setAge(lease, now - DAY);
        return run;
      },
    },
    'a process of which was not seen to end': {
      reason: 'unproven-processes',
      make: () => old(40, { events: [...spawned, ended('complete')] }),
    },
    'a process of which may have left others': {
      reason: 'unproven-processes',
      make: () =>
        old(40, {
          events: [...spawned, { ...oneOfEach['child.ended'], attempt: 1, tree: 'unknown' }, ended('complete')],
        }),
    },
    'with something to hand over': {
      reason: 'handoff-reference',
      make: async () => {
        const run = await old(40);
        await writeFile(runLayout(run.directory).handoff, '{}');
        return run;
      },
    },
    'of 30 days and 23 hours': { reason: 'recent', make: () => old(30 + 23 / 24) },
    'that was opened in Pi last week': {
      reason: 'recent',
      make: async () => {
        const run = await old(40);
        await setAge(run.session, now - 7 * DAY);
        return run;
      },
    },
    'whose session somebody uses': {
      reason: 'session-in-use',
      make: async () => {
        const run = await old(40);
        await leaseSession(root.sessionLocks, run.session, 'somebody');
        return run;
      },
    },
  };

  it.each(Object.entries(alone))('keeps a run %s', async (_, { reason, make }) => {
    const { runId } = await make();
    expect(await reasons()).toEqual({ [runId]: reason });
  });

  it('keeps a run with the marker of a live one while something holds it', async () => {
    const run = await old(40, { lease: await me(), active: true });
    expect(await reasons()).toEqual({ [run.runId]: 'lease-held' });
    expect(existsSync(join(project.active, run.runId))).toBe(true);
  });

  it('keeps a run whose marker could not be tidied up', async () => {
    const run = await old(40);
    const read = await readRunFacts({ project, runId: run.runId, sessionLocks: root.sessionLocks });
    if (!read.ok) throw new Error('the run can be read');
    const rule = { days: 30, now };
    expect(whyKept(read.facts, rule)).toBeUndefined();
    expect(whyKept({ ...read.facts, isMarked: true }, rule)).toEqual({ reason: 'active-index' });
  });

  it('keeps for ever with 0 days', async () => {
    const run = await old(60);
    expect(await reasons({ days: 0 })).toEqual({ [run.runId]: 'recent' });
    expect((await clean({ days: 0 })).kept[0]?.kept.detail).toBe('runs are kept for ever');
  });

  describe('and runs that need each other', () => {
    const resume = (source: OldRun, over: Partial<ResumePlan> = {}): ResumePlan => ({
      sourceRunId: source.runId,
      sourceChild: 1,
      session: source.session,
      how: 'continue',
      ...over,
    });

    it('keeps every run of a conversation until the last of it may go, and then removes all of it', async () => {
      const first = await old(100);
      const second = await old(80, { record: { resume: resume(first) }, session: false });
      // The third was resumed from the second, and still goes on in the session of the first.
      const third = await old(31, {
        record: { resume: resume(first, { sourceRunId: second.runId }) },
        session: false,
      });
      now -= 10 * DAY;
      expect(await reasons()).toEqual({
        [first.runId]: 'resume-reference',
        [second.runId]: 'resume-reference',
        [third.runId]: 'recent',
      });
      now += 10 * DAY;
      expect(await reasons()).toEqual({ [first.runId]: 'gone', [second.runId]: 'gone', [third.runId]: 'gone' });
    });

    it('keeps what a run was copied from only until that run is over', async () => {
      const source = await old(100);
      const copy = await old(50, {
        record: { resume: resume(source, { how: 'fork' }) },
        state: null,
        lease: await me(),
      });
      expect(await reasons()).toEqual({ [source.runId]: 'resume-reference', [copy.runId]: 'non-terminal' });
      await rm(join(project.active, copy.runId));
      expect(await reasons()).toMatchObject({ [source.runId]: 'gone' });
    });

    it('keeps what a run of a newer version names, whatever for', async () => {
      const [source, other] = [await old(100), await old(101)];
      const newer = await old(50);
      await writeFile(runLayout(newer.directory).record, `{"version":7,"basedOn":["${source.runId}"]}`);
      expect(await reasons()).toEqual({
        [source.runId]: 'resume-reference',
        [other.runId]: 'gone',
        [newer.runId]: 'invalid-status',
      });
    });

    it('keeps what a run needs that is being created', async () => {
      const source = await old(80);
      const staging = await tempDir();
      const { directory, runId } = await writeRun(staging.path, { record: { resume: resume(source) } });
      await rename(directory, join(project.runs, `.${runId}.new`));
      await staging.remove();
      expect(await reasons()).toEqual({ [source.runId]: 'resume-reference' });
    });

    it.each([
      ['nested-reference', null],
      ['workflow-reference', 'lane-a.build'],
    ] as const)('keeps a whole together: %s', async (reason, workflowKey) => {
      const parent = await old(60);
      const nested = await old(61, { record: { parent: { runId: parent.runId }, workflowKey } });
      // The parent waits for the youngest of its own.
      const late = await old(20, { record: { parent: { runId: parent.runId }, workflowKey } });
      expect(await reasons()).toEqual({ [parent.runId]: reason, [nested.runId]: 'gone', [late.runId]: 'recent' });
      now += 12 * DAY;
      expect(await reasons()).toEqual({ [parent.runId]: 'gone', [late.runId]: 'gone' });
    });

    it('keeps a nested run while the run it belongs to stays for a reason of its own', async () => {
      const parent = await old(60, { state: 'paused' });
      const nested = await old(61, { record: { parent: { runId: parent.runId } } });
      expect(await reasons()).toEqual({ [parent.runId]: 'resumable', [nested.runId]: 'nested-reference' });
    });
  });

  describe('and clocks that are wrong', () => {
    it('keeps what is dated in the future, by its id, its end or its files', async () => {
      const byId = await writeOldRun(project.directory, { endedAt: now + 5 * DAY });
      const byEnd = await writeOldRun(project.directory, {
        endedAt: now + DAY,
        record: { runId: newRunId(now - 50 * DAY) },
      });
      const byFile = await old(40);
      await setAge(runLayout(byFile.directory).journal, now + DAY);
      expect(await reasons()).toEqual({
        [byId.runId]: 'unknown-age',
        [byEnd.runId]: 'unknown-age',
        [byFile.runId]: 'unknown-age',
      });
    });

    it('keeps what is said to have ended before it began, or before there were runs', async () => {
      const backwards = await writeOldRun(project.directory, {
        endedAt: now - 60 * DAY,
        record: { runId: newRunId(now - 40 * DAY) },
      });
      const epoch = await writeOldRun(project.directory, { endedAt: 5 * DAY });
      expect(await reasons()).toEqual({ [backwards.runId]: 'unknown-age', [epoch.runId]: 'unknown-age' });
    });

    it.each([
      ['a day ahead', DAY],
      ['a day behind', -DAY],
    ])('removes nothing recent when the clock is %s', async (_, wrong) => {
      const recent = [await old(0.01), await old(0.5), await old(0.99)];
      const due = await old(4);
      now += wrong;
      const verdicts = await reasons({ days: 1 });
      expect(verdicts[due.runId]).toBe('gone');
      for (const { runId } of recent) expect(['recent', 'unknown-age']).toContain(verdicts[runId]);
    });

    it('leaves a store alone for a day when the clock says that nothing has happened there for months', async () => {
      const runs = [await old(1), await old(2)];
      const real = now;
      now = real + 365 * DAY;
      const first = await clean();
      expect(first.removed).toEqual([]);
      expect(first.kept.map(({ kept }) => kept.reason)).toEqual(['unknown-age', 'unknown-age']);
      // It is found to be wrong: nothing was lost, and the doubt is over.
      now = real + 60_000;
      expect((await clean()).kept.map(({ kept }) => kept.reason)).toEqual(['recent', 'recent']);
      // It was right: the machine was not used for a year.
      now = real + 365 * DAY;
      expect((await clean()).removed).toEqual([]);
      now += 23 * 60 * 60_000;
      expect((await clean()).removed).toEqual([]);
      now += 2 * 60 * 60_000;
      expect(idsOf((await clean()).removed)).toEqual(idsOf(runs));
    });

    it('takes the word of a person who asks', async () => {
      const run = await old(1);
      now += 365 * DAY;
      expect(idsOf((await clean({ isAsked: true })).removed)).toEqual([run.runId]);
    });
  });

  it('has words for every reason', () => {
    const words = KEEP_REASONS.map((reason) => describeReason({ reason }));
    expect(new Set(words).size).toBe(KEEP_REASONS.length);
    expect(describeReason({ reason: 'lease-held', detail: 'its lease is held' })).toMatch(/still holds it: its lease/);
  });

  it('does nothing in a store that is not there, and makes none', async () => {
    const elsewhere = rootLayout(join(folder.path, 'nowhere'));
    expect((await clean({ root: elsewhere, dryRun: true })).state).toBe('done');
    expect((await clean({ root: elsewhere })).state).toBe('done');
    expect(existsSync(elsewhere.root)).toBe(false);
  });

  it('goes on with other projects when the runs of one cannot be listed', async () => {
    const run = await old(40);
    const broken = projectLayout(join(root.projects, 'a-0123456789abcdef'));
    await mkdir(broken.directory);
    await writeFile(broken.runs, 'a file in the way');
    expect(idsOf((await clean()).removed)).toEqual([run.runId]);
  });
});

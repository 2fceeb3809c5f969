import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { JournalWriter } from '../../src/core/journal/index.ts';
import {
  applyLine,
  foldRun,
  initialView,
  newRunId,
  RunReader,
  readFinalStatus,
  readLaunchRecord,
  taskTitle,
} from '../../src/core/runs/index.ts';
import {
  type ChildView,
  type JournalEvent,
  type JournalEventType,
  type JournalLine,
  journalEvent,
  lane,
  launchRecord,
  NO_USAGE,
  RUN_ID,
  type RunView,
  runView,
  STORED_STATES,
  TERMINAL_STATES,
  type WorktreeView,
} from '../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import {
  oneOfEach,
  someCapture,
  someError,
  somePlan,
  someResult,
  someUsage,
  someWorktreeRecord,
} from './builders/events.ts';
import { aRecord, ended, lines, writeRun } from './builders/run.ts';

const stamped = (event: JournalEvent, seq = 1, t = 5_000): JournalLine => ({ ...event, seq, t });

/** What an event changes in the view of a queued run, and in its child. */
interface Effect {
  run?: Partial<RunView>;
  child?: Partial<ChildView>;
}

const plannedWorktree: WorktreeView = {
  state: 'planned',
  path: somePlan.path,
  folder: somePlan.folder,
  branch: somePlan.branch,
  base: somePlan.base,
  record: null,
  capture: null,
  changed: null,
  commits: 0,
  files: 0,
  insertions: 0,
  deletions: 0,
  outside: 0,
  warnings: [],
  faults: [],
};

const effects: Record<JournalEventType, Effect> = {
  'run.created': {},
  'runner.started': { run: { epoch: 1, runner: { pid: 7, start: 's' } } },
  'run.proceeded': { run: { state: 'running', startedAt: 5_000 } },
  'child.planned': {},
  'workflow.delivered': {},
  'workflow.said': {},
  'workflow.planned': {},
  'workflow.stepped': {},
  'host.intended': {},
  'host.started': {},
  'host.ended': {},
  'workflow.ended': {},
  'run.continued': {},
  'child.spawn.intended': {
    child: {
      state: 'running',
      phase: 'starting',
      attempt: 2,
      startedAt: 5_000,
      processes: [{ attempt: 2, process: null, tree: 'pending' }],
    },
  },
  'child.spawned': {
    child: {
      process: { pid: 8, start: 'c' },
      processes: [{ attempt: 2, process: { pid: 8, start: 'c' }, tree: 'pending' }],
    },
  },
  'child.spawn.failed': { child: { error: someError } },
  'child.ready': {
    run: { model: 'fake/scripted' },
    child: { phase: 'idle', session: { id: 'sess', file: '/s.jsonl' }, model: 'fake/scripted', thinking: 'high' },
  },
  'child.prompt.intended': { child: { phase: 'thinking' } },
  'child.prompted': { child: { phase: 'thinking' } },
  'child.progress': {
    run: { usage: someUsage },
    child: { phase: 'tool', tool: 'bash', turns: 3, toolCalls: 4, usage: someUsage },
  },
  'child.stdout': {},
  'child.settled': {
    run: { usage: someUsage },
    child: {
      state: 'failed',
      phase: 'ending',
      stopReason: 'error',
      error: someError,
      result: someResult,
      turns: 5,
      toolCalls: 6,
      usage: someUsage,
      endedAt: 5_000,
    },
  },
  'child.ended': { child: { endedAt: 5_000, exit: { exitCode: 0, signal: null, tree: 'gone', note: 'n' } } },
  'child.attempt.failed': {},
  'child.session.checked': { child: { sessionState: 'damaged' } },
  'control.requested': { run: { stopRequested: true } },
  'control.settled': {},
  'timeout.reached': { child: { timedOut: true } },
  // A run that has not proceeded waits for nobody.
  'question.asked': {
    run: {
      questions: [
        {
          id: 'q',
          child: 1,
          method: 'select',
          title: 'Which?',
          message: 'Pick a gate.',
          options: ['north', 'south'],
          expiresAt: 600_000,
        },
      ],
    },
  },
  'question.answered': {},
  'question.expired': {},
  'attention.raised': { child: { attention: ['needs_attention'] } },
  'attention.cleared': {},
  'checkout.awaited': { child: { awaits: { folder: '/work', owner: 'another run', since: expect.any(Number) } } },
  'checkout.taken': {},
  'worktree.planned': { child: { worktree: plannedWorktree } },
  // Of a worktree that nobody has planned nothing is told.
  'worktree.made': {},
  'worktree.provisioned': {},
  'worktree.undone': {},
  'worktree.joined': {
    child: {
      cwd: somePlan.folder,
      worktree: {
        ...plannedWorktree,
        state: 'ready',
        of: { runId: '019a0000-0000-7000-8000-000000000001', child: 3 },
        record: someWorktreeRecord,
      },
    },
  },
  'worktree.captured': {},
  'worktree.capture.failed': {},
  'output.claimed': { child: { output: { path: '/work/answer.md', outcome: null, error: null } } },
  'output.settled': { child: { output: { path: '/work/answer.md', outcome: 'failed', error: 'no rights' } } },
  'recovery.begun': {},
  'recovery.decided': {},
  'journal.truncated': { run: { progressCut: true } },
  'run.ended': { run: { state: 'failed', error: someError, endedAt: 5_000 }, child: { state: 'failed' } },
};

it('a worktree is told from its plan to what was kept of it', () => {
  const after = (...types: JournalEventType[]) =>
    foldRun(
      aRecord(),
      types.map((type, n) => stamped(oneOfEach[type], n + 1)),
    ).children[0];
  const made = { ...plannedWorktree, state: 'made', record: someWorktreeRecord };
  expect(after('worktree.planned', 'worktree.made')?.worktree).toEqual(made);
  const ready = { ...made, state: 'ready', warnings: [someError] };
  const child = after('worktree.planned', 'worktree.made', 'worktree.provisioned');
  expect([child?.worktree, child?.cwd]).toEqual([ready, somePlan.folder]);
  const undone = { ...made, state: 'undone', record: null, faults: [someError] };
  expect(after('worktree.planned', 'worktree.made', 'worktree.undone')?.worktree).toEqual(undone);
  // One that is planned anew begins anew.
  expect(after('worktree.planned', 'worktree.undone', 'worktree.planned')?.worktree).toEqual(plannedWorktree);
  const found = { changed: true, commits: 2, files: 3, insertions: 4, deletions: 5, outside: 6, faults: [someError] };
  expect(after('worktree.planned', 'worktree.made', 'worktree.provisioned', 'worktree.captured')?.worktree).toEqual({
    ...ready,
    ...found,
    state: 'captured',
    capture: someCapture,
  });
  expect(after('worktree.planned', 'worktree.capture.failed')?.worktree).toEqual({
    ...plannedWorktree,
    state: 'capture-failed',
    faults: [someError],
  });
});

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) frozen(part);
    Object.freeze(value);
  }
  return value;
}

describe('the fold', () => {
  it('knows every event there is', () => {
    const types = journalEvent.def.options.flatMap((option) => option.shape.type.def.values);
    expect(Object.keys(effects).sort()).toEqual([...types].sort());
    for (const event of Object.values(oneOfEach)) expect(journalEvent.safeParse(event).success, event.type).toBe(true);
  });

  it.each(Object.values(oneOfEach))('$type changes exactly what it says', (event) => {
    const before = frozen(initialView(aRecord()));
    const { run = {}, child = {} } = effects[event.type];
    const children = before.children.map((one) => ({ ...one, ...child }));
    expect(applyLine(before, stamped(event, 9))).toEqual({ ...before, ...run, children, seq: 9, updatedAt: 5_000 });
  });

  it('begins as a queued run with all that the record says of it', () => {
    const record = aRecord({
      createdAt: 77,
      cwd: '/work',
      owner: { kind: 'pi-session', id: 's1' },
      parent: { runId: newRunId(), childIndex: 2 },
      workflowKey: 'lane-a.build',
      lane: { version: 1, key: 'lane-a', mode: 'mutation', claims: ['src/**'] },
    });
    record.child.label = 'The fence';
    record.child.model = 'fake/scripted';
    const view = initialView(record);
    expect(view).toMatchObject({
      runId: record.runId,
      mode: 'single',
      state: 'queued',
      agent: 'worker',
      label: 'The fence',
      title: 'Mend the fence.',
      cwd: '/work',
      owner: { kind: 'pi-session', id: 's1' },
      parentRunId: record.parent?.runId,
      workflowKey: 'lane-a.build',
      lane: { version: 1, key: 'lane-a', mode: 'mutation', claims: ['src/**'] },
      model: 'fake/scripted',
      createdAt: 77,
      startedAt: null,
      endedAt: null,
      stopRequested: false,
      interruptRequested: false,
      questions: [],
      steering: [],
      resumedFrom: null,
      epoch: 0,
      usage: NO_USAGE,
      seq: 0,
    });
    expect(view.children).toMatchObject([
      {
        index: 1,
        agent: 'worker',
        label: 'The fence',
        state: 'queued',
        attempt: 0,
        output: null,
        attemptedModels: [],
        attention: [],
        timedOut: false,
        sessionState: null,
      },
    ]);
    expect(runView.parse(view)).toEqual(view);
  });

  it('carries lane, workflow key and owner through every event', () => {
    const lanes = { version: 1, key: 'a' } as const;
    const record = aRecord({ workflowKey: 'a.b', lane: lanes, owner: { kind: 'schedule', id: 'x' } });
    const view = foldRun(record, lines(Object.values(oneOfEach)));
    expect(view).toMatchObject({ workflowKey: 'a.b', lane: lanes, owner: { kind: 'schedule', id: 'x' } });
  });

  it('shows the model a child is started with at once', () => {
    const intended = { ...oneOfEach['child.spawn.intended'], model: 'fake/second' };
    expect(foldRun(aRecord(), lines([intended])).children[0]?.model).toBe('fake/second');
    const before = applyLine(initialView(aRecord()), stamped(intended, 1));
    expect(applyLine(before, stamped({ ...intended, model: null }, 2)).children[0]?.model).toBe('fake/second');
  });

  it('tells the story of a run that goes well', () => {
    const view = foldRun(
      aRecord(),
      lines([
        oneOfEach['run.created'],
        oneOfEach['runner.started'],
        oneOfEach['run.proceeded'],
        { ...oneOfEach['child.spawn.intended'], attempt: 1 },
        oneOfEach['child.spawned'],
        oneOfEach['child.ready'],
        oneOfEach['child.prompted'],
        oneOfEach['child.progress'],
        { ...oneOfEach['child.settled'], state: 'complete', error: null, stopReason: 'stop' },
        oneOfEach['child.ended'],
        ended('complete'),
      ]),
    );
    expect(view).toMatchObject({
      state: 'complete',
      error: null,
      startedAt: 2_002,
      endedAt: 2_010,
      updatedAt: 2_010,
      seq: 11,
    });
    expect(view.usage).toEqual(someUsage);
    expect(view.children[0]).toMatchObject({
      state: 'complete',
      phase: null,
      tool: null,
      startedAt: 2_003,
      endedAt: 2_008,
      result: someResult,
      exit: { tree: 'gone' },
    });
  });

  it('begins a child anew with each attempt', () => {
    const again = foldRun(
      aRecord(),
      lines([
        { ...oneOfEach['child.spawn.intended'], attempt: 1 },
        oneOfEach['child.ended'],
        { ...oneOfEach['child.spawn.intended'], attempt: 2 },
      ]),
    );
    expect(again.children[0]).toMatchObject({
      attempt: 2,
      state: 'running',
      endedAt: null,
      exit: null,
      startedAt: 2_002,
    });
  });

  it('names the run it goes on with', () => {
    const sourceRunId = newRunId();
    const resume = { sourceRunId, sourceChild: 1, session: '/s.jsonl', how: 'fork' } as const;
    expect(initialView(aRecord({ resume })).resumedFrom).toBe(sourceRunId);
  });

  it('ends children that had not settled with the run, and only those', () => {
    const view = foldRun(aRecord(), lines([oneOfEach['child.spawn.intended'], ended('stopped')]));
    expect(view.children[0]).toMatchObject({ state: 'stopped', phase: null });
    const settled = foldRun(aRecord(), lines([oneOfEach['child.settled'], ended('stopped')]));
    expect(settled).toMatchObject({ state: 'stopped', children: [{ state: 'failed' }] });
  });

  it('shows that a tool budget was used up, and nothing where it was not', () => {
    const settled = oneOfEach['child.settled'];
    const blocked = foldRun(aRecord(), lines([{ ...settled, toolBudgetBlocked: true }]));
    expect(blocked.children[0]?.toolBudgetBlocked).toBe(true);
    expect(foldRun(aRecord(), lines([settled])).children[0]).not.toHaveProperty('toolBudgetBlocked');
  });

  it('leaves a child alone that an event is not about', () => {
    const before = frozen(initialView(aRecord()));
    for (const event of Object.values(oneOfEach)) {
      if (!('child' in event)) continue;
      expect(applyLine(before, stamped({ ...event, child: 2 })).children).toEqual(before.children);
    }
  });

  it('never goes back in time', () => {
    const late = applyLine(initialView(aRecord()), stamped(oneOfEach['run.proceeded'], 1, 9_000));
    expect(applyLine(late, stamped(oneOfEach['child.stdout'], 2, 100)).updatedAt).toBe(9_000);
  });

  it('never leaves a terminal state', () => {
    const anyEvent = fc.oneof(
      fc.constantFrom<JournalEvent>(...Object.values(oneOfEach)),
      fc.constantFrom(...TERMINAL_STATES).map((state): JournalEvent => ({ type: 'run.ended', state, error: null })),
    );
    fc.assert(
      fc.property(
        fc.array(anyEvent, { maxLength: 10 }),
        fc.constantFrom(...TERMINAL_STATES),
        fc.array(anyEvent, { maxLength: 20 }),
        (before, state, after) => {
          const record = aRecord();
          const open = before.filter((event) => event.type !== 'run.ended');
          const all = lines([...open, { type: 'run.ended', state, error: someError }, ...after]);
          const view = foldRun(record, all);
          const endedAt = all[open.length]?.t;
          expect(view).toMatchObject({ state, error: someError, endedAt, seq: all.length });
          expect(runView.safeParse(view).success).toBe(true);
        },
      ),
    );
  });

  it('gives the same for the same events, however they are read', () => {
    const record = aRecord();
    const events = fc.array(fc.constantFrom<JournalEvent>(...Object.values(oneOfEach)), { maxLength: 20 });
    fc.assert(
      fc.property(events, fc.nat({ max: 20 }), (all, cut) => {
        const journal = lines(all);
        let view = frozen(foldRun(record, journal.slice(0, cut)));
        for (const line of journal.slice(cut)) view = frozen(applyLine(view, line));
        expect(view).toEqual(foldRun(record, journal));
      }),
    );
  });
});

describe('the title of a run', () => {
  it('is the first line that says something, without control characters', () => {
    expect(taskTitle('\n  \n  Mend\tthe \u001b[31mfence.  \nThen rest.')).toBe('Mend the  [31mfence.');
    expect(taskTitle('   ')).toBe('');
  });

  it('has at most 200 characters, and is cut only when it has more', () => {
    expect(taskTitle('x'.repeat(200))).toBe('x'.repeat(200));
    expect(taskTitle('x'.repeat(201))).toBe(`${'x'.repeat(199)}…`);
    expect(taskTitle('🦊'.repeat(150))).toBe('🦊'.repeat(150));
    expect(taskTitle('🦊'.repeat(201))).toBe(`${'🦊'.repeat(199)}…`);
  });
});

describe('run ids', () => {
  it('are UUIDs of version 7 and sort by time', () => {
    const times = [0, 1, 1_000, 1_700_000_000_000, 1_700_000_000_001, 2 ** 48 - 1];
    const ids = times.map((time) => newRunId(time));
    for (const id of ids) expect(id).toMatch(RUN_ID);
    expect([...ids].sort()).toEqual(ids);
    expect(ids[3]?.replace('-', '').slice(0, 12)).toBe((1_700_000_000_000).toString(16).padStart(12, '0'));
    expect(newRunId(5, Buffer.alloc(10, 0xff))).toBe('00000000-0005-7fff-bfff-ffffffffffff');
  });

  it('differ within one millisecond', () => {
    expect(new Set(Array.from({ length: 100 }, () => newRunId(5))).size).toBe(100);
  });

  it('are the only names of runs', () => {
    for (const name of ['', '..', newRunId().toUpperCase(), `${newRunId()}x`, '00000000-0000-4000-8000-000000000000'])
      expect(name).not.toMatch(RUN_ID);
  });
});

describe('the launch record', () => {
  it('is stored and read without loss', () => {
    const { child } = aRecord();
    const full = aRecord({
      child: {
        ...child,
        agent: { ...child.agent, fallbackModels: ['fake/other'] },
        modelIsExplicit: true,
        output: { path: '/work/answer.md', mode: 'file-only' },
        toolTimeoutMs: 5_000,
      },
      ceiling: { allowedTools: ['read'], allowedAgents: [], denyExtensions: true },
      resume: { sourceRunId: newRunId(), sourceChild: 1, session: '/s.jsonl', how: 'continue' },
      timeoutMs: 1_000,
      lane: { version: 1, key: 'a', mode: 'gate', sourceRef: 'main', claims: ['x'], outputPaths: ['y'] },
    });
    expect(launchRecord.parse(JSON.parse(JSON.stringify(full)))).toEqual(full);
  });

  it('refuses what it does not know of a lane, and each broken limit', () => {
    const accepts = (value: unknown) => launchRecord.safeParse({ ...aRecord(), lane: value }).success;
    const good = { version: 1, key: 'lane-1' };
    expect(accepts(good)).toBe(true);
    expect(accepts(null)).toBe(true);
    const bad: object[] = [
      { extra: 1 },
      { version: 2 },
      { mode: 'other' },
      ...['', '-x', 'a b', 'a/b', 'x'.repeat(129)].map((key) => ({ key })),
      ...['a\nb', 'a\rb', 'a\0b', 'x'.repeat(129), 'ü'.repeat(65)].map((sourceRef) => ({ sourceRef })),
      { claims: new Array(21).fill('x') },
      { claims: ['x'.repeat(161)] },
      { claims: ['ü'.repeat(81)] },
      { outputPaths: new Array(11).fill('x') },
      { outputPaths: ['x'.repeat(257)] },
    ];
    for (const part of bad) expect(accepts({ ...good, ...part }), JSON.stringify(part)).toBe(false);
    const fullest = {
      ...good,
      key: 'x'.repeat(128),
      sourceRef: 'ü'.repeat(64),
      claims: new Array(20).fill('x'.repeat(160)),
      outputPaths: new Array(10).fill('x'.repeat(256)),
    };
    expect(accepts(fullest)).toBe(true);
    expect(lane.safeParse({ ...good, extra: 1 }).error?.issues[0]?.message).toContain('extra');
  });

  it('refuses an empty task and a foreign id', () => {
    const record = aRecord();
    expect(launchRecord.safeParse({ ...record, runId: '../etc' }).success).toBe(false);
    expect(launchRecord.safeParse({ ...record, child: { ...record.child, task: '' } }).success).toBe(false);
    expect(launchRecord.safeParse({ ...record, owner: { kind: 'cli', id: '' } }).success).toBe(false);
    expect(STORED_STATES).not.toContain('lost');
  });
});

describe('reading a run', () => {
  let folder: TempDir;

  beforeEach(async () => {
    folder = await tempDir({ name: 'awkward' });
  });

  afterEach(() => folder.remove());

  const writeRecord = (content: string) => writeFile(join(folder.path, 'run.json'), content);
  const reading = () => readLaunchRecord(folder.path);

  it('gives back the record', async () => {
    const record = aRecord();
    await writeRecord(JSON.stringify(record));
    expect(await reading()).toEqual(record);
  });

  it('names the folder when it is not there, and the record when that is missing', async () => {
    await expect(reading()).rejects.toMatchObject({
      code: 'run_unreadable',
      message: expect.stringContaining(join(folder.path, 'run.json')),
    });
    const nowhere = join(folder.path, 'nowhere');
    await expect(readLaunchRecord(nowhere)).rejects.toMatchObject({
      code: 'run_not_found',
      message: expect.stringContaining(nowhere),
    });
  });

  it('names the file that is not JSON, and leaves it as it is', async () => {
    await writeRecord('{"version":1,');
    const file = join(folder.path, 'run.json');
    await expect(reading()).rejects.toMatchObject({
      code: 'run_unreadable',
      message: expect.stringContaining(`${file} is not JSON`),
    });
    expect(await readFile(file, 'utf8')).toBe('{"version":1,');
  });

  it('names the file and the field that is wrong', async () => {
    await writeRecord(JSON.stringify({ ...aRecord(), trust: 'maybe' }));
    await expect(reading()).rejects.toMatchObject({
      code: 'run_unreadable',
      message: expect.stringMatching(/run\.json is not a launch record: trust: .*"approve"/),
    });
  });

  it('says that a newer version wrote it', async () => {
    await writeRecord(JSON.stringify({ version: 2, everything: 'new' }));
    await expect(reading()).rejects.toMatchObject({
      code: 'journal_newer',
      message: expect.stringContaining('record version 2'),
      hint: expect.stringMatching(/update/i),
    });
  });

  it('names the file that cannot be read', async () => {
    await mkdir(join(folder.path, 'run.json'));
    await expect(reading()).rejects.toMatchObject({
      code: 'run_unreadable',
      message: expect.stringMatching(/run\.json cannot be read: .*is a folder/),
    });
  });

  it('folds what comes, step by step, and reports what it had to skip', async () => {
    const { directory, record } = await writeRun(folder.path, { events: [oneOfEach['run.proceeded']] });
    const reader = await RunReader.open(directory);
    expect(reader.view).toMatchObject({ state: 'running', seq: 1 });
    const journal = await JournalWriter.open(join(directory, 'journal.jsonl'), { now: () => 6_000 });
    await journal.append([oneOfEach['child.progress']], { sync: false });
    expect((await reader.refresh()).children[0]?.tool).toBe('bash');
    await writeFile(join(directory, 'journal.jsonl'), 'garbage\n', { flag: 'a' });
    await journal.append([ended('complete')], { sync: false });
    await journal.close();
    expect(await reader.refresh()).toMatchObject({ state: 'complete', runId: record.runId, endedAt: 6_000 });
    expect(reader.skipped).toMatchObject([{ problem: 'not-json', length: 7 }]);
  });

  it('takes the final status only when it is one', async () => {
    const { directory, record } = await writeRun(folder.path, { events: [ended('complete')] });
    const view = foldRun(record, lines([ended('complete')]));
    expect(await readFinalStatus(directory)).toEqual(view);
    for (const content of ['{', '{}', JSON.stringify({ ...view, state: 'lost' })]) {
      await writeFile(join(directory, 'status.json'), content);
      expect(await readFinalStatus(directory)).toBeUndefined();
    }
    expect(await readFinalStatus(folder.path)).toBeUndefined();
  });
});

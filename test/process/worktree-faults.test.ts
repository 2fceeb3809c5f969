/** A runner that dies at any point of a worktree's life. The points are those of the union of event types. */
import { randomUUID } from 'node:crypto';
import { chmod, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LaunchPlan, recoverRun, resumeRun, waitForEnd } from '../../src/client/index.ts';
import { readJournal } from '../../src/core/journal/index.ts';
import { inspectLock } from '../../src/core/locks/index.ts';
import { runLayout } from '../../src/core/projects/index.ts';
import {
  type ErrorCode,
  type JournalEventType,
  journalEvent,
  type RunView,
  type SingleRecord,
  type WorktreeView,
} from '../../src/protocol/index.ts';
import { owner, TestRun } from '../support/control-matrix-runs.ts';
import { type FakePi, type FakeTask, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { isAlive } from '../support/process-state.ts';
import { git, makeRepository } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';
import type { World } from '../support/world.ts';

type When = 'before' | 'after';

/** Every event of worktrees there is, as the schema has them. */
const TYPES: readonly JournalEventType[] = journalEvent.def.options
  .flatMap((option) => option.shape.type.def.values)
  .filter((type) => type.startsWith('worktree.'));

interface Ending {
  state: 'complete' | 'failed';
  code?: ErrorCode;
  worktree: WorktreeView['state'] | undefined;
  /** How often git was asked for a worktree. */
  planned: number;
  why: string;
}

interface Scenario {
  type: JournalEventType;
  task?: FakeTask;
  /** The setup hook of the person fails. */
  hook?: 'fails';
  /** It is the run that goes on in the worktree of another that dies. */
  resumed?: true;
  ends: Record<When, Ending>;
}

const WORK: FakeTask = { steps: [{ write: 'made.txt', text: 'made\n' }, { say: 'done' }] };
const both = (ending: Ending): Record<When, Ending> => ({ before: ending, after: ending });
const complete = (planned: number, why: string): Ending => ({ state: 'complete', worktree: 'captured', planned, why });

const SCENARIOS: readonly Scenario[] = [
  {
    type: 'worktree.planned',
    ends: {
      before: {
        state: 'failed',
        code: 'start_not_confirmed',
        worktree: undefined,
        planned: 0,
        why: 'nobody was told that the run has begun, and git was asked for nothing',
      },
      after: complete(2, 'there is nothing of what was planned: it is dropped, and another one is made'),
    },
  },
  {
    type: 'worktree.made',
    ends: {
      before: complete(1, 'it is there as planned: it is taken over'),
      after: complete(2, 'nobody knows how far it was made ready: it is taken back, and another one is made'),
    },
  },
  {
    type: 'worktree.provisioned',
    ends: {
      before: complete(2, 'nobody knows how far it was made ready: it is taken back, and another one is made'),
      after: complete(1, 'it is ready, and the child starts in it'),
    },
  },
  {
    type: 'worktree.undone',
    hook: 'fails',
    ends: both({
      state: 'failed',
      code: 'worktree_setup_failed',
      worktree: 'undone',
      planned: 2,
      why: 'it is tried once more, fails for the same reason, and nothing is left of either',
    }),
  },
  { type: 'worktree.joined', resumed: true, ends: both(complete(0, 'the worktree is entered again')) },
  { type: 'worktree.captured', ends: both(complete(1, 'what is there is kept, again or still, and is the same')) },
  {
    type: 'worktree.capture.failed',
    task: { steps: [{ write: '.git', text: 'no git folder\n' }, { say: 'done' }] },
    ends: both({
      state: 'complete',
      worktree: 'capture-failed',
      planned: 1,
      why: 'the result of the child stays what it was, and the worktree stays',
    }),
  },
];

const stack = new AsyncDisposableStack();
let fake: FakePi;
let world: World;
let temp: TempDir;

beforeAll(async () => {
  ({ fake, world } = await fakeWorld(stack));
  temp = stack.use(await tempDir());
});
afterAll(() => expectNobodyLeft(stack, { fake, world }));

test('every event of worktrees has a scenario', () => {
  expect(SCENARIOS.map(({ type }) => type).toSorted()).toEqual(TYPES.toSorted());
});

const POINTS = SCENARIOS.flatMap((scenario) => (['before', 'after'] as const).map((when) => ({ scenario, when })));

describe.concurrent('a runner that dies', () => {
  test.for(POINTS)('$when $scenario.type', async ({ scenario, when }) => {
    const { type, task = WORK, hook, resumed, ends } = scenario;
    const ending = ends[when];
    const repository = await makeRepository(join(await realpath(temp.path), randomUUID().slice(0, 8)));
    const run = await TestRun.plan(world, fakeTask({ ...task, key: randomUUID() }), {
      cwd: repository,
      worktree: true,
      ...(hook ? { change: await failingHook(temp.path) } : {}),
    });
    const { directory, view } = resumed ? await dieResumed(run, `${type}:${when}`) : await die(run, `${type}:${when}`);
    const error = view.error?.code;
    const { lines } = await readJournal(runLayout(directory).journal);
    const planned = lines.filter((line) => line.type === 'worktree.planned').length;
    const worktree = view.children[0]?.worktree;
    expect([view.state, error, worktree?.state, planned], ending.why).toEqual([
      ending.state,
      ending.code,
      ending.worktree,
      ending.planned,
    ]);
    await expectInOrder(repository, worktree);
  });
});

/** Exactly the worktree that the run names is there, each branch of ours is that of a worktree, and the checkout is as it was. */
async function expectInOrder(repository: string, worktree: WorktreeView | undefined): Promise<void> {
  const isThere = worktree !== undefined && worktree.state !== 'undone';
  // A worktree that lost its `.git` is registered all the same.
  const listed = (await git(repository, 'worktree', 'list', '--porcelain')).split('\n');
  const paths = listed.filter((line) => line.startsWith('worktree ')).map((line) => line.slice('worktree '.length));
  expect(paths).toEqual(isThere ? [repository, worktree.path] : [repository]);
  const branches = await git(repository, 'for-each-ref', '--format=%(refname:short)', 'refs/heads/pi-lanes');
  expect(branches).toBe(isThere ? worktree.branch : '');
  expect(await git(repository, 'status', '--porcelain')).toBe('');
}

async function die(run: TestRun, fault: string): Promise<{ directory: string; view: RunView }> {
  await run.start(fault).catch(() => undefined);
  await run.runnerGone();
  await run.recover();
  return { directory: run.directory, view: viewOf((await run.end()).view) };
}

async function dieResumed(first: TestRun, fault: string): Promise<{ directory: string; view: RunView }> {
  await first.start();
  await first.end();
  const more = fakeTask({ steps: [{ write: 'more.txt' }, { say: 'more' }] });
  await resumeRun(first.toolbox(fault), { directory: first.directory, owner, task: more }).catch(() => undefined);
  const runId = (await first.store.runIds()).find((id) => id !== first.runId) ?? '';
  const directory = first.store.directoryOf(runId);
  await waitFor('the runner to be gone', async () => {
    const lease = (await inspectLock(runLayout(directory).lease)).owner;
    return lease !== undefined && !isAlive(lease.process.pid);
  });
  await recoverRun(first.toolbox(), directory, 'continue', owner);
  const { view } = await waitForEnd(first.store, runId, { signal: AbortSignal.timeout(40_000) });
  return { directory, view: viewOf(view) };
}

function viewOf(view: RunView | null | undefined): RunView {
  if (!view) throw new Error('the run cannot be read');
  return view;
}

async function failingHook(folder: string) {
  const path = join(folder, `hook-${randomUUID()}.sh`);
  await writeFile(path, '#!/bin/sh\nexit 7\n');
  await chmod(path, 0o755);
  return (plan: LaunchPlan<SingleRecord>): LaunchPlan<SingleRecord> => ({
    ...plan,
    record: { ...plan.record, worktrees: { ...plan.record.worktrees, setupHook: { path } } },
  });
}

/**
 * The runner of a workflow dies at any point of the places its children work in. Whoever takes over brings every child to its end: nothing
 * that was made is lost, nothing is left that no run names, and the checkout is as it was.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ChildView,
  type JournalEventType,
  journalEvent,
  type WorktreeView,
  worktreeCapture,
} from '../../src/protocol/index.ts';
import { type FakeTask, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, type FakeWorld, fakeWorld } from '../support/fake-world.ts';
import { refusedAtMost } from '../support/interrupted-lanes.ts';
import { numbersFrom, printedSeed } from '../support/random-numbers.ts';
import { git, makeRepository } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { TestWorkflow } from '../support/workflow-runs.ts';

type When = 'before' | 'after';

/** Every event of the places of children there is, as the schema has them. */
const TYPES: readonly JournalEventType[] = journalEvent.def.options
  .flatMap((option) => option.shape.type.def.values)
  .filter((type) => /^(?:worktree|checkout)\./.test(type));

const KEYS = ['left', 'right'];
/** How long each of two children has the checkout, so that the other must wait for it. */
const HELD_MS = 400;

interface Scenario {
  types: readonly JournalEventType[];
  /** How many such events an undisturbed run has at least. */
  count: number;
  script: (id: string) => string;
  /** The setup hook of the person fails. */
  hook?: 'fails';
  /** Each answer of the script. */
  ok: boolean;
  /** How the worktree of each child ends; absent: they have none. */
  ends?: WorktreeView['state'];
}

const writes = (key: string, more: FakeTask = {}) =>
  fakeTask({ steps: [{ write: `${key}.txt`, text: key }, { say: key }], ...more });
const all = (items: object[]) =>
  `return (await runs.all(${JSON.stringify(items)})).map(({ ok, output }) => ({ ok, output }));`;
const inWorktrees = (id: string) =>
  all(KEYS.map((key) => ({ key, agent: 'worker', worktree: true, task: writes(key, { key: `${id}-${key}` }) })));

const SCENARIOS: readonly Scenario[] = [
  {
    types: ['worktree.planned', 'worktree.made', 'worktree.provisioned', 'worktree.captured'],
    count: 2,
    script: inWorktrees,
    ok: true,
    ends: 'captured',
  },
  { types: ['worktree.undone'], count: 2, script: inWorktrees, hook: 'fails', ok: false, ends: 'undone' },
  {
    types: ['worktree.joined'],
    count: 2,
    script: (id) => {
      const stages = (key: string) => [
        { key: 'write', agent: 'worker', worktree: true, task: writes(key, { key: `${id}-${key}` }) },
        { key: 'more', resume: 'previous', task: writes(`${key}-more`, { key: `${id}-${key}-more` }) },
      ];
      const board = KEYS.map((key) => ({ key, stages: stages(key) }));
      return `
        const board = await runs.lanes(${JSON.stringify(board)});
        return board.map(({ key, state }) => ({ ok: state === 'complete', output: key }));`;
    },
    ok: true,
    ends: 'captured',
  },
  {
    types: ['worktree.capture.failed'],
    count: 2,
    script: (id) => {
      const steps = (key: string) => [
        { write: `${key}.txt`, text: key },
        { write: '.git', text: 'none' },
        { say: key },
      ];
      const task = (key: string) => fakeTask({ key: `${id}-${key}`, steps: steps(key) });
      return all(KEYS.map((key) => ({ key, agent: 'worker', worktree: true, task: task(key) })));
    },
    ok: true,
    ends: 'capture-failed',
  },
  {
    types: ['checkout.awaited', 'checkout.taken'],
    count: 1,
    script: (id) => {
      const task = (key: string) => fakeTask({ key: `${id}-${key}`, steps: [{ wait: HELD_MS }, { say: key }] });
      return all(KEYS.map((key) => ({ key, agent: 'worker', task: task(key) })));
    },
    ok: true,
  },
];

const stack = new AsyncDisposableStack();
let fakes: FakeWorld;
let temp: TempDir;
const seed = printedSeed();

beforeAll(async () => {
  fakes = await fakeWorld(stack, { writers: 'wait' });
  await fakes.fake.planLaunches({ remembers: true });
  temp = stack.use(await tempDir());
  // It is told about the worktree on its standard input, and fails where the repository is called so.
  const setupHook = join(temp.path, 'setup-hook.sh');
  const body = `#!/bin/sh\nif grep -q hook-fails; then exit 7; fi\necho '{"syntheticPaths":[]}'\n`;
  await writeFile(setupHook, body, { mode: 0o755 });
  const folder = join(fakes.world.agent.agentDir, 'pi-lanes');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'config.json'), JSON.stringify({ worktrees: { setupHook } }));
});
afterAll(() => expectNobodyLeft(stack, fakes));

test('every event of the places of children has a scenario', () => {
  expect(SCENARIOS.flatMap(({ types }) => types).toSorted()).toEqual(TYPES.toSorted());
});

const POINTS = SCENARIOS.flatMap((scenario) =>
  scenario.types.flatMap((type) => (['before', 'after'] as const).map((when) => ({ scenario, type, when }))),
).map((point, index) => ({ ...point, index }));

/** Dies at the point, of the first child or the second. */
async function die(type: JournalEventType, when: When, { scenario, index }: { scenario: Scenario; index: number }) {
  const name = `${scenario.hook === 'fails' ? 'hook-fails' : 'repository'}-${randomUUID().slice(0, 8)}`;
  const repository = await makeRepository(join(await realpath(temp.path), name));
  const nth = 1 + Math.floor(numbersFrom(seed + index)() * scenario.count);
  const run = await TestWorkflow.plan(fakes.world, scenario.script(name), { cwd: repository });
  await refusedAtMost(run.start(`${type}:${when}:${nth}`));
  await run.runnerGone();
  expect((await run.snapshot()).state, `${type}:${when}:${nth} was met`).toBe('lost');
  return { run, repository, where: `after a death ${when} ${type}, number ${nth}` };
}

describe.concurrent('the runner of a workflow that dies', () => {
  test.for(POINTS)('$when $type', async ({ type, when, ...point }) => {
    const { scenario } = point;
    const { run, repository, where } = await die(type, when, point);
    const settled = new Set((await run.all('child.settled')).map(({ child }) => child));
    const started = (await run.all('child.spawn.intended')).length;
    await run.recover();
    const { state, view } = await run.end();
    expect([state, (await run.result())?.value], where).toEqual([
      'complete',
      KEYS.map((key) => ({ ok: scenario.ok, output: scenario.ok ? key : expect.any(String) })),
    ]);
    const again = (await run.all('child.spawn.intended')).slice(started).map(({ child }) => child);
    expect(
      again.filter((child) => settled.has(child)),
      `${where}: what had ended is not started again`,
    ).toEqual([]);
    expect(new Set(again).size, `${where}: each child is started once more at most`).toBe(again.length);
    const children = view?.children ?? [];
    for (const { worktree } of children) expect(worktree?.state, where).toBe(scenario.ends);
    for (const key of scenario.ends ? KEYS : []) await expectKept(run, children, key);
    await expectInOrder(repository, children);
  });

  const stops = POINTS.filter(({ type, when }) => when === 'after' && type.startsWith('worktree.'));
  test.for(stops)('after $type and is not continued: what there is is kept', async ({ type, when, ...point }) => {
    const { run, repository, where } = await die(type, when, point);
    const begun = new Set((await run.all('child.spawn.intended')).map(({ child }) => child));
    await run.recover('stop');
    const { state, view } = await run.end();
    expect(state, where).toBe('stopped');
    const children = view?.children ?? [];
    for (const { index, worktree } of children) {
      // Whoever has begun had not come to everything; where nobody has worked there may be nothing.
      const may = begun.has(index) ? ['captured', point.scenario.ends] : ['captured', 'undone', undefined];
      expect(may, `${where}: child ${index}`).toContain(worktree?.state);
    }
    await expectInOrder(repository, children);
  });
});

/** What the child of a key has made is in the ref that keeps it, or, where nothing can be kept, still in its worktree. */
async function expectKept(run: TestWorkflow, children: readonly ChildView[], key: string): Promise<void> {
  const child = children.findLast((one) => one.key === key || one.key?.startsWith(`${key}.`));
  const { state, path = '', capture } = child?.worktree ?? {};
  if (state === 'undone') return;
  expect(await readFile(join(path, `${key}.txt`), 'utf8')).toBe(key);
  if (state === 'capture-failed') return;
  const { kept } = worktreeCapture.parse(JSON.parse(await readFile(join(run.directory, capture?.file ?? ''), 'utf8')));
  expect(await git(path, 'show', `${kept?.ref}:${key}.txt`)).toBe(key);
}

/** Exactly the worktrees that the run names are there, each branch of ours is that of one of them, and the checkout is as it was. */
async function expectInOrder(repository: string, children: readonly ChildView[]): Promise<void> {
  const named = children.flatMap(({ worktree }) => (worktree && worktree.state !== 'undone' ? [worktree] : []));
  const listed = (await git(repository, 'worktree', 'list', '--porcelain')).split('\n');
  const paths = listed.filter((line) => line.startsWith('worktree ')).map((line) => line.slice('worktree '.length));
  expect(paths.toSorted()).toEqual([repository, ...new Set(named.map(({ path }) => path))].toSorted());
  const branches = await git(repository, 'for-each-ref', '--format=%(refname:short)', 'refs/heads/pi-lanes');
  expect(branches.split('\n').filter(Boolean)).toEqual([...new Set(named.map(({ branch }) => branch))].toSorted());
  expect(await git(repository, 'status', '--porcelain')).toBe('');
}

/** Two windows of two browsers on one project: both tell the same about every run, at nearly the same time. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createFakePi, type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { tempDir } from '../support/temp.ts';
import { createWorld, type World } from '../support/world.ts';
import { shootFailures } from './failure-shots.ts';
import { type Session, startSession } from './session.ts';
import type { Workbench } from './workbench.ts';

/** Milliseconds the two may differ after one of them shows something new. */
const APART_MS = 1000;
/** Milliseconds an event may take to be shown at all, on a busy machine. */
const SHOWN_MS = 30_000;

const stack = new AsyncDisposableStack();
let world: World;
let fake: FakePi;
let session: Session;
let windows: [Workbench, Workbench];

beforeAll(async () => {
  fake = stack.use(await createFakePi({ dir: stack.use(await tempDir()).path }));
  world = stack.use(await createWorld({ project: 'harbour', piPath: fake.folder }));
  const target = { folder: world.project };
  session = stack.use(await startSession({ target, installed: inject('installedExtensions'), env: world.env }));
  windows = [session.workbench, await session.openElsewhere(target)];
  for (const workbench of windows) await workbench.openContainer('Pi Lanes');
});
afterAll(() => stack.disposeAsync());
shootFailures(() => session?.workbench);

async function start(task: string): Promise<string> {
  const { code, stdout } = await world.cli(['run', '--agent', 'worker', '--task', task]);
  expect(code).toBe(0);
  return stdout.trim();
}

/** What a screen reader is told of the tree. Times of runs that work are left out: each window counts on by itself. */
async function told({ trees }: Workbench): Promise<string> {
  const snapshot = await trees.tree('Runs').ariaSnapshot();
  return snapshot.replace(/\b\d+[smh](?: \d+[sm])?\b/g, '<time>').replace(/ \[(?:selected|active)\]/g, '');
}

/** Waits until one window shows it, then at most `APART_MS` until both tell the same. */
async function expectBothToTell(what: RegExp): Promise<void> {
  let seen: string[] = [];
  const look = async () => {
    seen = await Promise.all(windows.map(told));
    return seen;
  };
  await expect.poll(async () => (await look()).some((text) => what.test(text)), { timeout: SHOWN_MS }).toBe(true);
  const from = performance.now();
  while (!(seen[0] === seen[1] && what.test(seen[0] ?? ''))) {
    if (performance.now() - from > APART_MS) expect(seen[1]).toBe(seen[0]);
    await look();
  }
}

test('two browsers tell the same within a second after each event', async () => {
  const gate = 'harbour-gate';
  const steps = [{ say: 'begun' }, { gate }, { dialog: 'confirm' as const, title: 'Sure?' }, { say: '{{answer}}' }];
  const runId = await start(fakeTask({ steps }, 'paint the pier'));
  await expectBothToTell(/paint the pier.*worker is running/);
  await fake.open(gate);
  await expectBothToTell(/paint the pier.*worker is waiting for your answer/);
  expect((await world.cli(['answer', runId, '--yes'])).code).toBe(0);
  await expectBothToTell(/paint the pier.*worker has completed/);
  await start(fakeTask({ steps: [{ error: 'the model is gone' }] }, 'sink the boat'));
  await expectBothToTell(/sink the boat.*worker has failed/);
  const stopped = await start(fakeTask({ steps: [{ say: 'begun' }, { hang: true }] }, 'wait for the tide'));
  await expectBothToTell(/wait for the tide.*worker is running/);
  expect((await world.cli(['stop', stopped])).code).toBe(0);
  await expectBothToTell(/wait for the tide.*worker was stopped/);
});

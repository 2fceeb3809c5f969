/** Control from the editor: steer, interrupt and resume, a lost run, a runner that does not answer, a question. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { readJournal } from '../../src/core/journal/index.ts';
import { runLayout } from '../../src/core/projects/index.ts';
import { createFakePi, type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';
import { createWorld, type World } from '../support/world.ts';
import { shootFailures } from './failure-shots.ts';
import { type Session, startSession } from './session.ts';

const stack = new AsyncDisposableStack();
let world: World;
let fake: FakePi;
let session: Session;

beforeAll(async () => {
  world = stack.use(await createWorld({ project: 'harbour' }));
  fake = stack.use(await createFakePi({ dir: stack.use(await tempDir()).path }));
  session = stack.use(
    await startSession({
      target: { folder: world.project },
      installed: inject('installedExtensions'),
      env: world.env,
    }),
  );
  await session.workbench.openContainer('Pi Lanes');
});
afterAll(() => stack.disposeAsync());
shootFailures(() => session?.workbench);

/** Starts a run through the command line, as another client would; the editor must show and control it all the same. */
async function start(task: string, env: Record<string, string> = world.env): Promise<string> {
  const result = await world.cli(['run', '--agent', 'worker', '--task', task], { env });
  expect(result.code).toBe(0);
  return result.stdout.trim();
}

async function status(runId: string) {
  return JSON.parse((await world.cli(['status', runId, '--json'])).stdout);
}

async function runnerPid(runId: string): Promise<number> {
  const { directory } = await status(runId);
  const { lines } = await readJournal(runLayout(directory).journal);
  const started = lines.findLast((line) => line.type === 'runner.started');
  return started?.type === 'runner.started' ? started.process.pid : 0;
}

test("steer mid-run: the model's next request contains it, and the receipt says so", async () => {
  const { workbench } = session;
  const runId = await start('SCRIPT:echo-steer seconds=3');
  const row = workbench.trees.row(/SCRIPT:echo-steer/);
  await row.waitFor();
  await waitFor('the tool to run', async () => (await status(runId)).run.children[0].tool === 'bash');
  await workbench.trees.inlineAction(row, 'Steer…');
  await workbench.quickInput.fill('Remember the lighthouse');
  await workbench.quickInput.accept();
  await workbench.trees.row(/SCRIPT:echo-steer.*: worker has completed its work/).waitFor({ timeout: 30_000 });
  const { run, text } = await status(runId);
  expect(run.steering).toEqual([expect.objectContaining({ state: 'delivered', preview: 'Remember the lighthouse' })]);
  expect(text).toContain('Remember the lighthouse');
});

test('interrupt keeps the session, resume goes on in it', async () => {
  const { workbench } = session;
  const runId = await start('SCRIPT:slow');
  const row = workbench.trees.row(/SCRIPT:slow: worker is running/);
  await row.waitFor();
  await waitFor('words', async () => (await status(runId)).run.children[0].phase === 'thinking');
  await workbench.trees.contextAction(row, 'Interrupt');
  const paused = workbench.trees.row(/SCRIPT:slow: worker is paused/);
  await paused.waitFor();
  await workbench.screenshot('paused');
  await workbench.trees.inlineAction(paused, 'Resume');
  await workbench.quickInput.fill('SCRIPT:say {"text":"went on"}');
  await workbench.quickInput.accept();
  await workbench.trees.row(/SCRIPT:say.*: worker has completed its work/).waitFor({ timeout: 30_000 });
  const resumed = await status('last');
  expect(resumed.run.resumedFrom).toBe(runId);
  expect(resumed.text).toBe('went on');
  expect(resumed.run.children[0].session.file).toBe((await status(runId)).run.children[0].session.file);
});

test('B26 a run whose runner was killed is lost within 5 s, told once, and continued from the notice', async () => {
  const { workbench } = session;
  // What it goes on with after the recovery must still be at work when the test looks: it hangs until it is stopped.
  const steps = [{ calls: [{ tool: 'bash', args: { command: 'sleep 600' } }] }, { hang: true }];
  const runId = await start(`SCRIPT:steps ${JSON.stringify(steps)}`);
  await workbench.trees.row(/SCRIPT:steps.*: worker is running/).waitFor();
  await waitFor('the tool to run', async () => (await status(runId)).run.children[0].tool === 'bash');
  process.kill(await runnerPid(runId), 'SIGKILL');
  await workbench.trees.row(/SCRIPT:steps.*: worker was cut off/).waitFor({ timeout: 5000 });
  await workbench.notifications.waitFor(/was cut off: its runner is gone/);
  await workbench.screenshot('lost');
  await workbench.notifications.press(/was cut off/, 'Resume');
  await workbench.trees.row(/SCRIPT:steps.*: worker is running/).waitFor({ timeout: 15_000 });
  expect((await status(runId)).run.epoch).toBe(2);
  await world.cli(['stop', runId]);
  await workbench.trees.row(/SCRIPT:steps.*: worker was stopped/).waitFor();
});

test('a runner that does not answer is shown as unresponsive and can be forced to stop', async () => {
  const { workbench } = session;
  const runId = await start('SCRIPT:hang');
  await workbench.trees.row(/SCRIPT:hang: worker is running/).waitFor();
  const pid = await runnerPid(runId);
  process.kill(pid, 'SIGSTOP');
  const row = workbench.trees.row(/SCRIPT:hang: the runner of worker does not answer/);
  await row.waitFor({ timeout: 20_000 });
  await workbench.screenshot('unresponsive');
  await workbench.trees.inlineAction(row, 'Force Stop');
  await workbench.dialogs.answer(/Force "SCRIPT:hang" to stop/, 'Force Stop');
  await workbench.trees.row(/SCRIPT:hang: worker was stopped/).waitFor({ timeout: 20_000 });
  expect((await status(runId)).run.children[0].exit.tree).toBe('gone');
  // On its way it was cut off; that is nothing to tell whoever did it.
  expect((await workbench.notifications.all()).filter((text) => /SCRIPT:hang.*cut off/.test(text))).toEqual([]);
});

test('a question of an agent: told once, answered from the notice', async () => {
  const { workbench } = session;
  const task = fakeTask(
    { steps: [{ dialog: 'select', title: 'Which berth?', options: ['north', 'south'] }, { say: '{{answers}}' }] },
    'ask me',
  );
  const runId = await start(task, { ...world.env, PI_LANES_PI: fake.folder });
  await workbench.trees.row(/ask me: worker is waiting for your answer/).waitFor();
  await workbench.notifications.waitFor(/"ask me" asks: Which berth\?/);
  await workbench.screenshot('question');
  await workbench.notifications.press(/asks: Which berth/, 'Answer…');
  await workbench.quickInput.pick('south');
  await workbench.trees.row(/ask me: worker has completed its work/).waitFor();
  expect((await status(runId)).text).toContain('south');
});

test('a failed run is told once, with the reason', async () => {
  const { workbench } = session;
  await workbench.notifications.clear();
  const runId = await start('SCRIPT:fail-400');
  await workbench.notifications.waitFor(/"SCRIPT:fail-400" failed: The model failed: 400/);
  await workbench.screenshot('failed');
  const { directory } = await status(runId);
  expect(await readFile(runLayout(directory).status, 'utf8')).toContain('child_model_error');
});

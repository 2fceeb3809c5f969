/** Runs whose child misbehaves: a fake Pi behind the real client, runner and driver. */
import { readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stopRun } from '../../src/client/index.ts';
import { rootLayout } from '../../src/core/projects/index.ts';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { ended, journalOf, ofType, owner, startWorker } from '../support/started-run.ts';
import { waitFor } from '../support/wait-for.ts';
import type { World } from '../support/world.ts';

let fake: FakePi;
let world: World;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  ({ fake, world } = await fakeWorld(stack));
});
afterAll(() => expectNobodyLeft(stack, { fake, world }));

const start = (plan: Parameters<typeof fakeTask>[0]) => startWorker(world, fakeTask(plan));

/** Runs to the end and collects what a test looks at. */
async function play(plan: Parameters<typeof fakeTask>[0]) {
  const run = await start(plan);
  const end = await ended(run);
  await waitFor('every process to be gone', async () => (await fake.running()).length === 0);
  return { ...run, ...end };
}

describe('the protocol stream', () => {
  test('run-8 a line that is no JSON does not fail the child and is in the journal', async () => {
    const { snapshot, lines, text } = await play({ steps: [{ line: 'npm warn something' }, { say: 'fine' }] });
    expect(snapshot.state).toBe('complete');
    expect(text).toBe('fine');
    expect(ofType(lines, 'child.stdout').map((line) => line.text)).toEqual(['npm warn something']);
  });

  test('run-9 characters cut between writes and a last line without newline are read', async () => {
    const words = 'größer 漢字 \u{1F98A} \u2028 end';
    const { snapshot, text } = await play({
      steps: [{ split: 1 }, { say: words }],
      agentEnd: false,
      ended: [{ emit: { type: 'agent_settled' }, newline: false }, { exit: 0 }],
    });
    expect(snapshot.state).toBe('complete');
    expect(text).toBe(words);
  });

  test('run-10 a line over 16 MiB fails the child by name', async () => {
    const { snapshot } = await play({ steps: [{ big: 'message_end', bytes: 17 * 1024 * 1024 }, { hang: true }] });
    expect(snapshot).toMatchObject({ state: 'failed', error: { code: 'protocol_output_limit' } });
    expect(snapshot.error?.message).toContain('16 MiB');
  });

  test('run-11 an oversized end of run keeps whether it retries, and does not fail', async () => {
    const { snapshot, text } = await play({
      steps: [{ say: 'good' }],
      agentEnd: { willRetry: false, bytes: 17 * 1024 * 1024 },
    });
    expect(snapshot.state).toBe('complete');
    expect(text).toBe('good');
  });

  test('run-12 a retry announced at the end of a run is waited for', async () => {
    const { snapshot, text, lines } = await play({
      steps: [{ error: '529 busy', retry: { delayMs: 300 } }, { say: 'after all' }],
    });
    expect(snapshot.state).toBe('complete');
    expect(text).toBe('after all');
    expect(ofType(lines, 'child.progress').map((line) => line.phase)).toContain('retrying');
  });
});

test('run-26 ids of sessions and tool calls, however long or odd, never become names of files', async () => {
  const odd = `../../${'漢/\\:*?"<>|'.repeat(300)}`;
  const end = { type: 'tool_execution_end', toolCallId: odd, toolName: odd.slice(0, 500), isError: false };
  await fake.planLaunches({ state: { sessionId: odd } });
  try {
    const tool = [{ emit: { ...end, type: 'tool_execution_start', args: {} } }, { emit: end }];
    const { snapshot, directory } = await play({ steps: [...tool, { say: 'fine' }] });
    expect(snapshot).toMatchObject({ state: 'complete', view: { children: [{ session: { id: odd } }] } });
    const paths = [
      ...(await readdir(directory, { recursive: true })),
      ...(await readdir(rootLayout(world.toolbox.agentDir).sessionLocks)),
    ];
    expect(paths).toContain(join('children', '1', 'transcript.jsonl'));
    for (const name of paths.flatMap((path) => path.split(sep))) {
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(128);
      expect(name).toMatch(/^[\w.@-]+$/);
    }
  } finally {
    await fake.planLaunches({});
  }
});

describe('the outcome', () => {
  test('run-16 exit 0 after a provider error, and exit 0 with an empty answer, are failures', async () => {
    const error = await play({ steps: [{ error: 'quota exceeded' }, { exit: 0 }] });
    expect(error.snapshot).toMatchObject({ state: 'failed', error: { code: 'child_model_error' } });
    expect(error.snapshot.error?.message).toContain('quota exceeded');
    const empty = await play({ steps: [{ say: '' }, { exit: 0 }] });
    expect(empty.snapshot).toMatchObject({ state: 'failed', error: { code: 'child_empty_output' } });
  });

  test('run-16 an error that was recovered from, followed by useful output, is success', async () => {
    const { snapshot, text } = await play({
      steps: [{ error: 'try again', retry: { delayMs: 5 } }, { say: 'useful' }],
    });
    expect(snapshot).toMatchObject({ state: 'complete', error: null });
    expect(text).toBe('useful');
  });

  test('run-15 an exit while a tool runs is named', async () => {
    const { snapshot } = await play({
      steps: [{ stderr: 'about to break\n' }, { tools: [{ name: 'bash', during: [{ exit: 7 }] }] }],
    });
    expect(snapshot).toMatchObject({ state: 'failed', error: { code: 'child_mid_tool' } });
    expect(snapshot.error?.message).toContain('about to break');
  });

  test('run-19 a child killed from outside is stopped, with the signal', async () => {
    const { snapshot } = await play({ steps: [{ say: 'half' }, { kill: 'SIGKILL' }] });
    expect(snapshot).toMatchObject({ state: 'stopped', view: { children: [{ exit: { signal: 'SIGKILL' } }] } });
  });

  test('nothing of the editor or of the runner reaches the child', async () => {
    const { text } = await play({ steps: [{ say: '{{env}}' }] });
    expect(text).toContain('PI_CODING_AGENT_DIR');
    expect(text).not.toMatch(/PI_LANES_START|ELECTRON_|VSCODE_|NODE_OPTIONS/);
  });
});

describe('the end of the process', () => {
  test('run-18 B30 a grandchild that holds stdout does not delay the end over 8 s', async () => {
    const from = performance.now();
    const { snapshot } = await play({
      steps: [{ grandchild: 'both', ownSession: true, ignoreTerm: true }, { say: 'done' }, { exit: 0 }],
    });
    expect(snapshot.state).toBe('complete');
    expect(performance.now() - from).toBeLessThan(12_000);
    expect(snapshot.view?.children[0]?.exit?.tree).toBe('gone');
  });

  test('run-13 B31 a child that settled and does not exit: the result is taken, the process ended, a note says so', async () => {
    const { snapshot, text } = await play({ steps: [{ say: 'ready long ago' }], settled: [{ hang: 'stuck' }] });
    expect(snapshot.state).toBe('complete');
    expect(text).toBe('ready long ago');
    expect(snapshot.view?.children[0]?.exit?.note).toMatch(/did not exit/);
  });

  test('a child that ignores every signal is killed, and stop proves it', async () => {
    const run = await start({
      steps: [{ say: 'working' }, { hang: 'frozen' }],
      onStdinClose: [{ hang: true }],
      ignoreSignals: 'all',
    });
    await waitFor('the first words', async () => (await run.store.read(run.runId)).view?.children[0]?.turns === 1);
    const from = performance.now();
    const stop = () => stopRun(world.toolbox, run.directory, owner);
    // B94 Two clients ask at once: one stop, one answer.
    const [first, second] = await Promise.all([stop(), stop()]);
    expect([first, second]).toEqual([{ outcome: 'done' }, { outcome: 'done' }]);
    expect(performance.now() - from).toBeLessThan(8000);
    const lines = await journalOf(run);
    expect(ofType(lines, 'control.requested')).toHaveLength(1);
    expect((await run.store.read(run.runId)).view?.children[0]?.exit).toMatchObject({
      tree: 'gone',
      signal: 'SIGKILL',
    });
    expect(await fake.running()).toEqual([]);
  });

  test('stop during the start', async () => {
    await fake.planLaunches({ start: [{ hang: 'frozen' }] });
    try {
      const run = await start({ steps: [{ say: 'never' }] });
      await waitFor('the process', async () => (await run.store.read(run.runId)).view?.children[0]?.process);
      expect(await stopRun(world.toolbox, run.directory, owner)).toEqual({ outcome: 'done' });
      expect((await run.store.read(run.runId)).state).toBe('stopped');
      expect(await fake.running()).toEqual([]);
    } finally {
      await fake.planLaunches({});
    }
  });
});

/** The file an answer is also written to, through the command line and real runners. */
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { launch, planLaunch, RunStore, readResultText, resumeRun, startRun, stopRun } from '../../src/client/index.ts';
import { readJournal } from '../../src/core/journal/index.ts';
import { MAX_OUTPUT_BYTES } from '../../src/core/outputs/index.ts';
import { findProject, runLayout } from '../../src/core/projects/index.ts';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { atGate, ended, ofType, owner } from '../support/started-run.ts';
import { tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';
import type { World } from '../support/world.ts';

let fake: FakePi;
let world: World;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  ({ fake, world } = await fakeWorld(stack));
});
/** Every test has a folder of its own in the project. */
let folder: string;
let count = 0;
beforeEach(async () => {
  folder = join(world.project, `test-${++count}`);
  await mkdir(folder);
});
afterAll(() => expectNobodyLeft(stack, { fake, world }));

type Plan = Parameters<typeof fakeTask>[0];

const at = (...names: string[]) => join(folder, ...names);
const text = (...names: string[]) => readFile(at(...names), 'utf8');

const request = (plan: Plan, output: string) =>
  ({ agent: 'worker', task: fakeTask(plan), cwd: folder, owner, trust: 'no-approve', output }) as const;

async function start(plan: Plan, output = 'answer.md') {
  const run = await launch(world.toolbox, request(plan, output));
  return { ...run, store: new RunStore(run.project) };
}

async function play(plan: Plan, output = 'answer.md') {
  const run = await start(plan, output);
  return { ...run, ...(await ended(run)) };
}

const cliRun = (plan: Plan, ...args: string[]) =>
  world.cli(['run', '--agent', 'worker', '--task', fakeTask(plan), '--cwd', folder, ...args]);

describe('from the command line', () => {
  test('--output writes the answer beside printing it; the path counts from the folder the agent works in', async () => {
    const answer = 'Größe 漢字\nzweite Zeile';
    const { code, stdout } = await cliRun({ steps: [{ say: answer }] }, '--wait', '--output', 'new/notes/answer.md');
    expect(code).toBe(0);
    expect(stdout).toBe(`${answer}\n`);
    expect(await text('new', 'notes', 'answer.md')).toBe(answer);
    expect(await readdir(at('new', 'notes'))).toEqual(['answer.md']);
  });

  test('--output-mode file-only prints the path instead', async () => {
    const args = ['--wait', '--output', at('answer.md'), '--output-mode', 'file-only'];
    const { code, stdout } = await cliRun({ steps: [{ say: 'the answer' }] }, ...args);
    expect(code).toBe(0);
    expect(stdout).toBe(`${at('answer.md')}\n`);
    expect(await text('answer.md')).toBe('the answer');
  });

  test('an answer that could not be saved is no path: error, exit 1, and where the answer is', async () => {
    const gate = `unsaved-${count}`;
    await mkdir(at('elsewhere'));
    for (const mode of ['file-only', 'inline', 'json']) {
      await mkdir(at('deep'));
      const own = `${gate}-${mode}`;
      const args = mode === 'json' ? ['--json', '--output-mode', 'file-only'] : ['--output-mode', mode];
      const plan: Plan = { steps: [{ gate: own }, { say: 'the answer' }] };
      const running = cliRun(plan, '--wait', '--output', 'deep/answer.md', ...args);
      await fake.arrivedAt(own);
      await rm(at('deep'), { recursive: true });
      await symlink(at('elsewhere'), at('deep'));
      await fake.open(own);
      const { code, stdout, stderr } = await running;
      await rm(at('deep'));
      expect(code).toBe(1);
      const told = { code: 'output_unusable', message: expect.stringContaining(at('deep', 'answer.md')) };
      if (mode === 'json') {
        const { resultFile, ...result } = JSON.parse(stdout);
        expect(result).toMatchObject({
          state: 'complete',
          text: 'the answer',
          error: told,
          output: { outcome: 'failed' },
        });
        expect(result.error.hint).toContain(resultFile);
      } else {
        expect(stdout).toBe(mode === 'inline' ? 'the answer\n' : '');
        expect(stderr).toContain(`could not be written to ${at('deep', 'answer.md')}`);
      }
    }
  });

  test.each([
    ['a mode without a file', ['--output-mode', 'file-only'], 'launch_invalid', 'without an output file'],
    ['a mode there is not', ['--output', 'a.md', '--output-mode', 'both'], 'launch_invalid', '"both"'],
    ['a file below a file', ['--output', 'file/a.md'], 'output_unusable', 'file/a.md'],
    ['a folder', ['--output', '.'], 'output_unusable', 'is not a file'],
  ])('%s is refused before anything is started', async (_, args, code, words) => {
    await writeFile(at('file'), '');
    const before = await fake.launches('child');
    const result = await cliRun({ steps: [] }, '--json', ...args);
    expect(result.code).toBe(2);
    expect(JSON.parse(result.stdout).error).toMatchObject({ code, message: expect.stringContaining(words) });
    expect(await fake.launches('child')).toEqual(before);
    expect(await readdir(folder)).toEqual(['file']);
  });

  test('an answer that could not be written is reported, and is not lost', async () => {
    const gate = `broken-${count}`;
    const plan: Plan = { steps: [{ gate }, { say: 'worth keeping' }] };
    const result = cliRun(plan, '--wait', '--output', 'deep/answer.md');
    await fake.arrivedAt(gate);
    await writeFile(at('deep'), 'in the way');
    await fake.open(gate);
    const { code, stdout, stderr } = await result;
    // The work is done, but not what was asked for.
    expect(code).toBe(1);
    expect(stdout).toBe('worth keeping\n');
    expect(stderr).toContain(`The answer could not be written to ${at('deep', 'answer.md')}: `);
    expect(await text('deep')).toBe('in the way');
    const [newest] = await new RunStore(await findProject(world.toolbox.agentDir, folder)).list(1);
    expect(newest?.state).toBe('complete');
    expect(newest?.view?.children[0]?.output).toMatchObject({ outcome: 'failed', error: expect.stringMatching(/\S/) });
  });
});

describe('two runs and one file', () => {
  test('the second is refused while the first lives, by whatever path, and may have it afterwards', async () => {
    const gate = `first-${count}`;
    const first = await start({ steps: [{ gate }, { say: 'first' }] });
    await fake.arrivedAt(gate);
    await symlink(folder, at('link'));
    const children = (await fake.launches('child')).length;
    for (const path of ['answer.md', at('answer.md'), 'link/answer.md', './x/../answer.md']) {
      const { code, stdout } = await cliRun({ steps: [{ say: 'second' }] }, '--json', '--output', path);
      expect(code).toBe(2);
      expect(JSON.parse(stdout).error).toMatchObject({
        code: 'output_in_use',
        message: `The output file ${at('answer.md')} is already claimed by run ${first.runId}.`,
      });
    }
    expect((await fake.launches('child')).length).toBe(children);
    expect(await first.store.runIds()).toEqual([first.runId]);
    const other = await play({ steps: [{ say: 'other' }] }, 'other.md');
    expect(other.snapshot.state).toBe('complete');
    await fake.open(gate);
    const { lines } = await ended(first);
    expect(ofType(lines, 'output.claimed')).toMatchObject([{ path: at('answer.md') }]);
    expect(await text('answer.md')).toBe('first');
    expect((await play({ steps: [{ say: 'second' }] })).snapshot.state).toBe('complete');
    expect(await text('answer.md')).toBe('second');
  });

  test('also when they belong to two projects', async () => {
    const gate = `here-${count}`;
    const first = await start({ steps: [{ gate }, { say: 'first' }] });
    await fake.arrivedAt(gate);
    await using elsewhere = await tempDir();
    const there = ['--cwd', elsewhere.path, '--json', '--output', at('answer.md')];
    const { code, stdout } = await cliRun({ steps: [{ say: 'second' }] }, ...there);
    expect(code).toBe(2);
    expect(JSON.parse(stdout).error).toMatchObject({
      code: 'output_in_use',
      message: `The output file ${at('answer.md')} is already claimed by run ${first.runId}.`,
    });
    await fake.open(gate);
    await ended(first);
    expect(await text('answer.md')).toBe('first');
    const second = await cliRun({ steps: [{ say: 'second' }] }, '--wait', ...there);
    expect(second.code).toBe(0);
    expect(await text('answer.md')).toBe('second');
  });

  test('a run is not resumed while another writes its file', async () => {
    const gate = `other-${count}`;
    const first = await play({ steps: [{ say: 'first' }] });
    const other = await start({ steps: [{ gate }, { say: 'other' }] });
    await fake.arrivedAt(gate);
    const resume = () => resumeRun(world.toolbox, { directory: first.directory, owner, task: 'again' });
    await expect(resume()).rejects.toMatchObject({
      code: 'output_in_use',
      message: expect.stringContaining(`run ${other.runId}`),
    });
    expect(await other.store.runIds()).toEqual([other.runId, first.runId]);
    await fake.open(gate);
    await ended(other);
    const resumed = await resume();
    expect((await ended({ ...resumed, store: other.store })).child?.output?.outcome).toBe('saved');
    expect(await text('answer.md')).toBe('You said: again');
  });

  test('of two that were planned before either began one fails by name and starts no child', async () => {
    const gate = `race-${count}`;
    const plan: Plan = { steps: [{ gate }, { say: 'the one' }] };
    const children = (await fake.launches('child')).length;
    const plans = await Promise.all([1, 2].map(() => planLaunch(world.toolbox, request(plan, 'answer.md'))));
    const runs = await Promise.all(plans.map((one) => startRun(world.toolbox, one)));
    const store = new RunStore(await findProject(world.toolbox.agentDir, folder));
    const failed = await waitFor('one to fail', async () =>
      (await store.list(2)).find((snapshot) => snapshot.state === 'failed'),
    );
    const winner = runs.find((run) => run.runId !== failed.runId);
    if (!winner) throw new Error('no run is left');
    expect(failed.error).toMatchObject({
      code: 'output_in_use',
      message: expect.stringContaining(`run ${winner.runId}`),
    });
    await fake.open(gate);
    expect((await ended({ ...winner, store })).snapshot.state).toBe('complete');
    expect(await text('answer.md')).toBe('the one');
    expect((await fake.launches('child')).length).toBe(children + 1);
  });

  test('after a crash of the first the file is free', async () => {
    const gate = `crash-${count}`;
    const first = await start({ steps: [{ gate }, { say: 'first' }] });
    await atGate(fake, first, gate);
    const { lines } = await readJournal(runLayout(first.directory).journal);
    process.kill(ofType(lines, 'runner.started')[0]?.process.pid ?? 0, 'SIGKILL');
    await waitFor('the run to be lost', async () => (await first.store.read(first.runId)).state === 'lost');
    expect((await play({ steps: [{ say: 'second' }] })).snapshot.state).toBe('complete');
    expect(await text('answer.md')).toBe('second');
    await stopRun(world.toolbox, first.directory, owner);
    expect((await first.store.read(first.runId)).state).toBe('stopped');
    expect(await text('answer.md')).toBe('second');
  });

  test('what the child wrote itself before a crash of its runner is kept when the run is continued', async () => {
    const gate = `own-${count}`;
    await writeFile(at('answer.md'), 'of yesterday');
    const run = await start({
      steps: [{ say: 'Writing.', tools: [{ name: 'write' }] }, { write: 'answer.md', text: 'my own report' }, { gate }],
    });
    await atGate(fake, run, gate);
    const { lines } = await readJournal(runLayout(run.directory).journal);
    process.kill(ofType(lines, 'runner.started')[0]?.process.pid ?? 0, 'SIGKILL');
    await waitFor('the run to be lost', async () => (await run.store.read(run.runId)).state === 'lost');
    const resumed = await resumeRun(world.toolbox, { directory: run.directory, owner });
    expect(resumed.kind).toBe('continued');
    const { snapshot, child } = await ended(run);
    expect(snapshot.state).toBe('complete');
    expect(child?.output).toEqual({ path: at('answer.md'), outcome: 'kept', error: null });
    expect(await text('answer.md')).toBe('my own report');
  });
});

describe('what is written', () => {
  test('nothing, when the child wrote the file itself', async () => {
    const { child, lines } = await play({
      steps: [{ write: 'answer.md', text: 'the report by {{model}}' }, { say: 'I wrote the report.' }],
    });
    const own = 'the report by fake/scripted';
    expect(await text('answer.md')).toBe(own);
    expect(child?.output).toEqual({ path: at('answer.md'), outcome: 'kept', error: null });
    expect(ofType(lines, 'output.settled')).toMatchObject([{ outcome: 'kept', bytes: own.length }]);
  });

  test('the answer over what was there before', async () => {
    await writeFile(at('answer.md'), 'of yesterday');
    const { child } = await play({ steps: [{ say: 'of today' }] });
    expect(await text('answer.md')).toBe('of today');
    expect(child?.output?.outcome).toBe('saved');
  });

  test('a stub that says why, when the run failed without an answer', async () => {
    const { snapshot, child } = await play({ steps: [{ error: '400 not like this' }] });
    expect(snapshot.state).toBe('failed');
    expect(await text('answer.md')).toBe('[no answer: The model failed: 400 not like this]\n');
    expect(child?.output?.outcome).toBe('saved');
  });

  test('what had been said, when the run was stopped in the middle of its answer', async () => {
    const gate = `half-${count}`;
    const run = await start({ steps: [{ say: ['The first half, ', { gate }, 'the second.'] }] });
    await fake.arrivedAt(gate);
    await stopRun(world.toolbox, run.directory, owner);
    expect((await ended(run)).snapshot.state).toBe('stopped');
    expect(await text('answer.md')).toBe('The first half, ');
  });

  test('the whole of an answer over 200 KiB', async () => {
    const bytes = 3 * MAX_OUTPUT_BYTES + 1;
    const { directory, lines } = await play({ steps: [{ say: [{ fill: bytes }] }] });
    const whole = await readResultText(directory, 1);
    expect(whole?.length).toBe(bytes);
    expect(await text('answer.md')).toBe(whole);
    const [settled] = ofType(lines, 'child.settled');
    expect(settled?.result?.bytes).toBeGreaterThan(bytes);
    expect(ofType(lines, 'output.settled')).toMatchObject([{ outcome: 'saved', bytes }]);
  });

  test('a long answer is handed on in part, with the place of the whole', async () => {
    const bytes = 2 * MAX_OUTPUT_BYTES;
    const task = fakeTask({ steps: [{ say: [{ fill: bytes }] }] });
    const result = await world.cli(['run', '--agent', 'worker', '--task', task, '--wait', '--json']);
    const answer = JSON.parse(result.stdout);
    expect(answer).toMatchObject({ state: 'complete', truncated: true });
    expect(answer.text.length).toBeLessThan(MAX_OUTPUT_BYTES + 200);
    expect(answer.text).toMatch(/\[cut: 409600 bytes, 1 lines in all\]$/);
    expect(JSON.parse(await readFile(answer.resultFile, 'utf8')).text.length).toBe(bytes);
  });

  test('also when its folder was removed meanwhile', async () => {
    const gate = `gone-${count}`;
    await mkdir(at('deep', 'er'), { recursive: true });
    const run = await start({ steps: [{ gate }, { say: 'found a place' }] }, 'deep/er/answer.md');
    await fake.arrivedAt(gate);
    await rm(at('deep'), { recursive: true });
    await fake.open(gate);
    expect((await ended(run)).child?.output?.outcome).toBe('saved');
    expect(await text('deep', 'er', 'answer.md')).toBe('found a place');
  });

  test('not to another place, when its folder was turned into a link', async () => {
    const gate = `link-${count}`;
    await mkdir(at('deep'));
    await mkdir(at('elsewhere'));
    const run = await start({ steps: [{ gate }, { say: 'the answer' }] }, 'deep/answer.md');
    await fake.arrivedAt(gate);
    await rm(at('deep'), { recursive: true });
    await symlink(at('elsewhere'), at('deep'));
    await fake.open(gate);
    const { snapshot, child } = await ended(run);
    expect(snapshot.state).toBe('complete');
    expect(child?.output).toMatchObject({ outcome: 'failed', error: 'its folder now leads to another place' });
    expect(await readdir(at('elsewhere'))).toEqual([]);
    expect(await readResultText(run.directory, 1)).toBe('the answer');
  });
});

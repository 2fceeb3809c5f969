/** A run from one command, on a real Pi: the whole path through client, runner, driver, journal and back. */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunStore, stopRun, waitForEnd } from '../../src/client/index.ts';
import { readJournal } from '../../src/core/journal/index.ts';
import { findProject, runLayout } from '../../src/core/projects/index.ts';
import { type PiVersion, piVersions } from '../support/pi-versions.ts';
import { isAlive } from '../support/process-state.ts';
import { journalOf, owner, startWorker } from '../support/started-run.ts';
import { waitFor } from '../support/wait-for.ts';
import { createWorld, type World } from '../support/world.ts';

const start = (world: World, task: string) => startWorker(world, task);
const events = (directory: string) => journalOf({ directory });

/** Nothing of the run is left: neither processes nor marks of a live run. */
async function expectNothingLeft(run: { runId: string; directory: string; store: RunStore }): Promise<void> {
  const lines = await events(run.directory);
  const pids = lines.flatMap((line) =>
    line.type === 'child.spawned' || line.type === 'runner.started' ? [line.process.pid] : [],
  );
  await waitFor('the processes of the run to be gone', () => pids.every((pid) => !isAlive(pid)));
  expect(await run.store.activeIds()).toEqual([]);
}

describe.each(piVersions)('Pi %s', (version: PiVersion) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld({ pi: version });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('a child edits a file with real tools; journal, result and transcript tell it', async () => {
    const run = await start(world, 'SCRIPT:edit out.txt');
    const snapshot = await waitForEnd(run.store, run.runId);
    expect(snapshot).toMatchObject({ state: 'complete', error: null });
    expect(snapshot.view?.children[0]).toMatchObject({
      turns: 4,
      toolCalls: 3,
      model: 'fake/scripted',
      thinking: 'high',
    });
    expect(snapshot.view?.usage).toMatchObject({ input: 400, output: 40 });
    expect(snapshot.view?.usage.cost).toBeCloseTo(0.00048, 8);
    expect(await readFile(join(world.project, 'out.txt'), 'utf8')).toBe('scripted\n');
    const lines = await events(run.directory);
    const order = lines.map((line) => line.type).filter((type) => type !== 'child.progress');
    expect(order).toEqual([
      'run.created',
      'runner.started',
      'run.proceeded',
      'child.spawn.intended',
      'child.spawned',
      'child.ready',
      'child.prompt.intended',
      'child.prompted',
      'child.settled',
      'child.ended',
      'child.session.checked',
      'run.ended',
    ]);
    expect(lines.map((line) => line.seq)).toEqual(lines.map((_, index) => index + 1));
    const { stdout } = await world.cli(['transcript', run.runId]);
    expect(stdout).toContain('SCRIPT:edit out.txt');
    expect(stdout).toMatch(/tool write .*out\.txt/);
    expect(stdout).toContain('out.txt holds: scripted');
    const session = snapshot.view?.children[0]?.session?.file;
    expect(await readFile(session ?? '', 'utf8')).toContain('SCRIPT:edit out.txt');
    await expectNothingLeft(run);
  });

  test('stop ends a tool that runs, with everything it started', async () => {
    const run = await start(world, 'SCRIPT:bash-sleep');
    await waitFor('the tool to run', async () => (await run.store.read(run.runId)).view?.children[0]?.tool === 'bash');
    expect(await stopRun(world.toolbox, run.directory, owner)).toEqual({ outcome: 'done' });
    const snapshot = await run.store.read(run.runId);
    expect(snapshot.state).toBe('stopped');
    expect(snapshot.view?.children[0]?.exit?.tree).toBe('gone');
    const lines = await events(run.directory);
    expect(lines.map((line) => line.type)).toEqual(
      expect.arrayContaining(['control.requested', 'control.settled', 'run.ended']),
    );
    // Stopping again is an answer, not an error.
    expect(await stopRun(world.toolbox, run.directory, owner)).toEqual({ outcome: 'too-late' });
    await expectNothingLeft(run);
  });

  test('a model error keeps the words of the provider', async () => {
    const run = await start(world, 'SCRIPT:fail-400');
    const snapshot = await waitForEnd(run.store, run.runId);
    expect(snapshot.state).toBe('failed');
    expect(snapshot.error?.code).toBe('child_model_error');
    expect(snapshot.error?.message).toContain('scripted 400');
    await expectNothingLeft(run);
  });

  test('retries of Pi are waited for', async () => {
    const run = await start(world, 'SCRIPT:flaky');
    const snapshot = await waitForEnd(run.store, run.runId);
    expect(snapshot.state).toBe('complete');
    await expectNothingLeft(run);
  });

  test('a compaction at the end is waited for', async () => {
    const run = await start(world, 'SCRIPT:compact');
    const snapshot = await waitForEnd(run.store, run.runId);
    expect(snapshot.state).toBe('complete');
    expect((await world.cli(['transcript', run.runId])).stdout).toContain('context compacted');
    await expectNothingLeft(run);
  });

  test('a background process that a tool leaves behind neither delays the end nor survives it', async () => {
    const run = await start(world, 'SCRIPT:bash-background');
    const snapshot = await waitForEnd(run.store, run.runId);
    expect(snapshot.state).toBe('complete');
    const pid = Number(await readFile(join(world.project, 'background.pid'), 'utf8'));
    expect(pid).toBeGreaterThan(1);
    await waitFor('the background process to be gone', () => !isAlive(pid));
    expect(snapshot.view?.children[0]?.exit).toMatchObject({
      tree: 'gone',
      note: expect.stringContaining('left running'),
    });
    await expectNothingLeft(run);
  });

  test.each([
    [
      'quotes, newlines, emoji and line separators',
      `say "hi" 'there' $HOME \`x\`\n\tsecond\r\nline \u2028 \u{1F98A} 漢字`,
    ],
    ['1 MiB', `long ${'x'.repeat(1024 * 1024)} end`],
  ])('a task with %s arrives as it was given', async (_, task) => {
    const run = await start(world, task);
    const snapshot = await waitForEnd(run.store, run.runId);
    expect(snapshot.state).toBe('complete');
    const session = snapshot.view?.children[0]?.session;
    const first = (await readFile(session?.file ?? '', 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
      .find((entry) => entry.message?.role === 'user');
    const { content } = first.message;
    expect(typeof content === 'string' ? content : content[0].text).toBe(task);
  });
});

describe('refusals', () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  /** Runs the command line and expects a refusal that leaves nothing behind. */
  async function refused(args: string[], options?: Parameters<World['cli']>[1]) {
    const before = await allRuns(world);
    const result = await world.cli(['run', '--json', ...args], options);
    expect(result.code).toBe(2);
    expect(await allRuns(world)).toEqual(before);
    const { error, schemaVersion } = JSON.parse(result.stdout);
    expect(schemaVersion).toBe(1);
    return error;
  }

  test('run-1 a missing folder is named as given and as resolved, and nothing is made', async () => {
    const error = await refused(['--agent', 'worker', '--task', 'x', '--cwd', 'no/such']);
    expect(error.code).toBe('cwd_missing');
    expect(error.message).toContain('no/such');
    expect(error.message).toContain(join(world.project, 'no/such'));
  });

  test('a folder that is a file', async () => {
    expect(await refused(['--agent', 'worker', '--task', 'x', '--cwd', 'README.md'])).toMatchObject({
      code: 'cwd_not_directory',
    });
  });

  test('an empty task, an unknown agent, a bad thinking level, an unknown option', async () => {
    expect(await refused(['--agent', 'worker', '--task', ' \n '])).toMatchObject({ code: 'task_empty' });
    expect(await refused(['--agent', 'nobody', '--task', 'x'])).toMatchObject({
      code: 'agent_unknown',
      hint: expect.stringContaining('worker'),
    });
    expect(await refused(['--agent', 'worker', '--task', 'x', '--thinking', 'much'])).toMatchObject({
      code: 'launch_invalid',
    });
    expect(await refused(['--agent', 'worker', '--task', 'x', '--modle', 'y'])).toMatchObject({
      code: 'launch_invalid',
    });
  });

  test('an unknown model names the near one', async () => {
    const error = await refused(['--agent', 'worker', '--task', 'x', '--model', 'fake/scriptd']);
    expect(error).toMatchObject({ code: 'model_unknown', hint: expect.stringContaining('fake/scripted') });
  });

  test('no Pi, a path that is no Pi, Pi too old', async () => {
    const { PI_LANES_PI: _, ...bare } = world.env;
    const path = '/usr/bin:/bin';
    const none = await refused(['--agent', 'worker', '--task', 'x'], { env: { ...bare, PATH: path } });
    expect(none).toMatchObject({ code: 'pi_not_found', hint: expect.stringContaining('npm install') });
    const missing = await refused(['--agent', 'worker', '--task', 'x'], {
      env: { ...world.env, PI_LANES_PI: '/no/such/cli.js' },
    });
    expect(missing).toMatchObject({ code: 'pi_path_invalid' });
    const old = join(world.agent.home, 'old-pi');
    await mkdir(old, { recursive: true });
    await writeFile(
      join(old, 'package.json'),
      JSON.stringify({ name: '@mariozechner/pi-coding-agent', version: '0.60.0', bin: { pi: 'cli.js' } }),
    );
    await writeFile(join(old, 'cli.js'), '');
    expect(
      await refused(['--agent', 'worker', '--task', 'x'], { env: { ...world.env, PI_LANES_PI: old } }),
    ).toMatchObject({
      code: 'pi_too_old',
      message: expect.stringContaining('0.60.0'),
    });
  });

  test('no usable model', async () => {
    await using poor = await createWorld({ models: 'none' });
    const result = await poor.cli(['run', '--json', '--agent', 'worker', '--task', 'x']);
    expect(result.code).toBe(2);
    expect(JSON.parse(result.stdout).error).toMatchObject({
      code: 'model_none',
      hint: expect.stringContaining('/login'),
    });
    expect(await allRuns(poor)).toEqual([]);
  });
});

/** Ids of all runs in the world's store, half-made ones included. */
async function allRuns(world: World): Promise<string[]> {
  const projects = await readdir(world.toolbox.root.projects).catch(() => []);
  const lists = await Promise.all(
    projects.map((name) => readdir(join(world.toolbox.root.projects, name, 'runs')).catch(() => [])),
  );
  return lists.flat().sort();
}

describe('the start of a runner', () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('run-7 what a runner is started with is in no file, and the files of a run are private', async () => {
    const secret = `task-${randomBytes(8).toString('hex')}`;
    const run = await start(world, `SCRIPT:slow tokens=40 ${secret}`);
    const project = await findProject(world.toolbox.agentDir, world.project);
    expect(await readdir(project.layout.starting)).toEqual([]);
    for (const file of ['run.json', 'journal.jsonl', 'lease.1', 'runner.log']) {
      expect((await stat(join(run.directory, file))).mode & 0o777).toBe(0o600);
    }
    expect((await stat(run.directory)).mode & 0o777).toBe(0o700);
    // Neither the child nor its tools see the address and token of the runner.
    const pid = await waitFor(
      'the child',
      async () => (await run.store.read(run.runId)).view?.children[0]?.process?.pid,
    );
    const environ = await readFile(`/proc/${pid}/environ`, 'utf8');
    expect(environ).not.toContain('PI_LANES_START');
    await waitForEnd(run.store, run.runId);
  });

  test('B27 four runners that die before their first write are four errors with what they printed', async () => {
    const { planLaunch, startRun } = await import('../../src/client/index.ts');
    const broken = join(world.agent.home, 'broken-runner.mjs');
    await writeFile(broken, 'console.error("runner is broken: no disk"); process.exit(1);\n');
    const failures = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const plan = await planLaunch(world.toolbox, {
          agent: 'worker',
          task: 'x',
          cwd: world.project,
          owner,
          trust: 'no-approve',
        });
        const from = performance.now();
        const error = await startRun(world.toolbox, { ...plan, runtime: { ...plan.runtime, runner: broken } }).catch(
          (reason: unknown) => reason,
        );
        return { error, ms: performance.now() - from, runId: plan.record.runId };
      }),
    );
    for (const { error, ms } of failures) {
      expect(error).toMatchObject({
        code: 'runner_died',
        message: expect.stringContaining('runner is broken: no disk'),
      });
      expect(ms).toBeLessThan(5000);
    }
    const runs = await allRuns(world);
    for (const { runId } of failures) expect(runs.filter((name) => name.includes(runId))).toEqual([]);
    const project = await findProject(world.toolbox.agentDir, world.project);
    expect(await readdir(project.layout.starting)).toEqual([]);
  });

  test('a runner that never listens is given up at the deadline', async () => {
    const { planLaunch, startRun } = await import('../../src/client/index.ts');
    const silent = join(world.agent.home, 'silent-runner.mjs');
    await writeFile(silent, 'setInterval(() => {}, 1000);\n');
    const plan = await planLaunch(world.toolbox, {
      agent: 'worker',
      task: 'x',
      cwd: world.project,
      owner,
      trust: 'no-approve',
    });
    const error = await startRun(
      world.toolbox,
      { ...plan, runtime: { ...plan.runtime, runner: silent } },
      { listenMs: 300 },
    ).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'runner_start_timeout' });
  });

  test('a runner that is killed leaves a run that is shown as lost, never as running', async () => {
    const run = await start(world, 'SCRIPT:slow');
    const runner = (await events(run.directory)).find((line) => line.type === 'runner.started');
    expect(runner?.type).toBe('runner.started');
    if (runner?.type === 'runner.started') process.kill(runner.process.pid, 'SIGKILL');
    const snapshot = await waitForEnd(run.store, run.runId);
    expect(snapshot.state).toBe('lost');
    // The child sees the end of its input and leaves; nobody works on behind our back.
    await waitFor('the child to be gone', async () => !isAlive(snapshot.view?.children[0]?.process?.pid ?? 0));
    // Stopping it now is the work of a new runner, which writes the end.
    expect(await stopRun(world.toolbox, run.directory, owner)).toEqual({ outcome: 'done' });
    expect((await run.store.read(run.runId)).state).toBe('stopped');
    await expectNothingLeft(run);
  });

  test('B96 a run goes on with the bundle it was started with when the extension is replaced', async () => {
    const run = await start(world, 'SCRIPT:slow tokens=40');
    const record = JSON.parse(await readFile(runLayout(run.directory).record, 'utf8'));
    expect(await readdir(join(world.toolbox.root.runtime, record.runtime))).toContain('runner.mjs');
    // A newer version writes an event this one does not know: it is skipped and reported, the rest is read.
    await waitForEnd(run.store, run.runId);
    const path = runLayout(run.directory).journal;
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace(/(\{"seq":4,[^\n]*\n)/, '{"seq":4,"t":1,"type":"child.teleported"}\n'));
    const { lines, skipped } = await readJournal(path);
    expect(skipped).toEqual([expect.objectContaining({ problem: 'newer-event', seq: 4 })]);
    expect(lines.at(-1)?.type).toBe('run.ended');
  });
});

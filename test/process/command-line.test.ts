/** The command line where something around it is not as it should be: settings, folders, a store nobody has used yet. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { TestRun } from '../support/control-matrix-runs.ts';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { createWorld, type World } from '../support/world.ts';
import { oneOfEach } from '../unit/builders/events.ts';
import { ended, me, writeRun } from '../unit/builders/run.ts';

const stack = new AsyncDisposableStack();
let fake: FakePi;
let world: World;

beforeAll(async () => {
  ({ fake, world } = await fakeWorld(stack));
});
afterAll(() => expectNobodyLeft(stack, { fake, world }));

interface Shown {
  name: string;
  state: string;
  text: string;
}

describe('with shared settings that are wrong', () => {
  const config = () => join(world.agent.agentDir, 'pi-lanes', 'config.json');
  const configure = async (text: string) => {
    await mkdir(join(world.agent.agentDir, 'pi-lanes'), { recursive: true });
    await writeFile(config(), text);
  };
  afterEach(() => rm(config(), { force: true }));
  /** Without what this environment says about Node and Pi: only the file does. */
  const bare = () => {
    const { PI_LANES_PI: _pi, PI_LANES_NODE: _node, ...env } = world.env;
    return env;
  };

  test.each([
    ['no JSON', '{"pi":'],
    ['another shape', '[]'],
    ['a wrong path of Node', '{"node":{"path":"/nowhere/node"}}'],
    ['a wrong scope', '{"runner":{"systemdScope":"yes"}}'],
  ])('a lost run is stopped all the same: %s', async (_, text) => {
    const run = await TestRun.start(world, fakeTask({ steps: [{ hang: true }] }));
    await run.working();
    await run.killRunner();
    await run.until('the run to be lost', ({ state }) => state === 'lost');
    await configure(text);
    const { code, stdout, stderr } = await world.cli(['stop', '--json', run.runId], { env: bare() });
    expect(code, stdout + stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'done', state: 'stopped' });
    await run.expectNothingLeft();
  });

  test('the doctor names the one that is wrong, and no other thing', async () => {
    await configure('{"retention":{"days":"soon"}}');
    const { code, stdout } = await world.cli(['doctor', '--json']);
    const checks: Shown[] = JSON.parse(stdout).checks;
    expect(code).toBe(1);
    expect(checks.filter(({ state }) => state === 'error').map(({ name }) => name)).toEqual(['settings']);
    expect(checks.find(({ name }) => name === 'settings')?.text).toContain('retention.days');
  });
});

test('the doctor makes nothing in a store nobody has used yet', async () => {
  const fresh = stack.use(await createWorld({ piPath: fake.folder, git: false }));
  const before = await readdir(fresh.agent.agentDir, { recursive: true });
  const { code, stdout } = await fresh.cli(['doctor', '--json']);
  expect(code, stdout).toBe(0);
  const checks: Shown[] = JSON.parse(stdout).checks;
  expect(checks.map(({ name, state }) => [name, state])).toContainEqual(['runtime', 'ok']);
  expect(existsSync(join(fresh.agent.agentDir, 'pi-lanes'))).toBe(false);
  expect(await readdir(fresh.agent.agentDir, { recursive: true })).toEqual(before);
});

test('what cannot be read is not called empty, and hides nothing else', async () => {
  const fresh = stack.use(await createWorld({ piPath: fake.folder, git: false }));
  expect(await fresh.cli(['status', '--all'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('No runs yet'),
  });
  const projects = join(fresh.agent.agentDir, 'pi-lanes', 'projects');
  const run = await writeRun(join(projects, 'sound-1'), { events: [ended('complete')] });
  // A loop of links stands for every folder that may not be looked into.
  await mkdir(join(projects, 'broken-2'));
  await symlink('runs', join(projects, 'broken-2', 'runs'));
  const listed = await fresh.cli(['status', '--all']);
  expect(listed.code).toBe(1);
  expect(listed.stdout).toContain(run.runId);
  expect(listed.stderr).toContain(join(projects, 'broken-2', 'runs'));
  expect(JSON.parse((await fresh.cli(['status', '--all', '--json'])).stdout)).toMatchObject({
    runs: [{ runId: run.runId }],
    unreadable: [{ code: 'run_unreadable' }],
  });
  expect((await fresh.cli(['status', run.runId])).code).toBe(0);
  await rename(projects, `${projects}.away`);
  await writeFile(projects, '');
  const { code, stdout } = await fresh.cli(['status', '--all', '--json']);
  expect(code).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: 'run_unreadable', message: expect.stringContaining(projects) },
  });
});

describe('in a folder that was deleted', () => {
  /** The command line as a shell starts it that stands in such a folder. */
  async function gone(...args: string[]) {
    const folder = await mkdtemp(join(tmpdir(), 'gone-'));
    const script = 'cd "$1" && rmdir "$1" && shift && exec "$@"';
    const command = ['-c', script, 'sh', folder, process.execPath, join(world.dist, 'cli.mjs'), ...args];
    const done = promisify(execFile)('/bin/sh', command, { env: world.env });
    return done.then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
  }

  test('all that needs no folder works', async () => {
    const run = await TestRun.start(world, fakeTask({ steps: [{ hang: true }] }));
    await run.working();
    const commands = [
      ['help'],
      ['--version'],
      ['agents'],
      ['doctor'],
      ['status', '--all'],
      ['status', run.runId],
      ['transcript', run.runId],
      ['stop', run.runId],
    ];
    for (const args of commands) {
      const { code, stderr } = await gone(...args);
      expect([args, code, stderr]).toEqual([args, 0, '']);
    }
    const task = fakeTask({ steps: [{ say: 'hello' }] });
    const started = await gone('run', '--agent', 'worker', '--task', task, '--cwd', world.project, '--wait');
    expect([started.code, started.stdout]).toEqual([0, 'hello\n']);
    await run.expectNothingLeft();
  });

  test('what needs one says so, with what to do', async () => {
    const run = ['run', '--agent', 'worker', '--task', 'x'];
    for (const args of [['status'], ['status', 'last'], run, [...run, '--cwd', 'here']]) {
      const { code, stdout } = await gone(...args, '--json');
      expect([args, code]).toEqual([args, 2]);
      expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'cwd_missing', hint: expect.stringContaining('cd') } });
    }
  });
});

describe('an option that is wrong', () => {
  test.each<[string[], RegExp]>([
    [['run', '--tsak', 'x'], /no option "--tsak"/],
    [['run', '--task'], /--task needs a value, and nothing stands behind it/],
    [['run', '--task', '--wait'], /--task needs a value, and "--wait" stands behind it.*--task=--wait/s],
    [['run', '--wait=yes'], /--wait is "yes"; it takes no value/],
    [['run', '--agent', 'worker', '--task', 'x', '--cwd', ''], /cwd is empty/],
    [['run', '--agent', 'worker', '--task', 'x', '--model', ''], /model is empty/],
    [['run', '--agent', 'worker', '--task', 'x', '--timeout', '-1'], /--timeout is "-1".*from 0\.001/s],
    [['steer', 'last', '-go on'], /no option "-g".*-- "-go on"/s],
    [['status', '--limit', '-3'], /--limit is "-3".*from 1 to 10000/s],
  ])('%j is named with value and rule', async (args, told) => {
    const { code, stdout, stderr } = await world.cli(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(told);
    expect(stderr).not.toMatch(/ambiguous|argument missing|expected/);
  });

  test('a message that begins with a dash stands behind "--"', async () => {
    const run = await TestRun.start(world, fakeTask({ steps: [{ gate: 'dash' }, { say: '{{users}}' }] }));
    await run.working();
    const { code, stderr } = await world.cli(['steer', run.runId, '--', '--help me']);
    expect([code, stderr]).toEqual([0, '']);
    await fake.open('dash');
    await run.end();
    expect((await run.lines()).find((line) => line.type === 'control.requested')).toMatchObject({
      preview: '--help me',
    });
    await run.expectNothingLeft();
  });
});

test('help and version are one JSON object when that is asked for', async () => {
  for (const args of [['help'], ['--help'], ['run', '--help']]) {
    const { code, stdout } = await world.cli([...args, '--json']);
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { schemaVersion: 1, usage: expect.stringContaining('pi-lanes run') },
    ]);
  }
  for (const args of [['version'], ['--version'], ['-v']]) {
    const { code, stdout } = await world.cli([...args, '--json']);
    expect([code, JSON.parse(stdout)]).toEqual([0, { schemaVersion: 1, version: expect.stringMatching(/^\d+\.\d+/) }]);
  }
});

test('a transcript that is followed ends with an error when its run is removed', async () => {
  const fresh = stack.use(await createWorld({ piPath: fake.folder, git: false }));
  const projects = join(fresh.agent.agentDir, 'pi-lanes', 'projects');
  const { runId, directory } = await writeRun(join(projects, 'sound-1'), {
    events: [oneOfEach['run.proceeded']],
    lease: await me(),
  });
  const following = spawn(process.execPath, [join(fresh.dist, 'cli.mjs'), 'transcript', '--follow', runId], {
    env: fresh.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = text(following.stderr);
  await mkdir(join(directory, 'children', '1'), { recursive: true });
  const entry = { type: 'note', t: 1, text: 'seen' };
  await writeFile(join(directory, 'children', '1', 'transcript.jsonl'), `${JSON.stringify(entry)}\n`);
  for await (const chunk of following.stdout) if (String(chunk).includes('seen')) break;
  await rm(directory, { recursive: true });
  if (following.exitCode === null) await once(following, 'exit');
  expect(following.exitCode).toBe(2);
  expect(await printed).toContain('There is no run');
  const { code, stdout } = await fresh.cli(['transcript', '--json', runId]);
  expect([code, JSON.parse(stdout)]).toMatchObject([2, { error: { code: 'run_not_found' } }]);
});

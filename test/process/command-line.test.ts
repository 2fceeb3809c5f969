/** The command line where something around it is not as it should be: settings, folders, a store nobody has used yet. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { TestRun } from '../support/control-matrix-runs.ts';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { createWorld, type World } from '../support/world.ts';
import { ended, writeRun } from '../unit/builders/run.ts';

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

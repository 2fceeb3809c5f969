/**
 * Runners in scopes of systemd, held to the contract of `systemd-run`: with `--scope` it becomes the program behind `--`. A
 * stand-in on `PATH` does just that, because containers have no systemd.
 */
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { examine, startRun, Toolbox } from '../../src/client/index.ts';
import { inScope, scopeObstacle } from '../../src/core/processes/index.ts';
import { TestRun } from '../support/control-matrix-runs.ts';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { tempDir } from '../support/temp.ts';
import type { World } from '../support/world.ts';

const stack = new AsyncDisposableStack();
let fake: FakePi;
let world: World;
let bin: string;
let log: string;

beforeAll(async () => {
  ({ fake, world } = await fakeWorld(stack));
  const folder = stack.use(await tempDir());
  bin = join(folder.path, 'bin');
  log = join(folder.path, 'log');
});
beforeEach(async () => {
  await rm(bin, { recursive: true, force: true });
  await mkdir(bin);
  await writeFile(log, '');
});
afterAll(() => expectNobodyLeft(stack, { fake, world }));

async function standIn(script: string): Promise<void> {
  await writeFile(join(bin, 'systemd-run'), `#!/bin/sh\necho "$@" >> '${log}'\n${script}\n`);
  await chmod(join(bin, 'systemd-run'), 0o755);
}
const OBEYS = 'while [ "$1" != "--" ]; do shift; done; shift; exec "$@"';
const calls = async () => (await readFile(log, 'utf8')).split('\n').filter(Boolean);

/** Found before all others; without a stand-in there is none. */
const env = () => ({ ...world.env, PATH: `${bin}:${world.env['PATH']}` });
const toolbox = (systemdScope = true) =>
  new Toolbox({
    env: env(),
    distDirectory: world.dist,
    client: { kind: 'cli', version: 'test' },
    overrides: () => ({ systemdScope }),
  });

async function play(tools: Toolbox) {
  const run = await TestRun.plan(world, fakeTask({ steps: [{ say: 'done' }] }));
  const { noScope } = await startRun(tools, run.plan);
  expect((await run.end()).state).toBe('complete');
  await run.expectNothingLeft();
  return { run, noScope };
}

test('the command is put behind the options', () => {
  expect(inScope({ file: '/node', args: ['/runner.mjs'] }, 'Pi Lanes run 7')).toEqual({
    file: 'systemd-run',
    args: ['--user', '--scope', '--quiet', '--collect', '--description=Pi Lanes run 7', '--', '/node', '/runner.mjs'],
  });
});

describe.runIf(process.platform === 'linux')('a runner that is to have a scope', () => {
  test('is started in one, and is itself the process that owns the run', async () => {
    await standIn(OBEYS);
    const { run, noScope } = await play(toolbox());
    expect(noScope).toBeUndefined();
    const options = '--user --scope --quiet --collect';
    expect(await calls()).toEqual([
      `${options} -- true`,
      `${options} --description=Pi Lanes run ${run.runId} -- ${run.plan.record.node} ${run.plan.runtime.runner}`,
    ]);
  });

  test.each([
    ['echo "Failed to connect to bus: No medium found" >&2; exit 1', 'Failed to connect to bus: No medium found'],
    ['exit 3', 'systemd-run ended with code 3'],
  ])('is started without one where none can be made, and that is said: %s', async (script, reason) => {
    await standIn(script);
    expect((await play(toolbox())).noScope).toContain(reason);
    expect(await calls()).toHaveLength(1);
    expect((await examine(toolbox())).find(({ name }) => name === 'scope')).toMatchObject({
      state: 'warning',
      text: expect.stringContaining(reason),
      hint: expect.stringContaining('systemdScope'),
    });
  });

  test('is started without one where there is no systemd-run', async () => {
    expect(await scopeObstacle({ PATH: bin })).toMatch(/systemd-run/);
  });
});

test('nobody who did not ask for it gets a scope, or hears of it', async () => {
  await standIn(OBEYS);
  expect((await play(toolbox(false))).noScope).toBeUndefined();
  expect((await examine(toolbox(false))).map(({ name }) => name)).not.toContain('scope');
  expect(await calls()).toEqual([]);
});

test('the command line takes it from the shared file, and says when there is none', async () => {
  await standIn('exit 3');
  await mkdir(world.toolbox.root.root, { recursive: true });
  await writeFile(world.toolbox.root.config, JSON.stringify({ runner: { systemdScope: true } }));
  try {
    const args = ['run', '--agent', 'worker', '--wait', '--task', fakeTask({ steps: [{ say: 'said' }] })];
    const { code, stdout, stderr } = await world.cli(args, { env: env() });
    expect([code, stdout]).toEqual([0, 'said\n']);
    if (process.platform === 'linux')
      expect(stderr).toContain('no scope of systemd of its own: systemd-run ended with');
  } finally {
    await rm(world.toolbox.root.config);
  }
});

/** `pi-lanes install-pi` with a real npm, from a registry on this machine, by the configuration in the person's home. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type NpmRegistry, startNpmRegistry, withoutPi } from '../support/npm-registry.ts';
import { waitFor } from '../support/wait-for.ts';
import { createWorld, type World } from '../support/world.ts';

let registry: NpmRegistry;
let world: World;
let env: Record<string, string>;

beforeAll(async () => {
  registry = await startNpmRegistry();
});
afterAll(() => registry[Symbol.asyncDispose]());
beforeEach(async () => {
  registry.behave('normally');
  world = await createWorld();
  env = withoutPi(world.env);
  await registry.configure(world.agent.home);
});
afterEach(() => world[Symbol.asyncDispose]());

const cli = (...args: string[]) => world.cli(args, { env });
/** What is in the folder of copies, the lock's own file left out. */
const copies = async () =>
  (await readdir(world.toolbox.root.pi).catch(() => [])).filter((name) => !name.startsWith('install.'));
const checkOfPi = async (): Promise<{ state: string; text: string; hint?: string }> => {
  const { checks } = JSON.parse((await cli('doctor', '--json')).stdout);
  return checks.find(({ name }: { name: string }) => name === 'pi');
};

test('installs the newest of the versions it knows, says why it is used, and an agent runs in it', async () => {
  expect(await checkOfPi()).toMatchObject({ state: 'error', hint: expect.stringContaining('pi-lanes install-pi') });
  const { code, stdout, stderr } = await cli('install-pi', '--yes', '--json');
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringMatching(/Pi 1\.6\.0 .*\n.*http:\/\/127\.0\.0\.1:\d+, .*\n.*pi-lanes.pi.1\.6\.0\n/),
  });
  const folder = join(world.toolbox.root.pi, '1.6.0');
  const installed = JSON.parse(stdout);
  expect(installed).toMatchObject({ schemaVersion: 1, version: '1.6.0', folder, usedInstead: null });
  expect(await copies()).toEqual(['1.6.0']);
  expect(await checkOfPi()).toEqual({
    name: 'pi',
    state: 'ok',
    text: `Pi 1.6.0 at ${installed.file} (installed by Pi Lanes in ${folder}; no path is configured and PATH has none)`,
  });
  const run = await cli('run', '--agent', 'scout', '--task', 'hello', '--wait', '--json');
  expect(JSON.parse(run.stdout)).toMatchObject({ state: 'complete' });

  expect((await cli('install-pi')).stdout).toContain('Pi 1.6.0 is installed');
  expect(registry.downloads).toBe(1);
});

test('asks a person, and installs nothing where there is none', async () => {
  const { code, stderr } = await cli('install-pi');
  expect(code).toBe(2);
  expect(stderr).toContain('Nothing else on this machine is changed.');
  expect(stderr).toContain('Add --yes');
  expect(await copies()).toEqual([]);
});

test('says what goes before the copy', async () => {
  env = { ...env, PI_LANES_PI: world.env['PI_LANES_PI'] ?? '' };
  const { stdout, stderr } = await cli('install-pi', '--yes', '--json');
  expect(stderr).toContain('It would not be used');
  expect(JSON.parse(stdout).usedInstead).toBe(env['PI_LANES_PI']);
  expect((await checkOfPi()).text).toContain('(variable PI_LANES_PI, which goes before PATH and installed copies)');
});

test('two at once install once', async () => {
  const before = registry.downloads;
  const both = await Promise.all([cli('install-pi', '--yes'), cli('install-pi', '--yes')]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(registry.downloads - before).toBe(1);
  expect(await copies()).toEqual(['1.6.0']);
});

test('a registry that refuses, and none at all: npm is quoted, nothing is left, and then it works', async () => {
  registry.behave('refuse');
  const refused = await cli('install-pi', '--yes', '--json');
  expect(refused.code).toBe(2);
  expect(JSON.parse(refused.stdout).error).toMatchObject({
    code: 'npm_failed',
    message: expect.stringMatching(/^npm install failed: .*404/),
    hint: expect.stringContaining('npm ping'),
  });
  expect(await copies()).toEqual([]);
  const nowhere = await world.cli(['install-pi', '--yes', '--json'], {
    env: { ...env, npm_config_registry: 'http://127.0.0.1:9/' },
  });
  expect(JSON.parse(nowhere.stdout).error).toMatchObject({
    code: 'npm_failed',
    message: expect.stringMatching(/^npm view failed: .*127\.0\.0\.1:9/),
  });
  registry.behave('normally');
  expect((await cli('install-pi', '--yes')).code).toBe(0);
});

/** An install in the middle of its download, which never ends. */
async function stalledInstall() {
  registry.behave('stall');
  const before = registry.downloads;
  const child = spawn(process.execPath, [join(world.dist, 'cli.mjs'), 'install-pi', '--yes'], {
    cwd: world.project,
    env,
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  await waitFor('the download', () => registry.downloads > before, { timeoutMs: 30_000 });
  return { child, ended };
}

test.runIf(process.platform !== 'win32')('Ctrl+C ends npm and leaves nothing', async () => {
  const { child, ended } = await stalledInstall();
  child.kill('SIGINT');
  expect(await ended).toEqual([130, null]);
  expect(await copies()).toEqual([]);
});

test.runIf(process.platform !== 'win32')('what a killed install has left is tidied up by the next', async () => {
  const { child, ended } = await stalledInstall();
  child.kill('SIGKILL');
  await ended;
  expect(await copies()).toEqual([expect.stringMatching(/^\.new-1\.6\.0-/)]);
  registry.behave('normally');
  expect((await cli('install-pi', '--yes')).code).toBe(0);
  expect(await copies()).toEqual(['1.6.0']);
});

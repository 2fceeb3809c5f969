/** Profiles from the command line, with a real Pi that asks the models. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, type World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

test('models are asked without tools, a profile is made of those that answer, checked and loaded', async () => {
  const before = world.model.requests.length;
  const refreshed = await world.cli(['profiles', 'refresh', '--provider', 'fake', '--json']);
  expect(refreshed.code, refreshed.stderr).toBe(0);
  const [catalogue] = JSON.parse(refreshed.stdout).catalogues;
  expect(catalogue.models).toContainEqual(expect.objectContaining({ model: 'fake/scripted', status: 'ok' }));
  const asked = world.model.requests.slice(before);
  expect(asked.length).toBe(catalogue.models.length);
  for (const { tools } of asked) expect(tools).toEqual([]);
  const generated = await world.cli(['profiles', 'generate', 'quality', 'best', '--json']);
  expect(generated.code, generated.stdout).toBe(0);
  expect(JSON.parse(generated.stdout).profile.agentOverrides.worker.model).toMatch(/^fake\//);
  expect((await world.cli(['profiles', 'check'])).stdout).toBe('best: ok\n');
  expect((await world.cli(['profiles'])).stdout).toMatch(/^Profiles: best\nfake:\n- fake\/scripted/);
  expect((await world.cli(['profiles', 'load', 'best'])).code).toBe(0);
  const settings = JSON.parse(await readFile(join(world.agent.agentDir, 'settings.json'), 'utf8'));
  expect(settings.subagents.agentOverrides.worker.model).toMatch(/^fake\//);
  expect(settings.defaultModel).toBe('scripted');
});

test.each([
  [['fly'], 'launch_invalid'],
  [['generate', 'luck'], 'launch_invalid'],
  [['show'], 'launch_invalid'],
  [['show', '../x'], 'launch_invalid'],
  [['load', 'nobody'], 'file_not_found'],
  [['refresh', '--provider', 'nobody'], 'launch_invalid'],
])('profiles %j is refused', async (words, wanted) => {
  const { code, stdout } = await world.cli(['profiles', ...words, '--json']);
  expect([code, JSON.parse(stdout).error.code]).toEqual([2, wanted]);
});

/** The models of a real Pi, from the command line and from programs. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXCLUDED_MS } from '../../src/core/models/index.ts';
import { createWorld, testBundles, type World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const leaveOut = async (model: string) => {
  const folder = join(world.agent.agentDir, 'pi-lanes');
  await mkdir(folder, { recursive: true });
  const exclusion = { model, evidence: '503 overloaded', since: Date.now(), until: Date.now() + EXCLUDED_MS };
  await writeFile(join(folder, 'model-exclusions.json'), JSON.stringify({ version: 1, exclusions: [exclusion] }));
};

describe('pi-lanes models', () => {
  test('lists what Pi can use, with its default', async () => {
    const { code, stdout, stderr } = await world.cli(['models']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Models Pi can use:\n/);
    expect(stdout).toMatch(/^- fake\/scripted \(default; Scripted; thinks; 128\.0k tokens of context;.*\)$/m);
    const { models, defaultModel, defaultThinking, excluded } = JSON.parse(
      (await world.cli(['models', '--json'])).stdout,
    );
    expect(models.map(({ name }: { name: string }) => name)).toContain('fake/scripted');
    expect({ defaultModel, defaultThinking, excluded }).toEqual({
      defaultModel: 'fake/scripted',
      defaultThinking: 'medium',
      excluded: [],
    });
  });

  test('B75 says which one a name means, and refuses what is none', async () => {
    expect((await world.cli(['models', 'Scripted:high'])).stdout).toBe('fake/scripted:high\n');
    for (const name of ['other/scripted', 'scriptet', 'fake/scripted:bogus']) {
      const { code, stdout } = await world.cli(['models', name, '--json']);
      expect(code).toBe(2);
      expect(JSON.parse(stdout).error).toMatchObject({
        code: 'model_unknown',
        hint: expect.stringContaining('fake/scripted'),
      });
    }
  });

  test('agent-81 tells what is left out, and takes it back', async () => {
    await leaveOut('fake/scripted');
    expect((await world.cli(['models'])).stdout).toMatch(/^- fake\/scripted \(.*left out until 20.*503 overloaded\)$/m);
    expect((await world.cli(['models', '--include', 'scripted'])).stdout).toBe('Used again: fake/scripted\n');
    expect((await world.cli(['models', '--include', '*'])).stdout).toBe('No model is left out.\n');
    expect((await world.cli(['models'])).stdout).not.toContain('left out');
  });
});

describe('resolveModel of dist/api.js', () => {
  const ask = async (options: unknown) => {
    const api = pathToFileURL(join(await testBundles(), 'api.js')).href;
    const program = `
      const { resolveModel } = await import(${JSON.stringify(api)});
      const answer = () => { try { return resolveModel(${JSON.stringify(options)}); } catch (error) { return { thrown: String(error) }; } };
      console.log(JSON.stringify(answer()));
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    return JSON.parse(stdout);
  };
  const registry = [{ provider: 'b', id: 'x', fullId: 'b/x', more: 1 }];

  test('answers, or says why not, as data', async () => {
    expect(await ask({ request: 'X:low', registry })).toEqual({
      ok: true,
      model: 'b/x',
      thinking: 'low',
      full: 'b/x:low',
      match: 'spelling',
      entry: registry[0],
      source: 'explicit',
    });
    expect(await ask({ request: 'a/x', registry, source: 'configured' })).toEqual({
      ok: false,
      code: 'model_unknown',
      message: 'Pi has no usable model "a/x".',
      hint: expect.stringContaining('b/x'),
      candidates: ['b/x'],
      source: 'configured',
    });
  });

  test.each([
    [{ request: ' ', registry }, 'request'],
    [{ request: 'x' }, 'registry'],
    [{ request: 'x', registry: [{ id: 'x' }] }, 'registry.0.provider'],
    [{ request: 'x', registry, source: 'me' }, 'source'],
    [{ request: 'x', registry, modle: 1 }, 'modle'],
  ])('refuses %j', async (options, why) => {
    expect((await ask(options)).thrown).toMatch(new RegExp(`^TypeError: .*${why.replaceAll('.', '\\.')}`));
  });
});

/** What agents can name, as a real Pi says it: its models, its tools with those of extensions, and skills on the disk. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { knownNames, Toolbox } from '../../src/client/index.ts';
import { piVersions } from '../support/pi-versions.ts';
import { createWorld, type World } from '../support/world.ts';
import { write } from '../unit/agents/definitions.ts';

/** An extension that brings a tool, late, and says that it was loaded. */
const bringing = (tool: string, loaded: string) => `
import { appendFileSync } from 'node:fs';
export default (pi) => {
  appendFileSync(${JSON.stringify(loaded)}, ${JSON.stringify(`${tool}\n`)});
  pi.on('session_start', () => pi.registerTool({
    name: ${JSON.stringify(tool)}, label: 'x', description: 'x', parameters: { type: 'object', properties: {} },
    execute: async () => ({ content: [], details: {} }),
  }));
};
`;

describe.each(piVersions)('Pi %s', (pi) => {
  let world: World;
  let loaded: string;
  beforeEach(async () => {
    world = await createWorld({ pi });
    loaded = join(world.agent.home, 'loaded.txt');
    await write(world.agent.agentDir, {
      'extensions/weather.ts': bringing('weather', loaded),
      'skills/sailing/SKILL.md': '---\nname: sailing\ndescription: d\n---\n',
    });
    await write(world.project, {
      '.pi/extensions/tides.ts': bringing('tides', loaded),
      '.pi/skills/knots/SKILL.md': '---\nname: knots\ndescription: d\n---\n',
    });
  });
  afterEach(() => world[Symbol.asyncDispose]());

  const loadings = () =>
    readFile(loaded, 'utf8').then(
      (text) => text.trim().split('\n').sort(),
      () => [],
    );

  it('says its tools and those of extensions, of a project with trust alone, and is asked once', async () => {
    const { project: cwd, toolbox } = world;
    const trusted = await knownNames(toolbox, { cwd, trust: 'approve' });
    const tools = new Map(trusted.tools?.map(({ name, extension }) => [name, extension]));
    for (const own of ['read', 'bash', 'edit', 'write', 'grep', 'find', 'ls']) {
      expect(tools.has(own), own).toBe(true);
      expect(tools.get(own), own).toBeUndefined();
    }
    expect(tools.get('weather')).toBe(join(world.agent.agentDir, 'extensions', 'weather.ts'));
    expect(tools.get('tides')).toBe(join(cwd, '.pi', 'extensions', 'tides.ts'));
    expect(trusted.skills?.map(({ name }) => name)).toEqual(['knots', 'sailing']);
    expect(trusted.models?.map(({ name }) => name)).toContain('fake/scripted');
    expect(trusted.defaultModel).toBe('fake/scripted');
    expect(await loadings()).toEqual(['tides', 'weather']);

    expect(await knownNames(toolbox, { cwd, trust: 'approve' })).toEqual(trusted);
    expect(await loadings()).toEqual(['tides', 'weather']);

    const others = await knownNames(toolbox, { cwd, trust: 'no-approve' });
    const names = others.tools?.map(({ name }) => name);
    expect(names).toContain('weather');
    expect(names).not.toContain('tides');
    expect(others.skills?.map(({ name }) => name)).toEqual(['sailing']);
    // No model was asked for any of it.
    expect(world.model.requests).toEqual([]);
  });
});

it('knows skills, and neither models nor tools, where there is no Pi', async () => {
  await using world = await createWorld({ piPath: '/nowhere/pi' });
  await write(world.project, { '.pi/skills/knots/SKILL.md': '---\nname: knots\ndescription: d\n---\n' });
  const known = await knownNames(world.toolbox, { cwd: world.project, trust: 'approve' });
  expect(known).toEqual({ skills: [{ name: 'knots', path: join(world.project, '.pi', 'skills', 'knots') }] });
});

it('asks no model and says nothing of tools where the extension that asks is not there', async () => {
  await using world = await createWorld();
  const client = { kind: 'test', version: '0' };
  const toolbox = new Toolbox({ env: world.env, distDirectory: '/nowhere', client });
  const known = await knownNames(toolbox, { cwd: world.project, trust: 'no-approve' });
  expect(known.models?.length).toBeGreaterThan(0);
  expect(known).not.toHaveProperty('tools');
  expect(world.model.requests).toEqual([]);
});

/** What the Library has of the agents of a folder: real folders, real files. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentDiscovery } from '../../../src/core/agents/index.ts';
import { agentRows, folderProblems } from '../../../src/extension/library/library-layout.ts';
import { type TempDir, tempDir } from '../../support/temp.ts';
import { definition, write } from '../agents/definitions.ts';

let temp: TempDir;
let home: string;
let agentDir: string;
let project: string;

beforeEach(async () => {
  temp = await tempDir();
  home = join(temp.path, 'home');
  agentDir = join(home, '.pi', 'agent');
  project = join(home, 'project');
  await mkdir(join(project, '.pi'), { recursive: true });
  await mkdir(agentDir, { recursive: true });
});
afterEach(() => temp.remove());

const found = () => new AgentDiscovery().discover({ cwd: project, agentDir, home, env: {} });
const rows = async () => agentRows(await found());
const brief = async () => (await rows()).map(({ group, name, state }) => `${group} ${name} ${state.kind}`);
const settings = (subagents: unknown) => writeFile(join(agentDir, 'settings.json'), JSON.stringify({ subagents }));

describe('agents in the Library', () => {
  it('stand by whose they are and by name, those that do not count behind those that do', async () => {
    await write(project, {
      '.pi/agents/pilot.md': definition('pilot', 'Ours.'),
      '.pi/agents/a.md': definition('crane', 'First.'),
      '.pi/agents/b.md': definition('crane', 'Second.'),
      '.pi/agents/broken.md': definition('broken', 'Broken.', 'async: perhaps'),
    });
    await write(agentDir, {
      'agents/pilot.md': definition('pilot', 'Mine.'),
      'agents/scout.md': definition('scout', 'Mine.'),
    });
    await settings({ agentOverrides: { oracle: { disabled: true } } });
    expect(await brief()).toEqual([
      'project broken refused',
      'project crane usable',
      'project crane hidden',
      'project pilot usable',
      'user pilot hidden',
      'user scout usable',
      'builtin delegate usable',
      'builtin oracle disabled',
      'builtin reviewer usable',
      'builtin scout hidden',
      'builtin worker usable',
    ]);
    const [broken, crane, first, , pilot] = await rows();
    expect(broken).toMatchObject({ state: { diagnostic: { code: 'field_invalid' } }, problems: [{ line: 4 }] });
    expect(crane).toMatchObject({ file: join(project, '.pi', 'agents', 'b.md'), problems: [] });
    expect(first).toMatchObject({ problems: [{ code: 'name_duplicate' }] });
    expect(pilot?.state).toEqual({
      kind: 'hidden',
      by: { source: 'project', file: join(project, '.pi', 'agents', 'pilot.md') },
    });
  });

  it('can be reset where there is something to go back to', async () => {
    await write(agentDir, {
      'agents/scout.md': definition('scout', 'Mine.'),
      'agents/mine.md': definition('mine', 'Mine.'),
    });
    await settings({
      defaultModel: 'a/b',
      agentOverrides: { reviewer: { model: 'a/c' }, oracle: { thinking: 'hot' }, mine: { model: 'a/d' } },
    });
    const resettable = (await rows()).filter(({ canReset }) => canReset);
    expect(resettable.map(({ group, name, state }) => [group, name, state.kind])).toEqual([
      ['user', 'scout', 'usable'],
      ['builtin', 'oracle', 'refused'],
      ['builtin', 'reviewer', 'usable'],
    ]);
  });

  it('have the mistakes of what settings say of them, and name what no launch carries out', async () => {
    await write(agentDir, { 'agents/mine.md': definition('mine', 'Mine.', 'fast: true') });
    await settings({ agentOverrides: { mine: { colour: 'red' } } });
    const mine = (await rows()).find(({ name }) => name === 'mine');
    expect(mine?.problems.map(({ code }) => code).sort()).toEqual(['field_unsupported', 'override_unknown']);
    expect(mine?.unsupported).toEqual(['fast']);
  });

  it('leave what is wrong with whole folders and settings to the folder', async () => {
    await writeFile(join(agentDir, 'settings.json'), '{ "subagents": ');
    await writeFile(join(project, '.agents'), 'no folder');
    await write(project, { '.pi/agents/broken.md': definition('broken', 'Broken.', 'async: perhaps') });
    expect(folderProblems(await found()).map(({ code }) => code)).toEqual(['settings_invalid', 'directory_not_folder']);
  });
});

/** What settings make of agents: real folders, real files. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentDiscovery, bundledAgents, type DiscoveryRequest } from '../../../src/core/agents/index.ts';
import { type TempDir, tempDir } from '../../support/temp.ts';
import { definition, write } from './definitions.ts';

let temp: TempDir;
let agentDir: string;
let project: string;
let home: string;
const discovery = new AgentDiscovery();

beforeEach(async () => {
  temp = await tempDir();
  home = join(temp.path, 'home');
  agentDir = join(home, '.pi', 'agent');
  project = join(home, 'project');
  await mkdir(join(project, '.pi'), { recursive: true });
});
afterEach(() => temp.remove());

const discover = (request: Partial<DiscoveryRequest> = {}) =>
  discovery.discover({ cwd: project, agentDir, home, env: {}, ...request });
const agent = async (name: string, request: Partial<DiscoveryRequest> = {}) =>
  (await discover(request)).agents.find((one) => one.name === name);
const settings = (subagents: object) => JSON.stringify({ theme: 'dark', subagents }, null, 2);
const user = (subagents: object) => write(agentDir, { 'settings.json': settings(subagents) });
const ofProject = (subagents: object) => write(project, { '.pi/settings.json': settings(subagents) });
const override = (name: string, fields: object) => ({ agentOverrides: { [name]: fields } });

describe('an override', () => {
  it('agent-56 of the project counts before that of the user, field by field, for builtin agents', async () => {
    await user(override('scout', { model: 'a/user', thinking: 'high', tools: ['read'] }));
    await ofProject(override('scout', { model: 'b/project' }));
    expect(await agent('scout')).toMatchObject({ model: 'b/project', thinking: 'high', tools: ['read'] });
  });

  it('agent-57 counts before what a file declares, whoever the file is from', async () => {
    await write(agentDir, {
      'agents/mine.md': definition('mine', 'From the file.', 'model: file/model', 'tools: bash'),
    });
    await write(project, { '.pi/agents/ours.md': definition('ours', 'From the file.', 'model: file/model') });
    await user({ agentOverrides: { mine: { model: 'a/b', description: 'From settings.' }, ours: { model: 'a/b' } } });
    expect(await agent('mine')).toMatchObject({ model: 'a/b', description: 'From settings.', tools: ['bash'] });
    expect(await agent('ours')).toMatchObject({ model: 'a/b', description: 'From the file.' });
  });

  it('says of every field it changed where that was said, and of no other', async () => {
    await user(override('scout', { model: 'a/user', thinking: 'high' }));
    await ofProject(override('scout', { model: 'b/project' }));
    const found = await agent('scout');
    expect(found?.fromSettings).toEqual({
      model: {
        file: join(project, '.pi', 'settings.json'),
        setting: 'subagents.agentOverrides.scout.model',
        line: 6,
        column: 9,
        endLine: 6,
        endColumn: 29,
      },
      thinking: expect.objectContaining({ file: join(agentDir, 'settings.json'), line: 7 }),
    });
    expect((await agent('worker'))?.fromSettings).toBeUndefined();
  });

  it('agent-58 takes fields away with false, and tools in three ways', async () => {
    const fields = ['tools: bash, mcp:server/tool', 'model: file/model', 'defaultReads: a.md', 'extensions: x'];
    const names = ['inherit', 'none', 'empty', 'some'];
    await write(
      agentDir,
      Object.fromEntries(names.map((name) => [`agents/${name}.md`, definition(name, 'b', ...fields)])),
    );
    await user({
      agentOverrides: {
        inherit: { tools: 'inherit', model: false, defaultReads: false, extensions: false, systemPrompt: false },
        none: { tools: false },
        empty: { tools: [] },
        some: { tools: ['read', 'mcp:other', './mine.ts'], extensions: ['./more.ts', 'named'], fast: false },
      },
    });
    const inherit = await agent('inherit');
    expect(inherit).toMatchObject({ mcpDirectTools: [], systemPrompt: '' });
    for (const field of ['tools', 'model', 'defaultReads', 'extensions']) expect(inherit).not.toHaveProperty(field);
    expect(await agent('none')).toMatchObject({ tools: [], mcpDirectTools: [] });
    expect(await agent('empty')).toMatchObject({ tools: [], mcpDirectTools: [] });
    expect(await agent('some')).toMatchObject({
      tools: ['read'],
      mcpDirectTools: ['other'],
      toolExtensions: [join(agentDir, 'mine.ts')],
      extensions: [join(agentDir, 'more.ts'), 'named'],
      fast: false,
    });
  });

  it('agent-60 with a value of a wrong kind refuses its agent, naming file, agent and field, and no other', async () => {
    await user({ agentOverrides: { scout: { model: 5, tools: ['read'] }, worker: { thinking: 'high' }, oracle: [] } });
    const found = await discover();
    expect(found.diagnostics).toMatchObject([
      { file: join(agentDir, 'settings.json'), name: 'scout', code: 'override_invalid', severity: 'error', line: 6 },
      { name: 'oracle', code: 'override_invalid', severity: 'error', line: 14, column: 7 },
    ]);
    expect(found.diagnostics[0]?.message).toMatch(/"scout".*model: must be a text or false/);
    expect(found.refused.map(({ name }) => name).sort()).toEqual(['oracle', 'scout']);
    expect(found.agents.find(({ name }) => name === 'worker')).toMatchObject({ thinking: 'high' });
  });

  it('agent-60 with a field nobody knows is used without it, and says so', async () => {
    await user(override('scout', { modle: 'a/b', colour: 'red', thinking: 'high' }));
    const found = await discover();
    expect(found.diagnostics).toMatchObject([
      { code: 'override_unknown', severity: 'warning', field: 'modle', hint: 'Did you mean model?', line: 6 },
      { code: 'override_unknown', severity: 'warning', field: 'colour', line: 7 },
    ]);
    expect(await agent('scout')).toMatchObject({ thinking: 'high' });
  });

  it('agent-62 for a provider is laid over the plain one of the same file', async () => {
    await user({
      agentOverrides: { scout: { model: 'plain/user', thinking: 'low' } },
      agentOverridesByProvider: { anthropic: { scout: { model: 'anthropic/user' } } },
    });
    expect(await agent('scout')).toMatchObject({ model: 'plain/user' });
    expect(await agent('scout', { provider: 'openai' })).toMatchObject({ model: 'plain/user' });
    const found = await agent('scout', { provider: 'anthropic' });
    expect(found).toMatchObject({ model: 'anthropic/user', thinking: 'low' });
    expect(found?.fromSettings?.['model']?.setting).toBe('subagents.agentOverridesByProvider.anthropic.scout.model');
    await ofProject(override('scout', { model: 'plain/project' }));
    expect(await agent('scout', { provider: 'anthropic' })).toMatchObject({ model: 'plain/project' });
  });

  it('of a name that means something to JavaScript is one like any other', async () => {
    await write(agentDir, {
      'agents/proto.md': definition('__proto__'),
      'agents/constructor.md': definition('constructor'),
      'settings.json': '{"subagents":{"agentOverrides":{"__proto__":{"model":"a/b"},"constructor":{"model":"c/d"}}}}',
    });
    expect(await agent('__proto__')).toMatchObject({ model: 'a/b' });
    expect(await agent('constructor')).toMatchObject({ model: 'c/d' });
  });

  it('of a project counts for nothing where its settings are not to be heard', async () => {
    await ofProject({ ...override('scout', { model: 'b/project' }), disableBuiltins: true });
    const found = await agent('scout', { projectSettings: false });
    expect(found).toBeDefined();
    expect(found).not.toHaveProperty('model');
    expect(await agent('scout', { projectTrusted: false })).not.toHaveProperty('model');
    expect(await agent('scout', { scope: 'user' })).not.toHaveProperty('model');
    expect(await agent('scout')).toBeUndefined();
  });

  it('that was changed is seen by the next call, and what files said is not lost', async () => {
    await write(agentDir, { 'agents/mine.md': definition('mine', 'b', 'model: file/model') });
    for (const model of ['a/one', 'a/two']) {
      await user(override('mine', { model }));
      expect(await agent('mine')).toMatchObject({ model });
    }
    await user({});
    expect(await agent('mine')).toMatchObject({ model: 'file/model' });
  });
});

describe('agents that settings disable', () => {
  it('agent-59 are all builtin ones, but for exceptions, and the project has the last word', async () => {
    await user({ disableBuiltins: true, ...override('scout', { disabled: false }) });
    const found = await discover();
    expect(found.agents.map(({ name }) => name)).toEqual(['scout']);
    expect(found.disabled).toHaveLength(bundledAgents().length - 1);
    expect(found.disabled[0]?.by).toMatchObject({ setting: 'subagents.disableBuiltins', line: 4, column: 5 });
    await ofProject({ disableBuiltins: false });
    expect((await discover()).agents).toHaveLength(bundledAgents().length);
    await ofProject(override('scout', { disabled: true }));
    expect((await discover()).agents).toEqual([]);
  });

  it('agent-63 hide everything of their name below', async () => {
    await write(agentDir, { 'agents/scout.md': definition('scout', 'Of the user.') });
    await ofProject(override('scout', { disabled: true }));
    const found = await discover();
    expect(found.agents.map(({ name }) => name)).not.toContain('scout');
    expect(found.disabled).toMatchObject([
      {
        agent: { name: 'scout', source: 'user' },
        by: { setting: 'subagents.agentOverrides.scout.disabled', file: join(project, '.pi', 'settings.json') },
      },
    ]);
  });
});

describe('defaults', () => {
  it('agent-64 fill what nobody has said, and nothing else', async () => {
    await write(agentDir, {
      'agents/full.md': definition('full', 'b', 'model: file/model', 'thinking: low', 'extensions:'),
      'agents/open.md': definition('open'),
      'agents/taken.md': definition('taken'),
    });
    await user({
      defaultModel: 'a/default',
      defaultThinking: 'minimal',
      defaultExtensions: ['./x.ts'],
      ...override('taken', { model: false, thinking: false, extensions: false }),
    });
    expect(await agent('full')).toMatchObject({ model: 'file/model', thinking: 'low', extensions: [] });
    const open = await agent('open');
    expect(open).toMatchObject({
      model: 'a/default',
      thinking: 'minimal',
      extensions: [join(agentDir, 'x.ts')],
      fromSettings: { model: { setting: 'subagents.defaultModel' } },
    });
    const taken = await agent('taken');
    expect(taken).toMatchObject({ thinking: false });
    expect(taken).not.toHaveProperty('model');
    expect(taken).not.toHaveProperty('extensions');
    await ofProject({ defaultModel: 'b/default' });
    expect(await agent('open')).toMatchObject({ model: 'b/default' });
  });

  it('agent-64 disableThinking takes the level of builtin agents away, and of no other', async () => {
    await write(agentDir, { 'agents/mine.md': definition('mine', 'b', 'thinking: low') });
    await user({ disableThinking: true, ...override('oracle', { thinking: 'max' }) });
    expect(await agent('worker')).not.toHaveProperty('thinking');
    expect(await agent('oracle')).toMatchObject({ thinking: 'max' });
    expect(await agent('mine')).toMatchObject({ thinking: 'low' });
  });

  it('agent-61 of a wrong kind are told with their place', async () => {
    await user({ defaultThinking: 'deep' });
    expect((await discover()).diagnostics).toMatchObject([
      { code: 'settings_invalid', message: expect.stringContaining('defaultThinking'), line: 4 },
    ]);
  });
});

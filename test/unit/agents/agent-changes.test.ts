/** Agents created, changed and removed: real folders, real files. */
import { chmod, lstat, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AGENT_WORDS, AgentChanges, AgentDiscovery } from '../../../src/core/agents/index.ts';
import { type TempDir, tempDir } from '../../support/temp.ts';
import { definition, write } from './definitions.ts';

let temp: TempDir;
let agentDir: string;
let project: string;
let home: string;
let discovery: AgentDiscovery;
let changes: AgentChanges;

beforeEach(async () => {
  temp = await tempDir();
  home = join(temp.path, 'home');
  agentDir = join(home, '.pi', 'agent');
  project = join(home, 'project');
  await mkdir(join(project, '.pi'), { recursive: true });
  discovery = new AgentDiscovery();
  changes = new AgentChanges(discovery, { cwd: project, agentDir, home, env: {} });
});
afterEach(() => temp.remove());

const discover = () => discovery.discover({ cwd: project, agentDir, home, env: {} });
const agent = async (name: string) => (await discover()).agents.find((one) => one.name === name);
const own = (name: string) => join(agentDir, 'agents', `${name}.md`);
const ours = (name: string) => join(project, '.pi', 'agents', `${name}.md`);
const text = (file: string) => readFile(file, 'utf8');
const isThere = (file: string) =>
  stat(file).then(
    () => true,
    () => false,
  );
const refusal = (code: string, message: string | RegExp = /./) => ({
  code,
  message: expect.stringMatching(message),
});

const ODD = [
  '\uFEFF---',
  '# who it is',
  'name: mine',
  'colour: "blue" # nobody knows this one',
  'description: Mine.',
  'model: a/b # the cheap one',
  'tools:',
  '  # to look',
  '  - read',
  '  - grep # fast',
  '---',
  '',
  'Body  with  spaces.',
  '',
].join('\r\n');

describe('create', () => {
  it('agent-65 makes the name plain, writes what was given and the basics, and is seen at once', async () => {
    const change = await changes.create({
      name: 'My Checker!',
      description: 'Checks: everything',
      tools: ['read', 'grep'],
      reads: 'plan.md',
      systemPrompt: 'You check.',
    });
    expect(change).toEqual({ action: 'create', name: 'my-checker', files: [own('my-checker')] });
    expect(await text(own('my-checker'))).toBe(
      [
        '---',
        'name: my-checker',
        'description: "Checks: everything"',
        'tools: read, grep',
        'systemPromptMode: replace',
        'inheritProjectContext: false',
        'inheritGlobalContext: false',
        'inheritSkills: false',
        'defaultReads: plan.md',
        '---',
        '',
        'You check.',
        '',
      ].join('\n'),
    );
    expect(await agent('my-checker')).toMatchObject({ tools: ['read', 'grep'], systemPrompt: 'You check.' });
  });

  it('agent-65 refuses a name that is taken, a stray file, and a name that nothing is left of', async () => {
    await write(agentDir, { 'agents/sub/taken.md': definition('taken'), 'agents/stray.md': 'No agent.' });
    const create = (name: string) => changes.create({ name, description: 'd' });
    await expect(create('taken')).rejects.toMatchObject(refusal('agent_exists', /sub.taken\.md/));
    await expect(create('stray')).rejects.toMatchObject(refusal('agent_exists', /stray\.md is there/));
    await expect(create('…')).rejects.toMatchObject(refusal('agent_config_invalid', /Nothing is left/));
    await expect(changes.create({ name: 'a' })).rejects.toMatchObject(refusal('agent_config_invalid', /description/));
    expect(await text(join(agentDir, 'agents/stray.md'))).toBe('No agent.');
  });

  it('agent-65 refuses fields there are none of, and values they cannot have', async () => {
    const create = (fields: object) => changes.create({ name: 'a', description: 'd', ...fields });
    await expect(create({ modell: 'a/b' })).rejects.toMatchObject({
      code: 'agent_config_invalid',
      hint: expect.stringContaining('"model"'),
    });
    await expect(create({ timeoutMs: -1 })).rejects.toMatchObject(refusal('agent_config_invalid', /timeoutMs/));
    await expect(create({ systemPromptMode: 'both' })).rejects.toMatchObject(
      refusal('agent_config_invalid', /systemPromptMode/),
    );
    await expect(create({ model: 5 })).rejects.toMatchObject(refusal('agent_config_invalid', /model is 5/));
    expect(await isThere(own('a'))).toBe(false);
  });

  it('says which definition it hides, and belongs to a project only where there is one', async () => {
    expect(await changes.create({ name: 'scout', description: 'd' }, 'project')).toMatchObject({ hides: 'builtin' });
    expect(await agent('scout')).toMatchObject({ source: 'project', file: ours('scout') });
    const outside = new AgentChanges(discovery, { cwd: home, agentDir, home, env: {} });
    await expect(outside.create({ name: 'b', description: 'd' }, 'project')).rejects.toMatchObject(
      refusal('agent_scope_needed', /in no project/),
    );
  });
});

describe('update', () => {
  it('agent-66 changes what was asked for, and not a byte of anything else', async () => {
    await write(agentDir, { 'agents/mine.md': ODD });
    await changes.update('mine', { model: 'c/d', thinking: 'high' });
    expect(await text(own('mine'))).toBe(
      ODD.replace('a/b # the', 'c/d # the').replace('fast\r\n', 'fast\r\nthinking: high\r\n'),
    );
  });

  it('agent-45 agent-66 keeps comments of a list that is written anew, and fields nobody knows', async () => {
    await write(agentDir, { 'agents/mine.md': ODD });
    await changes.update('mine', { tools: ['read', 'mcp:search'], systemPrompt: 'New.\nBody.' });
    expect(await text(own('mine'))).toBe(
      ODD.replace(/tools:[\s\S]*fast/, '# to look\r\n# fast\r\ntools: read, mcp:search').replace(
        'Body  with  spaces.',
        'New.\r\nBody.',
      ),
    );
    expect(await agent('mine')).toMatchObject({
      extraFields: { colour: '"blue" # nobody knows this one' },
      mcpDirectTools: ['search'],
    });
  });

  it('agent-66 takes fields away, and never writes what settings say into the file', async () => {
    await write(agentDir, {
      'agents/mine.md': definition('mine', 'd', 'model: a/b', 'tools: read'),
      'settings.json': JSON.stringify({ subagents: { agentOverrides: { mine: { thinking: 'high', model: 'x/y' } } } }),
    });
    expect(await agent('mine')).toMatchObject({ thinking: 'high', model: 'x/y' });
    await changes.update('mine', { tools: [], model: false });
    expect(await text(own('mine'))).toBe(definition('mine', 'd', 'tools:'));
  });

  it('agent-43 agent-66 writes texts of several lines and texts that look like something else so that they are read back', async () => {
    await write(agentDir, { 'agents/mine.md': definition('mine') });
    const description = 'First: # line\n  second\n\n- third';
    await changes.update('mine', { description, output: '007', aliases: ['a b', 'true'] });
    expect(await agent('mine')).toMatchObject({ description, output: '007', aliases: ['a b', 'true'] });
  });

  it('agent-67 moves the file with the name, and refuses a name that is taken', async () => {
    await write(agentDir, { 'agents/mine.md': definition('mine'), 'agents/other.md': definition('other') });
    await expect(changes.update('mine', { name: 'other' })).rejects.toMatchObject(refusal('agent_exists'));
    expect(await changes.update('mine', { name: 'New One' })).toMatchObject({ name: 'new-one' });
    expect(await isThere(own('mine'))).toBe(false);
    expect(await agent('new-one')).toMatchObject({ file: own('new-one') });
    await changes.undo();
    expect(await text(own('mine'))).toBe(definition('mine'));
    expect(await isThere(own('new-one'))).toBe(false);
  });

  describe('agent-67 of the name takes along what settings say of the agent', () => {
    const settings = (subagents: object) => `${JSON.stringify({ theme: 'dark', subagents }, undefined, 2)}\n`;
    const user = () => join(agentDir, 'settings.json');
    const ofProject = () => join(project, '.pi', 'settings.json');

    it('of the user and of the project, also for one provider, and gives it back with it', async () => {
      const before = settings({
        agentOverrides: { mine: { thinking: 'low' }, other: { model: 'a/b' } },
        agentOverridesByProvider: { anthropic: { mine: { model: 'c/d' } } },
      });
      await write(agentDir, { 'agents/mine.md': definition('mine'), 'settings.json': before });
      await write(project, { '.pi/settings.json': settings({ agentOverrides: { mine: { output: 'x.md' } } }) });
      const change = await changes.update('mine', { name: 'new' });
      expect(change).toEqual({ action: 'update', name: 'new', files: [own('new'), own('mine'), user(), ofProject()] });
      expect(JSON.parse(await text(user()))).toEqual({
        theme: 'dark',
        subagents: {
          agentOverrides: { new: { thinking: 'low' }, other: { model: 'a/b' } },
          agentOverridesByProvider: { anthropic: { new: { model: 'c/d' } } },
        },
      });
      expect(await agent('new')).toMatchObject({ thinking: 'low', output: 'x.md' });
      await changes.undo();
      expect(await text(user())).toBe(before);
      expect(await agent('mine')).toMatchObject({ thinking: 'low', output: 'x.md' });
    });

    it('and leaves them to another agent that still has the old name', async () => {
      const agentOverrides = { scout: { thinking: 'high' } };
      await write(agentDir, { 'agents/scout.md': definition('scout'), 'settings.json': settings({ agentOverrides }) });
      await changes.update('scout', { name: 'ranger' });
      expect(await agent('ranger')).toMatchObject({ thinking: 'high' });
      expect(await agent('scout')).toMatchObject({ thinking: 'high', source: 'builtin' });
    });

    it('but not over what is said of the new name, and tells that', async () => {
      const agentOverrides = { mine: { thinking: 'low' }, new: { thinking: 'high' } };
      const before = settings({ agentOverrides });
      await write(agentDir, { 'agents/mine.md': definition('mine'), 'settings.json': before });
      const { left, files } = await changes.update('mine', { name: 'new' });
      expect(left).toEqual([`subagents.agentOverrides.mine (${user()})`]);
      expect(files).toEqual([own('new'), own('mine')]);
      expect(await text(user())).toBe(before);
    });

    it('and refuses settings that are no JSON before anything is moved', async () => {
      await write(agentDir, { 'agents/mine.md': definition('mine') });
      await write(project, { '.pi/settings.json': '{' });
      await expect(changes.update('mine', { name: 'new' })).rejects.toMatchObject(refusal('config_invalid'));
      expect(await isThere(own('mine'))).toBe(true);
      expect(await isThere(own('new'))).toBe(false);
    });
  });

  it('refuses names that are words of the command line, for new agents and for old ones', async () => {
    await write(agentDir, { 'agents/mine.md': definition('mine') });
    for (const word of AGENT_WORDS) {
      const refused = refusal('agent_config_invalid', `An agent cannot be called "${word}"`);
      await expect(changes.create({ name: word, description: 'x' }), word).rejects.toMatchObject(refused);
      await expect(changes.update('mine', { name: word.toUpperCase() }), word).rejects.toMatchObject(refused);
    }
    await expect(changes.create({ name: 'undoer', description: 'x' })).resolves.toMatchObject({ name: 'undoer' });
  });

  it('refuses a change that would make an agent invalid, and mends one that is', async () => {
    await write(agentDir, { 'agents/mine.md': definition('mine', 'd', 'async: perhaps') });
    await expect(changes.update('mine', { timeoutMs: 0 })).rejects.toMatchObject(refusal('agent_config_invalid'));
    await changes.update('mine', { async: true });
    expect(await agent('mine')).toMatchObject({ async: true });
  });

  it('asks which one is meant when user and project have it, and refuses what is nobody’s own', async () => {
    await write(agentDir, { 'agents/mine.md': definition('mine') });
    await write(project, { '.pi/agents/mine.md': definition('mine') });
    for (const change of [() => changes.update('mine', { model: 'a/b' }), () => changes.delete('mine')]) {
      await expect(change()).rejects.toMatchObject({
        code: 'agent_scope_needed',
        message: expect.stringContaining(`${own('mine')}, ${ours('mine')}`),
      });
    }
    await changes.update('mine', { model: 'a/b' }, 'user');
    expect(await text(own('mine'))).toContain('model: a/b');
    expect(await text(ours('mine'))).toBe(definition('mine'));
    await expect(changes.update('scout', { model: 'a/b' })).rejects.toMatchObject(
      refusal('agent_not_editable', /builtin/),
    );
  });

  it('writes through a link, keeps the mode, and refuses a file that is read-only', async () => {
    await write(temp.path, { 'dotfiles/real.md': definition('mine') });
    await mkdir(join(agentDir, 'agents'), { recursive: true });
    const real = join(temp.path, 'dotfiles', 'real.md');
    await symlink(real, own('mine'));
    await chmod(real, 0o640);
    await changes.update('mine', { model: 'a/b' });
    expect((await lstat(own('mine'))).isSymbolicLink()).toBe(true);
    expect(await text(real)).toContain('model: a/b');
    if (process.platform !== 'win32') expect((await stat(real)).mode & 0o777).toBe(0o640);
    await expect(changes.update('mine', { name: 'else' })).rejects.toMatchObject(refusal('agent_not_editable', /link/));
    await chmod(real, 0o440);
    const before = await text(real);
    await expect(changes.update('mine', { model: 'c/d' })).rejects.toMatchObject(
      refusal('agent_not_editable', /read-only/),
    );
    expect(await text(real)).toBe(before);
    await chmod(real, 0o640);
  });
});

describe('duplicate', () => {
  it('writes the definition that counts once more, to the byte but for its name, and without what would mean both', async () => {
    await write(agentDir, { 'agents/mine.md': ODD.replace('tools:', 'aliases: own\r\npackage: shed\r\ntools:') });
    const change = await changes.duplicate('shed.mine', 'Other One', 'project');
    expect(change).toEqual({ action: 'duplicate', name: 'other-one', files: [ours('other-one')] });
    expect(await text(ours('other-one'))).toBe(ODD.replace('name: mine', 'name: other-one'));
    expect(await agent('other-one')).toMatchObject({ source: 'project', model: 'a/b' });
    await changes.undo(change);
    expect(await isThere(ours('other-one'))).toBe(false);
  });

  it('copies a builtin agent, and refuses a name that is taken', async () => {
    await changes.duplicate('scout', 'spy');
    expect((await agent('spy'))?.systemPrompt).toBe((await agent('scout'))?.systemPrompt);
    await expect(changes.duplicate('worker', 'spy')).rejects.toMatchObject(refusal('agent_exists'));
    await expect(changes.duplicate('worker', '!')).rejects.toMatchObject(refusal('agent_config_invalid'));
    await expect(changes.duplicate('nobody', 'x')).rejects.toMatchObject(refusal('agent_unknown'));
  });
});

describe('delete and undo', () => {
  it('takes back the change that is meant, or none', async () => {
    const first = await changes.create({ name: 'first', description: 'a' });
    const second = await changes.create({ name: 'second', description: 'b' });
    await expect(changes.undo(first)).rejects.toMatchObject(refusal('agent_nothing_to_undo', 'create of "second"'));
    expect(await isThere(own('first'))).toBe(true);
    await changes.undo(second);
    await changes.undo(first);
    expect([await isThere(own('first')), await isThere(own('second'))]).toEqual([false, false]);
  });

  it('agent-68 removes what is one’s own, refuses what is not, and can be taken back', async () => {
    await write(agentDir, { 'agents/mine.md': ODD });
    await changes.delete('mine');
    expect(await isThere(own('mine'))).toBe(false);
    expect(await changes.undo()).toMatchObject({ undone: 'delete', name: 'mine', files: [own('mine')] });
    expect(await text(own('mine'))).toBe(ODD);
    await expect(changes.delete('scout')).rejects.toMatchObject(refusal('agent_not_editable'));
    await expect(changes.undo()).rejects.toMatchObject(refusal('agent_nothing_to_undo'));
  });

  it('removes a link and not what it leads to, and puts the link back', async () => {
    await write(temp.path, { 'dotfiles/real.md': definition('mine') });
    await mkdir(join(agentDir, 'agents'), { recursive: true });
    await symlink(join(temp.path, 'dotfiles', 'real.md'), own('mine'));
    await changes.delete('mine');
    expect(await isThere(join(temp.path, 'dotfiles', 'real.md'))).toBe(true);
    await changes.undo();
    expect((await lstat(own('mine'))).isSymbolicLink()).toBe(true);
  });

  it('is not taken back over what somebody has written since', async () => {
    await changes.create({ name: 'mine', description: 'd' });
    await writeFile(own('mine'), definition('mine', 'Edited by hand.'));
    await expect(changes.undo()).rejects.toMatchObject(refusal('agent_changed'));
    expect(await text(own('mine'))).toBe(definition('mine', 'Edited by hand.'));
  });

  it('takes back several, the latest first, and one change at a time is made', async () => {
    await changes.create({ name: 'mine', description: 'd' });
    await Promise.all([changes.update('mine', { model: 'a/b' }), changes.update('mine', { thinking: 'low' })]);
    expect(await agent('mine')).toMatchObject({ model: 'a/b', thinking: 'low' });
    await changes.undo();
    await changes.undo();
    expect(await agent('mine')).toMatchObject({ description: 'd' });
    expect((await agent('mine'))?.model).toBeUndefined();
    await changes.undo();
    expect(await agent('mine')).toBeUndefined();
  });
});

describe('reset', () => {
  const file = () => join(agentDir, 'settings.json');

  it('agent-61 refuses settings that are no JSON, and leaves them as they are', async () => {
    await write(agentDir, { 'settings.json': '{ "subagents": ' });
    await expect(changes.reset('scout', 'user')).rejects.toMatchObject(refusal('config_invalid'));
    expect(await text(file())).toBe('{ "subagents": ');
  });

  it('agent-69 agent-71 removes file and override with what is empty then, and refuses without a bundled one', async () => {
    await write(agentDir, {
      'agents/scout.md': definition('scout'),
      'agents/mine.md': definition('mine'),
      'settings.json': JSON.stringify({ theme: 'dark', subagents: { agentOverrides: { scout: { thinking: 'low' } } } }),
    });
    await changes.reset('scout');
    expect(await agent('scout')).toMatchObject({ source: 'builtin' });
    expect(JSON.parse(await text(file()))).toEqual({ theme: 'dark' });
    expect(await changes.reset('scout')).toMatchObject({ files: [] });
    await expect(changes.reset('mine')).rejects.toMatchObject(refusal('agent_not_bundled'));
    await changes.undo();
    expect(await agent('scout')).toMatchObject({ source: 'user', thinking: 'low' });
  });
});

describe('eject', () => {
  it('agent-70 copies the file of a builtin agent and of a package to the byte', async () => {
    const packed = `${ODD.replace('name: mine', 'name: packed')}\r\n`;
    await write(project, {
      'package.json': JSON.stringify({ name: 'here', pi: { subagents: { agents: ['./more'] } } }),
      'more/packed.md': packed,
    });
    expect(await changes.eject('packed', 'project')).toMatchObject({ hides: 'package', files: [ours('packed')] });
    expect(await text(ours('packed'))).toBe(packed);
    await changes.eject('advisor');
    expect(await text(own('oracle'))).toBe(await text('src/core/agents/bundled/oracle.md'));
    await expect(changes.eject('oracle')).rejects.toMatchObject(refusal('agent_exists'));
  });
});

describe('load', () => {
  const settings = () => join(agentDir, 'settings.json');

  it('puts overrides in the place of those there, says which were others, and is taken back', async () => {
    const before =
      '{\r\n\t"theme" : "dark",\r\n\t"subagents": {"agentOverrides": {"worker": {"model": "b/y"}, "scout": {"model": "a/x"}}, "maxThinking": "high"}\r\n}\r\n';
    await write(agentDir, { 'settings.json': before });
    await chmod(settings(), 0o640);
    const overrides = { scout: { model: 'a/x' }, oracle: { model: 'a/z' } };
    expect(await changes.load('mine', overrides)).toEqual({
      action: 'load',
      name: 'mine',
      files: [settings()],
      replaced: ['worker'],
    });
    const after = await text(settings());
    expect(after.startsWith('{\r\n\t"theme" : "dark",\r\n')).toBe(true);
    expect(JSON.parse(after)).toEqual({
      theme: 'dark',
      subagents: { agentOverrides: overrides, maxThinking: 'high' },
    });
    expect((await stat(settings())).mode & 0o777).toBe(0o640);
    expect(await changes.load('mine', overrides)).toMatchObject({ files: [], replaced: [] });
    expect(await changes.undo()).toMatchObject({ undone: 'load', name: 'mine' });
    expect(await text(settings())).toBe(before);
  });

  it('makes settings where there are none, and refuses those that cannot be changed', async () => {
    await changes.load('mine', { scout: { model: 'a/x' } });
    expect(JSON.parse(await text(settings()))).toEqual({ subagents: { agentOverrides: { scout: { model: 'a/x' } } } });
    await changes.undo();
    expect(await isThere(settings())).toBe(false);
    for (const broken of ['{', '[]', '{"subagents": 7}']) {
      await write(agentDir, { 'settings.json': broken });
      await expect(changes.load('mine', {})).rejects.toMatchObject({ code: 'config_invalid' });
      expect(await text(settings())).toBe(broken);
    }
  });
});

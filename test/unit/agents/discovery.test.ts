/** Which agents there are for a folder: real folders, real files. */
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  AgentDiscovery,
  bundledAgents,
  type Discovered,
  type DiscoveryRequest,
} from '../../../src/core/agents/index.ts';
import { type TempDir, tempDir } from '../../support/temp.ts';
import { definition, write } from './definitions.ts';

let temp: TempDir;
let home: string;
let agentDir: string;
let project: string;
let discovery: AgentDiscovery;
const builtin = bundledAgents().map(({ name }) => name);

beforeEach(async () => {
  temp = await tempDir({ name: 'awkward' });
  home = join(temp.path, 'home');
  agentDir = join(home, '.pi', 'agent');
  project = join(home, 'work', 'project');
  await mkdir(join(project, '.pi'), { recursive: true });
  discovery = new AgentDiscovery();
});
afterEach(() => temp.remove());

const discover = (request: Partial<DiscoveryRequest> = {}) =>
  discovery.discover({ cwd: project, agentDir, home, env: {}, ...request });

const own = ({ agents }: Discovered) => agents.filter(({ source }) => source !== 'builtin').map(({ name }) => name);
const described = async (name: string, request: Partial<DiscoveryRequest> = {}) =>
  (await discover(request)).agents.find((agent) => agent.name === name)?.description;
/** What is said, without what goes for good files too. */
const faults = ({ diagnostics }: Discovered) =>
  diagnostics.map(({ file, code, line }) => `${file.slice(temp.path.length + 1)}:${line} ${code}`);

describe('agents', () => {
  it('are those that come with the product where nobody has any', async () => {
    const { agents, diagnostics, refused } = await discover();
    expect(agents.map(({ name, isOfProject }) => [name, isOfProject])).toEqual(builtin.map((name) => [name, false]));
    expect([...diagnostics, ...refused]).toEqual([]);
  });

  it('agent-26 of a project replace those of the user, of packages and of the product, whole', async () => {
    await write(project, {
      'package.json': '{"name":"tools","version":"2.1.0","pi":{"subagents":{"agents":"agents"}}}',
    });
    await write(project, { 'agents/scout.md': definition('scout', 'Of a package.', 'tools: read', 'model: x/y') });
    expect(await discover()).toMatchObject({
      agents: [{ name: 'scout', source: 'package' }, ...builtin.slice(0, -1).map(() => ({}))],
    });
    const ofPackage = (await discover()).agents[0];
    expect(ofPackage).toMatchObject({ fromPackage: { name: 'tools', version: '2.1.0' }, isOfProject: true });
    await write(agentDir, { 'agents/scout.md': definition('scout', 'Of the user.', 'aliases: spy') });
    const ofUser = (await discover()).agents[0];
    expect(ofUser).toMatchObject({ description: 'Of the user.', source: 'user', isOfProject: false });
    // Nothing of what is replaced shines through.
    expect(ofUser).not.toHaveProperty('model');
    expect(ofUser).not.toHaveProperty('tools');
    await write(project, { '.pi/agents/scout.md': definition('scout', 'Of the project.') });
    const { agents } = await discover();
    expect(agents[0]).toMatchObject({
      description: 'Of the project.',
      source: 'project',
      aliases: [],
      isOfProject: true,
    });
    expect(agents.map(({ name }) => name).sort()).toEqual([...builtin].sort());
  });

  it('agent-27 are looked for in .agents before .pi by a user, the other way round in a project', async () => {
    await write(home, { '.agents/a.md': definition('a', 'home') });
    await write(agentDir, { 'agents/a.md': definition('a', 'agent folder') });
    expect(await described('a')).toBe('home');
    await write(project, { '.agents/a.md': definition('a', 'project .agents') });
    expect(await described('a')).toBe('project .agents');
    await write(project, { '.pi/agents/a.md': definition('a', 'project .pi') });
    expect(await described('a')).toBe('project .pi');
  });

  it('agent-28 of further folders are the weakest of a user; the last folder is the strongest of those', async () => {
    const folders = ['one', 'two'].map((name) => join(temp.path, name));
    const env = { PI_SUBAGENT_EXTRA_AGENT_DIRS: [...folders, join(temp.path, 'none')].join(delimiter) };
    await write(folders[0] ?? '', { 'a.md': definition('a', 'one'), 'b.md': definition('b', 'one') });
    await write(folders[1] ?? '', { 'a.md': definition('a', 'two') });
    expect(await described('a', { env })).toBe('two');
    expect(await described('b', { env })).toBe('one');
    await write(agentDir, { 'agents/a.md': definition('a', 'agent folder') });
    expect(await described('a', { env })).toBe('agent folder');
    expect((await discover({ env })).directories).toContainEqual({
      path: join(temp.path, 'none'),
      source: 'user',
      state: 'absent',
      candidates: 0,
    });
  });

  it('are looked for in the folders that settings name', async () => {
    await write(agentDir, { 'settings.json': '{"subagents":{"agentScanDirs":["~/mine","more"]}}' });
    await write(home, { 'mine/a.md': definition('a') });
    await write(agentDir, { 'more/b.md': definition('b') });
    await write(project, {
      '.pi/settings.json': '{"subagents":{"agentScanDirs":["team"]}}',
      'team/c.md': definition('c'),
    });
    expect(own(await discover())).toEqual(['c', 'a', 'b']);
  });

  it('have a scope', async () => {
    await write(agentDir, { 'agents/u.md': definition('u') });
    await write(project, { '.pi/agents/p.md': definition('p') });
    expect(own(await discover({ scope: 'user' }))).toEqual(['u']);
    expect(own(await discover({ scope: 'project' }))).toEqual(['p']);
    expect(own(await discover({ scope: 'both' }))).toEqual(['p', 'u']);
  });

  it('of a project that is not trusted are not looked at, nor are its settings and packages', async () => {
    await write(agentDir, { 'agents/u.md': definition('u') });
    await write(project, {
      '.pi/agents/p.md': definition('p'),
      '.pi/agents/scout.md': 'broken',
      '.pi/settings.json': '{"subagents":{"agentScanDirs":["team"]}',
      'package.json': '{"pi-subagents":{"agents":["team"]}}',
      'team/t.md': definition('t'),
    });
    const found = await discover({ projectTrusted: false });
    expect(own(found)).toEqual(['u']);
    expect(found.diagnostics).toEqual([]);
    expect(found.directories.every(({ path }) => !path.startsWith(project))).toBe(true);
  });
});

describe('the project', () => {
  it('agent-29 is the nearest folder with .pi or .agents; it hides those around it', async () => {
    await write(project, { '.pi/agents/outer.md': definition('outer') });
    const inner = join(project, 'packages', 'inner');
    await write(inner, { '.agents/inner.md': definition('inner'), 'src/x.ts': '' });
    expect(own(await discover({ cwd: join(inner, 'src') }))).toEqual(['inner']);
    expect(own(await discover({ cwd: join(project, 'packages') }))).toEqual(['outer']);
  });

  it('agent-29 is the root of the repository where that says so, unless the nearest objects', async () => {
    execFileSync('git', ['init', '--quiet', project]);
    await write(project, {
      '.pi/agents/outer.md': definition('outer'),
      '.pi/settings.json': '{"subagents":{"projectRootResolution":"git-root"}}',
    });
    const inner = join(project, 'inner');
    await write(inner, { '.agents/inner.md': definition('inner') });
    expect(own(await discover({ cwd: inner }))).toEqual(['outer']);
    await write(inner, { '.pi/settings.json': '{"subagents":{"projectRootResolution":"nearest"}}' });
    expect(own(await discover({ cwd: inner }))).toEqual(['inner']);
  });

  it('is never the home folder, whose .pi and .agents are those of the user', async () => {
    await write(home, { '.agents/a.md': definition('a'), '.pi/agents/not.md': definition('not') });
    const { agents, directories } = await discover({ cwd: home });
    expect(agents.find(({ name }) => name === 'a')).toMatchObject({ source: 'user' });
    expect(directories.map(({ source }) => source)).not.toContain('project');
    const bare = join(home, 'bare');
    await mkdir(bare);
    expect((await discover({ cwd: bare })).directories.filter(({ source }) => source === 'project')).toEqual([
      { path: join(bare, '.agents'), source: 'project', state: 'absent', candidates: 0 },
      { path: join(bare, '.pi', 'agents'), source: 'project', state: 'absent', candidates: 0 },
    ]);
  });
});

describe('packages', () => {
  const manifest = '{"name":"p","pi-subagents":{"agents":["agents"]}}';

  it('are the project itself, what Pi has installed, what settings name, and those of the machine', async () => {
    const local = join(temp.path, 'local');
    const prefix = join(temp.path, 'prefix');
    const add = (folder: string, name: string) =>
      write(folder, { 'package.json': manifest, [`agents/${name}.md`]: definition(name) });
    await add(project, 'itself');
    await add(join(project, '.pi', 'npm', 'node_modules', 'x'), 'project-npm');
    await add(join(agentDir, 'npm', 'node_modules', '@scope', 'y'), 'user-npm');
    await add(join(agentDir, 'git', 'github.com', 'me', 'z'), 'user-git');
    await add(local, 'user-local');
    await add(join(prefix, 'lib', 'node_modules', 'g'), 'global');
    await write(agentDir, {
      'settings.json': JSON.stringify({
        packages: ['npm:@scope/y@1.0.0', 'git:github.com/me/z@v1', { source: `file:${local}` }, 'npm:none'],
      }),
    });
    const env = { NPM_CONFIG_PREFIX: prefix };
    expect(own(await discover({ env })).sort()).toEqual(
      ['itself', 'project-npm', 'user-npm', 'user-git', 'user-local', 'global'].sort(),
    );
    expect(own(await discover({ env: { ...env, PI_OFFLINE: '1' } }))).not.toContain('global');
    expect(own(await discover({ env, scope: 'project' })).sort()).toEqual(['itself', 'project-npm']);
  });

  it('win in the order in which they are found', async () => {
    await write(project, { 'package.json': manifest, 'agents/a.md': definition('a', 'itself') });
    await write(join(agentDir, 'npm', 'node_modules', 'x'), {
      'package.json': manifest,
      'agents/a.md': definition('a', 'x'),
    });
    expect(await described('a')).toBe('itself');
  });

  it('that are damaged are no reason to find nothing', async () => {
    const modules = join(agentDir, 'npm', 'node_modules');
    await write(modules, {
      'one/package.json': '{',
      'two/package.json': '[]',
      'three/package.json': '{"pi-subagents":{"agents":7}}',
      'four/package.json': manifest,
    });
    const found = await discover();
    expect(own(found)).toEqual([]);
    expect(found.directories).toContainEqual(
      expect.objectContaining({ path: join(modules, 'four', 'agents'), source: 'package', state: 'absent' }),
    );
  });
});

describe('a folder of agents', () => {
  const agents = () => join(project, '.pi', 'agents');

  it('agent-30 is looked through to its depth, but not into what belongs to something else', async () => {
    await write(agents(), {
      'deep/er/good.md': definition('good'),
      '.git/a.md': definition('a'),
      'node_modules/x/b.md': definition('b'),
      'sync-backups/c.md': definition('c'),
      'clone/.git': 'gitdir: elsewhere',
      'clone/d.md': definition('d'),
      'nested/.agents/x': '',
      'nested/e.md': definition('e'),
      'skills/f.md': definition('f'),
    });
    await write(project, { '.agents/skills/g.md': definition('g'), '.agents/sub/h.md': definition('h') });
    expect(own(await discover()).sort()).toEqual(['f', 'good', 'h']);
  });

  it('agent-31 may have links: each folder counts once, circles end, dead links are nothing', async () => {
    const shared = join(temp.path, 'shared');
    await write(shared, { 'linked.md': definition('linked') });
    await write(agents(), { 'good.md': definition('good') });
    await symlink(shared, join(agents(), 'one'));
    await symlink(shared, join(agents(), 'two'));
    await symlink(agents(), join(agents(), 'circle'));
    await symlink('self', join(agents(), 'self'));
    await symlink('loop.md', join(agents(), 'loop.md'));
    await symlink(join(temp.path, 'nowhere.md'), join(agents(), 'dead.md'));
    await symlink(join(shared, 'linked.md'), join(agents(), 'z.md'));
    const found = await discover();
    expect(own(found)).toEqual(['good', 'linked']);
    expect(faults(found)).toEqual(['home/work/project/.pi/agents/one/linked.md:1 name_duplicate']);
    expect(found.directories.at(-1)).toEqual({ path: agents(), source: 'project', state: 'candidates', candidates: 3 });
  });

  it('agent-32 has definitions in files that end with .md and are no chains', async () => {
    await write(agents(), {
      'good.md': definition('good'),
      'a.chain.md': definition('a'),
      'b.MD': definition('b'),
      'c.markdown': definition('c'),
      'd.md.txt': definition('d'),
    });
    expect(own(await discover())).toEqual(['good']);
  });

  it('agent-33 has a state', async () => {
    const state = async () => (await discover()).directories.at(-1)?.state;
    expect(await state()).toBe('absent');
    await mkdir(agents());
    expect(await state()).toBe('empty');
    await write(agents(), { 'a.md': definition('a') });
    expect(await state()).toBe('candidates');
    await rm(agents(), { recursive: true });
    await writeFile(agents(), '');
    expect(await state()).toBe('not-a-directory');
    expect((await discover()).diagnostics).toMatchObject([
      { file: agents(), code: 'directory_not_folder', severity: 'warning' },
    ]);
    expect(own(await discover())).toEqual([]);
  });

  it.skipIf(process.getuid?.() === 0)('that cannot be read is told', async () => {
    await write(agents(), { 'closed/a.md': definition('a'), 'good.md': definition('good') });
    await chmod(join(agents(), 'closed'), 0);
    const found = await discover();
    await chmod(join(agents(), 'closed'), 0o700);
    expect(own(found)).toEqual(['good']);
    expect(found.diagnostics).toMatchObject([{ file: join(agents(), 'closed'), code: 'directory_unreadable' }]);
  });

  it('agent-34 uses the last of two files with one name, and says so', async () => {
    await write(agents(), { 'a/one.md': definition('x', 'first'), 'b/two.md': definition('x', 'last') });
    const found = await discover();
    expect(await described('x')).toBe('last');
    expect(found.diagnostics).toMatchObject([
      {
        file: join(agents(), 'a', 'one.md'),
        name: 'x',
        code: 'name_duplicate',
        severity: 'warning',
        message: expect.stringContaining(join(agents(), 'b', 'two.md')),
      },
    ]);
  });
});

describe('a definition that cannot be used', () => {
  const agents = () => join(project, '.pi', 'agents');
  const nul = Buffer.from([45, 45, 45, 10, 0, 1, 2, 255]);
  const odd: Record<string, [content: string | Buffer, code: string, line: number]> = {
    empty: ['', 'header_missing', 1],
    binary: [nul, 'file_not_text', 1],
    latin1: [Buffer.from('---\nname: x\ndescription: caf\xe9\n---\n', 'latin1'), 'file_not_text', 1],
    large: [`---\nname: large\ndescription: b\n---\n${'x'.repeat(5 * 1024 * 1024)}`, 'file_too_large', 1],
    unclosed: ['---\nname: unclosed\ndescription: b\n', 'header_unclosed', 1],
    nameless: ['---\ndescription: b\n---\n', 'field_missing', 1],
    undescribed: ['---\nname: undescribed\n---\n', 'field_missing', 1],
    words: ['---\n\njust words\n---\n', 'header_not_fields', 2],
    flag: ['---\nname: flag\ndescription: b\n\nasync: perhaps\n---\n', 'field_invalid', 5],
    bracket: ['---\r\nname: bracket\r\ndescription: b\r\ntools: [read\r\n---\r\n', 'yaml_invalid', 4],
    readme: ['# Our agents\n', 'header_missing', 1],
  };

  it.each(Object.entries(odd))('is told at its line, beside one good one: %s', async (name, [content, code, line]) => {
    await write(agents(), { [`${name}.md`]: content, 'good.md': definition('good') });
    const found = await discover();
    expect(own(found)).toEqual(['good']);
    expect(found.diagnostics).toMatchObject([
      { file: join(agents(), `${name}.md`), code, line, message: expect.any(String), hint: expect.any(String) },
    ]);
  });

  it('hides no other, however many there are', async () => {
    await write(agents(), Object.fromEntries(Object.entries(odd).map(([name, [content]]) => [`${name}.md`, content])));
    await write(agents(), {
      'tabs.md': '---\nname: tabs\ndescription:\ttabbed\ntools:\n\t- read\n---\n',
      'twice.md': '---\nname: one\nname: twice\ndescription: b\n---\n',
      'zzz.md': definition('last'),
    });
    await symlink(agents(), join(agents(), 'around'));
    const found = await discover();
    expect(own(found).sort()).toEqual(['last', 'tabs', 'twice']);
    expect(
      faults(found)
        .map((one) => one.split('/').at(-1))
        .sort(),
    ).toEqual(
      [
        ...Object.entries(odd).map(([name, [, code, line]]) => `${name}.md:${line} ${code}`),
        'tabs.md:5 yaml_mended',
        'twice.md:3 field_duplicate',
      ].sort(),
    );
  });

  it.skipIf(process.platform === 'win32')('may be no file at all', async () => {
    await mkdir(agents(), { recursive: true });
    execFileSync('mkfifo', [join(agents(), 'pipe.md')]);
    await write(agents(), { 'good.md': definition('good') });
    const found = await discover();
    expect(own(found)).toEqual(['good']);
    expect(found.diagnostics).toMatchObject([{ code: 'file_unreadable', name: 'pipe' }]);
  });

  it('agent-52 keeps its name from every weaker one, until it is mended', async () => {
    await write(agentDir, { 'agents/mine.md': definition('mine', 'Of the user.') });
    await write(project, {
      '.pi/agents/x.md': definition('mine', 'Broken.', 'async: perhaps'),
      '.pi/agents/scout.md': '---\n',
    });
    const found = await discover();
    expect(found.agents.map(({ name }) => name)).toEqual(builtin.filter((name) => name !== 'scout'));
    expect(found.refused.map(({ name, diagnostic }) => [name, diagnostic.code])).toEqual([
      ['scout', 'header_unclosed'],
      ['mine', 'field_invalid'],
    ]);
    await write(project, { '.pi/agents/x.md': definition('mine', 'Mended.') });
    expect(await described('mine')).toBe('Mended.');
    // A stronger one that is good is used whatever lies below it.
    await write(agentDir, { 'agents/mine.md': definition('mine', 'Broken.', 'async: perhaps') });
    expect(await described('mine')).toBe('Mended.');
  });

  it('says whose it is, and which definitions it keeps from counting', async () => {
    await write(agentDir, {
      'agents/mine.md': definition('mine', 'Of the user.'),
      'agents/scout.md': definition('scout', 'Broken.', 'async: perhaps'),
    });
    await write(project, {
      '.pi/agents/a.md': definition('mine', 'First.'),
      '.pi/agents/b.md': definition('mine', 'Second.'),
    });
    const { hidden, refused } = await discover();
    const scout = join(agentDir, 'agents', 'scout.md');
    expect(refused).toMatchObject([{ name: 'scout', source: 'user', file: scout, isOfProject: false }]);
    const by = { source: 'project', file: join(project, '.pi', 'agents', 'b.md') };
    expect(hidden).toMatchObject([
      { agent: { name: 'scout', source: 'builtin' }, by: { source: 'user', file: scout } },
      { agent: { name: 'mine', source: 'project', description: 'First.' }, by },
      { agent: { name: 'mine', source: 'user' }, by },
    ]);
  });

  it('that is no definition keeps no name', async () => {
    await write(project, { '.pi/agents/scout.md': '# How our scout works\n' });
    const found = await discover();
    expect(found.refused).toEqual([]);
    expect(found.agents.find(({ name }) => name === 'scout')).toMatchObject({ source: 'builtin' });
  });
});

describe('settings', () => {
  it('agent-61 that cannot be read are told at their place, and hide no agent', async () => {
    const file = join(agentDir, 'settings.json');
    await write(agentDir, { 'settings.json': '{\n  "packages": [}\n', 'agents/a.md': definition('a') });
    const found = await discover();
    expect(own(found)).toEqual(['a']);
    expect(found.diagnostics).toMatchObject([{ file, code: 'settings_invalid', severity: 'error', line: 2 }]);
    await write(agentDir, { 'settings.json': '{"subagents":{"projectRootResolution":"somewhere"}}' });
    expect((await discover()).diagnostics).toMatchObject([
      { code: 'settings_invalid', message: expect.stringContaining('projectRootResolution') },
    ]);
  });

  it('agent-60 that bound models are refused when they are wrong', async () => {
    await write(agentDir, { 'settings.json': '{\n  "subagents": {\n    "maxThinking": "lots"\n  }\n}' });
    expect((await discover()).diagnostics).toMatchObject([
      { code: 'settings_invalid', line: 3, message: expect.stringContaining('maxThinking') },
    ]);
    await write(agentDir, { 'settings.json': '{"subagents":{"modelScope":{"enforce":true}}}' });
    expect((await discover()).diagnostics).toMatchObject([
      { code: 'settings_invalid', message: expect.stringContaining('enforce needs patterns in allow') },
    ]);
    await write(agentDir, { 'settings.json': '{"subagents":{"maxThinking":"low","modelScope":{"allow":["a/*"]}}}' });
    expect((await discover()).diagnostics).toEqual([]);
  });
});

describe('a change', () => {
  it('agent-37 on disk is seen by the next call', async () => {
    const file = join(project, '.pi', 'agents', 'a.md');
    const texts = ['one', 'two', 'six', 'and a longer one'];
    for (const text of texts) {
      await write(project, { '.pi/agents/a.md': definition('a', text) });
      expect(await described('a')).toBe(text);
    }
    await rm(file);
    expect(await described('a')).toBeUndefined();
    await write(project, { '.agents/a.md': definition('a', 'elsewhere') });
    expect(await described('a')).toBe('elsewhere');
  });

  it('agent-37 of the same length at the same time is seen, too', async () => {
    const time = new Date(Date.now() - 60_000);
    const file = join(project, '.pi', 'agents', 'a.md');
    for (const text of ['one', 'two', 'six']) {
      await write(project, { '.pi/agents/a.md': definition('a', text) });
      await utimes(file, time, time);
      expect(await described('a')).toBe(text);
    }
  });

  it('that somebody makes to a result changes no other', async () => {
    await write(project, { '.pi/agents/a.md': definition('a') });
    const { agents, diagnostics } = await discover();
    agents.length = 0;
    diagnostics.push(...diagnostics);
    expect(own(await discover())).toEqual(['a']);
  });
});

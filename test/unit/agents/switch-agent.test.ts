/** Agents are disabled and enabled in settings that are other programs' too: real files. */
import { lstat, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentChanges, AgentDiscovery } from '../../../src/core/agents/index.ts';
import { editJsonFile } from '../../../src/core/json-files/index.ts';
import { type TempDir, tempDir } from '../../support/temp.ts';
import { definition, write } from './definitions.ts';

let temp: TempDir;
let agentDir: string;
let project: string;
const discovery = new AgentDiscovery();
let changes: AgentChanges;
let discover: () => ReturnType<AgentDiscovery['discover']>;
let userFile: string;
let projectFile: string;

beforeEach(async () => {
  temp = await tempDir();
  const home = join(temp.path, 'home');
  agentDir = join(home, '.pi', 'agent');
  project = join(home, 'project');
  userFile = join(agentDir, 'settings.json');
  projectFile = join(project, '.pi', 'settings.json');
  await mkdir(project, { recursive: true });
  const place = { cwd: project, agentDir, home, env: {} };
  changes = new AgentChanges(discovery, place);
  discover = () => discovery.discover(place);
});
afterEach(() => temp.remove());

const change = async (given: string, enabled: boolean, wanted?: 'user' | 'project') => {
  const { name, scope, files } = await changes.switch(given, enabled, wanted);
  return { name, scope, changed: files.length > 0, ...(files[0] === undefined ? {} : { file: files[0] }) };
};
const disabled = async () => (await discover()).disabled.map(({ agent }) => agent.name);
const read = (file: string) => readFile(file, 'utf8');

describe('an agent', () => {
  it('agent-69 that is disabled and enabled again leaves the settings as they were, to the byte', async () => {
    const text =
      '\uFEFF{\r\n\t"theme" : "dark",\r\n\t"subagents": {\r\n\t\t"maxThinking": "high"\r\n\t},  "x": [1,  2]\r\n}\r\n';
    await write(agentDir, { 'settings.json': text });
    expect(await change('scout', false)).toEqual({ name: 'scout', scope: 'user', file: userFile, changed: true });
    expect(await disabled()).toEqual(['scout']);
    const between = await read(userFile);
    expect(between).not.toBe(text);
    expect(between.replace(/[^\r]\n/g, '')).toBe(between);
    expect(await change('scout', false)).toMatchObject({ changed: false });
    expect(await read(userFile)).toBe(between);
    expect(await change('scout', true)).toMatchObject({ scope: 'user', changed: true });
    expect(await disabled()).toEqual([]);
    expect(await read(userFile)).toBe(text);
    expect(await change('scout', true)).toMatchObject({ changed: false });
  });

  it('agent-69 keeps its other overrides, and so does every other agent', async () => {
    const overrides = { scout: { model: 'a/b' }, oracle: { disabled: true } };
    await write(agentDir, { 'settings.json': JSON.stringify({ subagents: { agentOverrides: overrides } }) });
    await change('scout', false);
    const during = JSON.parse(await read(userFile));
    expect(during.subagents.agentOverrides).toEqual({ ...overrides, scout: { model: 'a/b', disabled: true } });
    await change('scout', true);
    expect(JSON.parse(await read(userFile)).subagents.agentOverrides).toEqual(overrides);
  });

  it('needs no settings before', async () => {
    expect(await change('scout', false)).toMatchObject({ changed: true });
    expect(JSON.parse(await read(userFile))).toEqual({
      subagents: { agentOverrides: { scout: { disabled: true } } },
    });
    await change('scout', true);
    expect(JSON.parse(await read(userFile))).toEqual({});
  });

  it('is enabled again by taking that back, as any other change', async () => {
    await write(agentDir, { 'settings.json': '{ "theme" : "dark" }' });
    await change('scout', false);
    expect(await changes.undo()).toMatchObject({ undone: 'disable', name: 'scout', files: [userFile] });
    expect(await read(userFile)).toBe('{ "theme" : "dark" }');
    await change('oracle', false);
    await writeFile(userFile, '{}');
    await expect(changes.undo()).rejects.toMatchObject({ code: 'agent_changed' });
  });

  it('is found by its alias, and is the one that has it', async () => {
    expect(await change('developer', false)).toMatchObject({ name: 'worker' });
    expect(await disabled()).toEqual(['worker']);
  });

  it('of the project is disabled there, and enabled where it was disabled', async () => {
    await write(project, { '.pi/agents/ours.md': definition('ours') });
    expect(await change('ours', false)).toMatchObject({ scope: 'project', file: projectFile });
    expect(await change('scout', false, 'project')).toMatchObject({ scope: 'project' });
    expect((await disabled()).sort()).toEqual(['ours', 'scout']);
    expect(await change('scout', true)).toMatchObject({ scope: 'project', changed: true });
    expect(await change('ours', true)).toMatchObject({ scope: 'project', changed: true });
    expect(await disabled()).toEqual([]);
  });

  it('agent-59 is enabled as an exception where all builtin ones are disabled', async () => {
    await write(agentDir, { 'settings.json': '{"subagents":{"disableBuiltins":true}}' });
    expect(await change('scout', true)).toMatchObject({ changed: true });
    expect(JSON.parse(await read(userFile)).subagents).toEqual({
      disableBuiltins: true,
      agentOverrides: { scout: { disabled: false } },
    });
    expect(await disabled()).not.toContain('scout');
  });

  it('agent-69 that the project keeps enabled is not disabled by the user, and nothing is written', async () => {
    await write(project, { '.pi/settings.json': '{"subagents":{"agentOverrides":{"scout":{"disabled":false}}}}' });
    await expect(change('scout', false, 'user')).rejects.toMatchObject({
      code: 'agent_kept',
      message: expect.stringContaining(`${projectFile}:1:`),
    });
    await expect(stat(userFile)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('agent-69 that the other settings disable as well says so', async () => {
    for (const scope of ['user', 'project'] as const) {
      await mkdir(join(project, '.pi'), { recursive: true });
      await change('scout', false, scope);
    }
    await expect(change('scout', true)).rejects.toMatchObject({
      code: 'agent_disabled',
      message: expect.stringContaining(userFile),
    });
    expect(await change('scout', true)).toMatchObject({ scope: 'user', changed: true });
    expect(await disabled()).toEqual([]);
  });

  it('is not disabled for a project where there is none, nor by a name nobody has', async () => {
    await expect(change('scout', false, 'project')).rejects.toMatchObject({
      code: 'agent_scope_needed',
      hint: expect.stringContaining('--scope user'),
    });
    await expect(change('nobody', false)).rejects.toMatchObject({ code: 'agent_unknown' });
  });
});

describe('settings', () => {
  const path = ['subagents', 'agentOverrides', 'scout', 'disabled'];

  it.each([
    ['{\n    "a": [1,  2]\n}\n', '{\n    "a": [1,  2],\n    "subagents": {'],
    ['{"a":[1,  2]}', '{"a":[1,  2],\n  "subagents": {'],
    ['{ "subagents": { "x" : 1 }, "b": [1,  2] }', '{ "subagents": { "x" : 1,\n    "agentOverrides": {'],
    ['{\n\t"subagents": {},\n\t"b" : 1\n}', '{\n\t"subagents": {\n\t\t"agentOverrides": {'],
  ])('keep everything beside the value as it is written: %j', async (before, beginning) => {
    await write(agentDir, { 'settings.json': before });
    await editJsonFile(userFile, path, true);
    const during = await read(userFile);
    expect(during.startsWith(beginning), during).toBe(true);
    expect(JSON.parse(during).subagents.agentOverrides).toEqual({ scout: { disabled: true } });
    await editJsonFile(userFile, path, undefined);
    if (before.includes('{}')) expect(JSON.parse(await read(userFile))).toEqual({ b: 1 });
    else expect(await read(userFile)).toBe(before);
  });

  it('have a value replaced in its place, whatever it is', async () => {
    const before = '{\n  "subagents": { "agentOverrides": 7 },\n  "b": [1,  2]\n}\n';
    await write(agentDir, { 'settings.json': before });
    const [place, value] = [['subagents', 'agentOverrides'], { scout: { model: 'a/b' } }] as const;
    await editJsonFile(userFile, place, value);
    const after = await read(userFile);
    expect(after.startsWith('{\n  "subagents": { "agentOverrides": {\n')).toBe(true);
    expect(after.endsWith(' },\n  "b": [1,  2]\n}\n')).toBe(true);
    expect(JSON.parse(after).subagents.agentOverrides).toEqual(value);
    expect(await editJsonFile(userFile, place, value)).toBe(false);
  });

  it('that are a link stay one, with their permissions', async () => {
    const real = join(temp.path, 'dotfiles.json');
    await mkdir(agentDir, { recursive: true });
    await writeFile(real, '{}', { mode: 0o640 });
    await symlink(real, userFile);
    await editJsonFile(userFile, path, true);
    expect((await lstat(userFile)).isSymbolicLink()).toBe(true);
    expect((await stat(real)).mode & 0o777).toBe(0o640);
    expect(JSON.parse(await read(real))).toMatchObject({ subagents: {} });
  });

  it.each([
    ['{ "subagents": ', 'is not JSON'],
    ['', 'is not JSON'],
    ['[]', 'the file: must be an object'],
    ['{"subagents":[]}', 'subagents: must be an object'],
    ['{"subagents":{"agentOverrides":{"scout":true}}}', 'subagents.agentOverrides.scout: must be an object'],
  ])('that cannot be changed are left as they are: %s', async (text, reason) => {
    await write(agentDir, { 'settings.json': text });
    await expect(editJsonFile(userFile, path, true)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(reason),
    });
    expect(await read(userFile)).toBe(text);
  });
});

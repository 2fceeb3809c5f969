/** Agents created, changed and given back through the real command line, with a real Pi that knows the names. */
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorld, type World } from '../support/world.ts';
import { definition, write } from '../unit/agents/definitions.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
  await mkdir(join(world.project, '.pi'), { recursive: true });
});
afterEach(() => world[Symbol.asyncDispose]());

const own = (name: string) => join(world.agent.agentDir, 'agents', `${name}.md`);
const ours = (name: string) => join(world.project, '.pi', 'agents', `${name}.md`);
const settings = () => join(world.agent.agentDir, 'settings.json');
const isThere = (file: string) =>
  stat(file).then(
    () => true,
    () => false,
  );

/** A command that must succeed: what it prints. */
async function agents(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await world.cli(['agents', ...words]);
  expect([code, stderr], words.join(' ')).toEqual([0, '']);
  return stdout;
}

/** A command that must be refused: its error. */
async function refused(...words: string[]): Promise<{ code: string; message: string; hint: string }> {
  const { code, stdout } = await world.cli(['agents', ...words, '--json']);
  expect(code, words.join(' ')).toBe(2);
  return JSON.parse(stdout).error;
}

const fields = async (name: string): Promise<Record<string, unknown>> => {
  const { agent } = JSON.parse(await agents(name, '--json'));
  return Object.fromEntries(agent.fields.map(({ field, value }: { field: string; value: unknown }) => [field, value]));
};

describe('pi-lanes agents', () => {
  it('agent-65 creates, agent-66 changes, agent-67 renames and agent-68 deletes, and undo gives all of it back', async () => {
    await write(world.project, { 'prompt.md': 'You check.\n' });
    const created = await agents(
      ...['create', 'My Checker', '--description', 'Checks: all', '--set', 'tools=read, grep'],
      ...['--set', 'model=fake/scripted:low', '--set', 'toolBudget={"hard": 4}', '--prompt-file', 'prompt.md'],
    );
    expect(created).toBe(`Created my-checker.\n  ${own('my-checker')}\n  To take it back: pi-lanes agents undo\n`);
    expect(await fields('my-checker')).toMatchObject({
      description: 'Checks: all',
      tools: ['read', 'grep'],
      model: 'fake/scripted:low',
      toolBudget: { hard: 4 },
    });
    const first = await readFile(own('my-checker'), 'utf8');
    expect(first).toMatch(/\nYou check\.\n$/);

    await agents('update', 'my-checker', '--set', 'model=', '--set', 'thinking=high');
    expect(await fields('my-checker')).toMatchObject({ thinking: 'high' });
    expect(await fields('my-checker')).not.toHaveProperty('model');
    expect(await agents('update', 'my-checker', '--set', 'thinking=high')).toBe('my-checker: it says so already.\n');

    await agents('update', 'my-checker', '--set', 'name=judge');
    expect(await readdir(join(world.agent.agentDir, 'agents'))).toEqual(['judge.md']);
    expect(await agents('delete', 'judge')).toMatch(/^Deleted judge\./);
    expect((await refused('judge')).code).toBe('agent_unknown');

    const undone: string[] = [];
    for (let at = 0; at < 4; at += 1) undone.push((await agents('undo')).split('\n')[0] ?? '');
    expect(undone).toEqual([
      'Taken back: delete of judge.',
      'Taken back: update of judge.',
      'Taken back: update of my-checker.',
      'Taken back: create of my-checker.',
    ]);
    expect(await readdir(join(world.agent.agentDir, 'agents'))).toEqual([]);
    expect((await refused('undo')).code).toBe('agent_nothing_to_undo');
  });

  it('launches what was created exactly as it was written', async () => {
    await agents('create', 'quiet', '--description', 'Says little', '--set', 'tools=[]', '--set', 'thinking=low');
    const plan = JSON.parse((await world.cli(['plan', '--agent', 'quiet', '--task', 't', '--json'])).stdout);
    expect(JSON.stringify(plan)).toContain('"thinking":"low"');
    const { code } = await world.cli(['run', '--agent', 'quiet', '--task', 'Say hi', '--wait']);
    expect(code).toBe(0);
    expect(world.model.requests.at(-1)?.tools).toEqual([]);
  });

  it('agent-70 agent-71 copies one that comes with Pi Lanes, and goes back to it', async () => {
    const ejected = await agents('eject', 'scout', '--scope', 'project');
    expect(ejected).toBe(
      `Copied scout.\n  ${ours('scout')}\n  It takes the place of the one whose source is builtin.\n  To take it back: pi-lanes agents undo\n`,
    );
    expect((await refused('eject', 'scout', '--scope', 'project')).code).toBe('agent_exists');
    await agents('update', 'scout', '--set', 'description=Mine');
    expect((await fields('scout'))['description']).toBe('Mine');
    await agents('reset', 'scout');
    expect(await isThere(ours('scout'))).toBe(false);
    expect((await fields('scout'))['description']).not.toBe('Mine');
    expect(await agents('reset', 'scout')).toBe('scout: nothing of your own to remove.\n');
    expect((await refused('reset', 'nobody')).code).toBe('agent_unknown');
  });

  it('agent-69 disables and enables, leaves other settings as they are, and is taken back', async () => {
    const before = await readFile(settings(), 'utf8');
    await agents('disable', 'oracle');
    const { subagents, ...others } = JSON.parse(await readFile(settings(), 'utf8'));
    expect(subagents).toEqual({ agentOverrides: { oracle: { disabled: true } } });
    expect(others).toEqual(JSON.parse(before));
    expect((await refused('oracle')).code).toBe('agent_disabled');
    const run = await world.cli(['run', '--agent', 'oracle', '--task', 't', '--json']);
    expect([run.code, JSON.parse(run.stdout).error.code]).toEqual([2, 'agent_disabled']);
    expect(await agents('disable', 'oracle')).toBe('oracle: it is disabled already.\n');
    await agents('enable', 'oracle');
    expect(await readFile(settings(), 'utf8')).toBe(before);
    await agents('undo');
    expect((await refused('oracle')).code).toBe('agent_disabled');
  });

  it('takes along what settings say of an agent that is renamed', async () => {
    await agents('create', 'mine', '--description', 'x');
    await agents('disable', 'mine');
    await agents('update', 'mine', '--set', 'name=yours');
    const { subagents } = JSON.parse(await readFile(settings(), 'utf8'));
    expect(subagents.agentOverrides).toEqual({ yours: { disabled: true } });
    expect((await refused('yours')).code).toBe('agent_disabled');
  });

  it('warns of models, tools and skills nobody has, with the nearest, and does what it was asked for', async () => {
    await write(world.agent.agentDir, { 'skills/sailing/SKILL.md': '---\nname: sailing\ndescription: d\n---\n' });
    const set = ['model=fake/scriptet', 'tools=read, gerp', 'skills=sailing, saling'].flatMap((one) => ['--set', one]);
    const created = await agents('create', 'typo', '--description', 'x', ...set);
    expect(created.split('\n').filter((line) => line.startsWith('  Warning'))).toEqual([
      '  Warning: Neither Pi nor the extensions that it finds have a tool gerp. Did you mean grep?',
      '  Warning: Pi can use no model fake/scriptet now. Did you mean fake/scripted?',
      '  Warning: There is no skill saling. Did you mean sailing?',
    ]);
    expect(await isThere(own('typo'))).toBe(true);
    const mended = JSON.parse(
      await agents('update', 'typo', '--set', 'model=fake/scripted', '--set', 'skills=', '--json'),
    );
    expect(mended.warnings).toEqual([
      {
        field: 'tools',
        message: 'Neither Pi nor the extensions that it finds have a tool gerp.',
        hint: 'Did you mean grep?',
      },
    ]);
    expect(JSON.parse(await agents('update', 'typo', '--set', 'tools=read', '--json'))).not.toHaveProperty('warnings');
    // Nothing was asked of a model for any of it.
    expect(world.model.requests).toEqual([]);
  });

  it('imports an agent of Claude Code, by the names of Pi, and says what it does not take over', async () => {
    const file = join(world.agent.home, '.claude', 'agents', 'reviewer.md');
    await write(world.agent.home, {
      '.claude/agents/reviewer.md':
        '---\nname: code-reviewer\ndescription: Use this: when code is there\ntools: Read, Grep, Bash(git log:*)\nmodel: sonnet\n---\n\nYou review.\n',
    });
    expect(await agents('import', file)).toBe(
      [
        'Created code-reviewer.',
        `  ${own('code-reviewer')}`,
        '  To take it back: pi-lanes agents undo',
        '  Not taken over: tools Bash(git log:*)',
        '  Not taken over: model sonnet',
        '',
      ].join('\n'),
    );
    await world.cli(['run', '--agent', 'code-reviewer', '--task', 'Say hi', '--wait']);
    const asked = world.model.requests.at(-1);
    expect(asked?.tools.toSorted()).toEqual(['grep', 'read']);
    expect(JSON.stringify(asked?.messages)).toContain('You review.');
    expect((await refused('import', file)).code).toBe('agent_exists');
    expect((await refused('import', `${file}.txt`)).code).toBe('launch_invalid');
    expect((await refused('import')).hint).toContain('pi-lanes agents import');
    await agents('undo');
    expect(await isThere(own('code-reviewer'))).toBe(false);
  });

  it('refuses a name that is one of its words, and shows an agent that has one all the same', async () => {
    const { code, message } = await refused('create', 'undo', '--description', 'x');
    expect([code, message]).toEqual([
      'agent_config_invalid',
      'An agent cannot be called "undo": that is a word of the command pi-lanes agents.',
    ]);
    await write(world.agent.agentDir, { 'agents/undo.md': definition('undo', 'Made by hand.') });
    expect((await refused('undo')).code).toBe('agent_nothing_to_undo');
    expect(await agents('show', 'undo')).toMatch(/^undo \(user\): .*\n[\s\S]*description: Made by hand\./);
    expect(await agents('show', 'scout')).toBe(await agents('scout'));
    expect((await refused('show')).code).toBe('launch_invalid');
    await agents('update', 'undo', '--set', 'name=redo');
    expect(await isThere(own('redo'))).toBe(true);
  });

  it('agent-61 refuses what it cannot do, and writes nothing then', async () => {
    const before = await readFile(settings(), 'utf8');
    const cases: [string[], string][] = [
      [['create', 'x'], 'agent_config_invalid'],
      [['create', 'x', '--description', 'd', '--set', 'modle=a'], 'agent_config_invalid'],
      [['create', 'x', '--description', 'd', '--set', 'async=perhaps'], 'agent_config_invalid'],
      [['create', 'x', '--description', 'd', '--scope', 'both'], 'launch_invalid'],
      [['update', 'nobody', '--set', 'model=a'], 'agent_unknown'],
      [['update', 'scout', '--set', 'model=a'], 'agent_not_editable'],
      [['delete', 'scout'], 'agent_not_editable'],
      [['eject', 'nobody'], 'agent_unknown'],
      [['delete'], 'launch_invalid'],
      [['undo', 'x'], 'launch_invalid'],
    ];
    for (const [words, code] of cases) expect((await refused(...words)).code, words.join(' ')).toBe(code);
    expect(await isThere(join(world.agent.agentDir, 'agents'))).toBe(false);
    expect(await readFile(settings(), 'utf8')).toBe(before);
  });
});

it('pi-lanes profiles load says whose overrides were others, and pi-lanes agents undo takes it back', async () => {
  const profile = { agentOverrides: { scout: { model: 'fake/scripted' } } };
  await write(world.agent.agentDir, { 'profiles/pi-subagents/best.json': JSON.stringify(profile) });
  await agents('disable', 'oracle');
  const before = await readFile(settings(), 'utf8');
  const { code, stdout } = await world.cli(['profiles', 'load', 'best']);
  expect(code).toBe(0);
  expect(stdout.split('\n')).toEqual([
    `The agents of ${settings()} have the models of best.`,
    '  The overrides of these agents there were others: oracle.',
    '  To take it back: pi-lanes agents undo',
    '',
  ]);
  expect(JSON.parse(await readFile(settings(), 'utf8')).subagents).toEqual(profile);
  expect((await world.cli(['profiles', 'load', 'best'])).stdout).toBe('best: it is loaded already.\n');
  expect(await agents('undo')).toMatch(/^Taken back: load of best\./);
  expect(await readFile(settings(), 'utf8')).toBe(before);
});

it('pi-lanes help plan lists every option that plan takes', async () => {
  const { stdout } = await world.cli(['help', 'plan']);
  for (const option of [
    '--task-file',
    '--model',
    '--thinking',
    '--cwd',
    '--context',
    '--output',
    '--timeout',
    '--approve',
  ])
    expect(stdout).toContain(`      ${option} `);
  expect(stdout).not.toContain('--wait');
  expect((await world.cli(['plan', '--help'])).stdout).toBe(stdout);
});

/** Agents of one's own, from the command line and from programs: found, told about, launched, refused. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AgentDiscoveryResult } from '../../src/api/agent-types.ts';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { testBundles, type World } from '../support/world.ts';
import { definition, write } from '../unit/agents/definitions.ts';

const stack = new AsyncDisposableStack();
let fake: FakePi;
let world: World;

beforeAll(async () => {
  ({ fake, world } = await fakeWorld(stack));
  await write(world.agent.agentDir, {
    'agents/mine.md': definition('mine', 'Does what I say.', 'tools: read', 'aliases: my'),
    'agents/broken.md': definition('broken', 'b', 'async: perhaps'),
    'agents/skilled.md': definition('skilled', 'b', 'fast: true'),
  });
  await write(world.project, { '.pi/agents/scout.md': definition('scout', 'The scout of this project.') });
});
afterAll(() => expectNobodyLeft(stack, { fake, world }));

const run = (...args: string[]) =>
  world.cli(['run', '--task', fakeTask({ steps: [{ say: 'done' }] }), '--wait', '--json', ...args]);

describe('pi-lanes agents', () => {
  test('lists them by where they come from, and what is wrong with their files', async () => {
    const { code, stdout, stderr } = await world.cli(['agents']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('- mine (user, aliases: my): Does what I say.\n');
    expect(stdout).toContain('- scout (project): The scout of this project.\n');
    expect(stdout).toContain('- worker (builtin, aliases: developer, coder, implementer, develop): ');
    expect(stdout).toContain(`${join(world.agent.agentDir, 'agents', 'broken.md')}:4:8 error: async is perhaps. `);
    expect(stdout).not.toContain('- broken (');
    expect(stdout).not.toContain('You are');
  });

  test('says what they can do, and whether they can be launched', async () => {
    const { stdout } = await world.cli(['agents', '--capabilities']);
    expect(stdout).toContain('- mine (user; tools: read; model: inherits; thinking: default): Does what I say.\n');
    expect(stdout).toContain('cannot be launched yet: fast');
    const { code, stdout: json } = await world.cli(['agents', '--capabilities', '--json']);
    expect(code).toBe(0);
    const value = JSON.parse(json);
    expect(value.schemaVersion).toBe(1);
    expect(value.capabilities).toContainEqual(
      expect.objectContaining({ name: 'skilled', executable: false, unsupported: ['fast'] }),
    );
    expect(value.diagnostics).toContainEqual(
      expect.objectContaining({ code: 'field_invalid', name: 'broken', line: 4 }),
    );
    expect(value.directories).toContainEqual({
      path: join(world.project, '.pi', 'agents'),
      source: 'project',
      state: 'candidates',
      candidates: 1,
    });
    expect(json).not.toContain('You are');
  });

  test('takes a scope, and refuses another word', async () => {
    const { stdout } = await world.cli(['agents', '--scope', 'user', '--json']);
    const names = JSON.parse(stdout).agents.map(({ name, source }: { name: string; source: string }) => [name, source]);
    expect(names).toContainEqual(['scout', 'builtin']);
    const { code, stderr } = await world.cli(['agents', '--scope', 'all']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('user, project, both')]);
  });

  test('is part of what the doctor looks at', async () => {
    const { stdout } = await world.cli(['doctor', '--json']);
    const checks: { name: string; state: string; text: string }[] = JSON.parse(stdout).checks;
    expect(checks.find(({ name }) => name === 'agents')).toMatchObject({
      state: 'warning',
      text: expect.stringContaining('broken.md:4:8'),
    });
  });
});

describe('pi-lanes agents disable', () => {
  test('agent-69 takes an agent away until it is enabled again, and says how', async () => {
    const file = join(world.agent.agentDir, 'settings.json');
    const off = await world.cli(['agents', 'disable', 'my']);
    expect([off.code, off.stderr]).toEqual([0, '']);
    expect(off.stdout).toBe(`Disabled mine.\n  ${file}\n  To take it back: pi-lanes agents undo\n`);
    const { stdout } = await world.cli(['agents']);
    expect(stdout).toContain(`Disabled:\n- mine (user): subagents.agentOverrides.mine.disabled in ${file}:`);
    expect(stdout).not.toContain('Does what I say.');
    const refused = await run('--agent', 'mine');
    expect([refused.code, JSON.parse(refused.stdout).error.code]).toEqual([2, 'agent_disabled']);
    const on = await world.cli(['agents', '--json', '--scope', 'user', 'enable', 'mine']);
    expect(JSON.parse(on.stdout)).toMatchObject({ action: 'enable', name: 'mine', scope: 'user', files: [file] });
    const again = await world.cli(['agents', 'enable', 'mine']);
    expect([again.code, again.stdout]).toEqual([0, 'mine: it is enabled already.\n']);
    const started = await run('--agent', 'mine');
    expect(started.code, started.stdout).toBe(0);
  });

  test('and create, update, delete and undo are seen by the next command', async () => {
    const made = await world.cli([
      'agents',
      'create',
      'Note taker',
      '--description',
      'Takes notes.',
      '--set',
      'tools=read',
    ]);
    const file = join(world.agent.agentDir, 'agents', 'note-taker.md');
    expect([made.code, made.stdout]).toEqual([0, expect.stringContaining(file)]);
    const started = await run('--agent', 'note-taker');
    expect([started.code, JSON.parse(started.stdout).run?.agent]).toEqual([0, 'note-taker']);
    await world.cli(['agents', 'update', 'note-taker', '--set', 'model=fake/scripted-b']);
    const shown = await world.cli(['agents', 'note-taker', '--json']);
    expect(shown.stdout).toContain('fake/scripted-b');
    expect((await world.cli(['agents', 'delete', 'note-taker'])).code).toBe(0);
    expect((await run('--agent', 'note-taker')).code).toBe(2);
    expect((await world.cli(['agents', 'undo'])).stdout).toContain('delete of note-taker');
    expect((await world.cli(['agents'])).stdout).toContain('- note-taker (user): Takes notes.\n');
    const wrong = await world.cli(['agents', 'update', 'note-taker', '--set', 'colour=red', '--json']);
    expect([wrong.code, JSON.parse(wrong.stdout).error.code]).toEqual([2, 'agent_config_invalid']);
  });

  test('refuses a scope, a name and an option nobody has', async () => {
    for (const [args, part] of [
      [['mine', '--scope', 'both'], 'user, project'],
      [['nobody'], 'There is no agent named "nobody"'],
      [[], 'The name of the agent is missing.'],
      [['mine', '--force'], '--force'],
    ] as const) {
      const { code, stderr } = await world.cli(['agents', 'disable', ...args]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(part)]);
    }
  });
});

describe('pi-lanes run', () => {
  test('starts an agent of the user, by its alias too', async () => {
    for (const name of ['mine', 'my']) {
      const { code, stdout } = await run('--agent', name);
      expect(code, stdout).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ state: 'complete', text: 'done', run: { agent: 'mine' } });
    }
  });

  test('starts an agent of the project with trust, and none in its place without', async () => {
    const refused = await run('--agent', 'scout');
    expect(refused.code).toBe(2);
    expect(JSON.parse(refused.stdout).error).toMatchObject({ code: 'agent_untrusted' });
    const { code, stdout } = await run('--agent', 'scout', '--approve');
    expect(code, stdout).toBe(0);
  });

  test.each([
    ['broken', 'agent_invalid'],
    ['skilled', 'agent_unsupported'],
    ['wizard', 'agent_unknown'],
  ])('refuses %s before there is a run', async (name, code) => {
    const before = await world.cli(['status', '--all', '--json']);
    const refused = await run('--agent', name);
    expect(refused.code).toBe(2);
    expect(JSON.parse(refused.stdout).error).toMatchObject({ code, hint: expect.any(String) });
    expect((await world.cli(['status', '--all', '--json'])).stdout).toBe(before.stdout);
  });
});

describe('dist/api.js', () => {
  const ask = async (options: unknown) => {
    const api = pathToFileURL(join(await testBundles(), 'api.js')).href;
    const program = `
      const { discoverAgents } = await import(${JSON.stringify(api)});
      const answer = await discoverAgents(${JSON.stringify(options)}).catch((error) => ({ error: String(error) }));
      console.log(JSON.stringify(answer));
    `;
    const args = ['--input-type=module', '-e', program];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: '/', env: world.env });
    expect(stderr).toBe('');
    return JSON.parse(stdout);
  };

  test('finds agents for a folder, with what is wrong, and lets the process end', async () => {
    const { agentDir, home } = world.agent;
    const found: AgentDiscoveryResult = await ask({ cwd: world.project, agentDir, home, env: {} });
    expect(found.agents.find(({ name }) => name === 'mine')).toMatchObject({
      source: 'user',
      file: join(agentDir, 'agents', 'mine.md'),
      tools: ['read'],
      systemPrompt: 'You are mine.',
      places: { tools: { line: 4, column: 1 } },
    });
    expect(found.diagnostics).toContainEqual({
      file: join(agentDir, 'agents', 'broken.md'),
      name: 'broken',
      field: 'async',
      code: 'field_invalid',
      severity: 'error',
      message: 'async is perhaps.',
      hint: 'Write true or false.',
      line: 4,
      column: 8,
      endLine: 4,
      endColumn: 15,
    });
    const ofUser: AgentDiscoveryResult = await ask({
      cwd: world.project,
      agentDir,
      home,
      scope: 'user',
      provider: 'x',
    });
    expect(ofUser.agents.find(({ name }) => name === 'scout')?.source).toBe('builtin');
  });

  test.each([
    [undefined, 'the value: '],
    [{ cwd: '/' }, 'agentDir: '],
    [{ cwd: '', agentDir: '/' }, 'cwd: must not be blank'],
    [{ cwd: '/', agentDir: '/', scope: 'all' }, 'scope: '],
    [{ cwd: '/', agentDir: '/', dir: '/' }, 'dir'],
  ])('refuses %j', async (options, why) => {
    const { error } = await ask(options);
    expect(error).toMatch(/^TypeError: The options of discoverAgents are wrong: /);
    expect(error).toContain(why);
  });
});

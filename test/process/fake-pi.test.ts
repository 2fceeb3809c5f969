import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { probeModels } from '../../src/core/children/index.ts';
import { findPi, ProbeCache } from '../../src/core/toolchain/index.ts';
import { createAgentDir } from '../support/agent-dir.ts';
import {
  createFakePi,
  type FakeLaunchPlan,
  type FakePi,
  type FakePiOptions,
  type FakeTask,
  fakeEnvironment,
  fakeTask,
} from '../support/fake-pi/index.ts';
import { Output } from '../support/fake-pi/program/output.mjs';
import { RawChild } from '../support/fake-pi/raw-child.ts';
import { piCli } from '../support/pi-versions.ts';
import { isAlive } from '../support/process-state.ts';
import { type PiEvent, PiRpc } from '../support/rpc-client.ts';
import { startScriptedModel } from '../support/scripted-model/index.ts';
import { tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';

interface SetUpOptions extends Partial<FakePiOptions> {
  args?: string[];
  env?: Record<string, string>;
  fake?: FakePi;
}

/** A fake installation, a working folder and an environment; everything goes when the test ends. */
async function install(options: Partial<FakePiOptions> = {}) {
  const stack = new AsyncDisposableStack();
  const folder = stack.use(await tempDir({ name: 'awkward' }));
  const fake = stack.use(await createFakePi({ dir: join(folder.path, 'pi'), ...options }));
  const cwd = join(folder.path, 'work');
  const sessions = join(folder.path, 'sessions');
  await mkdir(cwd);
  const env: Record<string, string> = {
    PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(process.platform === 'win32' ? ';' : ':'),
    HOME: folder.path,
    PI_CODING_AGENT_DIR: join(folder.path, 'agent'),
  };
  return { fake, cwd, sessions, env, folder: folder.path, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** An installation and one child of it. */
async function setUp(options: SetUpOptions = {}) {
  const { args = [], env = {}, ...installation } = options;
  const stack = new AsyncDisposableStack();
  const place = stack.use(await install(installation));
  const start = (more: string[] = []) =>
    stack.use(
      new PiRpc({
        cli: place.fake.cli,
        cwd: place.cwd,
        env: { ...place.env, ...env },
        args: ['--session-dir', place.sessions, ...args, ...more],
      }),
    );
  return { ...place, pi: start(), start, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const isSettled = (line: string) => line.startsWith('{"type":"agent_settled"');

/** A child of an installation, seen as bytes. */
function rawChild({ fake, cwd, env, sessions }: Awaited<ReturnType<typeof install>>): RawChild {
  return new RawChild({ cli: fake.cli, cwd, env, args: ['--session-dir', sessions] });
}

/** Prompts with a plan and waits until it is settled. */
const run = (pi: PiRpc, plan: FakeTask, text = '') => pi.run(fakeTask(plan, text));
const begin = (pi: PiRpc, plan: FakeTask, text = '') => pi.prompt(fakeTask(plan, text));
const settled = (pi: PiRpc, from = 0) => sawType(pi, 'agent_settled', from);
const ended = (pi: PiRpc) => waitFor('the end of the fake', () => pi.ended);
const sawType = (pi: PiRpc, type: string, from = 0) => pi.waitForEvent(type, (event) => event.type === type, from);
const ofType = (events: readonly PiEvent[], type: string) => events.filter((event) => event.type === type);

/** The kinds of events, runs of the same kind of update as one. */
function kinds(events: readonly PiEvent[]): string[] {
  const all = events.map((event) => event.type);
  return all.filter((type, index) => !(type.endsWith('_update') && type === all[index - 1]));
}

async function sessionLines(file: string): Promise<Record<string, unknown>[]> {
  const text = await readFile(file, 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

async function sessionFileOf(pi: PiRpc): Promise<string> {
  const { sessionFile } = await pi.state();
  if (sessionFile === undefined) throw new Error('no session file');
  return sessionFile;
}

describe.concurrent('the fake as an installation', () => {
  it.for([
    ['1.6.0', '@earendil-works/pi-coding-agent'],
    ['0.73.1', '@mariozechner/pi-coding-agent'],
  ] as const)('is found as a script of %s', async ([version, packageName]) => {
    await using place = await install({ version, packageName });
    const cache = new ProbeCache(join(place.folder, 'cache'));
    const common = {
      env: place.env,
      installed: join(place.folder, 'none'),
      cache,
      node: { file: process.execPath, electron: false },
    };
    const byFolder = await findPi({ ...common, configured: place.fake.folder });
    expect(byFolder).toMatchObject({ kind: 'script', file: place.fake.cli, version, packageName });
    const bin = join(place.folder, 'bin');
    await mkdir(bin);
    await symlink(place.fake.cli, join(bin, 'pi'));
    const onPath = await findPi({ ...common, configured: undefined, env: { ...place.env, PATH: bin } });
    expect(onPath).toMatchObject({ kind: 'script', file: place.fake.cli, version });
  });

  it('says its version and its models, on stderr when it is old', async () => {
    for (const [version, stream] of [
      ['1.6.0', 'stdout'],
      ['0.73.1', 'stderr'],
    ] as const) {
      await using place = await install({ version });
      for (const [flag, expected] of [
        ['--version', `${version}\n`],
        ['--list-models', expect.stringContaining('fake  scripted')],
      ] as const) {
        const child = spawn(process.execPath, [place.fake.cli, flag], { env: place.env, cwd: place.cwd });
        const output = { stdout: '', stderr: '' };
        child.stdout.on('data', (chunk) => {
          output.stdout += chunk;
        });
        child.stderr.on('data', (chunk) => {
          output.stderr += chunk;
        });
        expect((await once(child, 'close'))[0]).toBe(0);
        expect(output).toEqual({ stdout: '', stderr: '', [stream]: expected });
      }
      expect((await place.fake.launches('query')).map((one) => one.args)).toEqual([['--version'], ['--list-models']]);
    }
  });

  it('answers the probe for models, also with none', async () => {
    await using place = await install({ launch: [{ for: 'probe', match: '--no-session', models: ['fake/a', 'x/b'] }] });
    const command = { file: process.execPath, args: [place.fake.cli] };
    const some = await probeModels(command, place.env);
    expect(some).toMatchObject({ defaultModel: 'fake/a', models: [{ name: 'fake/a' }, { name: 'x/b' }] });
    await place.fake.planLaunches({ for: 'any', models: [] });
    expect(await probeModels(command, place.env)).toMatchObject({ defaultModel: null, models: [] });
    expect(await place.fake.launches('probe')).toHaveLength(2);
  });

  it.for([
    ['1.6.0', ['--bogus'], 'Unknown option: --bogus'],
    ['0.73.1', ['--name', 'x'], 'Unknown option: --name'],
    ['0.73.1', ['--approve'], 'Unknown option: --approve'],
    ['1.6.0', ['--model', 'nope/nope'], 'Model "nope/nope" not found'],
    ['1.6.0', ['--session', 'nobody'], "No session found matching 'nobody'"],
  ] as const)('of version %s refuses %j', async ([version, args, message]) => {
    await using setup = await setUp({ version, args: [...args] });
    expect(await ended(setup.pi)).toBe('ended with 1');
    expect(setup.pi.stderr).toContain(message);
  });

  it('honours --model, --thinking and --name, and takes an unknown id of a known provider as Pi does', async () => {
    await using setup = await setUp({
      args: ['--model', 'fake/scripted-b', '--thinking', 'low', '--name', 'my name', '--approve', '--no-skills'],
    });
    expect(await setup.pi.state()).toMatchObject({
      model: { provider: 'fake', id: 'scripted-b' },
      thinkingLevel: 'low',
      sessionName: 'my name',
      isStreaming: false,
      messageCount: 0,
    });
    await using other = await setUp({ args: ['--model', 'fake/nope:high'] });
    expect(await other.pi.state()).toMatchObject({ model: { id: 'nope' }, thinkingLevel: 'high' });
    expect(other.pi.stderr).toContain('Using custom model id.');
  });

  it('fails loudly on a plan that it does not understand', async () => {
    await using setup = await setUp();
    for (const plan of ['FAKE:{"steps":[{"sya":"x"}]}', 'FAKE:{"step":[]}', 'FAKE:{"steps":[', 'FAKE:{"steps":{}}']) {
      expect(await setup.pi.request('prompt', { message: plan })).toMatchObject({ success: false });
    }
    const wrong = await setUp({ env: { PI_LANES_FAKE_PLAN: '{"starts":[]}' } });
    expect(await ended(wrong.pi)).toBe('ended with 70');
    expect(wrong.pi.stderr).toContain('unknown key "starts"');
    await wrong[Symbol.asyncDispose]();
    await setup.pi.request('prompt', { message: fakeTask({ steps: [{ say: '{{nothing}}' }] }) });
    expect(await ended(setup.pi)).toBe('ended with 70');
  });
});

describe.concurrent('the fake in a conversation', () => {
  it('emits the events of 1.6 in their order', async () => {
    await using setup = await setUp();
    const { events, text } = await run(setup.pi, { steps: [{ thinking: 'hm hm', say: 'Hello you' }] });
    expect(text).toBe('Hello you');
    expect(events.map((event) => event.type)).toEqual([
      'agent_start',
      'turn_start',
      'message_start',
      'message_end',
      'message_start',
      'message_end',
      'message_start',
      ...Array.from({ length: 8 }, () => 'message_update'),
      'message_end',
      'turn_end',
      'agent_end',
      'agent_settled',
    ]);
    expect(ofType(events, 'message_end').map((event) => event['message'])).toMatchObject([
      { role: 'system' },
      { role: 'user' },
      { role: 'assistant', stopReason: 'stop', provider: 'fake', model: 'scripted', thinkingLevel: 'medium' },
    ]);
    expect(ofType(events, 'message_update').map((event) => event['assistantMessageEvent'])).toEqual([
      { type: 'thinking_start', contentIndex: 0 },
      { type: 'thinking_delta', contentIndex: 0, delta: 'hm ' },
      { type: 'thinking_delta', contentIndex: 0, delta: 'hm' },
      { type: 'thinking_end', contentIndex: 0, content: 'hm hm' },
      { type: 'text_start', contentIndex: 1 },
      { type: 'text_delta', contentIndex: 1, delta: 'Hello ' },
      { type: 'text_delta', contentIndex: 1, delta: 'you' },
      { type: 'text_end', contentIndex: 1, content: 'Hello you' },
    ]);
    expect(ofType(events, 'agent_end')).toMatchObject([{ willRetry: false }]);
    expect(ofType(events, 'agent_settled')).toMatchObject([{ aborted: false }]);
    expect(setup.pi.strays).toEqual([]);
    // The system message comes once per session.
    const second = await setup.pi.run('good day');
    expect(second.text).toBe('You said: good day');
    expect(ofType(second.events, 'message_end')).toHaveLength(2);
  });

  it('emits the events of 0.73: no settled, no willRetry, no dispositions, the message again in each update', async () => {
    await using setup = await setUp({ version: '0.73.1' });
    const response = await setup.pi.request('prompt', { message: fakeTask({ steps: [{ say: 'Hello you' }] }) });
    expect(response).not.toHaveProperty('data');
    const { events, text } = await setup.pi.settle(0);
    expect(text).toBe('Hello you');
    expect(kinds(events)).toEqual([
      'agent_start',
      'turn_start',
      'message_start',
      'message_end',
      'message_start',
      'message_update',
      'message_end',
      'turn_end',
      'agent_end',
    ]);
    expect(ofType(events, 'message_update')[2]).toMatchObject({
      assistantMessageEvent: { type: 'text_delta', delta: 'you', partial: { content: [{ text: 'Hello you' }] } },
      message: { content: [{ text: 'Hello you' }] },
    });
    expect(events.at(-1)).not.toHaveProperty('willRetry');
    // Unknown commands are answered without an id: nothing to wait for.
    setup.pi.send({ id: 'x', type: 'clear_queue' });
    await expect(setup.pi.request('clear_queue', {}, 300)).rejects.toThrow('waited 300 ms');
    expect(await setup.pi.state()).toMatchObject({ isStreaming: false });
  });

  it('runs tools side by side and ends them by their time', async () => {
    await using setup = await setUp();
    const { events, text } = await run(setup.pi, {
      steps: [
        {
          say: 'Let me look.',
          tools: [
            { name: 'read', args: { path: 'a' }, ms: 60, output: 'slow', updates: ['part', 'part two'] },
            { args: { command: 'false' }, ms: 10, output: 'quick', isError: true },
          ],
        },
        { say: 'Done.' },
      ],
    });
    expect(text).toBe('Done.');
    const first = kinds(events).slice(6, 22);
    expect(first).toEqual([
      'message_start',
      'message_update',
      'message_end',
      'tool_execution_start',
      'tool_execution_start',
      'tool_execution_update',
      'tool_execution_end',
      'tool_execution_end',
      'message_start',
      'message_end',
      'message_start',
      'message_end',
      'turn_end',
      'turn_start',
      'message_start',
      'message_update',
    ]);
    expect(ofType(events, 'tool_execution_end')).toMatchObject([
      { toolName: 'bash', isError: true, result: { content: [{ text: 'quick' }] } },
      { toolName: 'read', isError: false, result: { content: [{ text: 'slow' }] } },
    ]);
    expect(ofType(events, 'turn_end')[0]).toMatchObject({
      message: { stopReason: 'toolUse', content: [{ type: 'text' }, { type: 'toolCall', name: 'read' }, {}] },
      toolResults: [
        { role: 'toolResult', toolName: 'read' },
        { toolName: 'bash', isError: true },
      ],
    });
    expect((await setup.pi.request('get_session_stats')).data).toMatchObject({ toolCalls: 2, toolResults: 2 });
  });

  it('takes its time between tokens', async () => {
    await using setup = await setUp();
    const startedAt = performance.now();
    await run(setup.pi, { steps: [{ say: 'one two three four five', tokenMs: 40 }] });
    expect(performance.now() - startedAt).toBeGreaterThan(180);
  });

  it('reports other ends of a message: length, aborted, error, nothing said, no message', async () => {
    await using setup = await setUp();
    expect(await run(setup.pi, { steps: [{ say: 'cut', stop: 'length' }] })).toMatchObject({ stopReason: 'length' });
    expect(await run(setup.pi, { steps: [{ say: 'half', stop: 'aborted' }] })).toMatchObject({
      stopReason: 'aborted',
      text: 'half',
    });
    expect(await run(setup.pi, { steps: [{ error: '500: broken' }] })).toMatchObject({
      stopReason: 'error',
      errorMessage: '500: broken',
      text: '',
    });
    expect(await run(setup.pi, { steps: [{ say: '' }] })).toMatchObject({ stopReason: 'stop', text: '' });
    const from = await begin(setup.pi, { steps: [] });
    await settled(setup.pi, from);
    const roles = ofType(setup.pi.events.slice(from), 'message_end').map((event) => event['message']);
    expect(roles).toMatchObject([{ role: 'user' }]);
  });

  it('retries after an error', async () => {
    await using setup = await setUp();
    const good = await run(setup.pi, {
      steps: [{ error: '529: busy', retry: { delayMs: 5 } }, { error: '529: busy', retry: true }, { say: 'good' }],
    });
    expect(good).toMatchObject({ stopReason: 'stop', text: 'good' });
    expect(kinds(good.events).filter((type) => /^a/.test(type))).toEqual([
      'agent_start',
      'agent_end',
      'auto_retry_start',
      'agent_start',
      'agent_end',
      'auto_retry_start',
      'agent_start',
      'auto_retry_end',
      'agent_end',
      'agent_settled',
    ]);
    expect(ofType(good.events, 'agent_end').map((event) => event['willRetry'])).toEqual([true, true, false]);
    expect(ofType(good.events, 'auto_retry_end')).toMatchObject([{ success: true, attempt: 2 }]);
    const bad = await run(setup.pi, { steps: [{ error: 'first', retry: true }, { error: 'last' }] });
    expect(bad).toMatchObject({ stopReason: 'error', errorMessage: 'last' });
    expect(kinds(bad.events).slice(-3)).toEqual(['agent_end', 'auto_retry_end', 'agent_settled']);
    expect(ofType(bad.events, 'auto_retry_end')).toMatchObject([{ success: false, finalError: 'last' }]);
  });

  it('can say willRetry and settle all the same, or leave agent_end out', async () => {
    await using setup = await setUp();
    const odd = await run(setup.pi, { steps: [{ say: 'x' }], agentEnd: { willRetry: true } });
    expect(kinds(odd.events).slice(-2)).toEqual(['agent_end', 'agent_settled']);
    expect(ofType(odd.events, 'agent_end')).toMatchObject([{ willRetry: true }]);
    const twice = await run(setup.pi, { steps: [{ say: 'x' }, { agentEnd: { willRetry: true } }] });
    expect(ofType(twice.events, 'agent_end').map((event) => event['willRetry'])).toEqual([true, false]);
    const without = await run(setup.pi, { steps: [{ say: 'x' }], agentEnd: false });
    expect(ofType(without.events, 'agent_end')).toEqual([]);
  });

  it('compacts', async () => {
    await using setup = await setUp();
    const from = await begin(setup.pi, {
      steps: [{ say: 'x' }],
      ended: [
        { compaction: 'threshold', summary: 'all of it', during: [{ gate: 'compacting' }] },
        { compaction: 'overflow', failure: 'no' },
      ],
    });
    await setup.fake.arrivedAt('compacting');
    expect(await setup.pi.state()).toMatchObject({ isCompacting: true });
    await setup.fake.open('compacting');
    const { events } = await setup.pi.settle(from);
    expect(kinds(events).slice(-6)).toEqual([
      'agent_end',
      'compaction_start',
      'compaction_end',
      'compaction_start',
      'compaction_end',
      'agent_settled',
    ]);
    expect(ofType(events, 'compaction_end')).toMatchObject([
      { reason: 'threshold', aborted: false, result: { summary: 'all of it' } },
      { reason: 'overflow', errorMessage: 'no' },
    ]);
    expect((await sessionLines(await sessionFileOf(setup.pi))).at(-1)).toMatchObject({ type: 'compaction' });
  });

  it('reports usage as it is told, however large', async () => {
    await using setup = await setUp();
    await run(setup.pi, { steps: [{ say: 'x' }] });
    const usage = { input: 9e14, output: 5, cacheRead: 1, cacheWrite: 2, cost: 1e9 };
    const { events } = await run(setup.pi, { steps: [{ say: 'y', usage }] });
    expect(ofType(events, 'message_end').at(-1)).toMatchObject({
      message: { usage: { input: 9e14, output: 5, cacheRead: 1, cacheWrite: 2, cost: { total: 1e9 } } },
    });
    expect((await setup.pi.request('get_session_stats')).data).toMatchObject({
      tokens: { input: 900000000000100, output: 15 },
      cost: 1e9 + 0.00012,
      userMessages: 2,
      assistantMessages: 2,
    });
  });

  it('fills texts with what it knows', async () => {
    await using setup = await setUp({
      args: ['--append-system-prompt', 'be kind', '--model', 'fake/scripted:high'],
      env: { SOME_VALUE: 'seen', FAKE_SECRET_KEY: 'x' },
    });
    const { text } = await run(
      setup.pi,
      {
        steps: [
          {
            say: [
              '{{prompt}}|{{env:SOME_VALUE}}|{{env:NOT_THERE}}|{{system}}|{{model}}|{{thinking}}|{{version}}|{{users}}',
            ],
          },
        ],
      },
      'the task',
    );
    expect(text).toBe('the task|seen|(absent)|be kind|fake/scripted|high|1.6.0|1');
    const names = (await run(setup.pi, { steps: [{ say: '{{env}}' }] })).text.split(' ');
    expect(names).toEqual(expect.arrayContaining(['FAKE_SECRET_KEY', 'HOME', 'PATH', 'SOME_VALUE']));
    expect(names.some((name) => name.startsWith('VITEST'))).toBe(false);
    expect((await run(setup.pi, { steps: [{ say: ['{{cwd}} {{pid}} {{args}}'] }] })).text).toBe(
      `${setup.cwd} ${setup.pi.pid} ${JSON.stringify(['--mode', 'rpc', ...((await setup.fake.launches())[0]?.args ?? []).slice(2)])}`,
    );
  });

  it('writes files', async () => {
    await using setup = await setUp();
    await run(setup.pi, {
      steps: [{ tools: [{ name: 'write', during: [{ write: 'made.txt', text: 'by {{model}}' }] }] }],
    });
    expect(await readFile(join(setup.cwd, 'made.txt'), 'utf8')).toBe('by fake/scripted');
  });

  it('refuses prompts, or leaves them to an extension', async () => {
    await using setup = await setUp();
    const ask = (plan: FakeTask) => setup.pi.request('prompt', { message: fakeTask(plan) });
    expect(await ask({ accepting: [{ refuse: 'No API key found' }] })).toMatchObject({
      success: false,
      error: 'No API key found',
    });
    expect(await ask({ accepting: [{ handled: true }] })).toMatchObject({ data: { disposition: 'handled' } });
    expect(setup.pi.events).toEqual([]);
    expect((await run(setup.pi, { steps: [{ say: 'still here' }] })).text).toBe('still here');
  });

  it('answers single commands otherwise', async () => {
    await using setup = await setUp({
      launch: { commands: { get_entries: { error: 'no' }, get_commands: { data: 7 } }, state: { sessionId: 'odd' } },
    });
    expect(await setup.pi.state()).toMatchObject({ sessionId: 'odd' });
    expect(await setup.pi.request('get_entries')).toMatchObject({ success: false, error: 'no' });
    expect((await setup.pi.request('get_commands')).data).toBe(7);
    await run(setup.pi, { steps: [{ say: 'x' }], commands: { get_state: { silent: true }, abort: { delayMs: 80 } } });
    await expect(setup.pi.request('get_state', {}, 200)).rejects.toThrow('waited 200 ms');
    const startedAt = performance.now();
    expect(await setup.pi.request('abort')).toMatchObject({ success: true });
    expect(performance.now() - startedAt).toBeGreaterThan(70);
    expect(await setup.pi.request('nope')).toMatchObject({ success: false, error: 'Unknown command: nope' });
  });
});

describe.concurrent('the queue of the fake', () => {
  it('delivers a steer at the next turn and a follow-up at the end', async () => {
    await using setup = await setUp();
    const from = await begin(setup.pi, {
      steps: [{ tools: [{ during: [{ gate: 'in tool' }] }] }, { say: 'heard: {{steers}}' }],
    });
    await setup.fake.arrivedAt('in tool');
    expect(await setup.pi.request('prompt', { message: 'x' })).toMatchObject({
      success: false,
      error: expect.stringContaining('already processing'),
    });
    expect(await setup.pi.request('steer', { message: 'to the left' })).toMatchObject({
      data: { disposition: 'queued' },
    });
    expect(await setup.pi.request('prompt', { message: 'and then?', streamingBehavior: 'followUp' })).toMatchObject({
      data: { disposition: 'queued' },
    });
    expect(await setup.pi.state()).toMatchObject({ isStreaming: true, pendingMessageCount: 2 });
    await setup.fake.open('in tool');
    const { events, text } = await setup.pi.settle(from);
    expect(text).toBe('You said: and then?');
    expect(ofType(events, 'queue_update').map(({ steering, followUp }) => [steering, followUp])).toEqual([
      [['to the left'], []],
      [['to the left'], ['and then?']],
      [[], ['and then?']],
      [[], []],
    ]);
    expect(JSON.stringify(ofType(events, 'message_end'))).toContain('heard: to the left');
    expect(ofType(events, 'agent_settled')).toHaveLength(1);
  });

  it('waits for a steer, and plays the plan it brings', async () => {
    await using setup = await setUp();
    const from = await begin(setup.pi, { steps: [{ say: 'one' }, { await: 'steering' }, { say: 'three' }] });
    await setup.pi.request('steer', { message: fakeTask({ steps: [{ say: 'two' }] }) });
    const { events } = await setup.pi.settle(from);
    const texts = ofType(events, 'text_end').length;
    expect(texts).toBe(0);
    const said = ofType(events, 'message_end').flatMap(
      (event) => /"text":"(one|two|three)"/.exec(JSON.stringify(event))?.[1] ?? [],
    );
    expect(said).toEqual(['one', 'two', 'three']);
  });

  it('leaves a steer in the queue for ever, or until it is cleared', async () => {
    await using setup = await setUp();
    const from = await begin(setup.pi, { keepQueue: true, steps: [{ await: 'any' }, { say: 'one' }, { say: 'two' }] });
    await setup.pi.request('steer', { message: 'never heard' });
    await settled(setup.pi, from);
    expect(await setup.pi.state()).toMatchObject({ isStreaming: false, pendingMessageCount: 1 });
    expect((await setup.pi.request('clear_queue')).data).toEqual({ steering: ['never heard'], followUp: [] });
    expect(await setup.pi.state()).toMatchObject({ pendingMessageCount: 0 });
  });

  it('keeps what is queued while idle for the next prompt', async () => {
    await using setup = await setUp();
    await setup.pi.request('steer', { message: 'early' });
    await setup.pi.request('follow_up', { message: 'late' });
    expect(await setup.pi.state()).toMatchObject({ pendingMessageCount: 2, isStreaming: false });
    const { text, events } = await run(setup.pi, { steps: [{ say: 'got {{steers}}' }] });
    expect(text).toBe('You said: late');
    expect(JSON.stringify(events)).toContain('got early');
  });
});

describe.concurrent('an abort of the fake', () => {
  it('settles as aborted, wherever it comes', async () => {
    await using setup = await setUp();
    const moments: [FakeTask, string | undefined, string | undefined][] = [
      [{ steps: [{ say: 'a b c d e f g h', tokenMs: 50 }] }, 'message_update', 'aborted'],
      [{ steps: [{ tools: [{ ms: 60_000 }, { during: [{ hang: true }] }] }] }, 'tool_execution_start', 'aborted'],
      [{ steps: [{ hang: true }] }, 'message_end', 'aborted'],
      [{ steps: [{ say: 'x' }, { hang: true }] }, 'turn_end', 'aborted'],
      [{ accepted: [{ hang: true }] }, undefined, 'aborted'],
      [{ steps: [{ error: 'x', retry: { delayMs: 60_000 } }] }, 'auto_retry_start', 'error'],
      [{ steps: [{ say: 'x' }], ended: [{ hang: true }] }, 'agent_end', 'stop'],
    ];
    for (const [plan, at, stopReason] of moments) {
      const from = await begin(setup.pi, plan);
      if (at) await sawType(setup.pi, at, from);
      expect(await setup.pi.request('abort')).toMatchObject({ success: true });
      const events = setup.pi.events.slice(from);
      expect(events.at(-1)).toMatchObject({ type: 'agent_settled', aborted: true });
      expect(ofType(events, 'message_end').at(-1)).toMatchObject({ message: { role: 'assistant', stopReason } });
      if (at !== 'tool_execution_start') continue;
      expect(ofType(events, 'tool_execution_end')).toMatchObject([
        { isError: true, result: { content: [{ text: 'Command aborted' }] } },
        { isError: true },
      ]);
    }
    expect(await setup.pi.request('abort')).toMatchObject({ success: true });
    expect((await run(setup.pi, { steps: [{ say: 'and on' }] })).text).toBe('and on');
  });

  it('ends a wait before the prompt is accepted', async () => {
    await using setup = await setUp();
    const answer = setup.pi.request('prompt', { message: fakeTask({ accepting: [{ hang: true }] }) });
    await waitFor('the prompt', async () => (await setup.pi.state()).isStreaming);
    await setup.pi.request('abort');
    expect(await answer).toMatchObject({ success: false });
    expect(await setup.pi.state()).toMatchObject({ isStreaming: false });
  });
});

describe.concurrent('dialogs of the fake', () => {
  it('wait for their answers, one after another', async () => {
    await using setup = await setUp();
    const from = await begin(setup.pi, {
      steps: [
        { dialog: 'select', title: 'Which?', options: ['a', 'b'] },
        {
          tools: [
            { during: [{ dialog: 'confirm', title: 'First?' }] },
            { during: [{ dialog: 'input', title: 'Second?' }] },
          ],
        },
        { dialog: 'editor', title: 'Edit', prefill: 'x' },
        { dialog: 'confirm', title: 'Late', timeout: 20 },
        { say: '{{answers}}' },
      ],
    });
    const requests = () => ofType(setup.pi.events.slice(from), 'extension_ui_request');
    for (const [index, answer] of [
      { value: 'b' },
      { confirmed: false },
      { value: 'why not' },
      { cancelled: true },
    ].entries()) {
      const request = await waitFor('a dialog', () => requests()[index]);
      expect(requests()).toHaveLength(index + 1);
      setup.pi.send({ type: 'extension_ui_response', id: request['id'], ...answer });
    }
    expect((await setup.pi.settle(from)).text).toBe('value:b | confirmed:false | value:why not | cancelled | timeout');
    expect(requests().map((request) => request['method'])).toEqual(['select', 'confirm', 'input', 'editor', 'confirm']);
    expect(requests()[0]).toMatchObject({ title: 'Which?', options: ['a', 'b'] });
  });

  it('block an abort but not the end of stdin, and are asked before the first answer', async () => {
    await using setup = await setUp({ launch: { start: [{ dialog: 'confirm', title: 'Start?' }] } });
    const state = setup.pi.state();
    const request = await sawType(setup.pi, 'extension_ui_request');
    setup.pi.send({ type: 'extension_ui_response', id: request['id'], confirmed: true });
    await state;
    await begin(setup.pi, { steps: [{ dialog: 'input', title: 'Name?' }] });
    await expect(setup.pi.request('abort', {}, 300)).rejects.toThrow('waited 300 ms');
    await setup.pi.stop();
    expect(setup.pi.ended).toBe('ended with 0');
  });
});

describe.concurrent('hangs of the fake', () => {
  const hangs: [string, { launch?: FakeLaunchPlan; plan?: FakeTask; until?: string }][] = [
    ['before get_state is answered', { launch: { start: [{ hang: true }] } }],
    ['before the prompt is accepted', { plan: { accepting: [{ hang: true }] } }],
    ['after the prompt is accepted', { plan: { accepted: [{ hang: true }] } }],
    [
      'in the middle of a text',
      { plan: { steps: [{ say: ['half ', { hang: true }, 'whole'] }] }, until: 'message_update' },
    ],
    ['in a tool', { plan: { steps: [{ tools: [{ during: [{ hang: true }] }] }] }, until: 'tool_execution_start' }],
    ['after the last message', { plan: { steps: [{ say: 'x' }], ended: [{ hang: true }] }, until: 'agent_end' }],
    ['after it settled', { plan: { settled: [{ hang: 'stuck' }] }, until: 'agent_settled' }],
  ];
  it.for(hangs)('%s: goes on only in name', async ([, { launch, plan, until }]) => {
    await using setup = await setUp(launch ? { launch } : {});
    if (!plan) {
      await expect(setup.pi.request('get_state', {}, 300)).rejects.toThrow('waited 300 ms');
      await setup.pi.stop();
      expect(setup.pi.ended).toBe('ended with 0');
      return;
    }
    const response = setup.pi.request('prompt', { message: fakeTask(plan) }, plan.accepting ? 300 : undefined);
    if (plan.accepting) await expect(response).rejects.toThrow('waited 300 ms');
    else await response;
    if (until) await sawType(setup.pi, until);
    const isOver = until === 'agent_settled';
    expect(await setup.pi.state()).toMatchObject({ isStreaming: !isOver });
    if (!isOver) expect(ofType(setup.pi.events, 'agent_settled')).toEqual([]);
    if (isOver) process.kill(setup.pi.pid ?? 0, 'SIGKILL');
    else await setup.pi.stop();
    expect(await ended(setup.pi)).toBe(isOver ? 'ended with SIGKILL' : 'ended with 0');
    expect(await setup.fake.running()).toEqual([]);
  });

  /** Runs up the ladder a client ends a Pi with: it must end at this rung, and not at one before. */
  async function climb(child: RawChild, expected: string): Promise<void> {
    const rungs: [string, () => unknown][] = [
      ['stdin', () => child.process.stdin.end()],
      ['first SIGTERM', () => child.process.kill('SIGTERM')],
      ['second SIGTERM', () => child.process.kill('SIGTERM')],
      ['SIGKILL', () => child.process.kill('SIGKILL')],
    ];
    for (const [name, step] of rungs) {
      step();
      if (name === expected) break;
      await delay(250);
      expect(child.exit, name).toBeUndefined();
    }
    const codes: Record<string, object> = { stdin: { code: 0 }, SIGKILL: { signal: 'SIGKILL' } };
    expect(await child.exited()).toMatchObject(codes[expected] ?? { code: 143 });
  }

  it.for([
    ['nothing', 'stdin', {}],
    ['a hang in a tool', 'stdin', { steps: [{ tools: [{ during: [{ hang: true }] }] }] }],
    ['a closed stdin', 'first SIGTERM', { onStdinClose: [{ hang: true }] }],
    ['deafness', 'first SIGTERM', { settled: [{ hang: 'deaf' }] }],
    ['a timer after it settled', 'second SIGTERM', { settled: [{ hang: 'stuck' }] }],
    ['a stuck tool', 'second SIGTERM', { steps: [{ tools: [{ during: [{ hang: 'stuck' }] }] }] }],
    ['a closed stdin and SIGTERM', 'second SIGTERM', { onStdinClose: [{ hang: true }], onSigterm: [{ hang: true }] }],
    ['one ignored signal', 'second SIGTERM', { onStdinClose: [{ hang: true }], ignoreSignals: 1 }],
    ['all signals ignored', 'SIGKILL', { onStdinClose: [{ hang: true }], ignoreSignals: 'all' }],
    ['being frozen', 'SIGKILL', { settled: [{ hang: 'frozen' }] }],
  ] satisfies [string, string, FakeTask][])('with %s it takes: %s', async ([, expected, plan]) => {
    await using place = await install();
    await using child = rawChild(place);
    child.prompt(fakeTask(plan));
    const until = 'steps' in plan ? 'tool_execution_start' : 'agent_settled';
    await child.line(until, (line) => line.startsWith(`{"type":"${until}"`));
    await climb(child, expected);
    expect(await place.fake.running()).toEqual([]);
  });

  it('answers no command when it is deaf or frozen, and an abort of a stuck tool not at all', async () => {
    for (const plan of [{ settled: [{ hang: 'deaf' }] }, { settled: [{ hang: 'frozen' }] }] satisfies FakeTask[]) {
      await using setup = await setUp();
      await begin(setup.pi, plan);
      await settled(setup.pi);
      await expect(setup.pi.request('get_state', {}, 200)).rejects.toThrow('waited 200 ms');
      process.kill(setup.pi.pid ?? 0, 'SIGKILL');
      expect(await ended(setup.pi)).toBe('ended with SIGKILL');
    }
    await using setup = await setUp();
    await begin(setup.pi, { steps: [{ tools: [{ during: [{ hang: 'stuck' }] }] }] });
    await expect(setup.pi.request('abort', {}, 200)).rejects.toThrow('waited 200 ms');
    expect(await setup.pi.state()).toMatchObject({ isStreaming: true });
    process.kill(setup.pi.pid ?? 0, 'SIGKILL');
  });

  it('saves what a closed stdin aborted, and says nothing of it; 0.73 does not save it', async () => {
    for (const version of ['1.6.0', '0.73.1']) {
      await using setup = await setUp({ version });
      await begin(setup.pi, { steps: [{ tools: [{ during: [{ hang: true }] }] }] });
      await sawType(setup.pi, 'tool_execution_start');
      const file = await sessionFileOf(setup.pi);
      await setup.pi.stop();
      expect(setup.pi.ended).toBe('ended with 0');
      expect(ofType(setup.pi.events, 'tool_execution_end')).toEqual([]);
      const last = (await sessionLines(file)).at(-1);
      expect(last).toMatchObject({ message: { stopReason: version === '1.6.0' ? 'aborted' : 'toolUse' } });
    }
  });
});

describe.concurrent('exits of the fake', () => {
  const exits: [string, { launch?: FakeLaunchPlan; plan?: FakeTask }, string][] = [
    ['at the start', { launch: { start: [{ exit: 3, stderr: 'cannot start\n' }] } }, 'ended with 3'],
    ['soon after the start', { launch: { start: [{ wait: 100 }, { exit: 0 }] } }, 'ended with 0'],
    ['after the first answer', { launch: { ready: [{ exit: 4 }] } }, 'ended with 4'],
    ['before the prompt is accepted', { plan: { accepting: [{ exit: 5 }] } }, 'ended with 5'],
    [
      'soon after it is accepted, without activity',
      { plan: { accepted: [{ wait: 100 }, { exit: 0 }] } },
      'ended with 0',
    ],
    ['without a message', { plan: { steps: [{ exit: 0 }] } }, 'ended with 0'],
    ['in the middle of a text', { plan: { steps: [{ say: ['half', { exit: 1 }] }] } }, 'ended with 1'],
    ['in a tool', { plan: { steps: [{ tools: [{ during: [{ exit: 7 }] }] }] } }, 'ended with 7'],
    ['after the last message', { plan: { steps: [{ say: 'x' }, { exit: 0 }] } }, 'ended with 0'],
    ['after an error of the provider', { plan: { steps: [{ error: '500: x' }, { exit: 0 }] } }, 'ended with 0'],
    ['before it settled', { plan: { ended: [{ exit: 8 }] } }, 'ended with 8'],
    ['after it settled', { plan: { settled: [{ exit: 9 }] } }, 'ended with 9'],
    ['by SIGKILL', { plan: { steps: [{ say: ['half', { kill: 'SIGKILL' }] }] } }, 'ended with SIGKILL'],
    ['by SIGTERM', { plan: { steps: [{ kill: 'SIGTERM' }] } }, 'ended with SIGTERM'],
    ['by SIGSEGV', { plan: { settled: [{ kill: 'SIGSEGV' }] } }, 'ended with SIGSEGV'],
  ];
  it.for(exits)('%s', async ([name, { launch, plan }, expected]) => {
    await using setup = await setUp(launch ? { launch } : {});
    if (plan) setup.pi.send({ id: 'p', type: 'prompt', message: fakeTask(plan) });
    else setup.pi.send({ id: 's', type: 'get_state' });
    expect(await ended(setup.pi)).toBe(expected);
    const types = kinds(setup.pi.events);
    if (name === 'at the start') expect(setup.pi.stderr).toBe('cannot start\n');
    if (!plan || plan.accepting || plan.accepted) expect(types).toEqual([]);
    if (plan?.ended) expect(types.at(-1)).toBe('agent_end');
    if (plan?.settled) expect(types.at(-1)).toBe('agent_settled');
    if (name === 'in a tool') expect(types.at(-1)).toBe('tool_execution_start');
    if (name.startsWith('after the last') || name.startsWith('after an error')) expect(types.at(-1)).toBe('turn_end');
    if (name === 'in the middle of a text' || name === 'by SIGKILL') expect(types.at(-1)).toBe('message_update');
    expect(setup.pi.strays).toEqual([]);
  });

  it('can end with a line that is not finished', async () => {
    await using place = await install();
    await using child = rawChild(place);
    child.prompt(
      fakeTask({
        steps: [{ say: 'x' }],
        agentEnd: false,
        ended: [{ emit: { type: 'agent_settled', aborted: false }, newline: false }, { exit: 0 }],
      }),
    );
    expect(await child.exited()).toEqual({ code: 0, signal: null });
    expect(child.bytes.toString('utf8').endsWith('\n{"type":"agent_settled","aborted":false}')).toBe(true);
  });
});

describe.concurrent('the output of the fake', () => {
  it.for([
    ['deltas', 'message_update'],
    ['events', 'tool_execution_update'],
    ['unknown', 'not_known_to_anybody'],
  ] as const)('floods with %s', async ([of, type]) => {
    await using setup = await setUp();
    const { events, text } = await run(setup.pi, {
      steps: [{ say: ['still ', { flood: of, mb: 4, lineBytes: 2_000 }, 'fine'] }],
    });
    expect(text).toBe('still fine');
    expect(ofType(events, type).length).toBeGreaterThan(1_500);
  });

  it('floods with lines that are no JSON, and with stderr', async () => {
    await using setup = await setUp();
    const { text } = await run(setup.pi, {
      steps: [
        { flood: 'lines', mb: 2 },
        { flood: 'stderr', mb: 2 },
        { line: '{"half": ' },
        { stderr: 'the end\n' },
        { say: 'ok' },
      ],
    });
    expect(text).toBe('ok');
    expect(setup.pi.strays.length).toBeGreaterThan(2_000);
    expect(setup.pi.strays.at(-1)).toBe('{"half": ');
    await waitFor('the end of stderr', () => setup.pi.stderr.endsWith('the end\n'));
  });

  it('can be ended in the middle of a flood', async () => {
    await using setup = await setUp();
    const from = await begin(setup.pi, { steps: [{ flood: 'deltas', mb: 100_000 }] });
    expect(await setup.pi.request('abort')).toMatchObject({ success: true });
    await settled(setup.pi, from);
    await begin(setup.pi, { steps: [{ flood: 'lines', mb: 100_000 }] });
    await setup.pi.stop();
    expect(setup.pi.ended).toBe('ended with 0');
  });

  it.for([
    ['message_end', 17 * 1024 * 1024],
    ['agent_end', 17 * 1024 * 1024],
    ['line', 1024 * 1024],
    ['turn_end', 100_000],
    ['tool_execution_end', 100_000],
    ['unknown', 100_000],
  ] as const)('writes one line (%s) of exactly %i bytes', async ([as, bytes]) => {
    await using place = await install();
    await using child = rawChild(place);
    child.prompt(fakeTask({ steps: [{ big: as, bytes, willRetry: true }, { say: 'after' }] }));
    await child.line('the end', isSettled);
    const line = child.lines.find((one) => Buffer.byteLength(one) === bytes) ?? '';
    expect(line.slice(0, 40)).toMatch(
      as === 'line' ? /^0123/ : new RegExp(`^{"type":"${as === 'unknown' ? 'not_known' : as}`),
    );
    if (as === 'agent_end') expect(line.slice(-20)).toBe('}],"willRetry":true}');
    if (as !== 'line') JSON.parse(line);
  });

  it('pads the closing agent_end, and says long texts', async () => {
    await using place = await install();
    await using child = rawChild(place);
    child.prompt(
      fakeTask({
        steps: [{ say: ['a', { fill: 300_000, deltaBytes: 100_000 }] }],
        agentEnd: { bytes: 1_000_000, willRetry: false },
      }),
    );
    await child.line('the end', isSettled);
    const end = child.lines.find((line) => line.startsWith('{"type":"agent_end"')) ?? '';
    expect(Buffer.byteLength(end)).toBe(1_000_000);
    expect(end.endsWith('"willRetry":false}')).toBe(true);
    expect(child.lines.filter((line) => line.includes('"text_delta"'))).toHaveLength(4);
  });

  it('cuts its writes at every byte, through characters, and whole lines arrive', async () => {
    await using place = await install();
    await using child = rawChild(place);
    const text = 'ü漢🦊\u2028\u2029 \u0085end';
    child.prompt(
      fakeTask({ steps: [{ split: 1 }, { say: [text] }, { split: [2, 5], gapMs: 5 }, { hex: 'e6 bc a2 ff 0a' }] }),
    );
    const line = await child.line('the message', (one) => one.includes('"text_end"'));
    expect(JSON.parse(line)).toMatchObject({ assistantMessageEvent: { content: text } });
    // U+2028 stands in the line as it is.
    expect(line).toContain('\u2028');
    await child.line('the end', isSettled);
    expect(child.bytes.includes(Buffer.from([0xe6, 0xbc, 0xa2, 0xff, 0x0a]))).toBe(true);
    // How many pieces arrive as they were written is up to the system; that it is one read per line is not.
    expect(child.chunks.filter((chunk) => chunk.at(-1) !== 0x0a).length).toBeGreaterThan(3);
    for (const one of child.lines) if (!one.includes('\ufffd')) JSON.parse(one);
  });

  it('hands the system the pieces it was told to', async () => {
    const pieces: string[] = [];
    const stream = {
      on: () => undefined,
      write: (bytes: Buffer, done: () => void) => {
        pieces.push(bytes.toString('latin1'));
        setImmediate(done);
      },
    };
    const output = new Output(stream);
    void output.write('whole');
    output.splitAt({ every: 2 });
    void output.write('abcde');
    output.splitAt({ at: [3, 10, 99], gapMs: 1 });
    void output.write('abcdefghijklm');
    output.splitAt(undefined);
    await output.write('whole');
    expect(pieces).toEqual(['whole', 'ab', 'cd', 'e', 'abc', 'defghij', 'klm', 'whole']);
    output.mute();
    await output.write('never');
    expect(pieces).toHaveLength(8);
  });

  it('emits any record', async () => {
    await using setup = await setUp();
    await run(setup.pi, { steps: [{ emit: { type: 'extension_error', error: 'boom' } }, { say: 'x' }] });
    expect(ofType(setup.pi.events, 'extension_error')).toEqual([{ type: 'extension_error', error: 'boom' }]);
  });
});

describe.concurrent('processes of the fake', () => {
  it.for([
    ['stdout', true, false],
    ['stderr', false, true],
    ['both', true, true],
    ['none', false, false],
  ] as const)('leaves a grandchild that holds %s', async ([holds, stdout, stderr]) => {
    await using place = await install();
    await using child = rawChild(place);
    child.prompt(
      fakeTask({
        steps: [{ grandchild: holds, ownSession: true }, { say: '{{grandchild}}' }],
        settled: [{ exit: 0 }],
      }),
    );
    await child.exited();
    const ends = { stdout: child.process.stdout.readableEnded, stderr: child.process.stderr.readableEnded };
    const left = await place.fake.running();
    expect(left).toHaveLength(1);
    const message = child.lines.find((line) => line.includes('"type":"message_end"') && line.includes('"assistant"'));
    expect(message).toContain(`"text":"${left[0]}"`);
    await waitFor('the pipes nobody holds', () => {
      ends.stdout = child.process.stdout.readableEnded;
      ends.stderr = child.process.stderr.readableEnded;
      return (stdout || ends.stdout) && (stderr || ends.stderr);
    });
    expect(child.isClosed).toBe(holds === 'none');
    expect(ends).toEqual({ stdout: !stdout, stderr: !stderr });
    expect(await place.fake.cleanup()).toEqual(left);
    await waitFor('the end of the pipes', () => child.isClosed);
  });

  it.skipIf(process.platform === 'win32')(
    'leaves a grandchild in a session of its own that ignores SIGTERM',
    async () => {
      await using setup = await setUp();
      await run(setup.pi, {
        steps: [
          { grandchild: 'none', ownSession: true, ignoreTerm: true },
          { grandchild: 'none', bareEnvironment: true, seconds: 60 },
          { say: 'x' },
        ],
      });
      const [first = 0, second = 0] = (await setup.fake.running()).filter((pid) => pid !== setup.pi.pid);
      const stubborn = (await groupOf(first)) === first ? first : second;
      const plain = stubborn === first ? second : first;
      expect(await groupOf(stubborn)).toBe(stubborn);
      expect(await groupOf(plain)).not.toBe(plain);
      await setup.pi.stop();
      process.kill(stubborn, 'SIGTERM');
      process.kill(plain, 'SIGTERM');
      await waitFor('the end of the plain one', () => !isAlive(plain));
      expect(isAlive(stubborn)).toBe(true);
      expect(await setup.fake.cleanup()).toEqual([stubborn]);
      expect(isAlive(stubborn)).toBe(false);
    },
  );

  async function groupOf(pid: number): Promise<number> {
    const child = spawn('ps', ['-o', 'pgid=', '-p', String(pid)], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    await once(child, 'close');
    return Number(text);
  }

  it('spends processor time at the start', async () => {
    await using setup = await setUp({ env: fakeEnvironment({ start: [{ cpu: 300 }] }) });
    const startedAt = performance.now();
    await setup.pi.state();
    expect(performance.now() - startedAt).toBeGreaterThan(300);
  });

  it('starts one way first and another way then, and tells its starts', async () => {
    const launch: FakeLaunchPlan = [
      { match: '--thinking low', launches: [{ start: [{ exit: 1 }] }, { start: [{ exit: 2 }] }, {}] },
      { models: ['fake/other'] },
    ];
    await using setup = await setUp({ launch });
    expect(await setup.pi.state()).toMatchObject({ model: { id: 'other' } });
    const low = () => setup.start(['--thinking', 'low']);
    expect(await ended(low())).toBe('ended with 1');
    expect(await ended(low())).toBe('ended with 2');
    const third = low();
    expect(await third.state()).toMatchObject({ model: { id: 'scripted' } });
    expect(await low().state()).toMatchObject({ model: { id: 'scripted' } });
    const launches = await setup.fake.launches('child');
    expect(launches.map((one) => one.n)).toEqual([1, 2, 3, 4, 5]);
    expect(launches[3]).toMatchObject({ pid: third.pid, cwd: setup.cwd, args: expect.arrayContaining(['low']) });
    expect(launches[3]?.env).toContain('PI_CODING_AGENT_DIR');
    expect((await third.run(fakeTask({ steps: [{ say: '{{launch}}' }] }))).text).toBe('4');
  });

  it('plays another plan at each attempt, in any process', async () => {
    await using setup = await setUp();
    const plan: FakeTask = { attempts: [{ accepted: [{ exit: 1 }] }, { steps: [{ say: 'attempt {{attempt}}' }] }] };
    setup.pi.send({ type: 'prompt', message: fakeTask(plan) });
    expect(await ended(setup.pi)).toBe('ended with 1');
    const second = setup.start();
    expect((await run(second, plan)).text).toBe('attempt 2');
    expect((await run(second, plan)).text).toBe('attempt 3');
    second.send({ type: 'prompt', message: fakeTask({ ...plan, key: 'another' }) });
    expect(await ended(second)).toBe('ended with 1');
  });

  it('plays the plan of its start for a task without one', async () => {
    await using setup = await setUp({ launch: { task: { steps: [{ say: 'planned: {{prompt}}' }] } } });
    expect((await setup.pi.run('plain words')).text).toBe('planned: plain words');
  });
});

describe.concurrent('the session file of the fake', () => {
  it('begins with the first user message and is only appended to', async () => {
    await using setup = await setUp({ args: ['--name', 'first name'] });
    const { sessionId } = await setup.pi.state();
    const file = await sessionFileOf(setup.pi);
    expect(dirname(file)).toBe(setup.sessions);
    expect(existsSync(file)).toBe(false);
    const from = await begin(setup.pi, { steps: [{ gate: 'asked' }, { say: 'one' }] });
    await setup.fake.arrivedAt('asked');
    const before = await readFile(file, 'utf8');
    await setup.fake.open('asked');
    await setup.pi.settle(from);
    await setup.pi.request('set_session_name', { name: 'second name' });
    expect((await readFile(file, 'utf8')).startsWith(before)).toBe(true);
    const [header, ...entries] = await sessionLines(file);
    expect(header).toMatchObject({ type: 'session', version: 3, id: sessionId, cwd: setup.cwd });
    expect(entries).toMatchObject([
      { type: 'session_info', parentId: null, name: 'first name' },
      { type: 'model_change', provider: 'fake', modelId: 'scripted' },
      { type: 'thinking_level_change' },
      { type: 'message', message: { role: 'system' } },
      { type: 'message', message: { role: 'user' } },
      { type: 'message', message: { role: 'assistant', content: [{ text: 'one' }] } },
      { type: 'session_info', name: 'second name' },
    ]);
    expect(entries.slice(1).map((entry) => entry['parentId'])).toEqual(
      entries.slice(0, -1).map((entry) => entry['id']),
    );
    expect((await setup.pi.request('get_entries')).data).toEqual({ entries, leafId: entries.at(-1)?.['id'] });
    const since = await setup.pi.request('get_entries', { since: entries[4]?.['id'] });
    expect(since.data).toMatchObject({ entries: entries.slice(5) });
    expect(await setup.pi.request('get_entries', { since: 'x' })).toMatchObject({ success: false });
    expect((await setup.pi.request('get_last_assistant_text')).data).toEqual({ text: 'one' });
  });

  it('of an old version begins with the first answer', async () => {
    await using setup = await setUp({ version: '0.73.1' });
    const file = await sessionFileOf(setup.pi);
    await begin(setup.pi, { steps: [{ gate: 'asked' }, { say: 'one' }] });
    await setup.fake.arrivedAt('asked');
    expect(existsSync(file)).toBe(false);
    await setup.fake.open('asked');
    await waitFor('the file', () => existsSync(file));
  });

  it('is resumed, forked and named', async () => {
    await using setup = await setUp({ args: ['--thinking', 'high'] });
    await setup.pi.run('first');
    const file = await sessionFileOf(setup.pi);
    const { sessionId } = await setup.pi.state();
    await setup.pi.stop();
    const resumed = setup.start(['--session', file]);
    expect(await resumed.state()).toMatchObject({ sessionId, sessionFile: file, messageCount: 3 });
    expect((await run(resumed, { steps: [{ say: '{{users}} messages' }] })).text).toBe('2 messages');
    await resumed.stop();
    const forked = setup.start(['--fork', file, '--session-id', 'my-fork']);
    expect(await forked.state()).toMatchObject({ sessionId: 'my-fork', messageCount: 5 });
    const copy = await sessionFileOf(forked);
    await forked.run('only here');
    const [header, ...entries] = await sessionLines(copy);
    expect(header).toMatchObject({ id: 'my-fork', parentSession: file });
    expect(entries.slice(0, -2)).toEqual((await sessionLines(file)).slice(1));
    await forked.stop();
    const again = setup.start(['--session-id', 'my-fork']);
    expect(await again.state()).toMatchObject({ sessionFile: copy, messageCount: 7 });
    const byId = setup.start(['--session', sessionId]);
    expect(await byId.state()).toMatchObject({ sessionFile: file });
    const fresh = setup.start(['--session-id', 'not-yet']);
    expect(await fresh.state()).toMatchObject({ sessionId: 'not-yet', messageCount: 0 });
    expect(fresh.stderr).toContain('creating a new session with that id');
  });

  it('is refused without a header or a working folder, as by Pi', async () => {
    await using setup = await setUp();
    await run(setup.pi, { session: 'headerless', steps: [{ say: 'x' }] });
    const headerless = await sessionFileOf(setup.pi);
    expect((await sessionLines(headerless))[0]).toMatchObject({ type: 'model_change' });
    const refused = setup.start(['--session', headerless]);
    expect(await ended(refused)).toBe('ended with 1');
    expect(refused.stderr).toContain('not a valid pi session');
    const second = setup.start();
    await second.run('x');
    const file = await sessionFileOf(second);
    await second.stop();
    await setup.pi.stop();
    await rm(setup.cwd, { recursive: true });
    const homeless = new PiRpc({ cli: setup.fake.cli, cwd: setup.folder, env: setup.env, args: ['--session', file] });
    expect(await ended(homeless)).toBe('ended with 1');
    expect(homeless.stderr).toContain('working directory does not exist');
  });

  it('is deleted in the middle of a run, for good or to begin again', async () => {
    await using setup = await setUp();
    const file = await sessionFileOf(setup.pi);
    await run(setup.pi, { steps: [{ say: 'one' }, { deleteSession: 'recreate' }, { say: 'two' }] });
    expect(await sessionLines(file)).toMatchObject([{ message: { content: [{ text: 'two' }] } }]);
    await run(setup.pi, { steps: [{ deleteSession: true }, { say: 'three' }] });
    expect(existsSync(file)).toBe(false);
    expect(await readdir(setup.sessions)).toEqual([]);
  });

  it('does not exist with --no-session', async () => {
    await using setup = await setUp({ args: ['--no-session'] });
    await setup.pi.run('x');
    expect((await setup.pi.state()).sessionFile).toBeUndefined();
    expect(existsSync(setup.sessions)).toBe(false);
  });
});

describe('the fake beside a real pi 1.6', () => {
  /** What a client acts on, of each event. */
  function essence(events: readonly PiEvent[]) {
    const kept = events.filter((event) => !event.type.endsWith('_update') || event.type === 'queue_update');
    return kept.map((event) => {
      const message = event['message'];
      const { role, stopReason } =
        typeof message === 'object' && message !== null ? (message as Record<string, unknown>) : {};
      const { willRetry, aborted, isError, success, attempt, maxAttempts } = event;
      return { type: event.type, role, stopReason, willRetry, aborted, isError, success, attempt, maxAttempts };
    });
  }

  it('emits the same events for the same story', async () => {
    await using model = { ...(await startScriptedModel()), [Symbol.asyncDispose]: () => model.close() };
    await using agent = await createAgentDir({ modelUrl: model.url }).then((made) =>
      Object.assign(made, { [Symbol.asyncDispose]: () => made.cleanup() }),
    );
    await using setup = await setUp({ args: ['--model', 'fake/scripted', '--thinking', 'high'] });
    await using real = new PiRpc({
      cli: await piCli('1.6'),
      cwd: setup.cwd,
      env: agent.env,
      args: ['--model', 'fake/scripted', '--thinking', 'high', '--no-session'],
    });
    const steps = (list: object[]) => `SCRIPT:steps ${JSON.stringify(list)}`;
    const echo = (command: string) => ({ tool: 'bash', args: { command } });

    const stories: [string, FakeTask][] = [
      ['SCRIPT:hello', { steps: [{ say: 'Hello' }] }],
      [
        steps([{ calls: [echo('echo a'), echo('echo b')] }, { text: 'done' }]),
        { steps: [{ tools: [{}, { ms: 5 }] }, { say: 'done' }] },
      ],
      ['SCRIPT:fail-400', { steps: [{ error: '400' }] }],
      ['SCRIPT:flaky times=1', { steps: [{ error: '529', retry: true }, { say: 'recovered' }] }],
      [
        'SCRIPT:fail-500',
        {
          steps: [
            { error: '500', retry: true },
            { error: '500', retry: true },
            { error: '500', retry: true },
            { error: '500' },
          ],
        },
      ],
    ];
    for (const [script, plan] of stories) {
      const theirs = await real.run(script);
      const ours = await run(setup.pi, plan);
      expect(essence(ours.events), script).toEqual(essence(theirs.events));
    }

    const abort = async (pi: PiRpc, prompt: string) => {
      const from = await pi.prompt(prompt);
      await pi.waitForEvent('the tool', (event) => event.type === 'tool_execution_start', from);
      await pi.request('abort');
      return essence((await pi.settle(from)).events);
    };
    const theirs = await abort(real, steps([{ calls: [echo('sleep 20')] }, { text: 'never' }]));
    expect(await abort(setup.pi, fakeTask({ steps: [{ tools: [{ ms: 20_000 }] }] }))).toEqual(theirs);

    const steer = async (pi: PiRpc, prompt: string, message: string) => {
      const from = await pi.prompt(prompt);
      await pi.waitForEvent('the tool', (event) => event.type === 'tool_execution_start', from);
      await pi.request('steer', { message });
      return essence((await pi.settle(from)).events);
    };
    const steered = await steer(real, steps([{ calls: [echo('sleep 0.3')] }, { text: 'old' }]), 'SCRIPT:hello');
    const plan: FakeTask = { steps: [{ tools: [{ ms: 300 }] }, { say: 'heard {{steers}}' }] };
    expect(await steer(setup.pi, fakeTask(plan), 'please')).toEqual(steered);

    // The first messages have the same keys, and so have the answers to the handshake.
    const keysOf = (value: unknown) => Object.keys(value as object).sort();
    const state = (await real.request('get_state')).data as Record<string, unknown>;
    const own = (await setup.pi.request('get_state')).data as Record<string, unknown>;
    expect(keysOf(own).filter((key) => key !== 'sessionFile')).toEqual(keysOf(state));
    const model0 = keysOf(state['model']).filter((key) => key !== 'compat');
    expect(keysOf(own['model'])).toEqual(model0);
  });
});

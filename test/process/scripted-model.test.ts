import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type AgentDirOptions, createAgentDir } from '../support/agent-dir.ts';
import { type PiVersion, piCli, piVersions } from '../support/pi-versions.ts';
import { isAlive } from '../support/process-state.ts';
import { projectRoot } from '../support/project-root.ts';
import { type PiEvent, PiRpc } from '../support/rpc-client.ts';
import { type ScriptedModel, startScriptedModel, UNICODE_SAMPLE } from '../support/scripted-model/index.ts';
import { splitLines } from '../support/split-lines.ts';
import { tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';

let model: ScriptedModel;

// A cold cache means two npm installs; five minutes is npm's own deadline in piCli.
beforeAll(async () => {
  model = await startScriptedModel();
  await Promise.all(piVersions.map(piCli));
}, 300_000);

afterAll(() => model.close());

/** A Pi of its own with an agent directory and a working folder of its own; all three go when the test ends. */
async function setUp(version: PiVersion, options: Omit<AgentDirOptions, 'modelUrl'> = {}) {
  const stack = new AsyncDisposableStack();
  const agent = stack.use(await createAgentDir({ modelUrl: model.url, ...options }));
  const folder = stack.use(await tempDir({ name: 'awkward' }));
  const pi = stack.use(new PiRpc({ cli: await piCli(version), cwd: folder.path, env: agent.env }));
  const { sessionId, model: used } = await pi.state();
  return {
    pi,
    cwd: folder.path,
    used,
    requests: () => model.requests.filter((one) => one.session === sessionId),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const ofType = (events: readonly PiEvent[], type: string) => events.filter((one) => one.type === type);

/** The number a shell wrote with `echo $$ > file`. */
function pidIn(file: string): Promise<number> {
  return waitFor(`a process id in ${file}`, async () => Number.parseInt(await readFile(file, 'utf8'), 10) || undefined);
}

describe.concurrent.for(piVersions)('pi %s on the scripted model', (version) => {
  // One after another in one Pi, because starting Pi is what costs. The huge answer comes last: it fills the context.
  describe('in one session', { concurrent: false }, () => {
    let setup: Awaited<ReturnType<typeof setUp>>;
    beforeAll(async () => {
      setup = await setUp(version);
    });
    afterAll(() => setup[Symbol.asyncDispose]());

    it('answers the handshake with the scripted model and asks with a key, its tools and its session id', async () => {
      expect(setup.used).toMatchObject({ provider: 'fake', id: 'scripted' });
      const outcome = await setup.pi.run('SCRIPT:hello');
      expect(outcome).toMatchObject({ stopReason: 'stop', text: 'Hello from the scripted model.' });
      expect(setup.requests()).toHaveLength(1);
      expect(setup.requests()[0]).toMatchObject({ model: 'scripted', authorized: true, script: 'hello', step: 0 });
      expect(setup.requests()[0]?.tools).toEqual(expect.arrayContaining(['read', 'bash', 'edit', 'write']));
      expect(setup.pi.strays).toEqual([]);
    });

    it('writes, reads and prints a file in its working folder', async () => {
      const outcome = await setup.pi.run('SCRIPT:edit {"file":"new file.txt","content":"made by the model ✓\\n"}');
      expect(outcome.text).toBe('new file.txt holds: made by the model ✓');
      expect(await readFile(join(setup.cwd, 'new file.txt'), 'utf8')).toBe('made by the model ✓\n');
      expect(
        setup
          .requests()
          .filter((one) => one.script === 'edit')
          .map((one) => one.step),
      ).toEqual([0, 1, 2, 3]);
    });

    it('plays the demo: reads the README, writes, edits and checks a file', async () => {
      await writeFile(join(setup.cwd, 'README.md'), '# Tea timer\n\nCounts minutes.\n');
      const outcome = await setup.pi.run('SCRIPT:demo tokenMs=1');
      expect(outcome.stopReason).toBe('stop');
      expect(outcome.text).toContain('Status: checked');
      expect(ofType(outcome.events, 'tool_execution_end').map((one) => [one['toolName'], one['isError']])).toEqual(
        ['read', 'write', 'edit', 'bash'].map((tool) => [tool, false]),
      );
      const notes = await readFile(join(setup.cwd, 'NOTES.md'), 'utf8');
      expect(notes).toContain('About: Tea timer');
      expect(notes).toContain('- Status: checked');
    });

    it('runs several tools of one turn, and steps composed in the prompt', async () => {
      expect((await setup.pi.run('SCRIPT:parallel-tools count=4')).text).toBe('tool-0, tool-1, tool-2, tool-3');
      const steps = [{ calls: [{ tool: 'bash', args: { command: 'echo composed' } }] }, { text: 'bash: {{tool}}' }];
      expect((await setup.pi.run(`SCRIPT:steps ${JSON.stringify(steps)}`)).text).toBe('bash: composed');
    });

    it('takes a steering message into the running turn', async () => {
      const from = await setup.pi.prompt('SCRIPT:echo-steer seconds=0.5');
      await setup.pi.waitForEvent('the bash call', (one) => one.type === 'tool_execution_start', from);
      expect(await setup.pi.request('steer', { message: 'turn left, 左' })).toMatchObject({ success: true });
      const outcome = await setup.pi.settle(from);
      expect(outcome.text).toBe('steered: turn left, 左');
    });

    it('shows thinking, an empty answer and an answer at the length limit as what they are', async () => {
      const thought = await setup.pi.run('SCRIPT:think');
      expect(thought.text).toBe('Then I answer.');
      expect(JSON.stringify(thought.events)).toContain('"thinking":"First I think about it. "');
      expect(await setup.pi.run('SCRIPT:empty')).toMatchObject({ stopReason: 'stop', text: '' });
      expect(await setup.pi.run('SCRIPT:length')).toMatchObject({ stopReason: 'length' });
    });

    it('keeps every character, in a prompt and in an answer', async () => {
      expect((await setup.pi.run('SCRIPT:unicode')).text).toBe(UNICODE_SAMPLE);
      expect((await setup.pi.run(`SCRIPT:say ${JSON.stringify({ text: UNICODE_SAMPLE })}`)).text).toBe(UNICODE_SAMPLE);
      expect(setup.pi.strays).toEqual([]);
    });

    it('hands on a reply of 2 MB whole', async () => {
      const outcome = await setup.pi.run('SCRIPT:huge bytes=2000000');
      expect(outcome.text.length).toBe(2_000_000);
      expect(outcome.text.endsWith('0123456789abcdef')).toBe(true);
    });
  });

  describe('in a session of its own', () => {
    it('aborts a running bash and ends its process', async () => {
      await using setup = await setUp(version);
      const steps = [{ calls: [{ tool: 'bash', args: { command: 'echo $$ > bash.pid; exec sleep 600' } }] }];
      const from = await setup.pi.prompt(`SCRIPT:steps ${JSON.stringify(steps)}`);
      const pid = await pidIn(join(setup.cwd, 'bash.pid'));
      expect(isAlive(pid)).toBe(true);
      expect(await setup.pi.request('abort')).toMatchObject({ success: true });
      expect((await setup.pi.settle(from)).stopReason).toBe('aborted');
      await waitFor('the end of the bash process', () => !isAlive(pid));
    });

    it('does not wait for a process that bash left in the background', async () => {
      await using setup = await setUp(version);
      const outcome = await setup.pi.run('SCRIPT:bash-background seconds=600');
      const pid = await pidIn(join(setup.cwd, 'background.pid'));
      expect(outcome.text).toBe('bash said: left it running');
      expect(isAlive(pid)).toBe(true);
      process.kill(pid, 'SIGKILL');
    });

    it('disconnects from a slow and from a hanging answer when aborted', async () => {
      await using setup = await setUp(version);
      const slow = await setup.pi.prompt('SCRIPT:slow');
      await setup.pi.waitForEvent('some tokens', (one) => one.type === 'message_update', slow);
      await setup.pi.request('abort');
      expect((await setup.pi.settle(slow)).stopReason).toBe('aborted');
      const hang = await setup.pi.prompt('SCRIPT:hang');
      await waitFor('the hanging request', () => setup.requests().some((one) => one.script === 'hang'));
      await setup.pi.request('abort');
      expect((await setup.pi.settle(hang)).stopReason).toBe('aborted');
      await waitFor('both disconnects', () => setup.requests().every((one) => one.outcome === 'disconnected'));
    });

    it('reports a 500 and a cut connection as an error after its retries, and a 400 at once', async () => {
      await using setup = await setUp(version);
      const failed = await setup.pi.run('SCRIPT:fail-500');
      expect(failed.stopReason).toBe('error');
      expect(failed.errorMessage).toContain('scripted 500');
      expect(ofType(failed.events, 'auto_retry_start')).toHaveLength(3);
      expect(setup.requests()).toHaveLength(4);
      const cut = await setup.pi.run('SCRIPT:cut');
      expect(cut.stopReason).toBe('error');
      expect(cut.text).toMatch(/^this answer is cut word-1 /);
      expect(ofType(cut.events, 'auto_retry_start')).toHaveLength(3);
      const refused = await setup.pi.run('SCRIPT:fail-400');
      expect(refused.stopReason).toBe('error');
      expect(ofType(refused.events, 'auto_retry_start')).toHaveLength(0);
    });

    it('gets over a 429, a 529 and a cut connection by retrying', async () => {
      await using setup = await setUp(version);
      for (const [prompt, text] of [
        ['SCRIPT:rate-limit', 'recovered after 429'],
        ['SCRIPT:flaky times=2', 'recovered after 529'],
        ['SCRIPT:cut times=1', expect.stringMatching(/^this answer is cut word-1 .* word-20 $/)],
      ] as const) {
        const outcome = await setup.pi.run(prompt);
        expect(outcome).toMatchObject({ stopReason: 'stop', text });
        expect(ofType(outcome.events, 'auto_retry_end')).toMatchObject([{ success: true }]);
      }
      expect(setup.requests().map((one) => one.outcome)).toEqual([
        'failed',
        'answered',
        'failed',
        'failed',
        'answered',
        'cut',
        'answered',
      ]);
    });

    it('compacts near the context window and goes on', async () => {
      await using setup = await setUp(version);
      const outcome = await setup.pi.run('SCRIPT:compact');
      expect(ofType(outcome.events, 'compaction_end')).toMatchObject([{ reason: 'threshold', aborted: false }]);
      expect(JSON.stringify(ofType(outcome.events, 'compaction_end'))).toContain('Continue the scripted conversation.');
      expect((await setup.pi.run('SCRIPT:hello')).text).toBe('Hello from the scripted model.');
    });

    it('has no model to offer in an agent directory without models', async () => {
      await using setup = await setUp(version, { models: 'none' });
      expect(setup.used.provider).toBe('unknown');
      expect(await setup.pi.request('prompt', { message: 'SCRIPT:hello' })).toMatchObject({ success: false });
    });
  });
});

describe.concurrent('the scripted model as a process', () => {
  const main = join(projectRoot(), 'test/support/scripted-model/main.ts');
  const hello = z.strictObject({ url: z.url(), port: z.number() });

  async function start() {
    const child = spawn(process.execPath, [main], { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines: string[] = [];
    child.stdout.on(
      'data',
      splitLines((line) => lines.push(line)),
    );
    const line = await waitFor('the line with the address', () => lines[0]);
    return { child, address: hello.parse(JSON.parse(line)) };
  }

  it('answers, and ends when its stdin closes', async () => {
    const { child, address } = await start();
    const models = await fetch(`${address.url}/v1/models`);
    expect(await models.json()).toMatchObject({ data: [{ id: 'scripted' }, { id: 'scripted-b' }] });
    child.stdin.end();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('ends on SIGTERM, even with a request under way', async () => {
    const { child, address } = await start();
    const body = JSON.stringify({ model: 'scripted', messages: [{ role: 'user', content: 'SCRIPT:hang' }] });
    const request = fetch(`${address.url}/v1/chat/completions`, { method: 'POST', body }).catch(() => 'cut');
    await waitFor('the request in the log', async () =>
      (await (await fetch(`${address.url}/requests`)).text()).includes('hang'),
    );
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(await request).toBe('cut');
  });
});

/** What runs do to a disk, and what a disk does to runs: full ones, floods, and secrets in files. */
import { execFile } from 'node:child_process';
import { mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { forceStopRun, readResultText, stopRun, Toolbox, TranscriptFollower } from '../../src/client/index.ts';
import { readJournal } from '../../src/core/journal/index.ts';
import { inspectLock } from '../../src/core/locks/index.ts';
import { childLayout, rootLayout, runLayout } from '../../src/core/projects/index.ts';
import { readFinalStatus } from '../../src/core/runs/index.ts';
import { sessionHolder } from '../../src/core/sessions/index.ts';
import { MIRROR_LIMITS } from '../../src/core/transcripts/mirror-writer.ts';
import { isProgress, isTerminal, type JournalLine } from '../../src/protocol/index.ts';
import { readReceipt } from '../../src/runner/workflow/receipts.ts';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { isAlive } from '../support/process-state.ts';
import { ended, ofType, owner, type Started, startWorker } from '../support/started-run.ts';
import { waitFor } from '../support/wait-for.ts';
import { TestWorkflow } from '../support/workflow-runs.ts';
import { createWorld, type World } from '../support/world.ts';
import { pemKey, secrets } from '../unit/builders/secrets.ts';

const run = promisify(execFile);
const MB = 1024 * 1024;

type Plan = Parameters<typeof fakeTask>[0];

interface Extra {
  toolbox?: Toolbox;
  output?: string;
  /** In front of the plan in the task. */
  text?: string;
}

async function start(world: World, plan: Plan, extra: Extra = {}): Promise<Started> {
  const { text, ...request } = extra;
  return startWorker(world, fakeTask(plan, text), request);
}

/** What can be read of the journal, also while it is being written. */
const journalOf = (started: Started) => readJournal(runLayout(started.directory).journal);

async function runnerOf(started: Started): Promise<number> {
  const { lines } = await journalOf(started);
  const [line] = ofType(lines, 'runner.started');
  if (!line) throw new Error('the run has no runner');
  return line.process.pid;
}

/** All files below a folder. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

let fake: FakePi;
let world: World;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  ({ fake, world } = await fakeWorld(stack));
});
afterAll(() => expectNobodyLeft(stack, { fake, world }));

test('run-25 a journal at its limit says so once, and what comes of the run is the same', async () => {
  const LIMIT = 8192;
  const plan: Plan = { steps: [{ flood: 'lines', mb: 1, lineBytes: 1900 }, { say: 'All the same.' }] };
  const env = { ...world.env, PI_SUBAGENT_ASYNC_EVENTS_MAX_BYTES: `${LIMIT}` };
  const toolbox = new Toolbox({ env, distDirectory: world.dist, client: { kind: 'cli', version: 'test' } });
  const [limited, free] = [await start(world, plan, { toolbox }), await start(world, plan)];
  const { snapshot, child, lines } = await ended(limited);
  const other = await ended(free);
  const cut = lines.findIndex(({ type }) => type === 'journal.truncated');
  expect(ofType(lines, 'journal.truncated')).toMatchObject([{ limit: LIMIT }]);
  expect(ofType(other.lines, 'journal.truncated')).toEqual([]);
  const kinds = (from: JournalLine[]) => from.map(({ type }) => type).filter((type) => !isProgress(type));
  expect(lines.slice(cut).filter(({ type }) => isProgress(type))).toEqual([]);
  expect(kinds(lines).filter((type) => type !== 'journal.truncated')).toEqual(kinds(other.lines));
  expect(snapshot).toMatchObject({ state: 'complete', error: null, view: { progressCut: true } });
  expect(child).toMatchObject({ turns: other.child?.turns, usage: other.child?.usage, sessionState: 'ok' });
  expect(await readResultText(limited.directory, 1)).toBe('All the same.');
  expect(await readFinalStatus(limited.directory)).toEqual(snapshot.view);
  const told = 'journal    full: what the agent is doing is not recorded any more';
  expect((await world.cli(['status', limited.runId])).stdout).toContain(told);
  expect((await world.cli(['status', free.runId])).stdout).not.toContain('full:');
});

describe('a full disk', () => {
  let world: World;
  /** Why no small file system can be mounted here, if so. */
  let obstacle: string | undefined;
  const stack = new AsyncDisposableStack();
  beforeAll(async () => {
    world = stack.use(await createWorld({ piPath: fake.folder, git: false }));
    const { root } = rootLayout(world.agent.agentDir);
    await mkdir(root, { recursive: true });
    try {
      await run('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=700', 'tmpfs', root]);
      // Lazy: whatever may still look into it, the folder must be removable.
      stack.defer(() => run('umount', ['--lazy', root]).then(() => undefined));
    } catch (error) {
      obstacle = error instanceof Error ? error.message.trim() : String(error);
    }
  });
  afterAll(() => stack.disposeAsync());

  function needsDisk({ skip }: TestContext): void {
    if (obstacle !== undefined) skip(`no small file system can be mounted here: ${obstacle}`);
  }

  const filler = () => join(rootLayout(world.agent.agentDir).root, 'filler');

  /** Leaves not one page free. */
  async function fill(): Promise<void> {
    const file = await open(filler(), 'a');
    try {
      for (const size of [MB, 64 * 1024, 4096]) {
        const block = Buffer.alloc(size);
        while ((await file.write(block).catch(() => ({ bytesWritten: 0 }))).bytesWritten > 0);
      }
    } finally {
      await file.close();
    }
  }
  const makeRoom = () => rm(filler(), { force: true });

  test('run-24 that fills up while a child works: the run goes on, and when there is room all of it is there', async (context) => {
    needsDisk(context);
    const assistant = (text: string) => ({
      type: 'message_end',
      message: { role: 'assistant', content: [{ type: 'text', text }], stopReason: 'stop' },
    });
    const tool = { toolCallId: 'call-1', toolName: 'bash' };
    const output = `output ${'x'.repeat(20_000)} of the tool`;
    const started = await start(world, {
      steps: [
        { say: 'Before it was full.' },
        { gate: 'fill' },
        // None of this touches a file of the fake: its session lies on the same disk.
        { flood: 'lines', mb: 1, lineBytes: 1900 },
        { emit: { type: 'tool_execution_start', ...tool, args: {} } },
        { emit: { type: 'tool_execution_end', ...tool, result: { content: [{ type: 'text', text: output }] } } },
        { emit: assistant('While it was full.') },
        { gate: 'go-on' },
      ],
      settled: [{ gate: 'settled' }],
    });
    await fake.arrivedAt('fill');
    await fill();
    try {
      await fake.open('fill');
      await fake.arrivedAt('go-on');
      const { lines } = await journalOf(started);
      expect(ofType(lines, 'child.stdout').length).toBeLessThan(100);
      expect((await started.store.read(started.runId)).state).toBe('running');
      await fake.open('go-on');
      await fake.arrivedAt('settled');
      expect((await started.store.read(started.runId)).state).toBe('running');
      expect(isAlive(await runnerOf(started))).toBe(true);
      expect(await readResultText(started.directory, 1)).toBeUndefined();
    } finally {
      await makeRoom();
    }
    await fake.open('settled');
    const { snapshot, child, lines } = await ended(started);
    expect(snapshot).toMatchObject({ state: 'complete', error: null });
    expect(child).toMatchObject({ turns: 2, toolCalls: 1, sessionState: 'ok', exit: { exitCode: 0, tree: 'gone' } });
    expect(ofType(lines, 'child.stdout')).toHaveLength(100);
    expect(lines.at(-1)).toMatchObject({ type: 'run.ended', state: 'complete' });
    expect(await readResultText(started.directory, 1)).toBe('While it was full.');
    expect(await readFinalStatus(started.directory)).toEqual(snapshot.view);
    const { stdout } = await world.cli(['transcript', started.runId]);
    for (const part of ['Before it was full.', output, 'While it was full.']) expect(stdout).toContain(part);
    expect(stdout).not.toContain('could not be read');
    await expectGivenBack(started, child?.session?.file);
  });

  test('run-24 that fills up while a child is ending does not turn its success into a failure', async (context) => {
    needsDisk(context);
    const plan: Plan = { steps: [{ say: 'All done.' }], settled: [{ hang: 'stuck' }] };
    const started = await start(world, plan, { output: 'answer.md' });
    await waitFor('the result', () => readResultText(started.directory, 1));
    await waitFor('the verdict', async () => ofType((await journalOf(started)).lines, 'child.settled').length === 1);
    await fill();
    try {
      await waitFor('the child to be gone', async () => (await fake.running()).length === 0);
      // Short lines may still fit into the last page of the journal; giving back a lock needs a page of its own.
      const over = async () => (await journalOf(started)).lines.some((line) => line.type === 'run.ended');
      await expect(waitFor('the end of the run', over, { timeoutMs: 1500 })).rejects.toThrow('waited');
      expect((await started.store.read(started.runId)).state).toBe('running');
    } finally {
      await makeRoom();
    }
    const { snapshot, child } = await ended(started);
    expect(snapshot).toMatchObject({ state: 'complete', error: null });
    expect(child?.output).toMatchObject({ outcome: 'saved', error: null });
    await expectGivenBack(started, child?.session?.file);
    // Nobody holds the file of the answer either.
    expect((await ended(await start(world, { steps: [{ say: 'x' }] }, { output: 'answer.md' }))).snapshot.state).toBe(
      'complete',
    );
  });

  test('run-24 that is full does not keep a child from being stopped', async (context) => {
    needsDisk(context);
    const started = await start(world, {
      steps: [
        { say: 'At work.' },
        { gate: 'before' },
        { flood: 'lines', mb: 1, lineBytes: 1900 },
        { gate: 'stop-full' },
      ],
    });
    await fake.arrivedAt('before');
    await fill();
    // From here on not even a short line fits into the journal.
    await fake.open('before');
    await fake.arrivedAt('stop-full');
    const stopped = stopRun(world.toolbox, started.directory, owner);
    try {
      await waitFor('the child to be gone', async () => (await fake.running()).length === 0);
    } finally {
      await makeRoom();
    }
    expect(await stopped).toEqual({ outcome: 'done' });
    const { snapshot, lines } = await ended(started);
    expect(snapshot.state).toBe('stopped');
    expect(ofType(lines, 'control.requested')).toMatchObject([{ action: 'stop' }]);
  });

  test('run-24 that is full does not keep a run that cannot come to its end from being stopped by force', async (context) => {
    needsDisk(context);
    const started = await start(world, {
      steps: [
        { say: 'At work.' },
        { gate: 'before-force' },
        { flood: 'lines', mb: 1, lineBytes: 1900 },
        { gate: 'force-full' },
      ],
    });
    await fake.arrivedAt('before-force');
    await fill();
    await fake.open('before-force');
    await fake.arrivedAt('force-full');
    const force = () => forceStopRun(world.toolbox, started.directory, owner);
    try {
      // It answers, and nobody has asked it for its end.
      await expect(force()).rejects.toMatchObject({ code: 'runner_refused' });
      const asked = stopRun(world.toolbox, started.directory, owner).catch((error: unknown) => error);
      await waitFor('the child to be gone', async () => (await fake.running()).length === 0);
      // Now it waits for room to write its end, and answers all the time.
      // It and what is left are ended; that the end itself cannot be written either is said.
      await expect(force()).rejects.toMatchObject({ code: expect.stringMatching(/^(?:disk_full|runner_died)$/) });
      expect(await asked).toMatchObject({ code: expect.stringMatching(/^runner_/) });
      expect((await started.store.read(started.runId)).state).toBe('lost');
    } finally {
      await makeRoom();
    }
    await stopRun(world.toolbox, started.directory, owner);
    expect((await ended(started)).snapshot.state).toBe('stopped');
  });

  test.each([
    ['its agents having answered', 'work'],
    ['its command running', 'command'],
  ])(
    'run-24 that fills up while a workflow is at work, %s: nothing that had ended is lost, and it comes to its end',
    async (_, where) => {
      const key = `full-${where}`;
      const go = join(world.project, `${key}.go`);
      const says = (plan: Plan) => JSON.stringify({ agent: 'worker', task: fakeTask(plan) });
      // The disk is full for the agents too: by then they have said all they have to say.
      const answers = (name: string) => ({
        steps: [{ say: [{ fill: 200_000 }] }],
        ...(where === 'work' ? { ended: [{ gate: `${key}-${name}` }] } : {}),
      });
      const script = `
      const before = await runs.run('before', ${says({ steps: [{ say: 'before' }] })});
      const both = await runs.all([
        { key: 'a', output: 'a.md', ...${says(answers('a'))} },
        { key: 'b', output: 'b.md', ...${says(answers('b'))} },
      ]);
      const waits = ${JSON.stringify(where === 'command' ? `touch ${go}.begun; while [ ! -e ${go} ]; do sleep 0.05; done; seq 1 20000` : 'seq 1 20000')};
      const host = await runs.host('count', { kind: 'command', command: waits, timeoutMs: 60000 });
      emit('x'.repeat(5000));
      return [before.output, ...both.map(({ output }) => output.length > 0), host.ok];`;
      const run = await TestWorkflow.start(world, script, { host: { mode: 'allow', globs: [] }, output: `${key}.md` });
      if (where === 'work') for (const name of ['a', 'b']) await fake.arrivedAt(`${key}-${name}`);
      else await waitFor('the command to run', () => stat(`${go}.begun`).catch(() => undefined), { timeoutMs: 30_000 });
      const ended = (await run.all('child.settled')).length;
      await fill();
      try {
        if (where === 'work') for (const name of ['a', 'b']) await fake.open(`${key}-${name}`);
        else await writeFile(go, '');
        const over = async () => isTerminal((await run.snapshot()).state);
        await expect(waitFor('the end of the run', over, { timeoutMs: 1500 })).rejects.toThrow('waited');
        expect((await run.snapshot()).state).toBe('running');
      } finally {
        await makeRoom();
      }
      const { state, error, view } = await run.end();
      expect({ state, error }).toEqual({ state: 'complete', error: null });
      expect((await run.result())?.value).toEqual(['before', true, true, true]);
      expect(view?.children.map(({ key: of, state: at, output }) => [of, at, output?.outcome])).toEqual([
        ['before', 'complete', 'saved'],
        ['a', 'complete', 'saved'],
        ['b', 'complete', 'saved'],
      ]);
      expect(view?.workflow?.output).toMatchObject({ outcome: 'saved' });
      expect(await run.all('child.spawn.intended')).toHaveLength(3);
      expect((await run.all('child.settled')).length).toBeGreaterThanOrEqual(Math.max(3, ended));
      expect(Object.keys(readReceipt(JSON.stringify(await run.receipt()), run.runId).entries)).toEqual([
        'before',
        'a',
        'b',
      ]);
    },
  );

  test('a launch on a full disk is refused with its reason, and leaves nothing', async (context) => {
    needsDisk(context);
    const before = [await filesIn(rootLayout(world.agent.agentDir).root), await fake.launches('child')];
    await fill();
    try {
      const result = await world.cli(['run', '--json', '--agent', 'worker', '--task', fakeTask({ steps: [] })]);
      expect(result.code).toBe(2);
      expect(JSON.parse(result.stdout).error).toMatchObject({
        code: 'disk_full',
        message: expect.stringContaining('ENOSPC'),
        hint: expect.stringContaining('room'),
      });
    } finally {
      await makeRoom();
    }
    expect([await filesIn(rootLayout(world.agent.agentDir).root), await fake.launches('child')]).toEqual(before);
  });

  async function expectGivenBack(started: Started, session: string | null | undefined): Promise<void> {
    const lease = await inspectLock(runLayout(started.directory).lease);
    expect(lease).toMatchObject({ state: 'missing', owner: { released: true } });
    expect(await sessionHolder(rootLayout(world.agent.agentDir).sessionLocks, session ?? '')).toBeUndefined();
    expect(await started.store.activeIds()).toEqual([]);
  }
});

describe('B84 secrets in the environment of a child that prints them', () => {
  const { key, body } = pemKey('RSA ');
  const given: Record<string, string> = {
    OPENAI_API_KEY: secrets['an OpenAI key']?.secret ?? '',
    ANTHROPIC_API_KEY: secrets['an Anthropic key']?.secret ?? '',
    GITHUB_TOKEN: secrets['a GitHub token']?.secret ?? '',
    SLACK_TOKEN: secrets['a Slack token']?.secret ?? '',
    SESSION_JWT: secrets['a JWT']?.secret ?? '',
    DEPLOY_KEY: key,
  };
  /** A key is recognised by any of its lines. */
  const parts = [...Object.values(given).slice(0, 5), ...body.split('\n')];
  const all = Object.keys(given)
    .map((name) => `{{env:${name}}}`)
    .join(' ');
  const each = Object.keys(given).map((name) => ({ line: `found ${name}={{env:${name}}}` }));

  test('are in no file of the run but in the answer, and the session it is pointed at', async () => {
    expect(new Set(parts).size).toBe(6);
    const toolbox = new Toolbox({
      env: { ...world.env, ...given },
      distDirectory: world.dist,
      client: { kind: 'cli', version: 'test' },
    });
    const started = await start(
      world,
      {
        steps: [
          ...each,
          { line: all },
          { stderr: `stderr says ${all}\n` },
          {
            thinking: `thinking of ${all}`,
            say: `saying ${all}`,
            tools: [{ updates: [all], output: `printing ${all}` }],
          },
          { dialog: 'confirm', title: `May I use ${all}?`, message: all, timeout: 10 },
          { say: `the answer is ${all}` },
        ],
        // What is kept of it for the reason begins in the middle of the key.
        ended: [{ exit: 3, stderr: `going down with ${all}\n${'.'.repeat(3900)} and gone\n` }],
      },
      { toolbox },
    );
    const { snapshot, lines } = await ended(started);
    // The end of its error output is part of the reason.
    expect(snapshot).toMatchObject({ state: 'failed', error: { code: 'child_exited' } });
    expect(snapshot.error?.message).toContain(' and gone');
    expect(ofType(lines, 'child.stdout').map((line) => line.text)).toContain('found OPENAI_API_KEY=[redacted]');
    expect(ofType(lines, 'question.asked')).toHaveLength(1);
    // What they were printed to, and the redaction leaves the words around them.
    const layout = childLayout(started.directory, 1);
    const transcript = await readFile(layout.transcript, 'utf8');
    for (const word of ['thinking of', 'saying', 'printing', 'the answer is', '[redacted]'])
      expect(transcript).toContain(word);
    expect(await readFile(layout.stderr, 'utf8')).toMatch(
      /stderr says \[redacted\].*\n[\s\S]*going down with \[redacted\]/,
    );

    const files = await filesIn(started.directory);
    expect(files.map((file) => basename(file))).toEqual(
      expect.arrayContaining([
        'run.json',
        'journal.jsonl',
        'status.json',
        'runner.log',
        'transcript.jsonl',
        'stderr.log',
      ]),
    );
    for (const folder of [started.directory, layout.directory, layout.sessions])
      expect((await stat(folder)).mode & 0o777, folder).toBe(0o700);
    for (const file of files) {
      // Pi's own: nobody else can enter its folder, and it is exact, because a resume needs it.
      if (file.startsWith(layout.sessions)) continue;
      expect((await stat(file)).mode & 0o777, file).toBe(0o600);
      if (file === layout.result) continue;
      const content = await readFile(file, 'utf8');
      for (const part of parts)
        expect(content.includes(part), `${basename(file)} holds ${part.slice(0, 12)}…`).toBe(false);
    }
    // The answer is handed on as it is.
    const text = await readResultText(started.directory, 1);
    for (const part of parts) expect(text).toContain(part);
    // Nothing of it is anywhere else that we keep.
    for (const file of await filesIn(world.toolbox.root.root)) {
      if (file.startsWith(started.directory)) continue;
      const content = await readFile(file, 'utf8');
      for (const part of parts) expect(content.includes(part), file).toBe(false);
    }
  });
});

test('B84 a provider that repeats the key in its error: the reason is told without it', async () => {
  const secret = secrets['an OpenAI key']?.secret ?? '';
  // The plan stands behind the first line, which is the title of the run.
  const plan: Plan = { steps: [{ error: `401 Incorrect API key provided: ${secret}.` }] };
  const started = await start(world, plan, { text: 'Ask the provider.' });
  const { snapshot, lines } = await ended(started);
  const told = { code: 'child_model_error', message: 'The model failed: 401 Incorrect API key provided: [redacted].' };
  expect(snapshot).toMatchObject({ state: 'failed', error: told });
  expect(ofType(lines, 'child.settled')).toMatchObject([{ error: told }]);
  const { result, transcript } = childLayout(started.directory, 1);
  const { journal, status } = runLayout(started.directory);
  for (const file of [journal, status, result, transcript]) {
    const content = await readFile(file, 'utf8');
    expect(content).toContain('Incorrect API key provided: [redacted]');
    expect(content.includes(secret), basename(file)).toBe(false);
  }
});

describe('B89 a child that prints without end', () => {
  /** Most memory a process has had at once, in MiB. */
  async function peakOf(pid: number): Promise<number> {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
  }

  test.skipIf(process.platform !== 'linux')(
    '300 MB: files and memory stay within their limits',
    async () => {
      const messages = Array.from({ length: 1300 }, () => ({ big: 'tool_execution_end' as const, bytes: 60_000 }));
      const started = await start(world, {
        steps: [
          { say: 'It begins.' },
          { flood: 'deltas', mb: 60 },
          { flood: 'events', mb: 60 },
          { flood: 'lines', mb: 60 },
          { flood: 'stderr', mb: 60 },
          { flood: 'unknown', mb: 60 },
          ...messages,
          { say: 'Enough.' },
          { gate: 'measured' },
        ],
      });
      const turns = async () => (await started.store.read(started.runId)).view?.children[0]?.turns;
      await waitFor('the end of the flood', async () => (await turns()) === 2, { timeoutMs: 100_000, everyMs: 100 });
      const peak = await peakOf(await runnerOf(started));
      await fake.open('measured');
      const { snapshot, lines } = await ended(started);
      expect(snapshot.state).toBe('complete');
      expect(await readResultText(started.directory, 1)).toBe('Enough.');
      // A runner begins with 60 MiB; holding on to all of this would take 440.
      expect(peak).toBeLessThan(400);
      const layout = childLayout(started.directory, 1);
      const sizeOf = async (pattern: RegExp) => {
        const files = (await filesIn(layout.directory)).filter((file) => pattern.test(basename(file)));
        const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
        return sizes.reduce((sum, size) => sum + size, 0);
      };
      const { headBytes, segmentBytes, segments } = MIRROR_LIMITS;
      const mirror = await sizeOf(/^transcript\..*jsonl$/);
      expect(mirror).toBeLessThanOrEqual(headBytes + segments * segmentBytes);
      // The newest segment has just begun, at worst.
      expect(mirror).toBeGreaterThan(headBytes + (segments - 2) * segmentBytes);
      expect(await sizeOf(/^stderr\.log$/)).toBeLessThan(1.1 * MB);
      expect((await stat(runLayout(started.directory).journal)).size).toBeLessThan(MB);
      expect(ofType(lines, 'child.stdout')).toHaveLength(100);
      const transcript = new TranscriptFollower(started.directory, 1);
      await transcript.refresh();
      const text = transcript.toString();
      for (const part of ['It begins.', 'The middle of this transcript was left out', 'Enough.'])
        expect(text.includes(part), part).toBe(true);
      expect(text).not.toContain('could not be read');
    },
    120_000,
  );
});

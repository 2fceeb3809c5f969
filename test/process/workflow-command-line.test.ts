/** Workflows as they are started, looked at and controlled from the command line. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { waitFor } from '../support/wait-for.ts';
import { TestWorkflow } from '../support/workflow-runs.ts';
import type { World } from '../support/world.ts';

const stack = new AsyncDisposableStack();
let fake: FakePi;
let world: World;

beforeAll(async () => {
  ({ fake, world } = await fakeWorld(stack));
});
afterAll(() => expectNobodyLeft(stack, { fake, world }));

const launchOf = (task: string, more: object = {}) => JSON.stringify({ agent: 'worker', task, ...more });
const says = (text: string, more: object = {}) => launchOf(fakeTask({ steps: [{ say: text }] }), more);
const hanging = (key: string) => launchOf(fakeTask({ key, steps: [{ say: 'begun' }, { hang: true }] }));

/** Runs the command line and expects one JSON object. */
async function json(code: number, ...args: string[]) {
  const done = await world.cli([...args, '--json']);
  expect([args.join(' '), done.code, done.stderr]).toEqual([args.join(' '), code, expect.any(String)]);
  return JSON.parse(done.stdout);
}

test.each(['run', 'continue'])('%s says alone what it takes', async (command) => {
  const { code, stdout } = await world.cli([command, '--help']);
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`^ {2}pi-lanes ${command}\\b`));
  expect((await world.cli(['help', command])).stdout).toBe(stdout);
});

test('help about what is no command is refused by name', async () => {
  expect(await json(2, 'help', 'runn')).toMatchObject({ error: { message: 'There is no command "runn".' } });
});

describe('continue', () => {
  const four = `
    const all = [];
    for (const key of ['a', 'b', 'c', 'd']) all.push((await runs.run(key, ${says('done')})).output);
    return all.join(' ');`;

  test('goes on with more children, and prints what the script returned', async () => {
    const run = await TestWorkflow.start(world, four, { maxSubagentSpawnsPerRun: 3 });
    expect((await run.end()).state).toBe('failed');
    const again = await json(2, 'continue', run.runId);
    expect(again.error).toMatchObject({
      code: 'resume_refused',
      message: expect.stringContaining('3 of 3'),
      hint: expect.stringContaining('--max-spawns'),
    });
    const lower = await json(2, 'continue', run.runId, '--max-spawns', '2');
    expect(lower.error.message).toBe('maxSubagentSpawnsPerRun would be 2; it is 3.');
    const { code, stdout } = await world.cli(['continue', run.runId, '--max-spawns', '4', '--wait']);
    expect([code, stdout]).toEqual([0, 'done done done done\n']);
    expect(await run.all('child.spawn.intended')).toHaveLength(4);
    const final = await json(2, 'continue', run.runId);
    expect(final.error).toMatchObject({ code: 'resume_refused', message: expect.stringContaining('complete') });
  });

  test('goes on with a larger budget', async () => {
    const costly = launchOf(fakeTask({ steps: [{ say: 'done', usage: { input: 900, output: 100 } }] }));
    const script = `
      const all = [];
      for (const key of ['a', 'b', 'c']) all.push((await runs.run(key, ${costly})).output);
      return all.join(' ');`;
    const file = join(world.project, 'costly.workflow.js');
    await writeFile(file, script);
    const ended = await json(1, 'run', '--script', file, '--max-tokens', '1500', '--wait');
    expect(ended).toMatchObject({
      state: 'partial',
      failure: { message: expect.stringContaining('2000 of 1500 tokens') },
    });
    const { runId } = ended;
    expect((await json(2, 'continue', runId)).error.hint).toContain('--max-tokens');
    expect((await json(2, 'continue', runId, '--max-cost', '1')).error.message).toBe(
      'usageBudget.costUsd would be 1; it is no limit.',
    );
    expect(await json(0, 'continue', runId, '--max-tokens', '0', '--wait')).toMatchObject({
      state: 'complete',
      value: 'done done done',
      run: { children: [{ key: 'a' }, { key: 'b' }, { key: 'c' }] },
    });
  });

  test('goes on with a lost one, within the limits that are named', async () => {
    const script = `
      await runs.run('a', ${says('first')});
      const b = await runs.run('b', ${launchOf(fakeTask({ key: 'cli-lost', steps: [{ hang: true }], attempts: [{}, { steps: [{ say: 'second' }] }] }))});
      return (await runs.run('c', ${says('third')})).output;`;
    const run = await TestWorkflow.start(world, script, { maxSubagentSpawnsPerRun: 2 });
    await run.event('child.prompted', ({ child }) => child === 2);
    await run.killRunner();
    expect(await json(0, 'continue', run.runId, '--max-spawns', '5', '--timeout', '0', '--wait')).toMatchObject({
      state: 'complete',
      value: 'third',
    });
    expect((await run.all('run.continued')).map(({ limits }) => limits.maxSubagentSpawnsPerRun)).toEqual([5]);
    expect((await run.all('child.spawn.intended')).map(({ child }) => child)).toEqual([1, 2, 2, 3]);
  });

  test('of what cannot go on says exactly why', async () => {
    const run = await TestWorkflow.start(world, `return (await runs.run('a', ${hanging('cli-alive')})).output`);
    await run.event('child.prompted');
    expect((await json(2, 'continue', run.runId)).error).toMatchObject({
      code: 'resume_refused',
      message: expect.stringContaining('running'),
    });
    expect((await json(2, 'continue', run.runId, '--max-tokens', 'many')).error.message).toBe(
      '--max-tokens is "many".',
    );
    expect((await json(2, 'continue', run.runId, '--max-cost', '1e3')).error.message).toBe('--max-cost is "1e3".');
    await json(0, 'stop', run.runId);
    expect((await json(2, 'continue', run.runId)).error.message).toContain('stopped');
    const single = await json(0, 'run', '--agent', 'worker', '--task', fakeTask({ steps: [{ say: 'x' }] }), '--wait');
    expect((await json(2, 'continue', single.runId)).error.message).toContain('Only workflows');
  });
});

test('status shows what a workflow does and still means to do, and what it came to', async () => {
  const [gated] = [launchOf(fakeTask({ steps: [{ gate: 'cli-status' }, { say: 'built' }] }))];
  const script = `
    const board = await runs.lanes([{ key: 'north', stages: [
      { key: 'build', ...${gated} }, { key: 'review', ...${says('fine', { agent: 'reviewer' })} },
    ] }]);
    const ci = await runs.host('ci', { kind: 'command', command: 'echo ok', timeoutMs: 20000 });
    emit('on the way');
    return board[0].state + ' ' + ci.exitCode;`;
  const run = await TestWorkflow.start(world, script, { host: { mode: 'allow', globs: [] }, name: 'harbour' });
  await run.event('child.prompted');
  expect((await world.cli(['status'])).stdout).toMatch(new RegExp(`${run.runId} +running +workflow 0/2 .*harbour`));
  const { stdout } = await world.cli(['status', run.runId]);
  expect(stdout).toMatch(/^workflow +harbour$/m);
  expect(stdout).toMatch(/north\.build +running +worker +fake\/scripted/);
  expect(stdout).toMatch(/north\.review +planned +reviewer$/m);
  expect(await json(0, 'status', run.runId)).toMatchObject({
    graph: { phases: [{ title: 'north', kind: 'lane', state: 'running' }], bottleneck: 'north.build' },
    workflowChildren: { inventoryComplete: false, children: [{ childId: 'north.build', state: 'running' }] },
  });
  await fake.open('cli-status');
  expect((await run.end()).state).toBe('complete');
  const ended = await json(0, 'status', run.runId);
  expect(ended).toMatchObject({
    workflow: { value: 'complete 0', emits: ['on the way'], trace: expect.any(Array) },
    receiptFile: join(run.directory, 'receipt.json'),
    graph: { phases: [{ state: 'complete' }, { title: 'commands', state: 'complete' }], bottleneck: null },
  });
  expect(ended).not.toHaveProperty('text');
  const last = (await world.cli(['status', run.runId])).stdout;
  expect(last).toMatch(/^returned +"complete 0"$/m);
  expect(last).toContain(`result     ${join(run.directory, 'result.json')}`);
});

test('of a workflow without agents there is no transcript, and where its script has failed is told once', async () => {
  const file = join(world.project, 'wrong.workflow.js');
  await writeFile(file, 'const { files } = args;\nreturn files.map(String);\n');
  const failed = await world.cli(['run', '--script', file, '--args', '{"files": 3}', '--wait']);
  expect(failed.code).toBe(1);
  expect(failed.stderr).toMatch(/failed\. TypeError: not a function \(line 2, column \d+\)\n$/);
  expect((await world.cli(['transcript', 'last'])).stdout).toMatch(/^The workflow has started no agent\. See `/);
});

test('what goes with an agent is refused beside a script by name, and the other way round', async () => {
  const beside = await json(2, 'run', '--script', 'x.js', '--agent', 'worker');
  expect(beside.error.message).toBe('--agent cannot be used with --script or --workflow.');
  const other = await json(2, 'run', '--agent', 'worker', '--task', 'x', '--allow-host', 'npm *');
  expect(other.error.message).toBe('--allow-host can only be used with --script or --workflow.');
  expect((await json(2, 'run', '--script', 'x.js', '--agnet', 'x')).error.message).toBe(
    'There is no option "--agnet".',
  );
  expect((await json(2, 'run', '--script', 'x.js', '--args', '{bad')).error.hint).toContain('single quotes');
});

describe('a workflow by its name', () => {
  test('wf-88 run-ci runs its one command without a question, and says where it came from', async () => {
    const scripts = { test: 'echo tested', typecheck: 'echo typed && exit 3' };
    await writeFile(join(world.project, 'package.json'), JSON.stringify({ name: 'p', scripts }));
    const ended = await json(0, 'run', '--workflow', 'run-ci', '--wait');
    expect(ended).toMatchObject({
      state: 'complete',
      value: { key: 'ci', exitCode: 0, stdout: expect.stringContaining('tested') },
      run: {
        workflow: { resource: { name: 'run-ci', invocation: 'named' }, hosts: [{ role: 'ci', state: 'passed' }] },
      },
    });
    const { receiptFile } = await json(0, 'status', ended.runId);
    const receipt = JSON.parse(await readFile(receiptFile, 'utf8'));
    expect(receipt).toMatchObject({ resource: { id: 'run-ci@1' }, hostSteps: [{ id: 'ci', verdict: 'pass' }] });
    const other = await json(1, 'run', '--workflow', 'run-ci', '--args', '{"command":"npm run typecheck"}', '--wait');
    expect(other).toMatchObject({ state: 'failed', run: { workflow: { hosts: [{ state: 'failed', exitCode: 3 }] } } });
  });

  test('wf-88 a command that is not exactly what it was made for is denied, whatever is allowed', async () => {
    const script = `
      const all = [];
      for (const [key, command] of [['ci', 'echo other'], ['other', 'echo fine'], ['ci2', 'echo fine']])
        await runs.host(key, { kind: 'command', command, timeoutMs: 20000 }).then(() => all.push(key), (error) => all.push(error.message));
      all.push((await runs.host('fine', { kind: 'command', command: ' echo fine ', timeoutMs: 20000 })).exitCode);
      return all;`;
    const run = await TestWorkflow.plan(world, script, { host: { mode: 'allow', globs: ['*'] } });
    run.plan.record.workflow.grants = [{ key: 'fine', command: 'echo fine' }];
    await run.start();
    expect((await run.end()).state).toBe('complete');
    const denied = expect.stringContaining('not allowed');
    expect((await run.result())?.value).toEqual([denied, denied, denied, 0]);
    expect((await run.all('host.intended')).map(({ key }) => key)).toEqual(['fine']);
  });

  test('review starts a reviewer and returns what it says', async () => {
    const args = JSON.stringify({ task: fakeTask({ steps: [{ say: 'looks good' }] }) });
    const { code, stdout } = await world.cli(['run', '--workflow', 'review', '--args', args, '--wait']);
    expect([code, stdout]).toEqual([0, 'looks good\n']);
  });

  test.each([
    [['--workflow', 'deploy'], 'There is no workflow "deploy"'],
    [['--workflow', 'review', '--script', 'x.js'], '--script cannot be used'],
    [['--workflow', 'run-ci', '--max-spawns', '3'], '--max-spawns cannot be used'],
    [['--workflow', 'run-ci', '--args', '{"command":"rm"}'], 'arguments of the workflow run-ci'],
  ])('is refused before anything starts: %j', async (args, message) => {
    expect((await json(2, 'run', ...args)).error.message).toContain(message);
  });
});

test('a preflight is shown before the start and compared afterwards, and changes nothing', async () => {
  const [script, file, bad] = ['pre.workflow.js', 'preflight.json', 'bad.json'].map((name) =>
    join(world.project, name),
  );
  await writeFile(script ?? '', `return (await runs.run('east', ${says('done')})).output`);
  const lanes = [{ key: 'north', mode: 'review', decision: 'keep or drop' }];
  await writeFile(file ?? '', JSON.stringify({ version: 1, coverage: 'complete', lanes }));
  await writeFile(bad ?? '', JSON.stringify({ version: 1, lanes: [{ key: 'a b' }] }));
  const refused = await json(2, 'run', '--script', script ?? '', '--preflight', bad ?? '');
  expect(refused.error).toMatchObject({ code: 'launch_invalid', message: expect.stringContaining('lanes.0.key') });
  const { code, stdout, stderr } = await world.cli([
    'run',
    '--script',
    script ?? '',
    '--preflight',
    file ?? '',
    '--wait',
  ]);
  expect([code, stdout]).toEqual([0, 'done\n']);
  expect(stderr).toMatch(/^preflight \(complete\)\n {2}north {2}review {4}keep or drop$/m);
  expect(await json(0, 'status', 'last')).toMatchObject({
    run: { workflow: { preflight: { lanes: [{ key: 'north' }] } } },
    preflightWarnings: [expect.stringContaining('east was launched'), expect.stringContaining('north')],
  });
  expect((await world.cli(['status', 'last'])).stdout).toMatch(/^differs +east was launched/m);
});

describe('one agent of a workflow', () => {
  test('is stopped, interrupted, steered and read by its key or its run id', async () => {
    const listens = launchOf(
      fakeTask({
        key: 'cli-c',
        steps: [
          { say: 'begun' },
          { tools: [{ name: 'bash', during: [{ gate: 'cli-c' }] }] },
          { say: 'heard: {{steers}}' },
        ],
      }),
    );
    const script = `
      const all = await runs.all([
        { key: 'first', ...${hanging('cli-a')} }, { key: 'second', ...${hanging('cli-b')} }, { key: 'third', ...${listens} },
      ]);
      return all.map((one) => [one.ok, one.output]);`;
    const run = await TestWorkflow.start(world, script);
    await waitFor('all to be at work', async () => (await run.all('child.prompted')).length === 3);

    const unknown = await json(2, 'stop', run.runId, '--child', 'thrid');
    expect(unknown.error).toMatchObject({
      code: 'child_unknown',
      hint: expect.stringMatching(/mean "third".*first, second, third/),
    });
    expect((await json(2, 'interrupt', run.runId)).error).toMatchObject({ code: 'child_unknown' });
    expect((await json(2, 'transcript', run.runId)).error).toMatchObject({ code: 'child_unknown' });

    expect(await json(0, 'stop', run.runId, '--child', 'first')).toMatchObject({
      child: 1,
      key: 'first',
      outcome: 'done',
      state: 'stopped',
      proof: { state: 'observed' },
    });
    const second = await world.cli(['interrupt', run.runId, '--child', `${run.runId}.2`]);
    expect([second.code, second.stdout]).toEqual([
      0,
      'The agent second is paused; the workflow goes on. Processes: all proven gone.\n',
    ]);
    expect((await json(0, 'stop', run.runId, '--child', 'second')).outcome).toBe('too-late');
    expect(await json(0, 'steer', run.runId, 'go on', '--child', 'third')).toMatchObject({ child: 3 });
    expect((await json(0, 'transcript', run.runId, '--child', 'third')).text).toContain('begun');
    await fake.open('cli-c');
    expect((await run.end()).state).toBe('complete');
    expect((await run.result())?.value).toEqual([
      [false, expect.any(String)],
      [false, expect.any(String)],
      [true, 'heard: go on'],
    ]);
  });

  test('that is over is gone on with as a run of its own', async () => {
    const counts = fakeTask({ steps: [{ say: 'message {{users}}' }] });
    const script = `
      const work = await runs.all([{ key: 'a', ...${launchOf(counts, { output: 'a.md', label: 'the count' })} }, { key: 'b', ...${hanging('cli-resume')} }]);
      return work.map((one) => one.outputReference ?? null);`;
    const run = await TestWorkflow.start(world, script);
    const { child } = await run.event('child.planned', ({ key }) => key === 'b');
    await run.event('child.prompted', (line) => line.child === child);
    expect((await json(2, 'resume', run.runId, '--child', 'b')).error.message).toContain('it is running');
    await json(0, 'stop', run.runId, '--child', 'b');
    expect((await run.end()).state).toBe('complete');
    expect((await json(2, 'resume', run.runId, '--child', 'b')).error.message).toContain('it was stopped');
    expect((await json(2, 'resume', run.runId, '--task', 'x')).error.code).toBe('resume_refused');
    expect((await json(2, 'resume', run.runId, '--child', 'c')).error.code).toBe('child_unknown');

    const resumed = await json(0, 'resume', run.runId, '--child', 'a', '--task', counts);
    expect(resumed.kind).toBe('resumed');
    const ended = await waitFor('the new run to end', async () => {
      const shown = await json(0, 'status', resumed.runId);
      return shown.state === 'running' || shown.state === 'queued' ? undefined : shown;
    });
    expect(ended).toMatchObject({
      state: 'complete',
      text: 'message 2',
      run: {
        mode: 'single',
        agent: 'worker',
        label: 'the count',
        resumedFrom: run.runId,
        children: [{ output: null }],
      },
    });
    // What the workflow had come to stays.
    const [output] = ((await run.result())?.value ?? []) as string[];
    expect(await readFile(output ?? '', 'utf8')).toBe('message 1');
  });

  test('is not asked for by what is lost', async () => {
    const run = await TestWorkflow.start(world, `return (await runs.run('a', ${hanging('cli-gone')})).output`);
    await run.event('child.prompted');
    await run.killRunner();
    for (const command of ['stop', 'interrupt'])
      expect((await json(2, command, run.runId, '--child', 'a')).error.code).toBe('run_lost');
    await json(0, 'stop', run.runId);
  });
});

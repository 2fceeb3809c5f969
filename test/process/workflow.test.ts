/** Workflows in a runner, with real processes as children. */

import { mkdir, readFile, realpath, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  answerQuestion,
  continueWorkflow,
  interruptRun,
  reachedLimits,
  resumeKind,
  steerRun,
  stopRun,
} from '../../src/client/index.ts';
import { childMarker, findTree } from '../../src/core/processes/index.ts';
import { owner } from '../support/control-matrix-runs.ts';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { isAlive } from '../support/process-state.ts';
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

/** A launch of a child that says this. */
const says = (text: string, more: object = {}) =>
  JSON.stringify({ agent: 'worker', task: fakeTask({ steps: [{ say: text }] }), ...more });

describe('a workflow', () => {
  test('runs its children and returns what they said', async () => {
    const script = `
      const [a, b] = await runs.all([{ key: 'a', ...${says('first')} }, { key: 'b', ...${says('second')} }]);
      emit({ done: 2 });
      console.log('both are there');
      const c = await runs.run('c', ${says('third')});
      return [a.output, b.output, c.output];`;
    const run = await TestWorkflow.start(world, script);
    const { state, error, view } = await run.end();
    expect({ state, error }).toEqual({ state: 'complete', error: null });
    expect(await run.result()).toMatchObject({ ok: true, value: ['first', 'second', 'third'], emits: [{ done: 2 }] });
    expect(view?.children.map(({ key, state: of }) => `${key} ${of}`)).toEqual([
      'a complete',
      'b complete',
      'c complete',
    ]);
    expect(await run.receipt()).toMatchObject({
      workflowRunId: run.runId,
      state: 'complete',
      entries: { a: {}, b: {}, c: {} },
    });
  });
});

/** A child that never ends when it is begun first, and says this when it is begun again. */
const hangsOnce = (key: string) =>
  fakeTask({ key, steps: [{ say: 'begun' }, { hang: true }], attempts: [{}, { steps: [{ say: 'slow' }] }] });

/** How often each child was started, by key. */
async function starts(run: TestWorkflow): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const names = new Map((await run.all('child.planned')).map(({ child, key }) => [child, key]));
  for (const { child } of await run.all('child.spawn.intended')) {
    const key = names.get(child) ?? String(child);
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

describe('a workflow whose runner is killed', () => {
  test('goes on where it stood: what had ended is not started again', async () => {
    const slow = hangsOnce('killed');
    const script = `
      const a = await runs.run('a', ${says('first')});
      emit(a.output);
      const [b, c] = await runs.all([{ key: 'b', ...${says('second')} }, { key: 'c', agent: 'worker', task: ${JSON.stringify(slow)} }]);
      const d = await runs.run('d', ${says('last')});
      return [a, b, c, d].map((one) => one.output);`;
    const run = await TestWorkflow.start(world, script);
    await run.event('child.settled', ({ child }) => child === 2 || child === 3);
    await run.event('child.prompted', ({ child }) => child === 3);
    await run.killRunner();
    expect((await run.snapshot()).state).toBe('lost');
    await run.recover();
    const { state, error } = await run.end();
    expect({ state, error }).toEqual({ state: 'complete', error: null });
    const { value, emits } = (await run.result()) ?? {};
    expect(value).toMatchObject(['first', 'second', expect.any(String), 'last']);
    expect(emits).toEqual(['first']);
    expect(await starts(run)).toEqual({ a: 1, b: 1, c: 2, d: 1 });
  });
});

describe('a workflow that a limit has ended', () => {
  test('B51 goes on with a higher one: what had ended is not started again', async () => {
    const script = `
      const keys = ['a', 'b', 'c', 'd'];
      const all = [];
      for (const key of keys) {
        emit(key);
        all.push((await runs.run(key, ${says('done')})).output);
      }
      return all;`;
    const run = await TestWorkflow.start(world, script, { maxSubagentSpawnsPerRun: 3 });
    const ended = await run.end();
    expect(ended.state).toBe('failed');
    expect(ended.view?.workflow?.failure?.message).toContain('3 of 3');
    await expect(continueWorkflow(run.toolbox(), run.directory, owner, { timeoutMs: 1 })).rejects.toMatchObject({
      code: 'resume_refused',
    });
    expect(await reachedLimits(run.directory)).toEqual({
      reached: [{ kind: 'spawns', limit: 3, used: 3, wanted: 4 }],
    });
    await continueWorkflow(run.toolbox(), run.directory, owner, { maxSubagentSpawnsPerRun: 10 });
    const again = await run.end();
    expect({ state: again.state, error: again.error }).toEqual({ state: 'complete', error: null });
    expect((await run.result())?.value).toEqual(['done', 'done', 'done', 'done']);
    expect(await starts(run)).toEqual({ a: 1, b: 1, c: 1, d: 1 });
    // The last step before the limit was told by both runners, and counts once.
    const told = (await run.all('workflow.said')).flatMap(({ emits }) => emits);
    expect(told.length).toBeGreaterThan(4);
    expect(again.view?.workflow).toMatchObject({ continued: 1, emits: 4 });
    expect(await reachedLimits(run.directory)).toEqual({ reached: [] });
    await expect(resumeKind(run.directory)).rejects.toMatchObject({ code: 'resume_refused' });
  });

  test('a usage budget that is used up is told with what it was and what was used', async () => {
    const script = `
      await runs.run('a', ${says('first')});
      return (await runs.run('b', ${says('second')})).output;`;
    const usageBudget = { tokens: { hard: 100 }, costUsd: { hard: 5 } };
    const run = await TestWorkflow.start(world, script, { usageBudget });
    expect((await run.end()).state).toBe('partial');
    expect(await reachedLimits(run.directory)).toEqual({
      reached: [{ kind: 'tokens', limit: 100, used: 110 }],
      usageBudget,
    });
    await continueWorkflow(run.toolbox(), run.directory, owner, { usageBudget: { tokens: { hard: 200 } } });
    expect((await run.end()).state).toBe('complete');
    expect(await starts(run)).toEqual({ a: 1, b: 1 });
  });

  test('B72 a deadline ends script and children; continued, the child goes on in its session', async () => {
    const slow = hangsOnce('deadline');
    const script = `
      const a = await runs.run('a', ${says('first')});
      const b = await runs.run('b', { agent: 'worker', task: ${JSON.stringify(slow)} });
      return [a.output, b.output];`;
    const run = await TestWorkflow.start(world, script, { timeoutMs: 8000 });
    const ended = await run.end();
    expect(ended.state).toBe('partial');
    expect(ended.view?.children.map(({ state }) => state)).toEqual(['complete', 'paused']);
    const count = (await run.all('child.spawn.intended')).length;
    expect(count).toBe(2);
    const { reached } = await reachedLimits(run.directory);
    expect(reached).toEqual([{ kind: 'time', limit: 8000, used: expect.any(Number) }]);
    await continueWorkflow(run.toolbox(), run.directory, owner, { timeoutMs: null });
    const again = await run.end();
    expect({ state: again.state, error: again.error }).toEqual({ state: 'complete', error: null });
    expect(await starts(run)).toEqual({ a: 1, b: 2 });
  });
});

describe('host commands', () => {
  const host = (key: string, command: string, more = '') =>
    `await runs.host('${key}', { kind: 'command', command: ${JSON.stringify(command)}, timeoutMs: 20000${more} })`;

  test('run with the consent of a person, and leave evidence', async () => {
    const script = `const r = ${host('ci', 'echo out; echo err >&2; printf "%s" "$PWD" > where.txt', ", output: 'logs/ci.log', role: 'ci'")};
      return [r.exitCode, r.stdout, r.stderr, r.outputPath];`;
    const run = await TestWorkflow.start(world, script);
    const { questionId } = await run.event('question.asked');
    const { state: asking, view: before } = await run.snapshot();
    expect(asking).toBe('waiting');
    expect(before?.questions).toMatchObject([
      { child: null, host: { key: 'ci', command: expect.stringContaining('echo out') } },
    ]);
    expect(before?.workflow?.hosts).toMatchObject([{ key: 'ci', role: 'ci', state: 'asking' }]);
    expect(await run.all('host.intended')).toEqual([]);
    await answerQuestion(run.toolbox(), run.directory, owner, questionId, { confirmed: true });
    const { state, error, view } = await run.end();
    expect({ state, error }).toEqual({ state: 'complete', error: null });
    const path = join(await realpath(world.project), 'logs', 'ci.log');
    expect((await run.result())?.value).toEqual([0, 'out\n', 'err\n', path]);
    expect((await readFile(path, 'utf8')).split('\n').sort()).toEqual(['', 'err', 'out']);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(join(world.project, 'where.txt'), 'utf8')).toBe(await realpath(world.project));
    expect(view?.workflow?.hosts).toMatchObject([{ key: 'ci', state: 'passed', exitCode: 0, outputPath: path }]);
    expect(await run.receipt()).toMatchObject({ hostSteps: [{ id: 'ci', state: 'done', verdict: 'pass' }] });
  });

  test('ask again after the runner that had asked was killed', async () => {
    const run = await TestWorkflow.start(world, `return (${host('ci', 'echo allowed')}).stdout`);
    const first = await run.event('question.asked');
    await run.killRunner();
    await run.recover();
    const again = await run.event('question.asked', ({ questionId }) => questionId !== first.questionId);
    expect((await run.snapshot()).view?.workflow?.hosts).toMatchObject([{ key: 'ci', state: 'asking' }]);
    await answerQuestion(run.toolbox(), run.directory, owner, again.questionId, { confirmed: true });
    expect((await run.end()).state).toBe('complete');
    expect((await run.result())?.value).toBe('allowed\n');
  });

  test.each([
    ['a person says no', 'ask', 'not allowed'],
    ['nobody may', 'deny', 'not allowed'],
  ] as const)('do not run when %s', async (_, mode, words) => {
    const run = await TestWorkflow.start(world, host('no', 'touch forbidden.txt'), {
      host: { mode, globs: ['npm *'] },
    });
    if (mode === 'ask') {
      const { questionId } = await run.event('question.asked');
      await answerQuestion(run.toolbox(), run.directory, owner, questionId, { confirmed: false });
    }
    const { state, error } = await run.end();
    expect([state, error?.message]).toEqual(['failed', expect.stringContaining(words)]);
    await expect(stat(join(world.project, 'forbidden.txt'))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await run.all('host.intended')).toEqual([]);
  });

  test('end at their time limit with everything they started, and say what they had printed', async () => {
    const script = `try { ${host('slow', 'echo begun; (trap "" TERM; sleep 60) & wait', '').replace('20000', '1500')} } catch (error) { return error.message }`;
    const run = await TestWorkflow.start(world, script, { host: { mode: 'allow', globs: [] } });
    expect((await run.end()).state).toBe('complete');
    expect((await run.result())?.value).toMatch(/timed out.*begun/);
    const [{ process } = { process: undefined }] = await run.all('host.started');
    expect(isAlive(process?.pid ?? 0)).toBe(false);
    expect(await findTree({ pid: 0, start: null }, childMarker(run.runId, 'host-1'))).toEqual([]);
  });

  test('a megabyte of wide characters is cut as bytes, between characters, at once', async () => {
    const command = `node -e "process.stdout.write('\u00e4'.repeat(3_000_000))"`;
    const run = await TestWorkflow.start(world, `return ${host('wide', command)}`, {
      host: { mode: 'allow', globs: [] },
    });
    expect((await run.end()).state).toBe('complete');
    const { stdout = '', outputPath = '' } = ((await run.result())?.value ?? {}) as {
      stdout?: string;
      outputPath?: string;
    };
    expect(stdout).toMatch(/^\u00e4+\.\.\.$/);
    expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(4096);
    const log = await readFile(outputPath);
    expect(log.length).toBeLessThanOrEqual(1024 * 1024);
    expect(log.toString('utf8')).toMatch(/^\u00e4+\.\.\.$/);
  });

  test('a command that was under way when its runner died is not run again', async () => {
    const script = `try { ${host('once', 'echo x >> count.txt; sleep 60')} } catch (error) { return error.message }`;
    const run = await TestWorkflow.start(world, script, { host: { mode: 'ask', globs: ['echo x*'] } });
    await run.event('host.started');
    await waitFor('the command to be at work', () => readFile(join(world.project, 'count.txt')));
    await run.killRunner();
    await run.recover();
    expect((await run.end()).state).toBe('complete');
    expect((await run.result())?.value).toContain('outcome unknown');
    expect(await readFile(join(world.project, 'count.txt'), 'utf8')).toBe('x\n');
    expect(await findTree({ pid: 0, start: null }, childMarker(run.runId, 'host-1'))).toEqual([]);
  });

  test('an output that leads somewhere else is refused before the command runs', async () => {
    await symlink(tmpdir(), join(world.project, 'elsewhere'));
    const script = `try { ${host('linked', 'touch ran.txt', ", output: 'elsewhere/x.log'")} } catch (error) { return error.message }`;
    const run = await TestWorkflow.start(world, script, { host: { mode: 'allow', globs: [] } });
    await run.end();
    expect((await run.result())?.value).toContain('is a link');
    await expect(stat(join(world.project, 'ran.txt'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('outputs', () => {
  const writing = (output: string, text: string) => says(text, { output });

  test('two in one group that would write one file start nothing, and the script is told both keys', async () => {
    const script = `
      const path = (name) => './sub/../' + name;
      const both = await runs.all([
        { key: 'a', ...${says('first')}, output: path('x.md') }, { key: 'b', ...${says('second')}, output: 'x.md' },
      ]);
      const c = await runs.run('c', ${writing('x.md', 'third')});
      return [both.map((one) => one.error), c.outputReference];`;
    const run = await TestWorkflow.start(world, script);
    expect((await run.end()).state).toBe('complete');
    const [errors, path] = ((await run.result())?.value ?? []) as [string[], string];
    for (const error of errors)
      expect(error).toMatch(/'a' and 'b' would both write .*\/outputs\/x\.md.*No child of the group/);
    expect((await run.all('child.planned')).map(({ key }) => key)).toEqual(['c']);
    expect(await readFile(path, 'utf8')).toBe('third');
  });

  test('what a literal group would write twice is refused before the launch', async () => {
    const item = (key: string) => `{ key: '${key}', agent: 'worker', task: 'Report.', output: 'x.md' }`;
    const group = `return runs.all([${item('a')}, ${item('b')}])`;
    await expect(TestWorkflow.plan(world, group)).rejects.toMatchObject({
      code: 'script_invalid',
      message: expect.stringContaining('"a" and "b" would both write x.md'),
    });
  });

  test('a link does not hide that two agents, or an agent and a command, write one file', async () => {
    const real = await realpath(world.project);
    await mkdir(join(real, 'reports'));
    await symlink('reports', join(real, 'linked'));
    const script = `
      const a = await runs.run('a', ${writing(join(real, 'reports', 'x.md'), 'first')});
      const b = await runs.all([{ key: 'b', ...${writing(join(real, 'linked', 'x.md'), 'second')} }]);
      let ci = '';
      await runs.host('ci', { kind: 'command', command: 'echo x', timeoutMs: 20000, output: 'reports/x.md' }).catch((error) => { ci = error.message });
      return [a.output, b[0].error, ci];`;
    const run = await TestWorkflow.start(world, script, { host: { mode: 'allow', globs: [] } });
    expect((await run.end()).state).toBe('complete');
    const [text, linked, command] = ((await run.result())?.value ?? []) as string[];
    expect(text).toBe('first');
    expect(linked).toContain(`a and b of the workflow would both write ${join(real, 'reports', 'x.md')}`);
    expect(command).toContain("'a' and 'ci' would both write");
    expect(await readFile(join(real, 'reports', 'x.md'), 'utf8')).toBe('first');
    expect(await run.all('host.intended')).toEqual([]);
  });
});

describe('control of a workflow', () => {
  const hanging = (key: string) =>
    JSON.stringify({ agent: 'worker', task: fakeTask({ key, steps: [{ say: 'begun' }, { hang: true }] }) });

  test('one child is stopped, the others and the script go on', async () => {
    const script = `
      const [a, b] = await runs.all([{ key: 'a', ...${hanging('stop-a')} }, { key: 'b', ...${says('fine')} }]);
      return [a.ok, a.stopped, b.output, (await runs.run('c', ${says('after')})).output];`;
    const run = await TestWorkflow.start(world, script);
    const { child } = await run.event('child.planned', ({ key }) => key === 'a');
    await run.event('child.prompted', (line) => line.child === child);
    expect(await stopRun(run.toolbox(), run.directory, owner, child)).toEqual({ outcome: 'done' });
    const { state, view } = await run.end();
    expect(state).toBe('complete');
    expect((await run.result())?.value).toEqual([false, true, 'fine', 'after']);
    expect(view?.stopRequested).toBe(false);
  });

  test('all are stopped with the workflow, and nothing follows', async () => {
    const script = `
      await runs.all(['a', 'b', 'c'].map((key) => ({ key, ...${hanging('stop-all')} })));
      return (await runs.run('never', ${says('never')})).output;`;
    const run = await TestWorkflow.start(world, script, { globalConcurrencyLimit: 2 });
    await waitFor('two to be at work', async () => (await run.all('child.prompted')).length === 2);
    expect((await run.snapshot()).view?.workflow?.waiting).toMatchObject([{ key: 'c' }]);
    expect(await stopRun(run.toolbox(), run.directory, owner)).toEqual({ outcome: 'done' });
    const { state, view } = await run.end();
    expect(state).toBe('stopped');
    expect(view?.children.map((child) => `${child.key} ${child.state} ${child.exit?.tree}`)).toEqual([
      'a stopped gone',
      'b stopped gone',
    ]);
    expect(await run.receipt()).toMatchObject({ state: 'stopped' });
    await expect(continueWorkflow(run.toolbox(), run.directory, owner)).rejects.toMatchObject({
      code: 'resume_refused',
    });
  });

  test('a child is steered by its key from the script, and by its number from outside', async () => {
    const listens = JSON.stringify({
      agent: 'worker',
      task: fakeTask({
        key: 'steered',
        steps: [{ say: 'begun' }, { tools: [{ during: [{ gate: 'both-said' }] }] }, { say: 'heard: {{steers}}' }],
      }),
    });
    const script = `
      const work = runs.run('a', ${listens});
      const wait = await runs.run('b', ${says('later')});
      const receipt = await runs.steer('a', 'from the script');
      return [(await work).output, receipt.state];`;
    const run = await TestWorkflow.start(world, script);
    const { child } = await run.event('child.planned', ({ key }) => key === 'a');
    await run.event('child.prompted', (line) => line.child === child);
    const receipt = await steerRun(run.toolbox(), run.directory, owner, 'from outside', 'steer', child);
    expect(['queued', 'delivered']).toContain(receipt.state);
    await waitFor('both to be queued', async () => (await run.all('control.settled')).length === 2);
    await fake.open('both-said');
    expect((await run.end()).state).toBe('complete');
    const asked = await run.all('control.requested');
    // Which of the two comes first is nobody's promise.
    expect(asked.map(({ preview, child: to }) => `${preview}: ${to}`).sort()).toEqual([
      `from outside: ${child}`,
      `from the script: ${child}`,
    ]);
    const settled = await run.all('control.settled');
    for (const { requestId } of asked)
      expect(settled.findLast((line) => line.requestId === requestId)?.outcome).toBe('delivered');
    const [, state] = ((await run.result())?.value ?? []) as string[];
    expect(['queued', 'delivered']).toContain(state);
  });

  test('what no child is named for is refused, naming those there are', async () => {
    const script = `return (await runs.all(['a', 'b'].map((key) => ({ key, ...${hanging('named')} })))).length`;
    const run = await TestWorkflow.start(world, script);
    await waitFor('two to be at work', async () => (await run.all('child.prompted')).length === 2);
    const named = { code: 'child_unknown', hint: expect.stringMatching(/a, b/) };
    await expect(steerRun(run.toolbox(), run.directory, owner, 'to whom?')).rejects.toMatchObject(named);
    await expect(steerRun(run.toolbox(), run.directory, owner, 'to whom?', 'steer', 7)).rejects.toMatchObject(named);
    await expect(interruptRun(run.toolbox(), run.directory, owner)).rejects.toMatchObject(named);
    await stopRun(run.toolbox(), run.directory, owner);
    await run.end();
  });
});

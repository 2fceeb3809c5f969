/** The file that what a workflow comes to is also written to, through real runners. */
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { continueWorkflow } from '../../src/client/index.ts';
import { owner } from '../support/control-matrix-runs.ts';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { refusedAtMost } from '../support/interrupted-lanes.ts';
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

/** Every test has a folder of its own in the project. */
let folder: string;
let count = 0;
beforeEach(async () => {
  folder = join(world.project, `test-${++count}`);
  await mkdir(folder);
});

const at = (...names: string[]) => join(folder, ...names);
const text = (...names: string[]) => readFile(at(...names), 'utf8');
const says = (answer: string, more: object = {}) =>
  JSON.stringify({ agent: 'worker', task: fakeTask({ steps: [{ say: answer }] }), ...more });
const waits = (gate: string, more: object = {}) =>
  JSON.stringify({ agent: 'worker', task: fakeTask({ steps: [{ gate }, { say: 'done' }] }), ...more });

async function resultOf(run: TestWorkflow) {
  expect((await run.end()).state).toBe('complete');
  return (await run.result()) ?? expect.fail('it has no result');
}

describe('the file of a workflow', () => {
  test('has what the script returned; children that name no output write beside it', async () => {
    const script = `
      const all = await runs.all([
        { key: 'scan', ...${says('of scan')} },
        { key: 'own', ...${says('of own', { output: 'own.md' })} },
        { key: 'none', ...${says('of none', { output: false })} },
        { key: 'short', ...${says('of short', { outputMode: 'file-only' })} },
      ]);
      const more = await runs.run('more', { resume: all[0].runId, task: ${JSON.stringify(fakeTask({ steps: [{ say: 'of more' }] }))} });
      return [...all, more].map(({ key, output, outputReference }) => \`\${key}: \${output} \${outputReference}\`).join('\\n');`;
    await writeFile(at('all.workflow.js'), script);
    const args = ['--script', at('all.workflow.js'), '--output', 'new/report.md', '--cwd', folder, '--wait', '--json'];
    const { code, stdout } = await world.cli(['run', ...args]);
    const { value, output, warnings, run, directory } = JSON.parse(stdout);
    expect([code, warnings]).toEqual([0, []]);
    expect(output).toEqual({ path: at('new', 'report.md'), outcome: 'saved', error: null });
    expect(run.workflow.output).toEqual(output);
    expect(await text('new', 'report.md')).toBe(value);
    expect(value.split('\n')).toEqual([
      `scan: of scan ${at('new', 'report.scan.md')}`,
      `own: of own ${join(directory, 'artifacts', 'outputs', 'own.md')}`,
      'none: of none undefined',
      `short: Saved to ${at('new', 'report.short.md')} (8 bytes, 1 lines). ${at('new', 'report.short.md')}`,
      `more: of more ${at('new', 'report.more.md')}`,
    ]);
    expect((await readdir(at('new'))).sort()).toEqual(
      ['report.md', 'report.more.md', 'report.scan.md', 'report.short.md'].sort(),
    );
    expect(await text('new', 'report.scan.md')).toBe('of scan');
    const kept = JSON.parse(await readFile(join(directory, 'result.json'), 'utf8'));
    expect(kept).toMatchObject({ output: { path: at('new', 'report.md'), outcome: 'saved' }, warnings: [] });
    const receipt = JSON.parse(await readFile(join(directory, 'receipt.json'), 'utf8'));
    expect(receipt).toMatchObject({
      outputReference: at('new', 'report.md'),
      entries: { scan: { outputReference: at('new', 'report.scan.md') } },
    });
    expect((await world.cli(['status', run.runId])).stdout).toContain(`${at('new', 'report.md')} (saved)`);
  });

  test('has a value as JSON, and takes the place of what stood there before', async () => {
    await writeFile(at('report.json'), 'old');
    const run = await TestWorkflow.start(world, 'return { a: [1] };', { output: at('report.json') });
    await resultOf(run);
    expect(await text('report.json')).toBe('{\n  "a": [\n    1\n  ]\n}');
  });

  test('keeps what a child wrote that names it, by another path too', async () => {
    await symlink(folder, `${folder}-link`);
    const script = `return (await runs.run('a', ${says('of a', { output: join(`${folder}-link`, 'report.md') })})).outputReference;`;
    const run = await TestWorkflow.start(world, script, { output: at('report.md') });
    expect(await resultOf(run)).toMatchObject({ value: at('report.md'), output: { outcome: 'kept' }, warnings: [] });
    expect(await text('report.md')).toBe('of a');
    expect(await run.receipt()).toMatchObject({ outputReference: at('report.md') });
  });

  test('is not for two children, nor for a command', async () => {
    const script = `
      const output = ${JSON.stringify(at('report.md'))};
      const tell = (work) => work.then((done) => String(done.ok), (error) => error.message);
      return [
        await tell(runs.host('h', { kind: 'command', command: 'echo x', timeoutMs: 10000, output: 'report.md' })),
        await tell(runs.run('a', { ...${says('of a')}, output })),
        await tell(runs.run('b', { ...${says('of b')}, output })),
      ];`;
    const host = { mode: 'allow' as const, globs: [] };
    const run = await TestWorkflow.start(world, script, { output: at('report.md'), cwd: folder, host });
    const [command, ...children] = (await resultOf(run)).value as string[];
    expect(command).toContain(`already claimed by the result of run ${run.runId}`);
    expect(children).toEqual(['true', expect.stringContaining("'a' and 'b' would both write")]);
    expect(await text('report.md')).toBe('of a');
  });

  test('belongs to no other run while this one lives', async () => {
    const gate = `taken-${count}`;
    const run = await TestWorkflow.start(world, `return (await runs.run('a', ${waits(gate)})).output;`, {
      output: at('report.md'),
    });
    await fake.arrivedAt(gate);
    const other = ['--output', at('report.md'), '--json'];
    await writeFile(at('one.workflow.js'), 'return 1;');
    for (const args of [
      ['--script', at('one.workflow.js')],
      ['--agent', 'worker', '--task', 'x'],
    ]) {
      const { code, stdout } = await world.cli(['run', ...args, ...other]);
      expect([code, JSON.parse(stdout).error]).toMatchObject([2, { code: 'output_in_use' }]);
    }
    await fake.open(gate);
    await resultOf(run);
    expect(await text('report.md')).toBe('done');
    await resultOf(await TestWorkflow.start(world, 'return "again";', { output: at('report.md') }));
    expect(await text('report.md')).toBe('again');
  });

  test('that cannot be written is a warning, said by the command line, and no failure', async () => {
    const gate = `unsaved-${count}`;
    await mkdir(at('deep'));
    await mkdir(at('elsewhere'));
    await writeFile(at('one.workflow.js'), `return (await runs.run('a', ${waits(gate, { output: false })})).output;`);
    const running = world.cli(['run', '--script', at('one.workflow.js'), '--output', at('deep', 'r.md'), '--wait']);
    await fake.arrivedAt(gate);
    await rm(at('deep'), { recursive: true });
    await symlink(at('elsewhere'), at('deep'));
    await fake.open(gate);
    const { code, stdout, stderr } = await running;
    expect([code, stdout]).toEqual([1, 'done\n']);
    expect(stderr).toContain(`What the workflow came to could not be written to ${at('deep', 'r.md')}: `);
    expect(stderr).toMatch(/It is in .*result\.json\./);
    const [runId = ''] = /[0-9a-f-]{36}/.exec(stderr) ?? [];
    const status = JSON.parse((await world.cli(['status', runId, '--json'])).stdout);
    expect(status).toMatchObject({ run: { state: 'complete', error: null } });
    expect(await readdir(at('elsewhere'))).toEqual([]);
  });
});

describe('the file of a workflow that does not end at once', () => {
  test('says why it failed and what there is, and has the whole when it has gone on', async () => {
    const script = `
      emit({ begun: true });
      await runs.run('a', ${says('of a')});
      return (await runs.run('b', ${says('of b')})).output;`;
    const run = await TestWorkflow.start(world, script, { output: at('report.md'), maxSubagentSpawnsPerRun: 1 });
    const { state, error } = await run.end();
    expect(state).toBe('failed');
    const failed = await text('report.md');
    expect(failed.startsWith(`${error?.message}\n\n`)).toBe(true);
    expect(failed).toContain('"begun": true');
    expect(failed).toContain(`- a: complete (${at('report.a.md')})`);
    await continueWorkflow(run.toolbox(), run.directory, owner, { maxSubagentSpawnsPerRun: 2 });
    await waitFor('the new end', async () => (await run.all('run.ended')).length === 2);
    await resultOf(run);
    expect(await text('report.md')).toBe('of b');
  });

  test.for([
    'output.claimed:after',
    'workflow.stepped:after:1',
    'output.settled:before',
    'output.settled:after',
    'workflow.ended:before',
    'workflow.ended:after',
  ])('is written once with the same bytes when its runner dies at %s', async (fault) => {
    const script = `return ['all', (await runs.run('a', ${says('of a', { output: false })})).output];`;
    const run = await TestWorkflow.plan(world, script, { output: at('report.json') });
    await refusedAtMost(run.start(fault));
    await run.runnerGone();
    const whole = '[\n  "all",\n  "of a"\n]';
    const before = await stat(at('report.json')).catch(() => undefined);
    expect(before === undefined).toBe(!/^(?:output.settled|workflow.ended)/.test(fault));
    await run.recover();
    expect(await resultOf(run)).toMatchObject({ output: { outcome: 'saved', bytes: whole.length }, warnings: [] });
    expect(await text('report.json')).toBe(whole);
    const { ino, mtimeMs } = await stat(at('report.json'));
    if (before) expect({ ino, mtimeMs }).toEqual({ ino: before.ino, mtimeMs: before.mtimeMs });
    expect((await run.snapshot()).view?.workflow?.output).toMatchObject({ outcome: 'saved' });
    expect(await readdir(folder)).toEqual(['report.json']);
  });
});

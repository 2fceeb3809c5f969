import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_TIMEOUT_MS, type LaunchRequest, planLaunch } from '../../src/client/plan.ts';
import { Toolbox } from '../../src/client/toolbox.ts';
import { OutputClaim } from '../../src/core/outputs/index.ts';
import { findProject, rootLayout } from '../../src/core/projects/index.ts';
import { launchRecord, MAX_TASK_BYTES, RUN_ID } from '../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';

let folder: TempDir;
let toolbox: Toolbox;
let cwd: string;

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  const dist = join(folder.path, 'dist');
  cwd = join(folder.path, 'work');
  for (const path of [dist, cwd]) await mkdir(path);
  await writeFile(join(dist, 'runtime.json'), JSON.stringify({ version: '0', hash: 'cafe', files: ['runner.mjs'] }));
  await writeFile(join(dist, 'runner.mjs'), '');
  toolbox = new Toolbox({
    env: {
      PATH: '',
      HOME: folder.path,
      PI_CODING_AGENT_DIR: join(folder.path, 'agent'),
      PI_LANES_PI: join(import.meta.dirname, 'workers', 'quiet-pi.mjs'),
      PI_LANES_NODE: process.execPath,
    },
    distDirectory: dist,
    client: { kind: 'test', version: '0' },
  });
});

afterEach(() => folder.remove());

const plan = (request: Partial<LaunchRequest> = {}) =>
  planLaunch(toolbox, {
    agent: 'worker',
    task: 'Mend the fence.',
    cwd,
    owner: { kind: 'cli', id: 'me' },
    trust: 'no-approve',
    ...request,
  });

describe('a launch that cannot be carried out', () => {
  /** Refused with this error, and nothing is on the disk that was not there before. */
  async function refused(request: Partial<LaunchRequest>, error: object) {
    await expect(plan(request)).rejects.toMatchObject(error);
    expect((await readdir(folder.path)).sort()).toEqual(['dist', 'work']);
    expect(await readdir(cwd)).toEqual([]);
  }

  it('run-1 is refused when its folder is missing, naming both forms of it', async () => {
    await refused(
      { cwd: 'sub/none', base: cwd },
      {
        code: 'cwd_missing',
        message: `The folder "sub/none" (${join(cwd, 'sub/none')}) does not exist.`,
        hint: expect.any(String),
      },
    );
    const none = join(cwd, 'none');
    await refused({ cwd: none }, { code: 'cwd_missing', message: `The folder "${none}" does not exist.` });
  });

  it('run-1 is refused when its folder is a file', async () => {
    const file = join(folder.path, 'dist', 'runner.mjs');
    await refused({ cwd: file }, { code: 'cwd_not_directory', message: `"${file}" is a file, not a folder.` });
    await refused(
      { cwd: '../dist/runner.mjs', base: cwd },
      { code: 'cwd_not_directory', message: `"../dist/runner.mjs" (${file}) is a file, not a folder.` },
    );
  });

  it('is refused with an empty folder or model: that is not the same as none', async () => {
    for (const value of ['', ' ']) {
      await refused({ cwd: value, base: cwd }, { code: 'launch_invalid', message: 'cwd is empty.' });
      await refused({ model: value }, { code: 'launch_invalid', message: 'model is empty.' });
    }
  });

  it('is refused without a task', async () => {
    for (const task of ['', ' \n\t ']) await refused({ task }, { code: 'task_empty', hint: expect.any(String) });
  });

  it('is refused with a task of more bytes than fit', async () => {
    const task = 'ü'.repeat(MAX_TASK_BYTES / 2);
    await refused(
      { task: `${task}!` },
      { code: 'task_too_large', message: `The task has ${MAX_TASK_BYTES + 1} bytes; the limit is ${MAX_TASK_BYTES}.` },
    );
    expect((await plan({ task })).record.child.task).toBe(task);
  });

  it('is refused with an agent nobody knows', async () => {
    await refused(
      { agent: 'wizard' },
      { code: 'agent_unknown', hint: expect.stringContaining('worker, scout, reviewer, oracle, delegate') },
    );
  });

  it.each([
    [{ type: 'array' }, 'The output schema has no object as its root: its "type" is "array".'],
    [{ properties: {} }, 'The output schema has no object as its root: its "type" is missing.'],
    [
      { type: 'object', description: 'x'.repeat(70_000) },
      'The output schema has 70034 bytes as JSON; the limit is 65536.',
    ],
    [
      { type: 'object', properties: { a: { pattern: '(' } } },
      expect.stringContaining('cannot be used: Invalid regular'),
    ],
  ])('is refused with an output schema nobody can answer to', async (outputSchema, message) => {
    await refused({ outputSchema }, { code: 'launch_invalid', message, hint: expect.any(String) });
  });

  it('is refused with a tool budget that is none', async () => {
    await refused(
      { toolBudget: { soft: 3, hard: 2 } },
      { code: 'launch_invalid', message: expect.stringContaining('soft must not be larger than hard') },
    );
  });

  it('is refused with a level there is not', async () => {
    await refused(
      { thinking: 'hard' },
      {
        code: 'launch_invalid',
        message: 'thinking is "hard".',
        hint: 'It must be one of off, minimal, low, medium, high, xhigh, max.',
      },
    );
  });

  it('B75 is refused with a model Pi does not have, before there is a project', async () => {
    for (const model of ['fake/scriptet', 'none/scripted', 'fake/scripted:bogus'])
      await expect(plan({ model })).rejects.toMatchObject({
        code: 'model_unknown',
        message: `Pi has no usable model "${model}".`,
        hint: expect.stringContaining('fake/scripted'),
      });
    // Nothing at all is written.
    await expect(readdir(join(folder.path, 'agent'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('is refused with what the runner would refuse, naming the field', async () => {
    const lane = { version: 1, key: 'a b' } as const;
    await expect(plan({ lane, workflowKey: 'a b' })).rejects.toMatchObject({
      code: 'launch_invalid',
      message: expect.stringContaining('lane.key: '),
    });
    await expect(plan({ owner: { kind: 'cli', id: '' } })).rejects.toMatchObject({
      code: 'launch_invalid',
      message: expect.stringContaining('owner.id: '),
    });
  });

  it('is refused when its lane is not the one of its workflow key', async () => {
    const lane = { version: 1, key: 'a' } as const;
    const hint = 'They must be equal.';
    await refused({ lane }, { code: 'launch_invalid', message: 'lane.key is "a" and workflowKey is missing.', hint });
    await refused(
      { lane, workflowKey: 'b' },
      { code: 'launch_invalid', message: 'lane.key is "a" and workflowKey is "b".', hint },
    );
  });

  it.each(['timeoutMs', 'toolTimeoutMs'])('is refused with a %s that no timer takes', async (name) => {
    for (const ms of [0, -1, 1.5, 2_147_483_648, Number.NaN, Number.POSITIVE_INFINITY])
      await expect(plan({ [name]: ms }), `${ms}`).rejects.toMatchObject({
        code: 'launch_invalid',
        message: `${name} is ${ms}.`,
        hint: 'It must be a whole number of milliseconds from 1 to 2147483647.',
      });
  });

  it('run-61 is refused with two limits that differ: they are two names for one', async () => {
    await refused(
      { timeoutMs: 1000, maxRuntimeMs: 2000 },
      {
        code: 'launch_invalid',
        message: 'timeoutMs is 1000 and maxRuntimeMs is 2000.',
        hint: 'They are two names for one limit: give one of them.',
      },
    );
    await expect(plan({ timeoutMs: null, maxRuntimeMs: 2000 })).rejects.toMatchObject({ code: 'launch_invalid' });
    const limit = async (request: Partial<LaunchRequest>) => (await plan(request)).record.timeoutMs;
    expect(await limit({ timeoutMs: 1000, maxRuntimeMs: 1000 })).toBe(1000);
    expect(await limit({ maxRuntimeMs: 2000 })).toBe(2000);
    expect(await limit({ maxRuntimeMs: null })).toBeNull();
    await expect(plan({ maxRuntimeMs: 0.5 })).rejects.toMatchObject({ message: 'maxRuntimeMs is 0.5.' });
  });

  it('run-62 has half an hour when nobody names a limit, and none when that is asked for', async () => {
    expect((await plan()).record.timeoutMs).toBe(30 * 60_000);
    expect((await plan({ timeoutMs: null })).record.timeoutMs).toBeNull();
  });

  it('is refused with an output that cannot be written, or that is named nowhere', async () => {
    await expect(plan({ outputMode: 'file-only' })).rejects.toMatchObject({
      code: 'launch_invalid',
      message: 'outputMode is "file-only" without an output file.',
      hint: expect.any(String),
    });
    await expect(plan({ output: '../dist' })).rejects.toMatchObject({ code: 'output_unusable' });
    const claim = await OutputClaim.take(
      rootLayout(join(folder.path, 'agent')).claims,
      join(cwd, 'answer.md'),
      'run 7',
    );
    await expect(plan({ output: 'answer.md' })).rejects.toMatchObject({
      code: 'output_in_use',
      message: expect.stringMatching(/answer\.md is already claimed by run 7\.$/),
    });
    await claim.release();
    expect((await plan({ output: 'answer.md' })).record.child.output).toEqual({
      path: join(cwd, 'answer.md'),
      mode: 'inline',
    });
    expect(await readdir(cwd)).toEqual([]);
  });
});

describe('a launch', () => {
  it('is a complete record, with what was asked for and what follows from it', async () => {
    const before = Date.now();
    const lane = { version: 1, key: 'lane-a' } as const;
    const parent = { runId: '01890000-0000-7000-8000-00000000aaaa', childIndex: 2 };
    const { record, project, runtime, electron } = await plan({
      agent: 'advisor',
      cwd: '../work',
      base: cwd,
      model: 'other:low',
      label: '  The fence  ',
      owner: { kind: 'schedule', id: 's' },
      trust: 'approve',
      timeoutMs: null,
      toolTimeoutMs: 2_147_483_647,
      output: '../work/out/answer.md',
      outputMode: 'file-only',
      outputSchema: { type: 'object' },
      toolBudget: { hard: 3, block: '*' },
      ceiling: { allowedTools: ['read'] },
      workflowKey: 'lane-a',
      lane,
      parent,
    });
    expect(launchRecord.parse(record)).toEqual(record);
    expect(record.runId).toMatch(RUN_ID);
    expect(record.createdAt).toBeGreaterThanOrEqual(before);
    expect(record).toMatchObject({
      version: 1,
      mode: 'single',
      cwd,
      owner: { kind: 'schedule', id: 's' },
      trust: 'approve',
      timeoutMs: null,
      workflowKey: 'lane-a',
      lane,
      parent,
      ceiling: { allowedTools: ['read'] },
      resume: null,
      runtime: 'cafe',
      client: { kind: 'test', version: '0' },
      agentDir: join(folder.path, 'agent'),
      node: process.execPath,
      pi: { command: { file: process.execPath, args: [toolbox.env['PI_LANES_PI']] }, version: '1.6.0' },
    });
    expect(record.child).toMatchObject({
      agent: { name: 'oracle', source: 'builtin', tools: ['read', 'grep', 'find', 'ls', 'bash'] },
      task: 'Mend the fence.',
      label: 'The fence',
      model: 'fake/other',
      thinking: 'low',
      modelIsExplicit: true,
      toolTimeoutMs: 2_147_483_647,
      outputSchema: { type: 'object' },
      toolBudget: { hard: 3, block: '*' },
      output: { path: join(cwd, 'out', 'answer.md'), mode: 'file-only' },
      sessionName: 'oracle · The fence',
    });
    expect(project).toEqual(await findProject(join(folder.path, 'agent'), cwd));
    expect(runtime).toEqual({
      hash: 'cafe',
      runner: join(folder.path, 'agent', 'pi-lanes', 'runtime', 'cafe', 'runner.mjs'),
    });
    expect(electron).toBe(false);
  });

  it('takes the level asked for before that of the model, and that before that of the agent', async () => {
    const levels = async (request: Partial<LaunchRequest>) => (await plan(request)).record.child.thinking;
    expect(await levels({ model: 'fake/other:low', thinking: 'max' })).toBe('max');
    expect(await levels({ model: 'fake/other:low' })).toBe('low');
    expect(await levels({})).toBe('high');
    expect(await levels({ agent: 'delegate' })).toBeUndefined();
  });

  it('has defaults', async () => {
    const { record } = await plan({ fallbackRoot: folder.path });
    expect(record).toMatchObject({
      timeoutMs: DEFAULT_TIMEOUT_MS,
      lane: null,
      workflowKey: null,
      parent: null,
      ceiling: null,
      resume: null,
    });
    expect(DEFAULT_TIMEOUT_MS).toBe(30 * 60_000);
    expect(record.child.modelIsExplicit).toBe(false);
    for (const name of ['model', 'label', 'output', 'toolTimeoutMs']) expect(record.child).not.toHaveProperty(name);
    expect(record.child.sessionName).toBe('worker · Mend the fence.');
  });

  it('belongs to the project of its folder, outside git to the one it is given', async () => {
    const given = await plan({ fallbackRoot: folder.path });
    expect(given.project).toMatchObject({ kind: 'folder', key: folder.path });
    expect((await plan()).project).toMatchObject({ kind: 'folder', key: cwd });
  });

  it('has a label of one line of at most 96 characters', async () => {
    const label = async (text: string) => (await plan({ label: text })).record.child.label;
    expect(await label('  The\u001b[2J\n── fence\t')).toBe('The [2J ── fence');
    expect(await label('x'.repeat(97))).toBe('x'.repeat(96));
    // No half of a character.
    expect(await label(`${'x'.repeat(95)}😀`)).toBe('x'.repeat(95));
    expect(await label('\n\t')).toBeUndefined();
  });

  it('names the session in one line of at most 96 characters', async () => {
    const name = async (task: string) => (await plan({ task })).record.child.sessionName;
    expect(await name('\n  One\u0007line \nmore')).toBe('worker · One line');
    const long = await name('🦊'.repeat(100));
    expect(long.length).toBeLessThanOrEqual(96);
    expect(long).toMatch(/^worker · 🦊+…$/u);
    expect(await name('x'.repeat(87))).toBe(`worker · ${'x'.repeat(87)}`);
    expect(await name('x'.repeat(88))).toBe(`worker · ${'x'.repeat(86)}…`);
  });
});

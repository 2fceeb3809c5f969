/** The workflows of the demo folder in a runner, with real Pi and the model of the demo. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeDemoProject } from '../../scripts/demo-world.mjs';
import { answerQuestion, previewWorkflow, type WorkflowRequest } from '../../src/client/index.ts';
import { endLeftovers, owner } from '../support/control-matrix-runs.ts';
import { demoTeam, type Script } from '../support/scripted-model/index.ts';
import { TestWorkflow } from '../support/workflow-runs.ts';
import { createWorld, type World } from '../support/world.ts';

let world: World;

/** The demo as it is, but at once. */
const quickTeam: Script = { summary: demoTeam.summary, plan: () => demoTeam.plan({ tokenMs: 0 }) };

beforeAll(async () => {
  world = await createWorld({ scripts: { default: quickTeam }, git: false });
  writeDemoProject(world.project);
});
afterAll(async () => {
  const left = await endLeftovers(world);
  await world[Symbol.asyncDispose]();
  expect(left).toEqual([]);
});

async function plan(name: string, request: Partial<WorkflowRequest> = {}): Promise<TestWorkflow> {
  const file = join(world.project, 'workflows', name);
  return TestWorkflow.plan(world, await readFile(file, 'utf8'), { file, trust: 'approve', ...request });
}

describe('the sample workflows', () => {
  test('parallel review: three reviews, and a report of what they found', async () => {
    const run = await plan('parallel-review.js', { args: { target: 'README.md' } });
    const preview = previewWorkflow(run.plan);
    expect(preview).toMatchObject({
      hasMore: false,
      hosts: [],
      models: [{ name: 'fake/scripted', children: 4, price: { input: 1, output: 2 } }],
    });
    expect(preview.children.map(({ key, agent, model, thinking }) => [key, agent, model, thinking])).toEqual([
      ['correctness', 'reviewer', 'fake/scripted', 'high'],
      ['edge-cases', 'reviewer', 'fake/scripted', 'high'],
      ['readers', 'scout', 'fake/scripted', 'low'],
      ['report', 'oracle', 'fake/scripted', 'high'],
    ]);
    await run.start();
    const { state, error, view } = await run.end();
    expect({ state, error }).toEqual({ state: 'complete', error: null });
    // What was foreseen is what was started, with these models.
    expect(view?.children.map(({ key, agent, model, thinking }) => [key, agent, model, thinking])).toEqual(
      preview.children.map(({ key, agent, model, thinking }) => [key, agent, model, thinking]),
    );
    expect((await run.result())?.value).toMatchObject({ target: 'README.md', failed: [] });
  });

  test('lanes: each is implemented, challenged with a verdict, and reviewed', async () => {
    const run = await plan('implement-challenge-review.js');
    await run.start();
    const { state, error, view } = await run.end();
    expect({ state, error }).toEqual({ state: 'complete', error: null });
    expect((await run.result())?.value).toEqual([
      { key: 'berths', state: 'complete' },
      { key: 'ships', state: 'complete' },
    ]);
    expect(view?.children.map(({ key }) => key).sort()).toEqual(
      previewWorkflow(run.plan)
        .children.map(({ key }) => key)
        .sort(),
    );
    for (const name of ['BERTHS', 'SHIPS'])
      expect(await readFile(join(world.project, 'docs', `${name}.md`), 'utf8')).toContain('Status: checked');
  });

  test('map over files: one agent for each', async () => {
    const run = await plan('map-over-files.js', { args: { files: ['README.md', 'src/berths.js'] } });
    await run.start();
    const { state, error, view } = await run.end();
    expect({ state, error }).toEqual({ state: 'complete', error: null });
    expect(view?.children.map(({ label }) => label)).toEqual(['README.md', 'src/berths.js']);
    expect((await run.result())?.value).toMatchObject([
      { file: 'README.md', summary: expect.stringContaining('README.md has') },
      { file: 'src/berths.js', summary: expect.stringContaining('src/berths.js has') },
    ]);
  });

  test('fix until green: red, mended by an agent, green; each command with consent', async () => {
    const run = await plan('fix-until-green.js');
    await run.start();
    for (const key of ['check-1', 'check-2']) {
      const { questionId } = await run.event('question.asked', ({ message }) => message.includes(key));
      await answerQuestion(run.toolbox(), run.directory, owner, questionId, { confirmed: true });
    }
    const { state, error, view } = await run.end();
    expect({ state, error }).toEqual({ state: 'complete', error: null });
    expect((await run.result())?.value).toEqual({ green: true, fixes: 1 });
    expect(view?.workflow?.hosts.map(({ key, state: of }) => `${key} ${of}`)).toEqual([
      'check-1 failed',
      'check-2 passed',
    ]);
  });

  test('fix until green ends, without an agent, when the command is not allowed', async () => {
    const run = await plan('fix-until-green.js', { host: { mode: 'deny', globs: [] } });
    await run.start();
    const { state, error, view } = await run.end();
    expect([state, error?.message]).toEqual(['failed', expect.stringContaining('not allowed')]);
    expect(view?.children).toEqual([]);
  });
});

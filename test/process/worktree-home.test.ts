/** From a run in a worktree to its work at home, on the command line: forecast, apply, undo, branch, clean up, restore, go on. */
import { existsSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestRun } from '../support/control-matrix-runs.ts';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { git, makeRepository } from '../support/repository.ts';
import { tempDir } from '../support/temp.ts';
import type { World } from '../support/world.ts';

const stack = new AsyncDisposableStack();
let fake: FakePi;
let world: World;
let repository: string;

beforeAll(async () => {
  ({ fake, world } = await fakeWorld(stack));
  const temp = stack.use(await tempDir());
  repository = await makeRepository(join(await realpath(temp.path), 'repository'));
});
afterAll(() => expectNobodyLeft(stack, { fake, world }));

async function cli(code: number, ...args: string[]): Promise<Record<string, never>> {
  const answer = await world.cli([...args, '--json'], { cwd: repository });
  expect(answer.code, answer.stdout + answer.stderr).toBe(code);
  return JSON.parse(answer.stdout);
}

test('run-129 what was made comes home, goes back, becomes a branch; its worktree goes by a plan and comes back', async () => {
  const steps = [{ write: 'made.txt', text: 'made\n' }, { say: 'done' }];
  const run = await TestRun.start(world, fakeTask({ steps }), { cwd: repository, worktree: true });
  const { view } = await run.end();
  const path = view?.children[0]?.worktree?.path ?? '';
  const home = join(repository, 'made.txt');
  expect(await cli(0, 'apply', `${run.runId}/1`, '--forecast')).toMatchObject({
    root: repository,
    applied: false,
    files: [{ path: 'made.txt', change: 'added', outcome: 'take' }],
  });
  expect(existsSync(home)).toBe(false);
  const { id } = await cli(0, 'apply', run.runId);
  expect(await readFile(home, 'utf8')).toBe('made\n');
  expect(await cli(0, 'apply', '--undo', id ?? '')).toMatchObject({ id, files: 1 });
  expect(await git(repository, 'status', '--porcelain')).toBe('');
  const { commit } = await cli(0, 'branch', run.runId, 'brought-home');
  expect(await git(repository, 'show', `${commit}:made.txt`)).toBe('made');
  const { plan } = await cli(0, 'cleanup', 'plan');
  expect(plan).toMatchObject({ entries: [{ path, decision: 'remove', state: 'safe', selected: false }] });
  const { planId } = plan as unknown as { planId: string };
  expect(await cli(0, 'cleanup', 'apply', planId)).toMatchObject({ results: [] });
  expect(await cli(0, 'cleanup', 'apply', planId, '--only', path, '--timeout', '30')).toMatchObject({
    results: [{ path, removed: true, branchRemoved: true, reasons: [], clearing: [] }],
  });
  expect(existsSync(path)).toBe(false);
  expect(await cli(0, 'cleanup', 'finish')).toMatchObject({ finished: [], left: [] });
  expect(await cli(0, 'restore', `${run.runId}/1`)).toMatchObject({ path, warnings: [] });
  expect(await readFile(join(path, 'made.txt'), 'utf8')).toBe('made\n');
  const { worktrees, repositories } = await cli(0, 'worktrees');
  expect(worktrees).toMatchObject([{ state: 'captured', registered: true, present: true }]);
  expect(repositories).toMatchObject([
    { worktrees: [{ path, changed: 1, owner: { runId: run.runId, state: 'complete' } }, { kind: 'main' }] },
  ]);
});

test.each([
  [['cleanup', 'nothing'], 'There is no "cleanup nothing"'],
  [['cleanup', 'apply'], 'The plan is missing'],
  [['cleanup', 'apply', 'x', '--timeout', 'soon'], '--timeout is "soon"'],
  [['cleanup', 'plan', '--days', '3'], 'no option "--days"'],
  [['apply', '--undo', '--forecast'], '--forecast does not go with --undo'],
  [['apply'], 'The run is missing'],
  [['branch', 'last'], 'name of the branch is missing'],
  [['lanes', 'conflicts', 'last', '--pr', '1'], '--pr does not go with "lanes conflicts"'],
])('%j is refused: %s', async (args, told) => {
  const { code, stderr } = await world.cli(args, { cwd: repository });
  expect([code, stderr]).toEqual([2, expect.stringContaining(told)]);
});

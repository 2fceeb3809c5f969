/** Workflows whose children have worktrees of their own, on real git. */
import { existsSync } from 'node:fs';
import { readFile, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, type FakeWorld, fakeWorld } from '../support/fake-world.ts';
import { git, makeRepository } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';
import { TestWorkflow } from '../support/workflow-runs.ts';

const stack = new AsyncDisposableStack();
let fakes: FakeWorld;
let temp: TempDir;
let repository: string;
let count = 0;

beforeAll(async () => {
  fakes = await fakeWorld(stack);
  await fakes.fake.planLaunches({ remembers: true });
  temp = stack.use(await tempDir());
});
beforeEach(async () => {
  repository = await makeRepository(join(await realpath(temp.path), `repository ${++count}`));
});
afterAll(() => expectNobodyLeft(stack, fakes));

const writes = (key: string) => fakeTask({ steps: [{ write: 'made.txt', text: key }, { say: key }] });
const item = (key: string, more: object = {}) => ({ key, agent: 'worker', task: writes(key), ...more });
const all = (...items: object[]) => `
  const all = await runs.all(${JSON.stringify(items)});
  return all.map(({ ok, output, error, artifactPaths }) => ({ ok, output, error, artifactPaths }));`;

interface Answer {
  ok: boolean;
  output: string;
  error?: string;
  artifactPaths: string[];
}

async function answersOf(run: TestWorkflow): Promise<Answer[]> {
  return (await run.result())?.value as Answer[];
}

async function worktreesOf(run: TestWorkflow) {
  return ((await run.end()).view?.children ?? []).map(({ worktree }) => worktree);
}

async function worktreesNow(run: TestWorkflow): Promise<string[]> {
  return ((await run.snapshot()).view?.children ?? []).map(({ worktree }) => worktree?.path ?? '');
}

describe('a workflow with worktrees', () => {
  test('B01 gives each of three children its own, from one commit, and hands over what each has made', async () => {
    const script = all(item('a'), item('b'), item('c'));
    const run = await TestWorkflow.start(fakes.world, script, { cwd: repository, worktree: true });
    expect((await run.end()).state).toBe('complete');
    const worktrees = await worktreesOf(run);
    expect(new Set(worktrees.map((one) => one?.path)).size).toBe(3);
    expect(new Set(worktrees.map((one) => one?.base)).size).toBe(1);
    for (const [index, key] of ['a', 'b', 'c'].entries()) {
      const { state, path = '', branch } = worktrees[index] ?? {};
      expect([state, branch]).toEqual(['captured', expect.stringContaining(`pi-lanes/${key}-`)]);
      expect(await readFile(join(path, 'made.txt'), 'utf8')).toBe(key);
      const { ok, output, artifactPaths } = (await answersOf(run))[index] ?? {};
      expect([ok, output]).toEqual([true, key]);
      const folder = join(run.directory, 'children', String(index + 1), 'worktree', 'capture-1');
      expect(artifactPaths).toEqual(
        expect.arrayContaining([join(folder, 'capture.json'), join(folder, 'changes.patch')]),
      );
      expect(await readFile(join(folder, 'changes.patch'), 'utf8')).toContain(`+${key}`);
    }
    expect(await git(repository, 'status', '--porcelain')).toBe('');
  });

  test('leaves children without that say so, or that are in no group', async () => {
    const script = all(item('own', { isolation: 'worktree', baseRef: 'main' }), item('none', { worktree: false }));
    const run = await TestWorkflow.start(fakes.world, script, { cwd: repository });
    const [own, none] = await worktreesOf(run);
    expect([own?.state, none]).toEqual(['captured', undefined]);
    expect(await readFile(join(repository, 'made.txt'), 'utf8')).toBe('none');
  });

  test('checks a group before any of it starts, and names all it is about', async () => {
    await writeFile(join(repository, 'a.txt'), 'changed\n');
    const script = all(item('first', { worktree: true }), item('second', { worktree: true }));
    const run = await TestWorkflow.start(fakes.world, script, { cwd: repository, globalConcurrencyLimit: 1 });
    await run.end();
    for (const { ok, error } of await answersOf(run)) {
      expect(ok).toBe(false);
      expect(error).toMatch(/first, second: .* has changes that are not committed/);
    }
    expect(await run.all('child.planned')).toEqual([]);
    expect(await git(repository, 'worktree', 'list')).not.toContain('.worktrees');
  });

  test('refuses a base without a worktree', async () => {
    const run = await TestWorkflow.start(fakes.world, all(item('a', { baseRef: 'main' })), { cwd: repository });
    await run.end();
    expect((await answersOf(run))[0]?.error).toContain('gets no worktree');
  });

  test('run-134 keeps one worktree for all stages of a lane', async () => {
    const stages = [
      { key: 'write', agent: 'worker', task: writes('write') },
      { key: 'go-on', resume: 'previous', task: fakeTask({ steps: [{ write: 'more.txt' }, { say: 'more' }] }) },
    ];
    const script = `return await runs.lanes(${JSON.stringify([{ key: 'fix', stages }])});`;
    const run = await TestWorkflow.start(fakes.world, script, { cwd: repository, worktree: true });
    expect((await run.end()).state).toBe('complete');
    const [first, second] = await worktreesOf(run);
    expect(second).toMatchObject({
      path: first?.path,
      of: { runId: run.runId, child: 1 },
      state: 'captured',
      files: 2,
    });
    expect((await git(repository, 'worktree', 'list')).split('\n')).toHaveLength(2);
    // What is handed over is one worktree, of the stage that was last in it; the ledger knows both.
    const status = await fakes.world.cli(['lanes', 'status', run.runId, '--json'], { cwd: repository });
    expect(JSON.parse(status.stdout).manifest.groups).toMatchObject([
      { children: [{ child: 2, status: 'complete', changed: true, patch: { files: 2 } }] },
    ]);
    const { stdout } = await fakes.world.cli(['worktrees', '--json'], { cwd: repository });
    expect(JSON.parse(stdout).worktrees).toMatchObject([
      { child: 1, state: 'captured', users: [{ child: 1 }, { child: 2 }] },
    ]);
  });

  test('goes on in the same worktrees when its runner was killed', async () => {
    const attempts = [
      { steps: [{ write: 'begun.txt' }, { say: 'begun' }, { hang: true as const }] },
      { steps: [{ say: 'done' }] },
    ];
    const task = (key: string) => fakeTask({ key: `${count}-${key}`, attempts });
    const script = all(...['a', 'b', 'c'].map((key) => ({ key, agent: 'worker', task: task(key) })));
    const run = await TestWorkflow.start(fakes.world, script, { cwd: repository, worktree: true });
    const begun = async () => (await worktreesNow(run)).every((path) => existsSync(join(path, 'begun.txt')));
    await waitFor('all to be at work', async () => (await run.all('child.prompted')).length === 3 && (await begun()), {
      timeoutMs: 30_000,
    });
    await run.killRunner();
    await run.recover();
    expect((await run.end()).state).toBe('complete');
    expect((await answersOf(run)).map(({ output }) => output)).toEqual(['done', 'done', 'done']);
    expect(await run.all('worktree.planned')).toHaveLength(3);
    for (const worktree of await worktreesOf(run)) expect(worktree).toMatchObject({ state: 'captured', files: 1 });
    const { stdout } = await fakes.world.cli(['worktrees', '--json'], { cwd: repository });
    expect(JSON.parse(stdout).worktrees).toMatchObject([1, 2, 3].map((child) => ({ child, state: 'captured' })));
  });
});

/** `pi-lanes cleanup` in processes of its own: what it says, two at once, and one that is killed on the way. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RunStore } from '../../src/client/index.ts';
import { ensureProject, findProject, runLayout } from '../../src/core/projects/index.ts';
import { refusedFiles } from '../support/refused-files.ts';
import { tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';
import { createWorld, type World } from '../support/world.ts';
import { DAY, type OldRunOptions, writeOldRun } from '../unit/builders/old-run.ts';
import { me } from '../unit/builders/run.ts';

let world: World;
let store: RunStore;

beforeEach(async () => {
  world = await createWorld({ piPath: '/nowhere', git: false });
  const project = await findProject(world.agent.agentDir, world.project);
  await ensureProject(project);
  store = new RunStore(project);
});
afterEach(() => world[Symbol.asyncDispose]());

const old = (days: number, options: Partial<OldRunOptions> = {}) =>
  writeOldRun(store.layout.directory, { endedAt: Date.now() - days * DAY, ...options });

const configure = async (content: string) => {
  const path = join(world.agent.agentDir, 'pi-lanes', 'config.json');
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
};

test('run-56 cleanup says what would go and why each other run stays, then does exactly that', async () => {
  const due = await old(31);
  const paused = await old(40, { state: 'paused' });
  const live = await old(39, { state: null, lease: await me() });
  const recent = await old(3);
  const before = await readdir(store.layout.directory, { recursive: true });

  const dry = await world.cli(['cleanup', '--dry-run']);
  expect([dry.code, dry.stderr]).toEqual([0, '']);
  const lines = dry.stdout.trim().split('\n');
  expect(lines).toEqual([
    expect.stringMatching(new RegExp(`^would remove {2}${due.runId} `)),
    `stays    ${live.runId}  non-terminal: it has not ended`,
    `stays    ${paused.runId}  resumable: it was interrupted and can be resumed`,
    '1 run(s) would be removed, 1 recent run(s) stay; 0 leftover(s) of what has died would be tidied up. Ended runs are kept for 30 days.',
  ]);
  expect(await readdir(store.layout.directory, { recursive: true })).toEqual(before);

  const { code, stdout } = await world.cli(['cleanup', '--json']);
  expect(code).toBe(0);
  const report = JSON.parse(stdout);
  expect(report).toMatchObject({
    schemaVersion: 1,
    state: 'done',
    dryRun: false,
    days: 30,
    removed: [{ runId: due.runId }],
    failed: [],
    problems: [],
  });
  const kept = Object.fromEntries(report.kept.map((one: { runId: string; reason: string }) => [one.runId, one.reason]));
  expect(kept).toEqual({ [paused.runId]: 'resumable', [live.runId]: 'non-terminal', [recent.runId]: 'recent' });
  expect(existsSync(due.directory)).toBe(false);
  expect(await store.runIds()).toEqual([recent.runId, live.runId, paused.runId].sort().reverse());
  // Nobody sees it any more.
  expect((await world.cli(['status', due.runId])).code).toBe(2);
});

test('a run that is damaged is named, stops nothing else, and is told by the exit code', async () => {
  const due = await old(31);
  const broken = await old(35, { active: true });
  const { journal } = runLayout(broken.directory);
  await rm(journal);
  await mkdir(journal);
  const { code, stdout, stderr } = await world.cli(['cleanup']);
  expect(code).toBe(1);
  expect(stdout).toContain(`removed  ${due.runId}`);
  expect(stderr).toContain(`${journal} cannot be read: it is a folder`);
  expect(existsSync(due.directory)).toBe(false);
});

test('a store that cannot be written is told as one', async () => {
  const due = await old(31);
  const folder = await tempDir();
  const files = await refusedFiles(folder.path);
  await files.refuse({ code: 'EACCES', path: 'cleaning' });
  const run = promisify(execFile)(files.node, [join(world.dist, 'cli.mjs'), 'cleanup', '--json'], {
    cwd: world.project,
    env: world.env,
  });
  const { code, stdout } = await run
    .catch((error: { code: number; stdout: string }) => error)
    .then((end) => ({ code: 0, ...end }));
  await folder.remove();
  expect(code).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: 'store_unwritable', message: expect.stringContaining('cleaning') },
  });
  expect(existsSync(due.directory)).toBe(true);
});

test('cleanup takes the days from the command line, the shared file, or not at all', async () => {
  const run = await old(10);
  const removes = async (...args: string[]) => {
    const { code, stdout } = await world.cli(['cleanup', '--dry-run', '--json', ...args]);
    expect(code).toBe(0);
    return JSON.parse(stdout).removed.length;
  };
  expect(await removes()).toBe(0);
  expect(await removes('--days', '9')).toBe(1);
  await configure('{"retention":{"days":5}}');
  expect(await removes()).toBe(1);
  expect(await removes('--days', '0')).toBe(0);
  for (const [args, config, named] of [
    [['--days', 'soon'], '{}', '--days is "soon"'],
    [['--days', '-1'], '{}', '--days is "-1"; it must be a whole number of days from 0 to 36500'],
    [['--days=-1'], '{}', '--days is "-1"; it must be'],
    [['--days', '1.5'], '{}', '--days is "1.5"'],
    [['--days', ''], '{}', '--days is ""'],
    [[], '{"retention":{"days":"5"}}', 'retention.days'],
    [[], '{"retention":{"days":-5}}', 'retention.days'],
    [['everything'], '{}', 'There is no "cleanup everything"'],
  ] as const) {
    await configure(config);
    const { code, stderr } = await world.cli(['cleanup', ...args]);
    expect(code, stderr).toBe(2);
    expect(stderr).toContain(named);
  }
  expect(existsSync(run.directory)).toBe(true);
});

test('run-57 two processes that clean at once remove every run once, and never the same', async () => {
  const runs: string[] = [];
  for (let i = 0; i < 150; i++) runs.push((await old(40 + i / 100)).runId);
  const stays = await old(40, { state: 'paused' });
  const results = await Promise.all([1, 2, 3].map(() => world.cli(['cleanup', '--json'])));
  const reports = results.map(({ stdout }) => JSON.parse(stdout));
  expect(results.map(({ code }) => code)).toEqual([0, 0, 0]);
  for (const { failed, problems } of reports) expect([failed, problems]).toEqual([[], []]);
  const removed = reports.flatMap((report) => report.removed.map(({ runId }: { runId: string }) => runId));
  expect(removed.sort()).toEqual(runs.sort());
  expect(await readdir(store.layout.runs)).toEqual([stays.runId]);
});

test('run-57 a cleaner that is killed leaves no half a run: the next one goes on, and a day later nothing is left', async () => {
  for (let i = 0; i < 400; i++) await old(40 + i / 100);
  const stays = await old(40, { state: 'paused' });
  const child = spawn(process.execPath, [join(world.dist, 'cli.mjs'), 'cleanup'], {
    cwd: world.project,
    env: world.env,
  });
  const exited = once(child, 'exit');
  const names = () => readdir(store.layout.runs);
  await waitFor('it to be at work', async () => (await names()).length < 390, { everyMs: 1, timeoutMs: 30_000 });
  child.kill('SIGKILL');
  await exited;
  const left = await names();
  expect(left.length).toBeGreaterThan(1);
  // Whatever has the name of a run is whole.
  for (const snapshot of await store.list(500)) expect(['complete', 'paused']).toContain(snapshot.state);
  expect((await world.cli(['cleanup'])).code).toBe(0);
  expect(await store.runIds()).toEqual([stays.runId]);
  for (const name of await names()) {
    const stamp = /^(\.[0-9a-f-]{36}\.)(\d+)\.gone$/.exec(name);
    if (!stamp) continue;
    const aged = `${stamp[1]}${Number(stamp[2]) - DAY}.gone`;
    await rename(join(store.layout.runs, name), join(store.layout.runs, aged));
  }
  expect((await world.cli(['cleanup'])).code).toBe(0);
  expect(await names()).toEqual([stays.runId]);
  expect(existsSync(runLayout(stays.directory).record)).toBe(true);
});

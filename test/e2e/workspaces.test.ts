/** Workspaces that are not one trusted folder: several folders, an untrusted one, none at all. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { createWorld, makeRepository, type World } from '../support/world.ts';
import { shootFailures } from './failure-shots.ts';
import { type Session, startSession } from './session.ts';

let world: World;
const installed = inject('installedExtensions');
let session: Session | undefined;

beforeAll(async () => {
  world = await createWorld({ project: 'first' });
});

afterEach(async () => {
  await session?.close();
  session = undefined;
});

// Registered last, so that it runs first: the window must still be there.
shootFailures(() => session?.workbench);

afterAll(() => world?.[Symbol.asyncDispose]());

/** Folder names of all projects that have a store. */
const projects = () => readdir(world.toolbox.root.projects).catch((): string[] => []);

test('B92 several folders: the folder of the file in hand, otherwise a pick with the last choice first', async () => {
  const base = join(world.project, '..');
  const second = join(base, 'second');
  const plain = join(base, 'plain');
  for (const folder of [second, plain]) await mkdir(folder);
  await writeFile(join(second, 'here.txt'), 'a file of the second folder\n');
  await makeRepository(second);
  const workspace = join(base, 'all.code-workspace');
  await writeFile(workspace, JSON.stringify({ folders: [{ path: 'first' }, { path: 'second' }, { path: 'plain' }] }));
  session = await startSession({ target: { workspace, file: join(second, 'here.txt') }, installed, env: world.env });
  const { workbench } = session;

  await workbench.openContainer('Pi Lanes');
  await workbench.waitForEditorText('a file of the second folder');
  await workbench.command('Pi Lanes: Launch Agent…');
  // No question about the folder: the next one is about the agent.
  await workbench.quickInput.pick('scout');
  await workbench.quickInput.fill('hello from the second');
  await workbench.quickInput.accept();
  await workbench.trees.row(/hello from the second: scout has completed its work/).waitFor({ timeout: 30_000 });
  expect((await projects()).filter((name) => name.startsWith('second-'))).toHaveLength(1);

  await workbench.command('View: Close All Editors');
  await workbench.command('Pi Lanes: Launch Agent…');
  await workbench.quickInput.pick('plain');
  await workbench.quickInput.pick('scout');
  await workbench.quickInput.fill('hello from the plain one');
  await workbench.quickInput.accept();
  await workbench.trees.row(/hello from the plain one: scout has completed its work/).waitFor({ timeout: 30_000 });
  expect((await projects()).filter((name) => name.startsWith('plain-'))).toHaveLength(1);

  await workbench.command('View: Close All Editors');
  await workbench.command('Pi Lanes: Launch Agent…');
  await workbench.quickInput.row('plain').waitFor();
  expect((await workbench.quickInput.labels())[0]).toContain('plain');
  await workbench.screenshot('folder-pick');
  await workbench.quickInput.cancel();
});

test('an untrusted workspace shows old runs and starts nothing', async () => {
  const run = await world.cli(['run', '--agent', 'scout', '--task', 'made before', '--wait', '--json']);
  expect(JSON.parse(run.stdout).state).toBe('complete');
  const before = await world.cli(['status', '--json']);
  session = await startSession({ target: { folder: world.project }, installed, env: world.env, workspaceTrust: true });
  const { workbench } = session;
  await workbench.statusBarItem('Restricted Mode').waitFor();
  await workbench.openContainer('Pi Lanes');
  await workbench.trees.row(/made before: scout has completed its work/).waitFor();
  await workbench.trees.row(/made before: scout has completed its work/).click();
  await workbench.transcripts.waitFor(/made before/, { word: 'complete' });
  // The palette does not even offer it.
  await workbench.page.keyboard.press('F1');
  await workbench.quickInput.fill('>Pi Lanes: Open Transcript');
  await workbench.quickInput.row('Pi Lanes: Open Transcript').waitFor();
  await workbench.quickInput.fill('>Pi Lanes: Launch');
  await workbench.quickInput.row('Pi Lanes: Open Transcript').waitFor({ state: 'hidden' });
  expect((await workbench.quickInput.labels()).filter((label) => label.includes('Launch Agent'))).toEqual([]);
  await workbench.quickInput.cancel();
  await workbench.screenshot('untrusted');
  expect(JSON.parse((await world.cli(['status', '--json'])).stdout).runs).toHaveLength(
    JSON.parse(before.stdout).runs.length,
  );
});

test('an empty window says to open a folder', async () => {
  session = await startSession({ target: {}, installed, env: world.env });
  const { workbench } = session;
  await workbench.openContainer('Pi Lanes');
  await workbench.page.getByRole('button', { name: 'Open Folder' }).first().waitFor();
  await workbench.screenshot('no-folder');
});

test('without Pi a launch says what to do, and keeps the task', async () => {
  const { PI_LANES_PI: _, ...env } = world.env;
  session = await startSession({
    target: { folder: world.project },
    installed,
    env: { ...env, PATH: '/usr/bin:/bin' },
  });
  const { workbench } = session;
  await workbench.openContainer('Pi Lanes');
  const launch = async () => {
    await workbench.command('Pi Lanes: Launch Agent…');
    await workbench.quickInput.pick('worker');
    await workbench.quickInput.waitForTitle('Launch worker');
  };
  await launch();
  await workbench.quickInput.fill('a task that took long to write');
  await workbench.quickInput.accept();
  await workbench.notifications.waitFor(/Pi was not found.*npm install -g @earendil-works\/pi-coding-agent/);
  await workbench.screenshot('no-pi');
  await launch();
  expect(await workbench.page.locator('.quick-input-widget input[type="text"]').inputValue()).toBe(
    'a task that took long to write',
  );
  await workbench.quickInput.cancel();
});

/** The Runs view: what needs a person, days, filter, projects, empty and broken states. */
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, expect, inject, test } from 'vitest';
import { ensureProject, findProject, type Project } from '../../src/core/projects/index.ts';
import { newRunId } from '../../src/core/runs/index.ts';
import type { JournalEvent, TerminalState } from '../../src/protocol/index.ts';
import { createWorld, makeRepository, type World } from '../support/world.ts';
import { aRecord, goneIdentity, writeRun } from '../unit/builders/run.ts';
import { shootFailures } from './failure-shots.ts';
import { type Session, startSession } from './session.ts';
import { THEMES, type Theme, type Workbench } from './workbench.ts';

const DAY = 24 * 60 * 60 * 1000;

let world: World;
const installed = inject('installedExtensions');
let session: Session | undefined;

afterEach(async () => {
  await session?.close();
  session = undefined;
  await world?.[Symbol.asyncDispose]();
});
shootFailures(() => session?.workbench);
afterAll(() => session?.close());

async function projectOf(folder: string): Promise<Project> {
  const project = await findProject(world.agent.agentDir, folder, folder);
  await ensureProject(project);
  return project;
}

/** A run that has ended, as its runner left it. */
async function leaveRun(project: Project, task: string, state: TerminalState, at: number): Promise<string> {
  const child = { ...aRecord().child, task, model: 'fake/scripted' };
  const record = { runId: newRunId(at), createdAt: at, child, cwd: world.project };
  const error = state === 'failed' ? ({ code: 'child_model_error', message: 'The model failed: 400.' } as const) : null;
  const events: JournalEvent[] = [{ type: 'run.proceeded' }, { type: 'run.ended', state, error }];
  const { runId } = await writeRun(project.layout.directory, { record, events, at: at + 61_000 });
  return runId;
}

async function open(options: Partial<Parameters<typeof startSession>[0]> = {}): Promise<Workbench> {
  session = await startSession({ target: { folder: world.project }, installed, env: world.env, ...options });
  await session.workbench.openContainer('Pi Lanes');
  return session.workbench;
}

/** The number on the icon in the activity bar; nothing when there is none. */
async function badge({ page }: Workbench): Promise<string> {
  const content = page
    .locator('.activitybar')
    .getByRole('tab', { name: /^Pi Lanes/ })
    .locator('.badge-content');
  return (await content.isVisible()) ? ((await content.textContent()) ?? '') : '';
}

test('B43 days, badge and needs-you: 33 ended runs count 0; a failure counts until it was seen, also after a reload', async () => {
  world = await createWorld({ project: 'harbour' });
  const project = await projectOf(world.project);
  const now = Date.now();
  for (let i = 0; i < 33; i++) await leaveRun(project, `done ${i}`, 'complete', now - (i % 3) * DAY - i * 1000);
  await leaveRun(project, 'failed long ago', 'failed', now - 2 * DAY);
  const workbench = await open();
  const { trees } = workbench;
  await trees.row('Today: 11 runs.').waitFor();
  await trees.row('Yesterday: 11 runs.').waitFor();
  await trees.row(/day, .*: 12 runs\./).waitFor();
  // Failures from before this workspace was opened need nobody.
  expect(await badge(workbench)).toBe('');
  expect(await trees.row('Today: 11 runs.').getAttribute('aria-expanded')).toBe('true');
  expect(await trees.row(/day, .*: 12 runs\./).getAttribute('aria-expanded')).toBe('false');
  await workbench.screenshot('runs-days');

  await leaveRun(project, 'first that failed', 'failed', Date.now());
  await leaveRun(project, 'second that failed', 'failed', Date.now());
  await workbench.command('Pi Lanes: Refresh Runs');
  await trees.row('2 runs need you.').waitFor();
  await expect.poll(() => badge(workbench)).toBe('2');
  await workbench.notifications.clear();
  await workbench.screenshot('needs-you-failed');
  await trees.row(/^first that failed: worker has failed\./).click();
  await trees.row('1 run needs you.').waitFor();
  await workbench.reload();
  await trees.row('1 run needs you.').waitFor();
  await expect.poll(() => badge(workbench)).toBe('1');
  const second = trees.row(/^second that failed: worker has failed\./);
  await trees.inlineAction(second, 'Mark as Seen');
  await trees.row('1 run needs you.').waitFor({ state: 'detached' });
  await expect.poll(() => badge(workbench)).toBe('');
  await workbench.reload();
  await trees.row('Today: 13 runs.').waitFor();
  expect(await badge(workbench)).toBe('');
  await workbench.statusBarItem(/^\s*Pi Lanes\s*$/).waitFor();
});

test('filter by words and states; remembered; nothing that matches says what to do', async () => {
  world = await createWorld({ project: 'harbour' });
  const project = await projectOf(world.project);
  const now = Date.now();
  await leaveRun(project, 'paint the north pier', 'complete', now);
  await leaveRun(project, 'paint the south pier', 'stopped', now - 1000);
  await leaveRun(project, 'sweep the south pier', 'complete', now - 3 * DAY);
  const workbench = await open();
  const { trees, quickInput, page } = workbench;
  await trees.row('Today: 2 runs.').waitFor();
  await trees.viewAction('Runs', 'Filter Runs…');
  await quickInput.waitForTitle('Filter Runs');
  await quickInput.fill('SOUTH pier');
  await workbench.screenshot('filter-box');
  await quickInput.accept();
  // What was closed is open: it holds what was looked for.
  await trees.row(/^sweep the south pier/).waitFor();
  await trees.row(/^paint the north pier/).waitFor({ state: 'detached' });
  await page.getByText('2 of 3 runs: "SOUTH pier"').first().waitFor();
  await workbench.screenshot('filtered');
  await workbench.reload();
  await trees.row(/^sweep the south pier/).waitFor();
  expect(await trees.row(/^paint the north pier/).isVisible()).toBe(false);

  await workbench.command('Pi Lanes: Filter Runs…');
  await quickInput.pickSeveral(['failed']);
  await page.getByText('No run matches the filter.').waitFor();
  await workbench.screenshot('filter-nothing');
  await page.getByRole('button', { name: 'Clear Filter' }).last().click();
  await trees.row('Today: 2 runs.').waitFor();
});

test('several projects: one group each, and what needs a person above them', async () => {
  world = await createWorld({ project: 'first' });
  const base = join(world.project, '..');
  const second = join(base, 'second');
  await mkdir(second);
  await writeFile(join(second, 'here.txt'), 'here\n');
  await makeRepository(second);
  const workspace = join(base, 'all.code-workspace');
  await writeFile(workspace, JSON.stringify({ folders: [{ path: 'first' }, { path: 'second' }] }));
  await leaveRun(await projectOf(world.project), 'of the first', 'complete', Date.now());
  const other = await projectOf(second);
  await leaveRun(other, 'of the second', 'complete', Date.now());
  await writeRun(other.layout.directory, {
    record: { runId: newRunId(), createdAt: Date.now(), child: { ...aRecord().child, task: 'cut off' } },
    events: [{ type: 'run.proceeded' }],
    lease: goneIdentity(),
    at: Date.now(),
  });
  const workbench = await open({ target: { workspace } });
  const { trees } = workbench;
  await trees.row('1 run needs you.').waitFor();
  await trees.row('Project first.').waitFor();
  await trees.row('Project second.').waitFor();
  await trees.row(/^of the second: worker has completed its work/).waitFor();
  expect(await trees.row(/^cut off: worker was cut off/).textContent()).toContain('second · lost');
  await workbench.notifications.clear();
  await workbench.screenshot('projects');
});

test('git that refuses, and a store that cannot be read, say what to do; then it works again', async () => {
  world = await createWorld({ project: 'harbour' });
  const project = await projectOf(world.project);
  await leaveRun(project, 'behind the wall', 'complete', Date.now());
  const git = join(world.project, '.git');
  await rm(git, { recursive: true });
  await writeFile(git, 'gitdir: /nowhere\n');
  const workbench = await open();
  const { page, trees } = workbench;
  await page.getByText('It cannot be told which project').waitFor();
  await workbench.screenshot('project-unreadable');
  await rm(git);
  await makeRepository(world.project);
  await page.getByRole('button', { name: 'Try Again' }).click();
  await trees.row(/^behind the wall/).waitFor();

  // A file in the place of the folder cannot be read by anybody, not even by root.
  await chmod(project.layout.directory, 0o700);
  await rm(project.layout.runs, { recursive: true });
  await writeFile(project.layout.runs, 'not a folder');
  await workbench.reload();
  await page.getByText('The runs of this project cannot be read.').waitFor();
  await workbench.screenshot('store-unreadable');
  await rm(project.layout.runs);
  await page.getByRole('button', { name: 'Try Again' }).click();
  await page.getByText('No agent has run here yet.').waitFor();
});

test('in all themes, and in a small window', async () => {
  world = await createWorld({ project: 'harbour' });
  const project = await projectOf(world.project);
  const now = Date.now();
  for (const state of ['complete', 'failed', 'stopped', 'paused', 'partial'] as const)
    await leaveRun(project, `One that is ${state}, with a title too long for a narrow side bar`, state, now - DAY);
  await writeRun(project.layout.directory, {
    record: { runId: newRunId(), createdAt: now, child: { ...aRecord().child, task: 'One that was cut off' } },
    events: [{ type: 'run.proceeded' }],
    lease: goneIdentity(),
    at: now,
  });
  const workbench = await open();
  await workbench.trees.row('1 run needs you.').waitFor();
  await workbench.notifications.waitFor(/was cut off/);
  await workbench.notifications.clear();
  for (const theme of Object.keys(THEMES) as Theme[]) {
    await workbench.setTheme(theme);
    await workbench.screenshot(`runs-${theme.replaceAll(' ', '-').toLowerCase()}`);
  }
  await workbench.page.setViewportSize({ width: 640, height: 400 });
  await workbench.screenshot('runs-640x400');
});

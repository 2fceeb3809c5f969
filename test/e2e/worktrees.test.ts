/** Folder or worktree: chosen before a launch, seen in its plan, remembered; the row of the worktree and the ways into it. */
import { rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { readLaunchRecord } from '../../src/core/runs/index.ts';
import { git } from '../support/repository.ts';
import { waitFor } from '../support/wait-for.ts';
import { createWorld, type World } from '../support/world.ts';
import { shootFailures } from './failure-shots.ts';
import { type Session, startSession } from './session.ts';

const STEPS = JSON.stringify([
  { calls: [{ tool: 'write', args: { path: 'berths.txt', content: 'north\nsouth\n' } }] },
  { text: 'The berths are written down.' },
]);
const TASK = `SCRIPT:steps ${STEPS}`;

let world: World;
let session: Session;

beforeAll(async () => {
  world = await createWorld({ project: 'harbour' });
  await git(world.project, 'branch', 'release');
  session = await startSession({
    target: { folder: world.project },
    installed: inject('installedExtensions'),
    env: world.env,
    settings: { 'piLanes.writers': 'wait' },
  });
  await session.workbench.openContainer('Pi Lanes');
});
afterAll(async () => {
  await session?.close();
  await world?.[Symbol.asyncDispose]();
});
shootFailures(() => session?.workbench);

interface Worktree {
  runId: string;
  path: string;
  branch: string;
  state: string;
}

async function worktrees(): Promise<Worktree[]> {
  return JSON.parse((await world.cli(['worktrees', '--json'])).stdout).worktrees;
}

async function begin(): Promise<void> {
  await session.workbench.command('Pi Lanes: Launch Agent…');
  await session.workbench.quickInput.pick('worker');
  await session.workbench.quickInput.waitForTitle('Launch worker');
}

/** What stands behind a row of the box. */
const described = (label: string) => session.workbench.quickInput.row(label).locator('.label-description');

/** Launches what is typed, and waits until it has ended as a run with this label. */
async function launched(task: string, label: RegExp) {
  const { quickInput, trees } = session.workbench;
  await quickInput.fill(task);
  await quickInput.accept();
  const row = trees.row(label);
  await row.waitFor({ timeout: 60_000 });
  const { directory } = JSON.parse((await world.cli(['status', 'last', '--json'])).stdout);
  return { row, record: await readLaunchRecord(directory) };
}

test('B93 a new worktree is chosen in the box, stands in its plan, and gets a row with the ways into it', async () => {
  const { workbench } = session;
  const { quickInput, trees, page } = workbench;
  await begin();
  await expect.poll(() => described('Folder or Worktree…').textContent()).toBe('in the folder itself');
  await quickInput.row('Tools').waitFor();
  await workbench.screenshot('worktree-plan-folder');
  await quickInput.pick('Folder or Worktree…');
  await quickInput.row('In a new worktree').waitFor();
  await workbench.screenshot('worktree-choice');
  await quickInput.pick('In a new worktree');
  await quickInput.waitForTitle('Launch worker');
  await quickInput.fill(TASK);
  await expect.poll(() => described('Folder or Worktree…').textContent()).toBe('in a new worktree from HEAD');
  await quickInput.row('Tools').waitFor();
  await workbench.screenshot('worktree-plan');
  const { row, record } = await launched(TASK, /^SCRIPT:steps.*: worker has completed/);
  expect(record).toMatchObject({ worktree: {}, cwd: world.project });

  await trees.expand(row);
  const worktree = trees.row(/^Worktree pi-lanes\/.*: kept: 1 file, \+2 -0\. /);
  await worktree.waitFor();
  await workbench.screenshot('worktree-row');
  const [known] = await worktrees();
  expect(known).toMatchObject({ state: 'captured' });
  expect(await worktree.getAttribute('aria-label')).toContain(known?.path);
  // The click shows what was changed.
  await worktree.click();
  await workbench.waitForEditorText('+north');
  await trees.inlineAction(worktree, 'Open Terminal in Worktree');
  await page.locator('.terminal-wrapper.active .xterm').waitFor();
  const name = basename(known?.path ?? '');
  await page.getByText(name).first().waitFor();
  await page.locator('.terminal-wrapper.active textarea').focus();
  await page.keyboard.type('git status --short; pwd\n');
  await page.locator('.terminal-wrapper.active .xterm-rows', { hasText: /berths\.txt/ }).waitFor();
  await workbench.screenshot('worktree-terminal');
});

test('B93 the choice is there after a reload; a branch can be the base', async () => {
  const { workbench } = session;
  const { quickInput } = workbench;
  await workbench.reload();
  await workbench.trees.row(/^SCRIPT:steps/).waitFor();
  await begin();
  await expect.poll(() => described('Folder or Worktree…').textContent()).toBe('in a new worktree from HEAD');
  await quickInput.pick('Folder or Worktree…');
  await quickInput.pick('In a new worktree from another branch or tag…');
  await quickInput.row('release').waitFor();
  await workbench.screenshot('worktree-bases');
  await quickInput.pick('release');
  await quickInput.waitForTitle('Launch worker');
  const { record } = await launched('Look around.', /^Look around\.: worker has completed/);
  expect(record).toMatchObject({ worktree: { baseRef: 'release' } });
});

test('B93 what is not committed keeps it from starting, and is never passed over; the folder can be chosen instead', async () => {
  const { workbench } = session;
  const { quickInput } = workbench;
  await writeFile(join(world.project, 'draft.txt'), 'not yet\n');
  await begin();
  const refusal = quickInput.row('No worktree can be made now');
  await refusal.waitFor();
  expect(await described('No worktree can be made now').textContent()).toMatch(/^not committed.*: draft\.txt$/);
  await workbench.screenshot('worktree-dirty');
  await quickInput.pick('Folder or Worktree…');
  await quickInput.waitForTitle('Folder or Worktree');
  await refusal.waitFor();
  await workbench.screenshot('worktree-refused');
  await quickInput.pick('In the folder itself');
  await quickInput.waitForTitle('Launch worker');
  await quickInput.row('Tools').waitFor();
  expect(await refusal.count()).toBe(0);
  const { record } = await launched('Stay here.', /^Stay here\.: worker has completed/);
  expect(record).not.toHaveProperty('worktree');
  await rm(join(world.project, 'draft.txt'));
});

test('B93 that another agent changes files in the folder is said before the launch, with the other way', async () => {
  const { workbench } = session;
  const { quickInput } = workbench;
  const env = { ...world.env, PI_LANES_WRITERS: 'wait' };
  const other = (await world.cli(['run', '--agent', 'worker', '--task', 'SCRIPT:bash-sleep'], { env })).stdout.trim();
  await workbench.trees.row(/^SCRIPT:bash-sleep: worker is running/).waitFor();
  const warning = 'Another agent changes files in this folder';
  await waitFor('the warning', async () => {
    await begin();
    await quickInput.row('Tools').waitFor();
    if (await quickInput.row(warning).isVisible()) return true;
    await quickInput.cancel();
    return undefined;
  });
  expect(await described(warning).textContent()).toContain(other);
  await workbench.screenshot('worktree-writers');
  await quickInput.cancel();
  await world.cli(['stop', other]);
});

test('B93 the agents of a workflow: chosen above the script, each with a row below it', async () => {
  const { workbench } = session;
  const { page, quickInput, trees, notifications } = workbench;
  const file = join(world.project, 'piers.workflow.js');
  const task = JSON.stringify(TASK);
  await writeFile(file, `return (await runs.run('survey', { agent: 'worker', task: ${task} })).output;\n`);
  await git(world.project, 'add', '--all');
  await git(world.project, 'commit', '--quiet', '--message', 'piers');
  await workbench.command('View: Close All Editors');
  await workbench.openFile('piers.workflow.js');
  await page.getByText('Validate (no problems)', { exact: true }).waitFor();
  const lens = page.getByText('Agents work in the folder', { exact: true });
  // The editor makes all lenses anew when one provider asks for it: a person clicks again.
  const asked = async () => {
    await lens.click();
    return quickInput.waitForTitle('Folder or Worktree', 3000).then(
      () => true,
      () => false,
    );
  };
  await waitFor('the choice', asked, { timeoutMs: 20_000 });
  await quickInput.pick('In a new worktree');
  await page.getByText('Agents work in new worktrees', { exact: true }).waitFor();
  await workbench.screenshot('worktree-lens');
  await workbench.command('Pi Lanes: Run Workflow File');
  await notifications.press('"piers" is complete.', 'Open Result');
  await workbench.waitForEditorText('# piers: complete');
  const run = trees.row(/^piers: .*completed/);
  await trees.expand(run);
  const child = trees.row(/^survey: worker has completed/);
  await trees.expand(child);
  await trees.row(/^Worktree pi-lanes\/.*: kept: 1 file, \+2 -0\. /).waitFor();
  await workbench.screenshot('worktree-workflow');
  const found = (await worktrees()).filter(({ state }) => state === 'captured');
  expect(found).toHaveLength(3);

  // Removed behind the editor's back: the row says so when it is asked for again.
  const last = found.at(-1);
  if (!last) throw new Error('there is no worktree');
  await rm(last.path, { recursive: true });
  await workbench.command('Pi Lanes: Refresh Runs');
  await trees.row(/^Worktree pi-lanes\/.*: its folder is gone\. /).waitFor();
  await workbench.screenshot('worktree-gone');
});

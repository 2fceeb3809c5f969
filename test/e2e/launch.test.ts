/** From the palette to the result, as a person does it: the packaged extension in a real editor, a real Pi, real tools. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { createWorld, type World } from '../support/world.ts';
import { shootFailures } from './failure-shots.ts';
import { type Session, startSession } from './session.ts';

let world: World;
let session: Session;

shootFailures(() => session?.workbench);

beforeAll(async () => {
  world = await createWorld({ project: 'harbour' });
  session = await startSession({
    target: { folder: world.project },
    installed: inject('installedExtensions'),
    env: world.env,
  });
});

afterAll(async () => {
  await session?.close();
  await world?.[Symbol.asyncDispose]();
});

test('the empty view says what to do next', async () => {
  const { workbench } = session;
  await workbench.openContainer('Pi Lanes');
  await workbench.page.getByRole('button', { name: 'Launch Agent…' }).first().waitFor();
  await workbench.screenshot('runs-empty');
});

test('launch from the palette: the agent edits a file, tree and transcript show it run and finish', async () => {
  const { workbench } = session;
  const task = 'SCRIPT:demo file=NOTES.md';
  await workbench.command('Pi Lanes: Launch Agent…');
  await workbench.quickInput.pick('worker');
  await workbench.quickInput.waitForTitle('Launch worker');
  await workbench.quickInput.fill(task);
  await workbench.quickInput.accept();

  const row = workbench.trees.row(/SCRIPT:demo file=NOTES.md: worker is running/);
  await row.waitFor();
  await workbench.statusBarItem(/1 running/).waitFor();
  await workbench.transcripts.waitFor(/SCRIPT:demo/, { text: /README/ });
  await workbench.screenshot('run-active');

  await workbench.trees.row(/SCRIPT:demo file=NOTES.md: worker has completed its work/).waitFor({ timeout: 30_000 });
  await workbench.transcripts.waitFor(/SCRIPT:demo/, { word: 'complete' });
  await workbench.screenshot('run-complete');
  expect(await readFile(join(world.project, 'NOTES.md'), 'utf8')).not.toBe('');
  // The agent's tools and the model really were asked.
  expect(world.model.requests.filter((request) => request.script === 'demo').length).toBeGreaterThan(2);
  await workbench.statusBarItem(/Pi Lanes/).waitFor();
});

test('stop from the row, after being asked', async () => {
  const { workbench } = session;
  await workbench.command('Pi Lanes: Launch Agent…');
  await workbench.quickInput.pick('worker');
  await workbench.quickInput.fill('SCRIPT:bash-sleep');
  await workbench.quickInput.accept();
  const row = workbench.trees.row(/SCRIPT:bash-sleep: worker is running/);
  await row.waitFor();
  await waitFor('the tool to run', async () => /bash/.test((await row.textContent()) ?? ''));
  await workbench.screenshot('run-in-tool');
  await workbench.trees.inlineAction(row, 'Stop Run');
  await workbench.dialogs.answer(/Stop "SCRIPT:bash-sleep"/, 'Stop Run');
  await workbench.trees.row(/SCRIPT:bash-sleep: worker was stopped/).waitFor();
  const status = await world.cli(['status', 'last', '--json']);
  const { run } = JSON.parse(status.stdout);
  expect(run.state).toBe('stopped');
  expect(run.children[0].exit.tree).toBe('gone');
  await workbench.screenshot('run-stopped');
});

test('pi-lanes is there in an integrated terminal', async () => {
  const { workbench } = session;
  await workbench.command('Terminal: Create New Terminal');
  const { page } = workbench;
  await page.locator('.terminal-wrapper.active .xterm').waitFor();
  await page.locator('.xterm-helper-textarea').last().focus();
  await page.locator('.xterm-rows', { hasText: /[$#] / }).waitFor();
  await page.keyboard.type('pi-lanes status --limit 1');
  await page.keyboard.press('Enter');
  await page.locator('.xterm-rows', { hasText: /stopped +worker/ }).waitFor();
  await workbench.screenshot('terminal');
});

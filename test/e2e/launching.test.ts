/** All ways to a launch: the box, the editor, a selection, a file, problems; the model; and that nothing typed is lost. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { readLaunchRecord } from '../../src/core/runs/index.ts';
import type { SingleRecord } from '../../src/protocol/index.ts';
import { waitFor } from '../support/wait-for.ts';
import { createWorld, type World } from '../support/world.ts';
import { shootFailures } from './failure-shots.ts';
import { type Session, startSession } from './session.ts';
import { THEMES, type Theme } from './workbench.ts';

let world: World;
let session: Session;

beforeAll(async () => {
  world = await createWorld({ project: 'harbour' });
  await mkdir(join(world.project, 'src'));
  await writeFile(join(world.project, 'src', 'berths.txt'), 'north\neast\nsouth\nwest\n');
  await writeFile(join(world.project, 'broken.json'), '{ "a": 1, }\n');
  session = await startSession({
    target: { folder: world.project },
    installed: inject('installedExtensions'),
    env: world.env,
    settings: {
      'piLanes.defaultAgent': 'scout',
      'piLanes.defaultModel': 'fake/scripted-b',
      'piLanes.timeoutMinutes': 7,
    },
  });
  await session.workbench.openContainer('Pi Lanes');
});
afterAll(async () => {
  await session?.close();
  await world?.[Symbol.asyncDispose]();
});
shootFailures(() => session?.workbench);

/** The launch record of the newest run, once it is one with this task. */
async function launched(task: string | RegExp): Promise<SingleRecord> {
  return waitFor('the run', async () => {
    const { stdout } = await world.cli(['status', 'last', '--json']);
    const { directory } = JSON.parse(stdout);
    if (typeof directory !== 'string') return undefined;
    const record = await readLaunchRecord(directory);
    return record.mode === 'single' && record.child.task.match(task) ? record : undefined;
  });
}

async function begin(agent = 'worker'): Promise<void> {
  await session.workbench.command('Pi Lanes: Launch Agent…');
  await session.workbench.quickInput.pick(agent);
  await session.workbench.quickInput.waitForTitle(`Launch ${agent}`);
}

test('defaults: the agent of the setting is offered first; its model and time limit are used', async () => {
  const { quickInput, trees } = session.workbench;
  await session.workbench.command('Pi Lanes: Launch Agent…');
  await quickInput.row('scout').waitFor();
  expect((await quickInput.labels())[0]).toBe('scout');
  await quickInput.pick('worker');
  await quickInput.fill('the first task');
  await quickInput.accept();
  await trees.row(/^the first task: worker has completed/).waitFor({ timeout: 30_000 });
  const record = await launched('the first task');
  expect(record.timeoutMs).toBe(7 * 60_000);
  expect(record.child).toMatchObject({ model: 'fake/scripted-b', modelIsExplicit: false });
});

test('a recent task is offered first and taken into the box', async () => {
  const { workbench } = session;
  const { quickInput } = workbench;
  await begin();
  expect((await quickInput.labels())[0]).toBe('the first task');
  await workbench.screenshot('launch-recent');
  await quickInput.accept();
  await expect
    .poll(() => session.workbench.page.locator('.quick-input-widget input[type="text"]').inputValue())
    .toBe('the first task');
  await quickInput.fill('the second task');
  await quickInput.row('the second task').waitFor();
  await workbench.screenshot('launch-typed');
  await quickInput.accept();
  await launched('the second task');
});

test('a model of the registry, with a thinking level', async () => {
  const { quickInput } = session.workbench;
  await begin();
  await quickInput.pick('Model…');
  await quickInput.row('Scripted B').waitFor();
  expect((await quickInput.labels())[0]).toBe('Default');
  await session.workbench.screenshot('launch-models');
  await quickInput.pick('Scripted');
  await quickInput.row('high').waitFor();
  await session.workbench.screenshot('launch-thinking');
  await quickInput.pick('high');
  await quickInput.waitForTitle('Launch worker');
  await quickInput.fill('think about it');
  await quickInput.accept();
  const record = await launched('think about it');
  expect(record.child).toMatchObject({ model: 'fake/scripted', thinking: 'high', modelIsExplicit: true });
  // The transcript opens by itself and takes the keyboard: whoever opens a file before that loses it again.
  await session.workbench.transcripts.waitFor(/think about it/);
});

test('a selection: the prompt has path, lines and text', async () => {
  const { workbench } = session;
  const { page, quickInput } = workbench;
  await workbench.openFile('berths.txt');
  await page.locator('.editor-group-container.active .view-lines').click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Shift+ArrowDown');
  await workbench.statusBarItem(/\(\d+ selected\)/).waitFor();
  await workbench.command('Pi Lanes: Launch Agent on Selection…');
  await quickInput.pick('worker');
  await quickInput.waitForTitle('Launch worker on src/berths.txt:2-3');
  await quickInput.fill('sort these');
  await workbench.screenshot('launch-selection');
  await quickInput.accept();
  const { child } = await launched(/^sort these/);
  expect(child.task).toBe(
    'sort these\n\nThis is about lines 2 to 3 of src/berths.txt:\n\n```plaintext\neast\nsouth\n```',
  );
  await workbench.transcripts.waitFor(/sort these/, { word: 'complete' });
});

test('a file from the explorer, and problems of a file', async () => {
  const { workbench } = session;
  const { quickInput, trees } = workbench;
  await workbench.openContainer('Explorer');
  const row = trees.row(/^broken\.json/);
  await trees.contextAction(row, 'Launch Agent on File…');
  await quickInput.pick('worker');
  await quickInput.waitForTitle('Launch worker on broken.json');
  await quickInput.cancel();

  await workbench.openFile('broken.json');
  await workbench.statusBarItem(/^.*1.*0/).waitFor();
  await workbench.command('Pi Lanes: Launch Agent on Problems…');
  await quickInput.pick('worker');
  await quickInput.waitForTitle(/Launch worker on 1 problem in broken\.json/);
  await workbench.screenshot('launch-problems');
  await quickInput.accept();
  const { child } = await launched(/^Fix these problems\./);
  expect(child.task).toMatch(/reports these problems:\n\n- broken\.json:1:\d+: (error|warning): Trailing comma/);
  await workbench.openContainer('Pi Lanes');
});

test('a task of many lines, written in an editor: there after a reload, launched from it, then gone', async () => {
  const { workbench } = session;
  const { page, quickInput } = workbench;
  await workbench.command('View: Close All Editors');
  await begin();
  await quickInput.fill('many lines');
  await page.locator('.quick-input-widget').getByRole('button', { name: 'Write in an Editor' }).click();
  await workbench.waitForEditorText('many lines');
  await page.keyboard.press('Enter');
  await page.keyboard.type('and one more');
  await page.getByRole('button', { name: 'Launch worker' }).waitFor();
  await workbench.screenshot('task-editor');
  // It saves itself.
  await page.locator('.tabs-container .tab.dirty').waitFor({ state: 'detached' });
  await workbench.reload();
  await workbench.trees.row(/^the first task/).waitFor();

  // The box knows of it and leads back to it.
  await begin();
  await quickInput.pick('Go On Writing in an Editor…');
  await workbench.waitForEditorText('and one more');
  await page.getByRole('button', { name: 'Launch worker' }).waitFor();
  await page.locator('.editor-group-container.active .view-lines').click();
  await page.keyboard.press('Control+Enter');
  const { child } = await launched(/^many lines/);
  expect(child.task).toBe('many lines\nand one more');
  await workbench.tab('Task.pi-task').waitFor({ state: 'detached' });
  await workbench.transcripts.waitFor(/many lines/);
});

test('what was typed is there after a reload in the middle of it', async () => {
  const { workbench } = session;
  await begin();
  await workbench.quickInput.fill('half a thou');
  await workbench.reload();
  await workbench.trees.row(/^the first task/).waitFor();
  await begin();
  expect(await workbench.page.locator('.quick-input-widget input[type="text"]').inputValue()).toBe('half a thou');
  await workbench.quickInput.cancel();
});

test('by keyboard alone: launch, then walk the tree and open the transcript', async () => {
  const { workbench } = session;
  const { page } = workbench;
  await workbench.command('View: Close All Editors');
  const focused = () => page.evaluate("document.activeElement?.closest('.quick-input-widget') !== null");
  await page.keyboard.press('F1');
  await page.keyboard.type('Pi Lanes: Launch Agent…');
  await workbench.quickInput.row('Pi Lanes: Launch Agent…').waitFor();
  await page.keyboard.press('Enter');
  await workbench.quickInput.row('scout').waitFor();
  await page.keyboard.press('Enter');
  await workbench.quickInput.waitForTitle('Launch scout');
  expect(await focused()).toBe(true);
  await page.keyboard.press('Control+A');
  await page.keyboard.type('by keyboard');
  await page.keyboard.press('Enter');
  await workbench.trees.row(/^by keyboard: scout has completed/).waitFor({ timeout: 30_000 });
  await workbench.command('View: Close All Editors');
  await workbench.command('Pi Lanes: Focus on Runs View');
  await page.locator('.pane-body .monaco-list:focus').waitFor();
  await page.keyboard.press('Home');
  // From an open section to its first run.
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await workbench.transcripts.waitFor(/by keyboard/);
  await workbench.screenshot('keyboard');
});

test('the launch in all themes, and in a small window', async () => {
  const { workbench } = session;
  for (const theme of Object.keys(THEMES) as Theme[]) {
    await workbench.setTheme(theme);
    await begin();
    await workbench.screenshot(`launch-${theme.replaceAll(' ', '-').toLowerCase()}`);
    await workbench.quickInput.cancel();
  }
  await workbench.command('Pi Lanes: Get Started');
  await workbench.screenshot('walkthrough-high-contrast');
  await workbench.page.setViewportSize({ width: 640, height: 400 });
  await begin();
  await workbench.screenshot('launch-640x400');
  await workbench.quickInput.cancel();
});

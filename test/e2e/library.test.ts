/**
 * The Library as a person uses it: an agent is made from the view, a mistake in it is found and mended, it is launched as it
 * was planned; what came along is copied, disabled and reset; scripts begin from templates.
 */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { readLaunchRecord } from '../../src/core/runs/index.ts';
import { fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, type FakeWorld, fakeWorld } from '../support/fake-world.ts';
import { waitFor } from '../support/wait-for.ts';
import { shootFailures } from './failure-shots.ts';
import { type Session, startSession } from './session.ts';

const stack = new AsyncDisposableStack();
let worlds: FakeWorld;
let session: Session;

beforeAll(async () => {
  worlds = await fakeWorld(stack, { project: 'harbour' });
  const { project, env } = worlds.world;
  session = await startSession({ target: { folder: project }, installed: inject('installedExtensions'), env });
  await session.workbench.openContainer('Pi Lanes');
  await session.workbench.trees.closeView('Runs');
  await session.workbench.trees.openView('Library');
}, 300_000);
afterAll(async () => {
  await session?.close();
  await expectNobodyLeft(stack, worlds);
});
shootFailures(() => session?.workbench);

const ours = (name: string) => join(worlds.world.project, '.pi', 'agents', `${name}.md`);
const own = (name: string) => join(worlds.world.agent.agentDir, 'agents', `${name}.md`);

const TASK = fakeTask({ steps: [{ say: 'I brought it in.' }] });

test('create an agent from the view, fix a diagnostic, launch it, see its plan honoured', async () => {
  const { workbench } = session;
  const { trees, quickInput, page } = workbench;
  await trees.row(/^New Agent…, none of this project yet/).click();
  await quickInput.waitForTitle('New Agent');
  await quickInput.fill('Pilot Boat');
  await quickInput.waitForMessage(/It will be called pilot-boat\./);
  await quickInput.accept();
  await quickInput.waitForMessage(/What is pilot-boat for\?/);
  await quickInput.fill('Brings ships in.');
  await quickInput.accept();
  await workbench.tab('pilot-boat.md').waitFor();
  await trees.row(/^Agent pilot-boat, the project, Brings ships in\./).waitFor();
  expect(await readFile(ours('pilot-boat'), 'utf8')).toMatch(
    /^---\nname: pilot-boat\n[\s\S]*\n---\n\n?Brings ships in\.\n$/,
  );
  await workbench.closeTab('pilot-boat.md');

  // Somebody goes on writing, and makes a mistake.
  const text = await readFile(ours('pilot-boat'), 'utf8');
  const fields = 'model: fake/scripted-b\ntools: read, grep\nthinking: hot\n---\n';
  await writeFile(ours('pilot-boat'), text.replace(/\n---\n/, `\n${fields}`));
  const broken = trees.row(/^Agent pilot-boat, the project, has mistakes/);
  await broken.waitFor();
  await trees.row(/^Agents of the Project, 1, 1 with mistakes/).waitFor();
  await workbench.screenshot('library-mistake');
  // A click leads to what is wrong, and has it selected.
  await broken.click();
  await workbench.tab('pilot-boat.md').waitFor();
  await workbench.statusBarItem(/\(3 selected\)/).waitFor();
  await page.locator('.editor-group-container.active .monaco-editor.focused').waitFor();
  await page.keyboard.type('low');
  await page.keyboard.press('Control+S');
  const mended = trees.row(/^Agent pilot-boat, the project, scripted-b, thinking low, Brings ships in\./);
  await mended.waitFor();

  const planned = await worlds.world.cli(['plan', '--agent', 'pilot-boat', '--task', TASK, '--approve', '--json']);
  const { plan } = JSON.parse(planned.stdout);
  expect(plan).toMatchObject({
    model: 'fake/scripted-b',
    thinking: 'low',
    effectiveTools: expect.arrayContaining(['read', 'grep']),
  });
  expect(plan.effectiveTools).not.toContain('bash');
  await trees.inlineAction(mended, 'Launch Agent…');
  await quickInput.waitForTitle('Launch pilot-boat');
  await quickInput.fill(TASK);
  await quickInput.accept();
  await workbench.transcripts.waitFor(/FAKE/, { word: 'complete', text: /I brought it in\./ });
  const record = await waitFor('the run', async () => {
    const { directory } = JSON.parse((await worlds.world.cli(['status', 'last', '--json'])).stdout);
    const found = await readLaunchRecord(directory);
    return found.mode === 'single' ? found : undefined;
  });
  // What was foreseen is what was started, and what Pi was given.
  expect(record.child).toMatchObject({ model: plan.model, thinking: plan.thinking, agent: { name: 'pilot-boat' } });
  expect(record.child.digests?.definition).toBe(plan.digests.definition);
  const [child] = await worlds.fake.launches('child');
  const args = child?.args ?? [];
  const given = (option: string) => args[args.indexOf(option) + 1];
  expect([given('--model'), given('--thinking')]).toEqual([plan.model, plan.thinking]);
  expect(given('--tools')?.split(',')).toEqual(plan.effectiveTools);
  await workbench.command('View: Close All Editors');
}, 120_000);

test('eject, disable and reset what came along, each taken back', async () => {
  const { workbench } = session;
  const { trees, quickInput, notifications } = workbench;
  await trees.expand(trees.row(/^Built-in Agents/));
  await trees.contextAction(trees.row(/^Agent scout, built in/), 'Eject to Edit…');
  await quickInput.waitForTitle('Eject scout');
  await quickInput.pick('All Your Projects');
  await workbench.tab('scout.md').waitFor();
  await trees.row(/^Agent scout, your own/).waitFor();
  await trees.row(/^Agent scout, built in, replaced by your own/).waitFor();
  await trees.contextAction(trees.row(/^Agent scout, your own/), 'Reset to the Original');
  await trees.row(/^Agent scout, built in, thinking/).waitFor();
  expect(existsSync(own('scout'))).toBe(false);
  await notifications.press(/scout is the original again/, 'Undo');
  await trees.row(/^Agent scout, your own/).waitFor();
  await trees.contextAction(trees.row(/^Agent scout, your own/), 'Delete');
  await notifications.press(/scout was deleted: /, 'Undo');
  await trees.row(/^Agent scout, your own/).waitFor();
  await notifications.clear();
  await workbench.command('View: Close All Editors');

  await trees.contextAction(trees.row(/^Agent oracle, built in/), 'Disable');
  await quickInput.waitForTitle('Disable oracle');
  await quickInput.pick('This Project');
  const disabled = trees.row(/^Agent oracle, built in, disabled/);
  await disabled.waitFor();
  const settings = join(worlds.world.project, '.pi', 'settings.json');
  expect(JSON.parse(await readFile(settings, 'utf8'))).toEqual({
    subagents: { agentOverrides: { oracle: { disabled: true } } },
  });
  await trees.inlineAction(disabled, 'Enable');
  await trees.row(/^Agent oracle, built in, thinking/).waitFor();
  await workbench.command('Pi Lanes: Undo Last Change of an Agent');
  await disabled.waitFor();
  await notifications.clear();
}, 120_000);

test('a built-in definition opens to be read, with the keyboard alone; a copy of it has another name', async () => {
  const { workbench } = session;
  const { trees, quickInput, page } = workbench;
  await trees.row(/^Agent reviewer, built in/).click();
  await workbench.waitForEditorText('name: reviewer');
  await trees.tree('Library').press('ArrowDown');
  await page.keyboard.press('Enter');
  await workbench.tab('scout.md').waitFor();
  await trees.contextAction(trees.row(/^Agent reviewer, built in/), 'Duplicate…');
  await quickInput.waitForTitle('Duplicate reviewer');
  await quickInput.fill('reviewer');
  await quickInput.waitForMessage(/It will take the place of reviewer/);
  await quickInput.fill('harbour-master');
  await quickInput.accept();
  await quickInput.pick('This Project');
  await workbench.tab('harbour-master.md').waitFor();
  await trees.row(/^Agent harbour-master, the project/).waitFor();
  await workbench.command('View: Close All Editors');
}, 120_000);

test('a script from a template, with what is wrong in it as it is typed', async () => {
  const { workbench } = session;
  const { trees, quickInput, page } = workbench;
  await trees.row(/^New Workflow…, no scripts yet/).click();
  await quickInput.pick('Map over Files');
  await quickInput.waitForMessage(/It is written to \.pi\/workflows\./);
  await quickInput.accept();
  await workbench.tab('map-over-files.workflow.js').waitFor();
  const right = trees.row(/^Workflow map-over-files, no problems/);
  await right.waitFor();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type("runs.run('x', {});\n");
  await trees.row(/^Workflow map-over-files, \d errors?/).waitFor();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Delete');
  await right.waitFor();
  await trees.inlineAction(right, 'Run Workflow File');
  await quickInput.waitForTitle(/map-over-files/);
  await quickInput.cancel();
}, 120_000);

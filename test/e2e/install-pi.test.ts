/** From a machine without Pi to an agent that works: the view says what is missing, Install Pi… asks, and then it is there. */
import { readdir } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { type NpmRegistry, startNpmRegistry, withoutPi } from '../support/npm-registry.ts';
import { createWorld, type World } from '../support/world.ts';
import { shootFailures } from './failure-shots.ts';
import { type Session, startSession } from './session.ts';
import type { Workbench } from './workbench.ts';

let registry: NpmRegistry;
const installed = inject('installedExtensions');
let world: World;
let session: Session | undefined;

beforeAll(async () => {
  registry = await startNpmRegistry();
});
afterEach(async () => {
  await session?.close();
  await world?.[Symbol.asyncDispose]();
});
shootFailures(() => session?.workbench);
afterAll(() => registry?.[Symbol.asyncDispose]());

async function open(): Promise<Workbench> {
  world = await createWorld({ project: 'harbour' });
  await registry.configure(world.agent.home);
  session = await startSession({
    target: { folder: world.project },
    installed,
    env: withoutPi(world.env),
  });
  await session.workbench.openContainer('Pi Lanes');
  return session.workbench;
}

const copies = async () =>
  (await readdir(world.toolbox.root.pi).catch(() => [])).filter((name) => !name.startsWith('install.'));

test('no Pi: the view says so, Install Pi… asks, and afterwards an agent runs', async () => {
  const workbench = await open();
  const { page, dialogs, notifications, quickInput, trees } = workbench;
  await page.getByText('Agents run in Pi, which was not found on this machine.').waitFor();
  await workbench.screenshot('pi-missing');

  // Asked, and not wanted.
  await page.getByRole('button', { name: 'Install Pi…' }).click();
  const question = dialogs.dialog('Install Pi 1.6.0 for Pi Lanes?');
  await question.waitFor();
  const words = await question.textContent();
  for (const part of ['@earendil-works/pi-coding-agent', 'npm', registry.url, `${world.toolbox.root.pi}/1.6.0`])
    expect(words).toContain(part);
  expect(words).toContain('Nothing else on this machine is changed.');
  await workbench.screenshot('install-pi-question');
  await dialogs.answer('Install Pi 1.6.0', 'Cancel');
  expect(await copies()).toEqual([]);

  // A launch that cannot be offers it too, and keeps the task.
  await workbench.command('Pi Lanes: Launch Agent…');
  await quickInput.pick('scout');
  await quickInput.fill('a task from before');
  await quickInput.accept();
  await notifications.waitFor(/Pi was not found/);
  await workbench.screenshot('install-pi-notice');
  await notifications.press(/Pi was not found/, 'Install Pi…');
  await dialogs.answer('Install Pi 1.6.0', 'Install');
  await notifications.waitFor('Pi 1.6.0 is installed.');
  await workbench.screenshot('install-pi-done');
  expect(await copies()).toEqual(['1.6.0']);

  // The view knows at once.
  await page.getByText('No agent has run here yet.').waitFor();
  await notifications.press('Pi 1.6.0 is installed.', 'Launch Agent…');
  await quickInput.pick('scout');
  await quickInput.waitForTitle('Launch scout');
  expect(await page.locator('.quick-input-widget input[type="text"]').inputValue()).toBe('a task from before');
  await quickInput.accept();
  await trees.row(/^a task from before: scout has completed its work/).waitFor({ timeout: 30_000 });
});

test('from the walkthrough, called off in the middle, then done; Pi opens in a terminal', async () => {
  const workbench = await open();
  const { page, dialogs, notifications } = workbench;
  const step = page.locator('.gettingStartedContainer .getting-started-step', { hasText: 'Have Pi on this machine' });
  await workbench.command('Pi Lanes: Get Started');
  await step.getByRole('button', { name: 'Install Pi…' }).waitFor();
  await workbench.screenshot('walkthrough-no-pi');
  registry.behave('stall');
  await step.getByRole('button', { name: 'Install Pi…' }).click();
  await dialogs.answer('Install Pi 1.6.0', 'Install');
  await notifications.toast('Downloading').waitFor();
  await workbench.screenshot('install-pi-progress');
  await notifications.press('Downloading', 'Cancel');
  await notifications.waitFor('Called off. Nothing was installed.');
  expect(await copies()).toEqual([]);

  registry.behave('normally');
  await step.getByRole('button', { name: 'Install Pi…' }).click();
  await dialogs.answer('Install Pi 1.6.0', 'Install');
  await notifications.waitFor('Pi 1.6.0 is installed.');
  await step.locator('.codicon-getting-started-step-checked.complete').waitFor();

  await workbench.command('Pi Lanes: Open Pi in a Terminal');
  await page.locator('.terminal-wrapper.active .xterm-rows', { hasText: 'scripted' }).waitFor();
  await workbench.screenshot('pi-in-terminal');
});

/** The walkthrough: its steps check themselves, also while it is open. */
import { dirname } from 'node:path';
import { afterEach, expect, inject, test } from 'vitest';
import { createAgentDir } from '../support/agent-dir.ts';
import { createWorld, type World } from '../support/world.ts';
import { shootFailures } from './failure-shots.ts';
import { type Session, startSession } from './session.ts';
import type { Workbench } from './workbench.ts';

const installed = inject('installedExtensions');
let world: World;
let session: Session | undefined;

afterEach(async () => {
  await session?.close();
  await world[Symbol.asyncDispose]();
});
shootFailures(() => session?.workbench);

/** Whether each step of the open walkthrough is done. */
async function steps({ page }: Workbench): Promise<Record<string, boolean>> {
  const rows = page.locator('.gettingStartedContainer .step-list-container .getting-started-step');
  const done: Record<string, boolean> = {};
  for (const row of await rows.all()) {
    const title = (await row.locator('.step-title').textContent()) ?? '';
    done[title] = (await row.locator('.codicon-getting-started-step-checked.complete').count()) > 0;
  }
  return done;
}

test('the steps are done when Pi is found, when it has a model, and when an agent has run', async () => {
  world = await createWorld({ project: 'harbour', models: 'none' });
  session = await startSession({ target: { folder: world.project }, installed, env: world.env });
  const { workbench } = session;
  await workbench.openContainer('Pi Lanes');
  await workbench.page.getByRole('button', { name: 'Get Started' }).first().click();
  const expected = (pi: boolean, model: boolean, run: boolean) => ({
    'Have Pi on this machine': pi,
    'Log in to a model': model,
    'Launch your first agent': run,
  });
  await expect.poll(() => steps(workbench), { timeout: 15_000 }).toEqual(expected(true, false, false));
  await workbench.screenshot('walkthrough');

  // As if the person had logged in, in a terminal elsewhere; and then looks here again.
  await createAgentDir({ modelUrl: world.model.url, dir: dirname(world.agent.agentDir) });
  await workbench.command('Pi Lanes: Check Installation');
  await expect.poll(() => steps(workbench), { timeout: 15_000 }).toEqual(expected(true, true, false));
  await workbench.notifications.clear();

  await world.cli(['run', '--agent', 'scout', '--task', 'hello', '--wait']);
  await expect.poll(() => steps(workbench), { timeout: 15_000 }).toEqual(expected(true, true, true));
  await workbench.trees.row(/^hello: scout has completed/).waitFor();
  await workbench.page.setViewportSize({ width: 1600, height: 900 });
  await workbench.screenshot('walkthrough-done');
});

test('what was done before the walkthrough was first opened is done in it', async () => {
  world = await createWorld({ project: 'harbour' });
  await world.cli(['run', '--agent', 'scout', '--task', 'hello', '--wait']);
  session = await startSession({ target: { folder: world.project }, installed, env: world.env });
  const { workbench } = session;
  await workbench.openContainer('Pi Lanes');
  await workbench.trees.row(/^hello: scout has completed/).waitFor();
  await workbench.command('Pi Lanes: Check Installation');
  await workbench.notifications.waitFor('Pi Lanes is ready.');
  await workbench.command('Pi Lanes: Get Started');
  const done = { 'Have Pi on this machine': true, 'Log in to a model': true, 'Launch your first agent': true };
  await expect.poll(() => steps(workbench), { timeout: 15_000 }).toEqual(done);
});

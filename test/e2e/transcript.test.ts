/** A transcript panel lived through: launched, steered, reloaded in the middle, its process killed, stopped, resumed. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { createWorld, type World } from '../support/world.ts';
import { shootFailures } from './failure-shots.ts';
import { type Session, startSession } from './session.ts';
import { steerBox } from './workbench-transcripts.ts';

/** Milliseconds after which the editor, in a browser, has written down which tabs are open: every five seconds, when it is idle. */
const TABS_WRITTEN_MS = 12_000;
/** Milliseconds a panel may need to be there again once the window is. */
const BACK_MS = 2000;

const stack = new AsyncDisposableStack();
let world: World;
let session: Session;

beforeAll(async () => {
  world = stack.use(await createWorld({ project: 'harbour' }));
  const target = { folder: world.project };
  session = stack.use(await startSession({ target, installed: inject('installedExtensions'), env: world.env }));
  await session.workbench.openContainer('Pi Lanes');
});
afterAll(() => stack.disposeAsync());
shootFailures(() => session?.workbench);

/** Launches the worker, as a person does. The transcript opens by itself. */
async function launch(task: string): Promise<void> {
  const { workbench } = session;
  await workbench.command('Pi Lanes: Launch Agent…');
  await workbench.quickInput.pick('worker');
  await workbench.quickInput.waitForTitle('Launch worker');
  await workbench.quickInput.fill(task);
  await workbench.quickInput.accept();
}

async function status(run = 'last') {
  return JSON.parse((await world.cli(['status', run, '--json'])).stdout);
}

test('steered from its box in the middle of the work: the receipt comes, and the next request holds the words', async () => {
  const { workbench } = session;
  const { transcripts } = workbench;
  await launch('SCRIPT:echo-steer seconds=4');
  const title = /echo-steer/;
  await transcripts.waitFor(title, { word: 'running', text: /sleep/ });
  await waitFor('the tool to run', async () => (await status()).run.children[0].tool === 'bash');
  await transcripts.say(title, 'Remember the lighthouse');
  const page = await transcripts.waitFor(title);
  await page.locator('.receipt[data-state="queued"]').waitFor();
  await workbench.screenshot('transcript-steer-queued');
  const shown = await transcripts.waitFor(title, { word: 'complete', text: /Remember the lighthouse/ }, 30_000);
  await shown.locator('.receipt[data-state="queued"]').waitFor({ state: 'detached' });
  const { run } = await status();
  expect(run.steering).toMatchObject([{ state: 'delivered', preview: 'Remember the lighthouse' }]);
  const holding = world.model.requests.filter((request) =>
    JSON.stringify(request.messages).includes('Remember the lighthouse'),
  );
  expect(holding.length).toBeGreaterThan(0);
  await workbench.screenshot('transcript-steered');
});

test('a reload in the middle of the work: the panel is there again with all of it, and what was not sent', async () => {
  const { workbench } = session;
  const { transcripts } = workbench;
  await workbench.command('View: Close All Editors');
  const steps = [
    { calls: [{ tool: 'bash', args: { command: 'echo first-line' } }] },
    {
      text: 'Half of the work is done.',
      calls: [{ tool: 'bash', args: { command: 'until [ -e go-on ]; do sleep 0.2; done; echo second-line' } }],
    },
    { text: 'All of the work is done.' },
  ];
  await launch(`SCRIPT:steps ${JSON.stringify(steps)}`);
  const title = /SCRIPT:steps/;
  const before = await transcripts.waitFor(title, { word: 'running', text: /Half of the work is done\./ });
  await steerBox(before).click();
  await steerBox(before).pressSequentially('not sent yet');
  await workbench.page.waitForTimeout(TABS_WRITTEN_MS);
  await workbench.reload();
  const after = await transcripts.waitFor(title, { word: 'running', text: /Half of the work is done\./ });
  expect(await steerBox(after).inputValue()).toBe('not sent yet');
  const text = await after.locator('.list-area').textContent();
  expect(text).toContain('first-line');
  await writeFile(join(world.project, 'go-on'), '');
  await transcripts.waitFor(title, { word: 'complete', text: /All of the work is done\./ }, 60_000);
  await workbench.screenshot('transcript-after-reload');
});

test('stopped from its head, and never resumed; interrupted and resumed goes on in the same session', async () => {
  const { workbench } = session;
  const { transcripts } = workbench;
  await workbench.command('View: Close All Editors');
  await launch('SCRIPT:bash-sleep');
  const stopped = await transcripts.waitFor(/bash-sleep/, { word: 'running', text: /sleep/ });
  await stopped.locator('[data-command="stop"]').click();
  await workbench.dialogs.answer(/Stop "SCRIPT:bash-sleep"/, 'Stop Run');
  await transcripts.waitFor(/bash-sleep/, { word: 'stopped' });
  expect(await stopped.locator('[data-command="resume"]').count()).toBe(0);
  await workbench.screenshot('transcript-stopped');

  await launch('SCRIPT:slow');
  const slow = await transcripts.waitFor(/SCRIPT:slow/, { word: 'running' });
  await waitFor('words', async () => (await status()).run.children[0].phase === 'thinking');
  await slow.locator('[data-command="interrupt"]').click();
  await transcripts.waitFor(/SCRIPT:slow/, { word: 'paused' });
  const first = await status();
  await slow.locator('[data-command="resume"]').click();
  await workbench.quickInput.fill('SCRIPT:say {"text":"went on"}');
  await workbench.quickInput.accept();
  await transcripts.waitFor(/SCRIPT:say/, { word: 'complete', text: /went on/ }, 30_000);
  const second = await status();
  expect(second.run.children[0].session.file).toBe(first.run.children[0].session.file);
  await workbench.screenshot('transcript-resumed');
});

test('the process of the window is killed: in the next one the panel is back within two seconds of the extension', async () => {
  const { page, transcripts } = session.workbench;
  await transcripts.waitFor(/SCRIPT:say/, { word: 'complete' });
  const devtools = await page.context().newCDPSession(page);
  await page.waitForTimeout(TABS_WRITTEN_MS);
  const crashed = page.waitForEvent('crash');
  // Nobody answers any more.
  devtools.send('Page.crash').catch(() => undefined);
  await crashed;
  const next = await session.openWindow({ folder: world.project });
  // From here on the extension lives again in the new window.
  await next.statusBarItem(/Pi Lanes/).waitFor();
  const from = performance.now();
  await next.transcripts.waitFor(/SCRIPT:say/, { word: 'complete', text: /went on/ });
  expect(performance.now() - from).toBeLessThan(BACK_MS);
});

/** Find in Transcripts…: over all runs of the project, also those the view does not show, and opened at the place. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { createWorld, type World } from '../support/world.ts';
import { shootFailures } from './failure-shots.ts';
import { type Session, startSession } from './session.ts';

const stack = new AsyncDisposableStack();
let world: World;
let session: Session;

/** One run to its end, as another client starts it. */
async function run(label: string, text: string): Promise<void> {
  const task = `SCRIPT:say ${JSON.stringify({ text })}`;
  const { code, stderr } = await world.cli(['run', '--agent', 'worker', '--label', label, '--task', task, '--wait']);
  expect(code, stderr).toBe(0);
}

beforeAll(async () => {
  world = stack.use(await createWorld({ project: 'harbour' }));
  await run('Look at the pier', 'The pier is made of oak.');
  await run('Count the ships', 'Of $(ships) there are three; the oak one leaks.');
  const target = { folder: world.project };
  session = stack.use(await startSession({ target, installed: inject('installedExtensions'), env: world.env }));
  await session.workbench.openContainer('Pi Lanes');
});
afterAll(() => stack.disposeAsync());
shootFailures(() => session?.workbench);

async function search(query: string): Promise<void> {
  const { workbench } = session;
  await workbench.command('Pi Lanes: Find in Transcripts…');
  await workbench.quickInput.waitForTitle('Find in Transcripts');
  await workbench.quickInput.fill(query);
}

test('a place that was found is opened with the find box on it, and the others are a key away', async () => {
  const { workbench } = session;
  await search('OAK');
  const rows = workbench.page.locator('.quick-input-list .monaco-list-row');
  await waitFor('the places of both runs', async () => (await rows.count()) === 4, {
    seen: () => rows.allTextContents(),
  });
  const texts = (await rows.allTextContents()).map((text) => text.replaceAll('\u00a0', ' '));
  // Newest first. What an agent has written is text, also where it looks like an icon.
  expect(texts[0]).toContain('Count the ships');
  expect(texts.some((text) => text.includes('Of $(ships) there are three; the oak one leaks.'))).toBe(true);
  await workbench.screenshot('find-in-transcripts');
  await rows.filter({ hasText: 'Look at the pier' }).filter({ hasText: 'answer' }).click();
  const page = await workbench.transcripts.waitFor(/Look at the pier/, { text: /made of oak/ });
  await page.locator('.find .count', { hasText: '2 of 2' }).waitFor();
  await workbench.screenshot('find-in-transcripts-opened');
});

test('a panel that is open already goes to the place', async () => {
  const { workbench } = session;
  await search('made of oak');
  const rows = workbench.page.locator('.quick-input-list .monaco-list-row');
  await rows.filter({ hasText: 'Look at the pier' }).filter({ hasText: 'message' }).click();
  const page = await workbench.transcripts.waitFor(/Look at the pier/);
  await page.locator('.find .count', { hasText: '1 of 2' }).waitFor();
  expect(await page.locator('#find').evaluate((field: { value?: string }) => field.value)).toBe('made of oak');
});

test('nothing found is said, and Escape leaves everything as it was', async () => {
  const { workbench } = session;
  await search('nowhere to be found');
  await workbench.quickInput.row('No transcript has "nowhere to be found" (runs searched: 2).').waitFor();
  await workbench.quickInput.cancel();
});

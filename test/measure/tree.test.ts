/** What a person waits for in the Runs view with 1,000 runs behind it: in the packaged extension, a real editor and a real browser. */
import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { packageExtension } from '../../scripts/package.mjs';
import { JournalWriter } from '../../src/core/journal/index.ts';
import { ensureProject, findProject, runLayout } from '../../src/core/projects/index.ts';
import { newRunId } from '../../src/core/runs/index.ts';
import type { JournalEvent } from '../../src/protocol/index.ts';
import { type Session, startSession } from '../e2e/session.ts';
import { createWorld, type World } from '../support/world.ts';
import { aRecord, me, writeRun } from '../unit/builders/run.ts';

const RUNS = 1000;
const CHANGES = 15;
const PAUSE_MS = 700;
const MINUTE = 60_000;

let world: World;
let session: Session | undefined;
afterAll(async () => {
  await session?.close();
  await world?.[Symbol.asyncDispose]();
});

/** The little of the page that is used here; the project compiles without the DOM's types. */
interface Watched {
  sought: string;
  seenAt: number;
  clickedAt: number;
}

/** The page notes the moment at which a row with the sought words stands in it. */
async function watchRows(page: Page): Promise<void> {
  await page.evaluate(`
    const watched = { sought: '', seenAt: 0, clickedAt: 0 };
    globalThis.watched = watched;
    const look = () => {
      if (watched.sought === '' || watched.seenAt > 0) return;
      for (const row of document.querySelectorAll('.monaco-list-row[role="treeitem"]'))
        if ((row.getAttribute('aria-label') ?? '').includes(watched.sought)) { watched.seenAt = Date.now(); return; }
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ['aria-label'] });
    document.addEventListener('click', () => { watched.clickedAt ||= Date.now(); }, true);
  `);
}

const seek = (page: Page, words: string) =>
  page.evaluate(`Object.assign(globalThis.watched, { sought: ${JSON.stringify(words)}, seenAt: 0, clickedAt: 0 })`);

async function seen(page: Page): Promise<Watched> {
  await page.waitForFunction('globalThis.watched.seenAt > 0');
  return (await page.evaluate('({ ...globalThis.watched })')) as Watched;
}

/** Milliseconds from the click on the icon of the view, which has been shown before, to its rows. */
async function shownAgain(page: Page): Promise<number> {
  const { workbench } = session ?? {};
  await workbench?.openContainer('Explorer');
  await seek(page, 'Live work 0.');
  await workbench?.openContainer('Pi Lanes');
  const again = await seen(page);
  return again.seenAt - again.clickedAt;
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

test('the Runs view is measured', async () => {
  const vsix = await packageExtension();
  world = await createWorld();
  const project = await findProject(world.agent.agentDir, world.project, world.project);
  await ensureProject(project);
  const plan = aRecord().child;
  const now = Date.now();
  for (let n = 0; n < RUNS; n++) {
    const at = now - (RUNS - n) * MINUTE;
    const record = {
      runId: newRunId(at),
      createdAt: at,
      child: { ...plan, task: `Old work ${n}` },
      cwd: world.project,
    };
    const events: JournalEvent[] = [{ type: 'run.proceeded' }, { type: 'run.ended', state: 'complete', error: null }];
    await writeRun(project.layout.directory, { record, events, at: at + MINUTE });
  }
  const lease = await me();
  const living: { task: string; journal: string }[] = [];
  for (let n = 0; n < CHANGES; n++) {
    const task = `Live work ${n}.`;
    const record = { runId: newRunId(now + n), createdAt: now, child: { ...plan, task }, cwd: world.project };
    const { directory } = await writeRun(project.layout.directory, {
      record,
      events: [{ type: 'run.proceeded' }],
      lease,
      at: now,
    });
    living.push({ task, journal: runLayout(directory).journal });
  }

  session = await startSession({ target: { folder: world.project }, vsix, env: world.env });
  const { page } = session.workbench;
  // The extension is there when its item in the status bar counts.
  await session.workbench.statusBarItem(`${CHANGES} running`).waitFor({ timeout: 60_000 });
  await watchRows(page);
  await seek(page, 'Live work 0.');
  await session.workbench.openContainer('Pi Lanes');
  const opened = await seen(page);

  const delays: number[] = [];
  for (const { task, journal } of living) {
    // As a rule changes come alone: VS Code gathers those that follow each other within a fifth of a second.
    await page.waitForTimeout(PAUSE_MS);
    await seek(page, `${task}: worker has completed`);
    const writer = await JournalWriter.open(journal);
    await writer.append([{ type: 'run.ended', state: 'complete', error: null }], { sync: true });
    const written = Date.now();
    delays.push((await seen(page)).seenAt - written);
    await writer.close();
  }
  const paint = opened.seenAt - opened.clickedAt;
  const shown = await shownAgain(page);
  console.log(`BENCH tree paint=${paint} shown=${shown} change=${median(delays)} slowest=${Math.max(...delays)}`);
  expect(delays).toHaveLength(CHANGES);
});

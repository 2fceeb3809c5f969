/** What a person waits for in the Runs view with 1,000 runs behind it: in the packaged extension, a real editor and a real browser. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { packageExtension } from '../../scripts/package.mjs';
import { JournalWriter } from '../../src/core/journal/index.ts';
import { ensureProject, findProject, runLayout } from '../../src/core/projects/index.ts';
import { newRunId } from '../../src/core/runs/index.ts';
import type { JournalEvent } from '../../src/protocol/index.ts';
import { type Session, startSession } from '../e2e/session.ts';
import type { Workbench } from '../e2e/workbench.ts';
import { projectRoot } from '../harness/places.ts';
import { packageExtension as packFolder } from '../harness/vsix.ts';
import { tempDir } from '../support/temp.ts';
import { createWorld, type World } from '../support/world.ts';
import { aRecord, me, writeRun } from '../unit/builders/run.ts';

const RUNS = 1000;
const CHANGES = 15;
/** Each in a browser of its own, which has nothing of the workbench compiled: a window shows a view for the first time once. */
const WINDOWS = 3;
const PAUSE_MS = 700;
/** A window still starts a lot after its first item; a person looks around first. */
const SETTLED_MS = 4000;
const MINUTE = 60_000;

/** A view, the words by which its rows are known, and those in the status bar by which its extension is. */
interface Measured {
  container: string;
  row: string;
  ready: string;
}
const OURS: Measured = { container: 'Pi Lanes', row: 'Live work 0.', ready: `${CHANGES} running` };
/** A view of one row: what lies below it is VS Code's own. */
const FLOOR: Measured = { container: 'Floor', row: 'The only row.', ready: 'Floor is ready' };

let world: World;
let session: Session | undefined;
const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

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

/** Milliseconds from the click on the icon of a view to its rows. */
async function shown({ workbench, view }: { workbench: Workbench; view: Measured }): Promise<number> {
  await workbench.openContainer('Explorer');
  // VS Code takes a second click on an icon within 300 ms for a slip of the finger.
  await workbench.page.waitForTimeout(PAUSE_MS);
  await seek(workbench.page, view.row);
  await workbench.openContainer(view.container);
  const { seenAt, clickedAt } = await seen(workbench.page);
  return seenAt - clickedAt;
}

/** The same in a fresh window and browser: for the first time, and when it has been shown before. */
async function shownInWindow(view: Measured): Promise<{ first: number; again: number }> {
  if (!session) throw new Error('no session');
  const workbench = await session.openElsewhere({ folder: world.project });
  await workbench.statusBarItem(view.ready).waitFor({ timeout: 60_000 });
  await workbench.page.waitForTimeout(SETTLED_MS);
  await watchRows(workbench.page);
  const times = { first: await shown({ workbench, view }), again: await shown({ workbench, view }) };
  await workbench.close({ forget: true });
  return times;
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

test('the Runs view is measured', async () => {
  const vsix = await packageExtension();
  world = stack.use(await createWorld());
  const floor = join(stack.use(await tempDir()).path, 'floor.vsix');
  await packFolder(join(projectRoot, 'test', 'measure', 'floor'), floor);
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

  session = stack.use(await startSession({ target: { folder: world.project }, vsix: [vsix, floor], env: world.env }));
  const { workbench } = session;
  const { page } = workbench;
  await workbench.statusBarItem(OURS.ready).waitFor({ timeout: 60_000 });
  const ours: { first: number; again: number }[] = [];
  const floors: { first: number; again: number }[] = [];
  for (let n = 0; n < WINDOWS; n++) {
    ours.push(await shownInWindow(OURS));
    floors.push(await shownInWindow(FLOOR));
  }

  await workbench.openContainer(OURS.container);
  await watchRows(page);
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
  const of = (times: { first: number; again: number }[], key: 'first' | 'again') => median(times.map((t) => t[key]));
  console.log(JSON.stringify({ ours, floors, delays }));
  console.log(
    `BENCH tree paint=${of(ours, 'first')} floor=${of(floors, 'first')} shown=${of(ours, 'again')} shownFloor=${of(floors, 'again')} change=${median(delays)} slowest=${Math.max(...delays)}`,
  );
  expect(delays).toHaveLength(CHANGES);
});

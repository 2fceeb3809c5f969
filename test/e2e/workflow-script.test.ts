/** A workflow script in the packaged extension: what is seen of problems, fixes, types and completion. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';
import { shootFailures } from './failure-shots.ts';
import { type Session, startSession } from './session.ts';

const SCRIPT = `// Two looks at the harbour, then a repair.
const results = await runs.all([
  { key: 'chart', agent: 'scout', task: 'Map the harbour code.' },
  { key: 'risks', agent: 'reviewr', task: 'List what may break.' },
]);
const fix = runs.run('fix', { agent: 'worker', task: results.chart.output + results.risks.output });
const notes = ['a', 'b'].map(async (part) => (await runs.run(part, { agent: 'scout' })).output);
return { notes: await Promise.all(notes), fix: fix.output };
`;

const FIXED = `// @ts-check
const one = await runs.run('one', { agent: 'scout', task: 'Look.' });
return one.output;
`;

const stack = new AsyncDisposableStack();
let session: Session;

beforeAll(async () => {
  const temp = stack.use(await tempDir());
  const folder = join(temp.path, 'harbour');
  await mkdir(join(folder, 'workflows'), { recursive: true });
  await writeFile(join(folder, 'repair.workflow.js'), SCRIPT);
  await writeFile(join(folder, 'workflows', 'clean.js'), FIXED);
  await writeFile(join(folder, 'plain.js'), '// @ts-check\nreturn 1;\n');
  const env = { PI_CODING_AGENT_DIR: join(temp.path, 'agent') };
  session = stack.use(await startSession({ target: { folder }, installed: inject('installedExtensions'), env }));
}, 300_000);
afterAll(() => stack.disposeAsync());
shootFailures(() => session?.workbench);

/** Puts the cursor at a place, as a person does. */
async function goTo(place: string): Promise<void> {
  const { page, quickInput } = session.workbench;
  await page.keyboard.press('Control+G');
  await quickInput.fill(`:${place}`);
  await quickInput.accept();
  const [line, column] = place.split(':');
  await session.workbench.statusBarItem(`Ln ${line}, Col ${column}`).waitFor();
}

/** Opens a list at the cursor. It closes again when something that was under way takes the focus. */
async function openList(key: string, entry: Locator): Promise<void> {
  const { keyboard } = session.workbench.page;
  await waitFor(
    'the list',
    async () => {
      await keyboard.press(key);
      const opened = await entry.waitFor({ timeout: 3_000 }).then(
        () => true,
        () => false,
      );
      if (!opened) await keyboard.press('Escape');
      return opened;
    },
    { timeoutMs: 30_000 },
  );
}

test('problems are underlined and a quick fix removes them', async () => {
  const { workbench } = session;
  const { page } = workbench;
  await workbench.openFile('repair.workflow.js');
  await page.getByText('Validate (errors: 3, warnings: 2)').waitFor({ timeout: 60_000 });
  await page.locator('.squiggly-error').first().waitFor();
  await page.locator('.squiggly-warning').first().waitFor();
  await goTo('6:64');
  const widget = page.locator('.action-widget');
  await openList('Control+.', widget.getByText('Take the results apart by their order'));
  await workbench.screenshot('workflow-quick-fix');
  await widget.getByText('Fix all safe problems of this script').click();
  await page.getByText('Validate (errors: 0, warnings: 1)').waitFor();
  await workbench.waitForEditorText('const [chart, risks] = await runs.all([');
  await workbench.waitForEditorText('const fix = await runs.run(');
  await workbench.waitForEditorText('.then((result) => result.output)');
  await page.getByText('Validate (errors: 0, warnings: 1)').click();
  await page.locator('.markers-panel').getByText('agent_not_found').waitFor();
  await workbench.screenshot('workflow-fixed');
});

test('a name of an agent is completed', async () => {
  const { workbench } = session;
  const { page } = workbench;
  await goTo('3:27');
  await openList('Control+Space', page.locator('.suggest-widget').getByText('oracle').first());
  await workbench.screenshot('workflow-completion');
  await page.keyboard.press('Escape');
});

test('the JavaScript service knows the names of scripts and takes return and await at the top', async () => {
  const { workbench } = session;
  const { page } = workbench;
  await workbench.openFile('plain.js');
  // The service works: it does complain where nothing says that a file is a script.
  await page.locator('.editor-group-container.active .squiggly-error').first().waitFor({ timeout: 60_000 });
  await workbench.openFile('clean.js');
  await page.getByText('Validate (no problems)').waitFor();
  await page.locator('.view-line').getByText('run', { exact: true }).first().hover();
  await page.locator('.monaco-hover').getByText('Launches one child and waits').first().waitFor();
  await workbench.screenshot('workflow-types');
  expect(await page.locator('.editor-group-container.active .squiggly-error').count()).toBe(0);
});

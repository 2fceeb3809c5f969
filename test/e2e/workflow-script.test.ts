/** A workflow script in the packaged extension: what is seen of problems, fixes, types and completion. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageExtension } from '../../scripts/package.mjs';
import { tempDir } from '../support/temp.ts';
import { shootFailures } from './failure-shots.ts';
import { type Session, startSession } from './session.ts';

const SCRIPT = `// Two looks at the harbour, then a repair.
const results = await runs.all([
  { key: 'map', agent: 'scout', task: 'Map the harbour code.' },
  { key: 'risks', agent: 'reviewr', task: 'List what may break.' },
]);
runs.run('fix', { agent: 'worker', task: results.map.output + results.risks.output });
const notes = await Promise.all(['a', 'b'].map(async (part) => (await runs.run(part, { agent: 'scout' })).output));
return { notes, risks: results.risks.output };
`;

const stack = new AsyncDisposableStack();
let session: Session;

beforeAll(async () => {
  const temp = stack.use(await tempDir());
  const folder = join(temp.path, 'harbour');
  await mkdir(join(folder, 'workflows'), { recursive: true });
  await writeFile(join(folder, 'repair.workflow.js'), SCRIPT);
  await writeFile(
    join(folder, 'workflows', 'clean.js'),
    "// @ts-check\nconst one = await runs.run('one', { agent: 'scout', task: 'Look.' });\nreturn one.output;\n",
  );
  await writeFile(join(folder, 'plain.js'), '// @ts-check\nreturn 1;\n');
  const env = { PI_CODING_AGENT_DIR: join(temp.path, 'agent') };
  session = stack.use(await startSession({ target: { folder }, vsix: await packageExtension(), env }));
}, 560_000);
afterAll(() => stack.disposeAsync());
shootFailures(() => session?.workbench);

test('problems are underlined, their codes explained, and a quick fix removes one', async () => {
  const { workbench } = session;
  const { page } = workbench;
  await workbench.openFile('repair.workflow.js');
  await page.locator('.squiggly-error').first().waitFor({ timeout: 60_000 });
  await page.locator('.squiggly-warning').first().waitFor();
  await page.getByText(/^Validate: \d errors, 1 warnings$/).waitFor();
  await workbench.command('View: Show Problems');
  await page.locator('.markers-panel').getByText('batch_keyed_read').first().waitFor();
  await workbench.screenshot('workflow-problems');
});

test('the JavaScript service knows the names of scripts and takes return and await at the top', async () => {
  const { workbench } = session;
  const { page } = workbench;
  await workbench.openFile('plain.js');
  // The service works: it does complain where nothing says that a file is a script.
  await page.locator('.squiggly-error').first().waitFor({ timeout: 60_000 });
  await workbench.openFile('clean.js');
  await page.getByText('Validate: no problems').waitFor();
  const word = page.locator('.view-line').getByText('run', { exact: true }).first();
  await word.hover();
  await page.locator('.monaco-hover').getByText('Launches one child and waits').waitFor();
  await workbench.screenshot('workflow-types');
  expect(await page.locator('.squiggly-error').count()).toBe(0);
});

/** A workflow from the script to its result: run with inputs, agreed to by its plan, cut off and resumed, ended by a limit and raised. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { readJournal } from '../../src/core/journal/index.ts';
import { runLayout } from '../../src/core/projects/index.ts';
import type { JournalLine } from '../../src/protocol/index.ts';
import { fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, type FakeWorld, fakeWorld } from '../support/fake-world.ts';
import { waitFor } from '../support/wait-for.ts';
import { shootFailures } from './failure-shots.ts';
import { type Session, startSession } from './session.ts';

const says = (text: string) => JSON.stringify(fakeTask({ steps: [{ say: text }] }));
const hangsOnce = JSON.stringify(
  fakeTask({
    key: 'e2e',
    steps: [{ say: 'begun' }, { hang: true }],
    attempts: [{}, { steps: [{ say: 'went on' }] }],
  }),
);

const LOOK = `// Two looks at a topic, a command, and a lane.
const { topic, deep = false } = args ?? {};
const [map, risks] = await runs.all([
  { key: 'map', agent: 'scout', task: topic + '\\n' + ${says('I mapped {{prompt}}')} },
  { key: 'risks', agent: 'reviewer', model: 'fake/scripted-b', task: topic + '\\n' + ${says('I doubt {{prompt}}')} },
]);
emit({ topic, deep });
console.log('both are there');
const check = await runs.host('check', { kind: 'command', command: 'echo "$(cat README.md | wc -l) lines"', timeoutMs: 20000 });
await runs.lanes([
  { key: 'berths', stages: [
    { key: 'write', agent: 'worker', task: ${says('written')} },
    { key: 'review', agent: 'reviewer', task: ${says('reviewed')} },
  ] },
]);
return { map: map.output, risks: risks.output, check: check.stdout };
`;

const LONG = `const first = await runs.run('first', { agent: 'scout', task: ${says('done at once')} });
const second = await runs.run('second', { agent: 'worker', task: ${hangsOnce} });
return [first.output, second.output];
`;

const LIMITED = `for (const key of ['a', 'b']) await runs.run(key, { agent: 'scout', task: ${says('done')} });
return 'all done';
`;

const MANY = `const all = await runs.all(
  ['a', 'b', 'c', 'd', 'e'].map((key) => ({ key, agent: 'scout', task: ${says('done')} })),
);
return all.length;
`;

const BROKEN = `const one = await runs.run('one', { agent: 'scout', task: 'Look.' });

const two = await runs.run('two', { task: 'Look.' });
return [one, two];
`;

const stack = new AsyncDisposableStack();
let worlds: FakeWorld;
let session: Session;

beforeAll(async () => {
  worlds = await fakeWorld(stack, { project: 'harbour' });
  const { project, env } = worlds.world;
  await mkdir(join(project, 'workflows'));
  const scripts = { look: LOOK, long: LONG, limited: LIMITED, many: MANY, broken: BROKEN };
  for (const [name, text] of Object.entries(scripts)) await writeFile(join(project, 'workflows', `${name}.js`), text);
  session = await startSession({ target: { folder: project }, installed: inject('installedExtensions'), env });
  await session.workbench.openContainer('Pi Lanes');
}, 300_000);
afterAll(async () => {
  await session?.close();
  await expectNobodyLeft(stack, worlds);
});
shootFailures(() => session?.workbench);

interface Newest {
  runId?: string;
  directory: string;
  run?: { questions: { id: string }[] };
}

async function newest(): Promise<Newest> {
  return JSON.parse((await worlds.world.cli(['status', 'last', '--json'])).stdout);
}

async function lines(): Promise<JournalLine[]> {
  return (await readJournal(runLayout((await newest()).directory).journal)).lines;
}

/** How often each child was started, by key. */
async function starts(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const names = new Map<number, string>();
  for (const line of await lines()) {
    if (line.type === 'child.planned') names.set(line.child, line.key);
    else if (line.type === 'child.spawn.intended') {
      const key = names.get(line.child) ?? '';
      counts[key] = (counts[key] ?? 0) + 1;
    }
  }
  return counts;
}

test('from the lens above the script to the result: inputs, plan, consent, end', async () => {
  const { workbench } = session;
  const { page, quickInput, notifications } = workbench;
  await workbench.openFile('look.js');
  const lens = page.getByText('Run workflow', { exact: true });
  await lens.waitFor({ timeout: 60_000 });
  // Until the script is checked the lenses are made anew, and what is clicked may be gone.
  await page.getByText('Validate (no problems)', { exact: true }).waitFor();
  await workbench.screenshot('workflow-lens');
  // TypeScript has lenses too, and the editor makes all of them anew when one provider asks for it: a person clicks again.
  const asked = async () => {
    await lens.click();
    const title = quickInput.waitForTitle(/Run workflows\/look\.js/, 3000);
    return await title.then(
      () => true,
      () => false,
    );
  };
  await waitFor('the first question', asked, { timeoutMs: 20_000 });

  // What is typed wrongly is told at the field, and stays.
  await quickInput.waitForTitle(/Run workflows\/look\.js/);
  await quickInput.fill('["the harbour"');
  await quickInput.accept();
  await quickInput.waitForMessage(/no valid JSON/);
  const box = page.locator('.quick-input-widget input[type="text"]');
  expect(await box.inputValue()).toBe('["the harbour"');
  await workbench.screenshot('workflow-input');
  await quickInput.fill('the harbour');
  await quickInput.accept();
  await quickInput.waitForMessage(/^deep/);
  expect(await box.inputValue()).toBe('false');
  await quickInput.fill('true');
  await quickInput.accept();

  await quickInput.waitForTitle('Run look?');
  const rows = await quickInput.labels();
  expect(rows).toContain('echo "$\u200b(cat README.md | wc -l) lines"');
  await quickInput.row('Show Plan as Document').click();
  await workbench.waitForEditorText('# Plan of look');
  await workbench.screenshot('workflow-plan');
  await workbench.waitForEditorText('$1 in, $2 out per million tokens');
  expect((await newest().catch(() => undefined))?.runId).toBeUndefined();
  await quickInput.pick('Start');

  // Any client may consent.
  const question = await waitFor('the question about the command', async () => (await newest()).run?.questions[0]);
  expect((await worlds.world.cli(['answer', 'last', question.id, '--yes'])).code).toBe(0);
  await notifications.press('"look" is complete.', 'Open Result');
  await workbench.waitForEditorText('# look: complete');
  await workbench.waitForEditorText('"map": "I mapped the harbour"');
  await workbench.screenshot('workflow-result');
  await page.keyboard.press('Control+End');
  await workbench.waitForEditorText('"hostSteps":');
});

test('an old result is opened from the tree, and what was typed is there again', async () => {
  const { workbench } = session;
  const { page, quickInput, trees } = workbench;
  await workbench.command('View: Close All Editors');
  await workbench.openContainer('Pi Lanes');
  await trees.contextAction(trees.row(/^look: .*completed/), 'Open Result');
  await workbench.waitForEditorText('# look: complete');

  await workbench.openContainer('Explorer');
  await trees.expand(trees.row(/^workflows/));
  await trees.contextAction(trees.row(/^look\.js/), 'Run Workflow File');
  await quickInput.waitForTitle(/Run workflows\/look\.js/);
  expect(await page.locator('.quick-input-widget input[type="text"]').inputValue()).toBe('the harbour');
  await quickInput.cancel();
  await workbench.openContainer('Pi Lanes');
});

test('a plan that was read as a document can still be started', async () => {
  const { workbench } = session;
  const { quickInput, notifications } = workbench;
  await workbench.openFile('many.js');
  await workbench.command('Pi Lanes: Run Workflow File');
  await quickInput.waitForTitle('Run many?');
  await quickInput.row('Show Plan as Document').click();
  await workbench.waitForEditorText('# Plan of many');
  // The list covers the document.
  await quickInput.cancel();
  await notifications.press('"many" has not been started.', 'Start');
  await notifications.waitFor('"many" is complete.');
  await notifications.clear();
});

test('a script with errors is not started: the first one is named and shown', async () => {
  const { workbench } = session;
  await workbench.openFile('broken.js');
  await workbench.command('Pi Lanes: Run Workflow File');
  await workbench.notifications.waitFor(/The script was not started\. Line 3: /);
  await workbench.statusBarItem(/Ln 3, Col /).waitFor();
  await workbench.screenshot('workflow-refused');
  await workbench.notifications.clear();
});

test('a run whose runner was killed is lost, and Resume brings it to its end; nothing finished starts again', async () => {
  const { workbench } = session;
  const { trees } = workbench;
  await workbench.openFile('long.js');
  // Two agents: fewer than are asked about.
  await workbench.page.getByRole('button', { name: 'Run Workflow File' }).first().click();
  await trees.row(/^long: .*running/).waitFor();
  await waitFor('the second agent to be at work', async () => {
    const all = await lines();
    return all.some((line) => line.type === 'child.prompted' && line.child === 2);
  });
  const started = (await lines()).findLast((line) => line.type === 'runner.started');
  process.kill(started?.type === 'runner.started' ? started.process.pid : 0, 'SIGKILL');
  const lost = trees.row(/^long: .*cut off/);
  await lost.waitFor({ timeout: 30_000 });
  await trees.inlineAction(lost, 'Resume');
  await workbench.notifications.press('"long" is complete.', 'Open Result');
  await workbench.waitForEditorText('"done at once",');
  expect(await starts()).toEqual({ first: 1, second: 2 });
});

test('a run that a limit has ended goes on with a higher one', async () => {
  const { workbench } = session;
  const { quickInput, trees } = workbench;
  const script = join(worlds.world.project, 'workflows', 'limited.js');
  expect((await worlds.world.cli(['run', '--script', script, '--max-spawns', '1'])).code).toBe(0);
  const failed = trees.row(/^limited: .*failed/);
  await failed.waitFor({ timeout: 30_000 });
  await trees.inlineAction(failed, 'Resume');
  await quickInput.waitForTitle('Continue "limited" with a higher limit');
  await quickInput.fill('1');
  await quickInput.waitForMessage(/at least 2/);
  await workbench.screenshot('workflow-limit');
  await quickInput.fill('2');
  await quickInput.accept();
  await trees.row(/^limited: .*completed/).waitFor({ timeout: 30_000 });
  await workbench.screenshot('workflow-continued');
  expect(await starts()).toEqual({ a: 1, b: 1 });
});

/** A workflow that another client started, lived through in the editor: lanes and stages, a child's transcript, questions. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createFakePi, type FakePi, type FakeTask, fakeTask } from '../support/fake-pi/index.ts';
import { tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';
import { createWorld, type World } from '../support/world.ts';
import { shootFailures } from './failure-shots.ts';
import { type Session, startSession } from './session.ts';

/** Milliseconds after which the editor, in a browser, has written down which tabs are open: every five seconds, when it is idle. */
const TABS_WRITTEN_MS = 12_000;

const stack = new AsyncDisposableStack();
let world: World;
let fake: FakePi;
let session: Session;
let runId: string;

beforeAll(async () => {
  world = stack.use(await createWorld({ project: 'harbour' }));
  fake = stack.use(await createFakePi({ dir: stack.use(await tempDir()).path }));
  session = stack.use(
    await startSession({
      target: { folder: world.project },
      installed: inject('installedExtensions'),
      env: world.env,
    }),
  );
  await session.workbench.openContainer('Pi Lanes');
});
afterAll(() => stack.disposeAsync());
shootFailures(() => session?.workbench);

const stage = (key: string, agent: string, task: FakeTask) =>
  JSON.stringify({ key, agent, task: fakeTask(task, `${key} of a pier`) });

/** Two lanes of two stages, then a command, then one more child. */
function harbour(): string {
  const north = [
    stage('draft', 'scout', { steps: [{ say: 'Sketching the north pier.' }, { gate: 'north' }, { say: 'Drawn.' }] }),
    stage('review', 'reviewer', {
      steps: [{ dialog: 'select', title: 'Which berth?', options: ['north', 'south'] }, { say: '{{answers}}' }],
    }),
  ];
  const south = [
    stage('draft', 'worker', {
      steps: [
        { say: 'Sketching the south pier.' },
        { tools: [{ during: [{ await: 'steering' }] }] },
        { say: 'heard: {{steers}}' },
        { hang: true },
      ],
    }),
    stage('review', 'reviewer', { steps: [{ say: 'never said' }] }),
  ];
  return `const lanes = await runs.lanes([
    { key: 'north', stages: [${north}] },
    { key: 'south', stages: [${south}] },
  ]);
  const ci = await runs.host('ci', { kind: 'command', command: 'echo checked', timeoutMs: 20000 });
  await runs.run('summary', { agent: 'scout', task: ${JSON.stringify(fakeTask({ steps: [{ say: 'All is told.' }] }))} });
  return { lanes: lanes.map(({ state }) => state), said: ci.stdout };`;
}

async function status() {
  return JSON.parse((await world.cli(['status', runId, '--json'])).stdout).run;
}

async function childState(key: string): Promise<string | undefined> {
  const { children } = await status();
  return children.find((child: { key: string }) => child.key === key)?.state;
}

test('its lanes and stages are there, also those that have not begun, and move on while it runs', async () => {
  const { trees } = session.workbench;
  await writeFile(join(world.project, 'harbour.workflow.js'), harbour());
  const env = { ...world.env, PI_LANES_PI: fake.folder };
  const started = await world.cli(['run', '--script', 'harbour.workflow.js'], { env });
  expect(started).toMatchObject({ code: 0 });
  runId = started.stdout.trim();
  await trees.row(/^harbour: workflow is running/).waitFor();
  await trees.row(/^north\.draft: scout is running/).waitFor();
  await trees.row(/^south\.draft: worker is running/).waitFor();
  const rows = (await trees.rows('Runs')).filter((name) => !/^\d+ runs?/.test(name));
  expect(rows).toEqual([
    'harbour: workflow is running.',
    'Lane north: running, 0 of 2 stages done.',
    'north.draft: scout is running.',
    'north.review has not started yet.',
    'Lane south: running, 0 of 2 stages done.',
    'south.draft: worker is running.',
    'south.review has not started yet.',
  ]);
  await trees
    .row(/^harbour: workflow is running/)
    .filter({ hasText: '0 of 4 done' })
    .waitFor();
  await session.workbench.screenshot('workflow-running');
});

test('a transcript of each child is opened from its row, with the keyboard as well, and its child is told from there', async () => {
  const { page, trees, transcripts } = session.workbench;
  await trees.row(/^north\.draft: scout is running/).click();
  await transcripts.waitFor(/^harbour · north\.draft$/, { word: 'running', text: /Sketching the north pier\./ });
  await session.workbench.tab('harbour · north.draft').waitFor();
  // From the row that was clicked, three down.
  await trees.tree('Runs').focus();
  for (let n = 0; n < 3; n++) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const title = /^harbour · south\.draft$/;
  await transcripts.waitFor(title, { word: 'running', text: /Sketching the south pier\./ });
  await transcripts.say(title, 'Remember the lighthouse');
  await transcripts.waitFor(title, { word: 'running', text: /heard: .*Remember the lighthouse/ });
  const { steering, children } = await status();
  const told = children.find(({ key }: { key: string }) => key === 'south.draft').index;
  expect(steering).toMatchObject([{ child: told, state: 'delivered', preview: 'Remember the lighthouse' }]);
  await session.workbench.screenshot('workflow-child-transcript');
});

test('one child is stopped from its row; its lane ends, the workflow goes on', async () => {
  const { trees, dialogs, transcripts } = session.workbench;
  await trees.inlineAction(trees.row(/^south\.draft: worker is running/), 'Stop Agent');
  await dialogs.dialog(/Stop "harbour · south\.draft"\?/).waitFor();
  await session.workbench.screenshot('workflow-stop-child');
  await dialogs.answer(/Stop "harbour · south\.draft"\?/, 'Stop Agent');
  await trees.row(/^south\.draft: worker was stopped/).waitFor();
  await trees.row(/^south\.review is skipped/).waitFor();
  await trees.row(/^Lane south: stopped, 1 of 2 stages done/).waitFor();
  await trees.row(/^harbour: workflow is running/).waitFor();
  await transcripts.waitFor(/^harbour · south\.draft$/, { word: 'stopped' });
  expect(await childState('north.draft')).toBe('running');
});

test('a question of a child is told with its key, stands under Needs You, and is answered at its row', async () => {
  const { trees, notifications, quickInput } = session.workbench;
  await fake.open('north');
  await trees.row('1 run needs you.').waitFor();
  const asking = trees.row(/^north\.review: reviewer is waiting for your answer/);
  await asking.waitFor();
  await notifications.waitFor(/"harbour · north\.review" asks: Which berth\?/);
  await trees
    .row(/^harbour: workflow is waiting for your answer/)
    .filter({ hasText: 'north.review asks · 2 of 4 done' })
    .waitFor();
  await session.workbench.screenshot('workflow-question');
  await trees.inlineAction(asking, 'Answer…');
  await quickInput.pick('south');
  await waitFor('the answer', async () => (await childState('north.review')) === 'complete');
});

test('the consent to a command is asked with the whole command, and given at its row; then the workflow ends', async () => {
  const { trees, notifications, dialogs } = session.workbench;
  await notifications.waitFor(/"harbour" asks whether "ci" may run a command: echo checked/);
  const command = trees.row(/^Command ci: waits for your consent\./);
  await notifications.clear();
  await trees.inlineAction(command, 'Answer…');
  const question = /May "ci" of the workflow "harbour" run this command\?/;
  await dialogs.dialog(question).getByText('echo checked').waitFor();
  await session.workbench.screenshot('workflow-consent');
  await dialogs.answer(question, 'Run Command');
  await trees.row(/^harbour: workflow has completed its work/).waitFor({ timeout: 30_000 });
  const { workflow, state } = await status();
  expect(state).toBe('complete');
  expect(workflow.hosts).toMatchObject([{ key: 'ci', state: 'passed' }]);
});

test('what has ended stays as it was, also after a reload: rows, and the transcripts that were open', async () => {
  const { workbench } = session;
  const { trees, transcripts } = workbench;
  await workbench.page.waitForTimeout(TABS_WRITTEN_MS);
  await workbench.reload();
  await transcripts.waitFor(/^harbour · south\.draft$/, { word: 'stopped', text: /Remember the lighthouse/ }, 60_000);
  await workbench.openContainer('Pi Lanes');
  const run = trees.row(/^harbour: workflow has completed its work/);
  await trees.expand(run);
  await trees.expand(trees.row(/^Lane south: /));
  await trees.expand(trees.row(/^Lane north: /));
  const rows = await trees.rows('Runs');
  expect(rows.slice(rows.findIndex((name) => name.startsWith('harbour')))).toEqual([
    'harbour: workflow has completed its work.',
    'Lane north: complete, 2 of 2 stages done.',
    'north.draft: scout has completed its work.',
    'north.review: reviewer has completed its work.',
    'Lane south: stopped, 1 of 2 stages done.',
    'south.draft: worker was stopped.',
    'south.review is skipped: a stage before it did not complete.',
    'Command ci: passed.',
    'summary: scout has completed its work.',
  ]);
  await trees.row(/^summary: /).click();
  await transcripts.waitFor(/^harbour · summary$/, { word: 'complete', text: /All is told\./ });
  await workbench.screenshot('workflow-ended');
});

import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { ProjectLayout } from '../../src/core/projects/index.ts';
import { TRANSCRIPT_VIEW } from '../../src/extension/command-ids.ts';
import { waitFor } from '../support/wait-for.ts';
import { oneOfEach, question } from '../unit/builders/events.ts';
import { startLiveRun, workspaceProject } from './live-run.ts';
import { activeExtension } from './pi-lanes.ts';

interface Notice {
  severity: 'info' | 'warning' | 'error';
  text: string;
  actions: string[];
}

suite('a notice', () => {
  let project: ProjectLayout;
  let notices: Notice[];
  /** The button that the person presses on the next notice. */
  let press: string | undefined;

  suiteSetup(async () => {
    await activeExtension();
    project = await workspaceProject();
  });

  setup(() => {
    notices = [];
    press = undefined;
    const say =
      (severity: Notice['severity']) =>
      async (text: string, ...actions: unknown[]): Promise<string | undefined> => {
        notices.push({ severity, text, actions: actions.map(String) });
        const pressed = press;
        press = undefined;
        return pressed;
      };
    mock.method(vscode.window, 'showInformationMessage', say('info'));
    mock.method(vscode.window, 'showWarningMessage', say('warning'));
    mock.method(vscode.window, 'showErrorMessage', say('error'));
  });

  teardown(async () => {
    mock.restoreAll();
    await vscode.workspace
      .getConfiguration('piLanes')
      .update('recover', undefined, vscode.ConfigurationTarget.Workspace);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  /** What was said about the run with this title; other suites have runs, too. */
  const about = (title: string) => notices.filter(({ text }) => text.includes(`"${title}"`));
  const firstAbout = (title: string) => waitFor('a notice', () => about(title)[0], { seen: () => notices });

  test('asks for an answer, once, and leads to it', async () => {
    const run = await startLiveRun(project, 'Pick a gate.');
    press = 'Open Transcript';
    await run.append([question('q1')]);
    assert.deepEqual(await firstAbout('Pick a gate.'), {
      severity: 'info',
      text: '"Pick a gate." asks: Which? Pick a gate.',
      actions: ['Answer…', 'Open Transcript'],
    });
    await waitFor('the transcript', () => {
      const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
      const isPanel = tab?.input instanceof vscode.TabInputWebview && tab.input.viewType.endsWith(TRANSCRIPT_VIEW);
      return isPanel && tab.label === 'worker · Pick a gate.';
    });
    await run.append([oneOfEach['child.progress']]);
    await run.end('complete');
    await delay(500);
    assert.equal(about('Pick a gate.').length, 1);
  });

  test('says that an agent may need a person, but not that it works for long', async () => {
    const patient = await startLiveRun(project, 'Dig a well.');
    await patient.append([{ ...oneOfEach['attention.raised'], kind: 'active_long_running' }]);
    const silent = await startLiveRun(project, 'Watch the herd.');
    await silent.append([oneOfEach['attention.raised']]);
    assert.deepEqual(await firstAbout('Watch the herd.'), {
      severity: 'warning',
      text: '"Watch the herd." may need you: it has been silent for long.',
      actions: ['Open Transcript', 'Steer…'],
    });
    assert.deepEqual(about('Dig a well.'), []);
    for (const run of [patient, silent]) await run.end('complete');
  });

  test('comes at most once a minute for one run, but a failure is told at once', async () => {
    const run = await startLiveRun(project, 'Shear the sheep.');
    await run.append([question('q1')]);
    await firstAbout('Shear the sheep.');
    await run.append([{ ...oneOfEach['question.answered'], questionId: 'q1' }, oneOfEach['attention.raised']]);
    await delay(500);
    await run.end('failed', { code: 'child_exited', message: 'The shears broke.\nA trace.' });
    const [, failure] = await waitFor(
      'the failure',
      () => about('Shear the sheep.').length > 1 && about('Shear the sheep.'),
    );
    assert.deepEqual(failure, {
      severity: 'error',
      text: '"Shear the sheep." failed: The shears broke.',
      actions: ['Open Transcript'],
    });
    assert.equal(about('Shear the sheep.').length, 2);
  });

  test('says that a run was cut off, and offers both ways on', async () => {
    const run = await startLiveRun(project, 'Milk the goats.');
    await run.abandon();
    assert.deepEqual(await firstAbout('Milk the goats.'), {
      severity: 'warning',
      text: '"Milk the goats." was cut off: its runner is gone.',
      actions: ['Resume', 'Stop Run'],
    });
  });

  test('does not come for a lost run where the person wants none', async () => {
    await vscode.workspace.getConfiguration('piLanes').update('recover', 'never', vscode.ConfigurationTarget.Workspace);
    const run = await startLiveRun(project, 'Feed the hens.');
    await run.abandon();
    // It is looked at every two seconds; what comes later is told of.
    await delay(3_000);
    const failing = await startLiveRun(project, 'Count the eggs.');
    await failing.end('failed', { code: 'child_exited', message: 'They broke.' });
    await firstAbout('Count the eggs.');
    assert.deepEqual(about('Feed the hens.'), []);
  });

  test('does not come for a run that ends well, or as the person wished', async () => {
    for (const state of ['complete', 'partial', 'stopped', 'paused'] as const) {
      const run = await startLiveRun(project, `Rest, ${state}.`);
      await run.end(state);
    }
    await delay(500);
    assert.deepEqual(
      notices.filter(({ text }) => text.includes('Rest, ')),
      [],
    );
  });

  test('has no links that others wrote', async () => {
    const run = await startLiveRun(project, 'Read the sign.');
    await run.append([{ ...oneOfEach['question.asked'], title: '[Yes](command:workbench.action.quit)' }]);
    const { text } = await firstAbout('Read the sign.');
    assert.doesNotMatch(text, /\]\(/);
    assert.match(text, /Yes/);
    await run.end('complete');
  });

  test('makes harmless what others wrote', async () => {
    const run = await startLiveRun(project, 'Paint \u202e it.');
    await run.append([{ ...oneOfEach['question.asked'], title: 'Red\u001b[31m?' }]);
    const { text } = await waitFor('a notice', () => notices.find(({ text }) => text.includes('Paint')));
    assert.equal(text, '"Paint \\u202e it." asks: Red␛[31m? Pick a gate.');
    await run.end('complete');
  });
});

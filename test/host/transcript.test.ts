import assert from 'node:assert/strict';
import fs from 'node:fs';
import promises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, normalize, relative, sep } from 'node:path';
import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import { agentDirectory, type ProjectLayout, projectLayout, rootLayout } from '../../src/core/projects/index.ts';
import { newRunId } from '../../src/core/runs/index.ts';
import { COMMANDS, TRANSCRIPT_SCHEME } from '../../src/extension/command-ids.ts';
import { waitFor } from '../support/wait-for.ts';
import { oneOfEach } from '../unit/builders/events.ts';
import { assistantSays, assistantStreams, type LiveRun, startLiveRun, userSays, workspaceProject } from './live-run.ts';
import { activeExtension } from './pi-lanes.ts';

suite('a transcript as text', () => {
  let project: ProjectLayout;

  suiteSetup(async () => {
    await activeExtension();
    project = await workspaceProject();
  });

  teardown(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  async function openTranscript(runId: string): Promise<vscode.TextDocument> {
    await vscode.commands.executeCommand(COMMANDS.refreshRuns);
    await vscode.commands.executeCommand(COMMANDS.openTranscriptText, { runId });
    const document = vscode.window.activeTextEditor?.document;
    assert.equal(document?.uri.scheme, TRANSCRIPT_SCHEME);
    return document;
  }

  /** Waits until the document has this text and no other. */
  async function comesToRead(document: vscode.TextDocument, text: string): Promise<void> {
    const reached = waitFor('the text', () => document.getText() === text);
    // The difference between the two texts says more than that the time is over.
    await reached.catch(() => undefined);
    assert.equal(document.getText(), text);
  }

  test('is shown, grows while its run lives, and ends with the final state', async () => {
    const run = await startLiveRun(project, 'Mend the fence.');
    const document = await openTranscript(run.runId);
    assert.equal(document.languageId, 'pi-lanes-transcript');
    assert.equal(basename(document.uri.path), `worker Mend the fence. ${run.runId.slice(-6)}.pi-transcript`);
    assert.equal(document.getText(), 'Waiting for the agent…');

    await run.say(userSays('Mend the fence.'));
    const question = '── user\nMend the fence.\n';
    await comesToRead(document, question);
    await run.say(assistantStreams('Two boards '));
    await run.say(assistantStreams('are loose, '));
    await comesToRead(document, `${question}\n── assistant …\nTwo boards are loose,\n`);
    const answer = '── assistant\nTwo boards are loose, both are nailed again.\n';
    await run.say(assistantSays('Two boards are loose, both are nailed again.'));
    await comesToRead(document, `${question}\n${answer}`);

    await run.end('complete');
    await comesToRead(document, `${question}\n${answer}\n── complete\n`);
  });

  test('of a run that failed says why, and what to do', async () => {
    const run = await startLiveRun(project, 'Paint the gate.');
    await run.say(userSays('Paint the gate.'));
    await run.end('failed', { code: 'child_model_error', message: 'The paint is out.', hint: 'Buy some.' });
    const document = await openTranscript(run.runId);
    const text = '── user\nPaint the gate.\n\n── failed\nThe paint is out.\nBuy some.\n';
    assert.equal(document.getText(), text);
  });

  test('shows everything once, however much comes at a time', async () => {
    const run = await startLiveRun(project, 'Count.');
    // A long journal, so that one look is not over when the next begins.
    await run.append(Array.from({ length: 10_000 }, () => oneOfEach['child.progress']));
    const document = await openTranscript(run.runId);
    const words = Array.from({ length: 60 }, (_, index) => `word ${index}`);
    for (const word of words) {
      await run.say(userSays(word));
      await delay(20);
    }
    await run.end('complete');
    const text = words.map((word) => `── user\n${word}\n`).join('\n');
    await comesToRead(document, `${text}\n── complete\n`);
  }).timeout(60_000);

  suite('by an address that anybody could have written', () => {
    let outside: string;
    let inside: LiveRun;
    let elsewhere: LiveRun;
    /** Everything that this process has opened, listed or watched since the test began, the extension included. */
    let reads: () => string[];

    suiteSetup(async () => {
      outside = fs.mkdtempSync(join(tmpdir(), 'pi-lanes-outside-'));
      inside = await startLiveRun(project, 'Inside.');
      elsewhere = await startLiveRun(projectLayout(join(outside, 'project')), 'Outside.');
      for (const run of [inside, elsewhere]) {
        await run.say(userSays('A secret.'));
        await run.end('complete');
      }
    });

    setup(() => {
      const spies = [
        mock.method(promises, 'open'),
        mock.method(promises, 'readFile'),
        mock.method(promises, 'readdir'),
        mock.method(fs, 'watch'),
      ];
      reads = () => spies.flatMap((spy) => spy.mock.calls.map((call) => normalize(String(call.arguments[0]))));
    });

    teardown(() => mock.restoreAll());
    suiteTeardown(() => fs.rmSync(outside, { recursive: true, force: true }));

    async function transcriptAt(directory: string): Promise<string> {
      const uri = vscode.Uri.from({ scheme: TRANSCRIPT_SCHEME, path: '/a.pi-transcript', query: directory });
      return (await vscode.workspace.openTextDocument(uri)).getText();
    }

    async function isRefused(directory: string): Promise<void> {
      assert.equal(await transcriptAt(directory), 'This is not a run of Pi Lanes.', directory);
    }

    const readsBelow = (folder: string) => reads().filter((path) => path.startsWith(folder));

    test('is shown if it is that of a run in the store', async () => {
      assert.equal(await transcriptAt(inside.directory), '── user\nA secret.\n\n── complete\n');
      assert.notDeepEqual(readsBelow(inside.directory), []);
    });

    test('is refused outside the store, even if there is a run', async () => {
      await isRefused(elsewhere.directory);
      await isRefused([project.runs, relative(project.runs, elsewhere.directory)].join(sep));
      assert.deepEqual(readsBelow(outside), []);
    });

    test('is refused with a step back, even if it stays in the store', async () => {
      await isRefused([project.runs, '..', 'runs', inside.runId].join(sep));
      assert.deepEqual(readsBelow(inside.directory), []);
    });

    test('is refused where no run can be', async () => {
      await isRefused('');
      await isRefused(sep);
      await isRefused(relative(rootLayout(agentDirectory()).projects, inside.directory));
      await isRefused(project.runs);
      await isRefused(join(project.active, inside.runId));
      await isRefused(join(project.runs, 'notes'));
      await isRefused(join(inside.directory, 'run.json'));
      assert.deepEqual(readsBelow(inside.directory), []);
    });

    test('is refused where a run could be and none is', async () => {
      await isRefused(join(project.runs, newRunId()));
    });
  });
});

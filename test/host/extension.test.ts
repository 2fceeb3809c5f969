import assert from 'node:assert/strict';
import { mock } from 'node:test';
import * as vscode from 'vscode';
import { agentDirectory } from '../../src/core/projects/index.ts';
import { COMMANDS } from '../../src/extension/command-ids.ts';
import { waitFor } from '../support/wait-for.ts';
import { activationTimes } from './activation-times.ts';
import { type LiveRun, startLiveRun, workspaceProject } from './live-run.ts';
import { activeExtension, EXTENSION_ID } from './pi-lanes.ts';

/** Far above what it takes (the benchmark tells), and below what a person would notice. */
const ACTIVATION_LIMIT_MS = 300;

suite('the extension', () => {
  test('activates by itself after the start, and quickly', async () => {
    await activeExtension();
    const { activate } = await activationTimes(EXTENSION_ID);
    assert.ok(activate < ACTIVATION_LIMIT_MS, `activate() took ${activate} ms`);
  });

  test('keeps its things in an agent folder made for the tests', () => {
    assert.equal(agentDirectory(), process.env['PI_CODING_AGENT_DIR']);
    assert.match(agentDirectory(), /pi-lanes-host-\w+[\\/]agent$/);
  });

  test('has every command that it contributes, and no other', async () => {
    const { packageJSON } = await activeExtension();
    const contributed: { command: string; title: string }[] = packageJSON.contributes.commands;
    const registered = (await vscode.commands.getCommands(true)).filter((id) => /^piLanes\.\w+$/.test(id));
    assert.deepEqual(registered.sort(), contributed.map(({ command }) => command).sort());
    for (const { command, title } of contributed) assert.doesNotMatch(title, /%/, command);
  });

  test('has paths for settings: a machine has its own, and a workspace may have another', async () => {
    const { packageJSON } = await activeExtension();
    const worktrees = ['folder', 'setupHook'].map((name) => `piLanes.worktrees.${name}`);
    for (const key of ['piLanes.pi.path', 'piLanes.node.path', ...worktrees]) {
      assert.equal(packageJSON.contributes.configuration.properties[key].scope, 'machine-overridable', key);
      const value = () => vscode.workspace.getConfiguration().get(key);
      const setInWorkspace = (path: string | undefined) =>
        vscode.workspace.getConfiguration().update(key, path, vscode.ConfigurationTarget.Workspace);
      assert.equal(value(), '', key);
      await setInWorkspace('/somewhere');
      assert.equal(value(), '/somewhere', key);
      await setInWorkspace(undefined);
      assert.equal(value(), '', key);
    }
  });
});

suite('the command', () => {
  let endedRun: LiveRun;

  suiteSetup(async () => {
    await activeExtension();
    endedRun = await startLiveRun(await workspaceProject(), 'Mend the fence.');
    await endedRun.end('complete');
    await vscode.commands.executeCommand(COMMANDS.refreshRuns);
  });

  teardown(() => mock.restoreAll());

  test('Show Output shows the output channel', async () => {
    await vscode.commands.executeCommand(COMMANDS.showOutput);
    const shown = await waitFor('an output channel', () =>
      vscode.window.visibleTextEditors.find(({ document }) => document.uri.scheme === 'output'),
    );
    assert.match(shown.document.fileName, /Pi Lanes/);
  });

  test('Copy Run Id copies the id of the run it is given', async () => {
    await vscode.env.clipboard.writeText('something else');
    await vscode.commands.executeCommand(COMMANDS.copyRunId, { runId: endedRun.runId });
    assert.equal(await vscode.env.clipboard.readText(), endedRun.runId);
  });

  test('Stop Run does not ask about a run that has ended', async () => {
    const said = mock.method(vscode.window, 'showInformationMessage', async () => undefined);
    const asked = mock.method(vscode.window, 'showWarningMessage', async () => undefined);
    await vscode.commands.executeCommand(COMMANDS.stopRun, { runId: endedRun.runId });
    assert.equal(asked.mock.callCount(), 0);
    assert.deepEqual(said.mock.calls[0]?.arguments, ['"Mend the fence." has ended already: complete.']);
  });
});

/** The Library inside the editor: it finds agents and scripts wherever they come from, and its commands write what was asked for. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { mock } from 'node:test';
import * as vscode from 'vscode';
import { Toolbox } from '../../src/client/index.ts';
import { ScriptValidator } from '../../src/core/workflow/index.ts';
import { COMMANDS } from '../../src/extension/command-ids.ts';
import { AgentChecks, AgentNames, FindingDocs, WorkflowChecks } from '../../src/extension/editor/index.ts';
import { LibraryModel } from '../../src/extension/library/library-model.ts';
import { waitFor } from '../support/wait-for.ts';
import { activeExtension } from './pi-lanes.ts';

const log = { error: console.error } as unknown as vscode.LogOutputChannel;

function folder(): vscode.WorkspaceFolder {
  const [first] = vscode.workspace.workspaceFolders ?? [];
  assert.ok(first);
  return first;
}
const place = (name: string) => join(folder().uri.fsPath, name);

async function write(file: string, ...lines: string[]): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${lines.join('\n')}\n`);
}

suite('the Library', () => {
  let model: LibraryModel;
  let aside: string;
  let stack: vscode.Disposable;

  suiteSetup(async () => {
    const { extensionUri } = await activeExtension();
    aside = await mkdtemp(join(tmpdir(), 'pi-lanes-library-'));
    const distDirectory = vscode.Uri.joinPath(extensionUri, 'dist').fsPath;
    const toolbox = new Toolbox({ env: process.env, distDirectory, client: { kind: 'vscode', version: '0' } });
    const agents = new AgentChecks({
      toolbox,
      names: new AgentNames(toolbox),
      docs: new FindingDocs(extensionUri, 'agents.md'),
      log,
    });
    const workflows = new WorkflowChecks({
      validator: new ScriptValidator({ worker: join(distDirectory, 'validate-worker.mjs') }),
      agents: async () => (await agents.recentAgents(folder().uri)).agents,
      docs: new FindingDocs(extensionUri, 'script-api.md'),
      log,
    });
    model = new LibraryModel(agents, workflows, log);
    stack = vscode.Disposable.from(model, workflows, agents);
    assert.deepEqual(model.folders, [], 'nothing is looked for before somebody asks');
    await model.ready();
  });
  suiteTeardown(async () => {
    stack.dispose();
    await rm(aside, { recursive: true, force: true });
  });
  teardown(() => mock.restoreAll());

  const agent = (name: string) => model.folders[0]?.agents.find((row) => row.name === name);
  const script = (path: string) => model.folders[0]?.scripts?.find((row) => row.path === path);
  const errors = (path: string) => script(path)?.findings?.map(({ code }) => code);

  test('has the agents there are, as they are when somebody looks', async () => {
    assert.equal(agent('worker')?.group, 'builtin');
    const file = place('.pi/agents/library-one.md');
    await write(file, '---', 'name: library-one', 'description: One.', '---');
    await model.refresh();
    assert.equal(agent('library-one')?.state.kind, 'usable');
    await write(file, '---', 'name: library-one', 'description: One.', 'async: perhaps', '---');
    await model.refresh();
    assert.equal(agent('library-one')?.state.kind, 'refused');
    await rm(file);
    model.lookAgain();
    await waitFor('its end', () => agent('library-one') === undefined);
  });

  test('finds scripts by their places and checks them, as they are on the disk and as they are typed', async () => {
    await write(place('library.workflow.js'), "return (await runs.run('a', { agent: 'worker', task: 't' })).output;");
    await waitFor('a script that is right', () => errors('library.workflow.js')?.length === 0);
    await write(place('library.workflow.js'), "await runs.run('a', { agent: 'nobody-here', task: 't' });");
    await waitFor('what is wrong on the disk', () => errors('library.workflow.js')?.includes('agent_not_found'), {
      seen: () => script('library.workflow.js'),
    });
    const document = await vscode.workspace.openTextDocument(vscode.Uri.file(place('library.workflow.js')));
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, new vscode.Range(0, 0, 1, 0), 'const = 1;');
    assert.ok(await vscode.workspace.applyEdit(edit));
    await waitFor('what is wrong while one types', () => errors('library.workflow.js')?.includes('syntax'));
    await document.save();
    await rm(place('library.workflow.js'));
    await waitFor('its end', () => model.folders[0]?.scripts && script('library.workflow.js') === undefined);
  });

  // The editor sees the folder come and go, not what is in it.
  for (const where of ['.pi/workflows', 'workflows/team']) {
    test(`finds scripts that come and go with their folder ${where}`, async () => {
      const path = join(where, 'moved.js');
      await write(join(aside, 'team', 'moved.js'), "await runs.run('a', { agent: 'worker', task: 't' });");
      await mkdir(dirname(place(where)), { recursive: true });
      await rm(place(where), { recursive: true, force: true });
      await rename(join(aside, 'team'), place(where)).catch(async () => {
        // Another disk: then file by file, as somebody else would.
        await write(place(path), await readFile(join(aside, 'team', 'moved.js'), 'utf8'));
      });
      await waitFor('the script', () => script(path)?.findings, { seen: () => model.folders[0]?.scripts });
      await rm(place(where), { recursive: true });
      await waitFor('its end', () => script(path) === undefined);
    });
  }

  test('opens what came along to be read', async () => {
    const row = agent('scout');
    assert.ok(row);
    await vscode.commands.executeCommand(COMMANDS.openDefinition, { kind: 'agent', folder: folder(), row });
    const shown = await waitFor('the definition', () =>
      vscode.window.visibleTextEditors.find(({ document }) => document.uri.scheme === 'pi-lanes-agent'),
    );
    assert.equal(shown.document.languageId, 'markdown');
    assert.match(shown.document.getText(), /^---\n\nname: scout\n/);
  });

  test('opens a definition where it is wrong, also one the editor has as it was before', async () => {
    const file = place('.pi/agents/library-wrong.md');
    const head = ['---', 'name: library-wrong', 'description: Wrong.'];
    const wrong = () => write(file, ...head, 'tools: read', 'async: perhaps', '---', '', 'Says what it does.');
    await wrong();
    await model.refresh();
    const row = agent('library-wrong');
    assert.equal(row?.state.kind, 'refused');
    await write(file, ...head, '---', '', 'Says what it does.');
    await vscode.workspace.openTextDocument(vscode.Uri.file(file));
    await wrong();
    await vscode.commands.executeCommand(COMMANDS.openDefinition, { kind: 'agent', folder: folder(), row });
    const shown = await waitFor('the definition', () =>
      vscode.window.visibleTextEditors.find(({ document }) => document.uri.fsPath === file),
    );
    await waitFor('what is wrong', () => shown.document.getText(shown.selection) === 'perhaps', {
      seen: () => [shown.selection, shown.document.getText()],
    });
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await rm(file);
    await model.refresh();
  });

  test('makes an agent for whom it was asked for, and takes the change back', async () => {
    const typed = ['Library Two', 'Does it.'];
    mock.method(vscode.window, 'showInputBox', async () => typed.shift());
    const group = { kind: 'group', group: 'project', folder: folder() };
    await vscode.commands.executeCommand(COMMANDS.newAgent, group);
    const file = place('.pi/agents/library-two.md');
    assert.match(await readFile(file, 'utf8'), /name: library-two\ndescription: Does it\.\n/);
    await model.refresh();
    assert.equal(agent('library-two')?.group, 'project');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.commands.executeCommand(COMMANDS.undoAgentChange);
    await model.refresh();
    assert.equal(agent('library-two'), undefined);
  });

  test('begins scripts from templates that nothing is wrong with, and never over a file', async () => {
    const labels = [
      'One Agent',
      'Parallel Review',
      'Implement, Challenge, Review',
      'Map over Files',
      'Fix until Green',
    ];
    for (const [at, label] of labels.entries()) {
      mock.method(vscode.window, 'showQuickPick', async (items: readonly vscode.QuickPickItem[]) =>
        items.find((item) => item.label === label),
      );
      let refusal: unknown;
      mock.method(vscode.window, 'showInputBox', async ({ validateInput }: vscode.InputBoxOptions) => {
        refusal = await validateInput?.(`library-${at}`);
        return `library-${at}`;
      });
      const group = { kind: 'group', group: 'scripts', folder: folder() };
      await vscode.commands.executeCommand(COMMANDS.newWorkflow, group);
      assert.equal(refusal, undefined);
      const path = join('.pi', 'workflows', `library-${at}.workflow.js`);
      await waitFor(label, () => errors(path)?.length === 0, { seen: () => script(path) });
      const before = await readFile(place(path), 'utf8');
      assert.match(before, /^\/\/ /);
      mock.method(vscode.window, 'showErrorMessage', async () => undefined);
      await vscode.commands.executeCommand(COMMANDS.newWorkflow, group);
      assert.match(String(refusal), /already/);
      assert.equal(await readFile(place(path), 'utf8'), before);
      mock.restoreAll();
    }
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await rm(place('.pi/workflows'), { recursive: true });
  });
});

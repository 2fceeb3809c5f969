/** Launch Agent…: agent, task, and the folder where several are possible. */
import * as vscode from 'vscode';
import { launch } from '../../client/index.ts';
import { bundledAgents } from '../../core/agents/index.ts';
import { LanesError } from '../../protocol/index.ts';
import { COMMANDS } from '../command-ids.ts';
import type { Services } from '../services.ts';

const LAST_AGENT = 'launch.agent';
const LAST_FOLDER = 'launch.folder';
/** What was typed when a launch failed: offered again. */
const KEPT_TASK = 'launch.task';

export async function launchAgent(services: Services): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    throw new LanesError('untrusted_workspace', vscode.l10n.t('Agents do not start in an untrusted workspace.'));
  }
  const folder = await chooseFolder(services.state);
  if (!folder) return;
  const agent = await chooseAgent(services.state);
  if (!agent) return;
  const task = await askTask(services.state, agent);
  if (task === undefined) return;
  await services.state.update(KEPT_TASK, task);
  await services.state.update(LAST_AGENT, agent);
  const launched = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: vscode.l10n.t('Starting {0}…', agent) },
    () =>
      launch(services.toolbox, {
        agent,
        task,
        cwd: folder.uri.fsPath,
        fallbackRoot: folder.uri.fsPath,
        owner: services.owner,
        trust: 'approve',
      }),
  );
  await services.state.update(KEPT_TASK, undefined);
  services.log.info(`Run ${launched.runId} started: ${agent} in ${folder.uri.fsPath}`);
  await services.runs.noticeStarted();
  await services.tree.reveal(launched.runId);
  await vscode.commands.executeCommand(COMMANDS.openTranscript, { runId: launched.runId });
}

/** The folder of the file in hand; the only folder; else a pick, last choice first. */
async function chooseFolder(state: vscode.Memento): Promise<vscode.WorkspaceFolder | undefined> {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === 'file');
  if (folders.length === 0) {
    throw new LanesError(
      'launch_invalid',
      vscode.l10n.t('There is no folder for the agent to work in.'),
      vscode.l10n.t('Open a folder first.'),
    );
  }
  const open = vscode.window.activeTextEditor?.document.uri;
  const context = open && vscode.workspace.getWorkspaceFolder(open);
  if (context && folders.includes(context)) return context;
  if (folders.length === 1) return folders[0];
  const last = state.get<string>(LAST_FOLDER);
  const ordered = [...folders].sort((a, b) => Number(b.uri.toString() === last) - Number(a.uri.toString() === last));
  const picked = await vscode.window.showQuickPick(
    ordered.map((folder) => ({ label: folder.name, description: folder.uri.fsPath, folder })),
    { title: vscode.l10n.t('Launch Agent'), placeHolder: vscode.l10n.t('In which folder should the agent work?') },
  );
  if (picked) await state.update(LAST_FOLDER, picked.folder.uri.toString());
  return picked?.folder;
}

async function chooseAgent(state: vscode.Memento): Promise<string | undefined> {
  const last = state.get<string>(LAST_AGENT);
  const agents = bundledAgents().sort((a, b) => Number(b.name === last) - Number(a.name === last));
  const picked = await vscode.window.showQuickPick(
    agents.map((agent) => ({ label: agent.name, detail: agent.description })),
    {
      title: vscode.l10n.t('Launch Agent'),
      placeHolder: vscode.l10n.t('Which agent?'),
      matchOnDetail: true,
    },
  );
  return picked?.label;
}

async function askTask(state: vscode.Memento, agent: string): Promise<string | undefined> {
  return vscode.window.showInputBox({
    title: vscode.l10n.t('Launch {0}', agent),
    prompt: vscode.l10n.t('What should it do?'),
    value: state.get<string>(KEPT_TASK) ?? '',
    ignoreFocusOut: true,
    validateInput: (text) =>
      text.trim() === '' ? vscode.l10n.t('Say in a sentence or two what the agent should do.') : undefined,
  });
}

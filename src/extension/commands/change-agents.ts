/** Changes of agents that are there: each can be taken back, by its notification or as the latest change. */
import * as vscode from 'vscode';
import type { AgentChange, ChangeScope } from '../../core/agents/index.ts';
import { LanesError } from '../../protocol/index.ts';
import { askScope, chooseSettingScope } from '../library/choose-scope.ts';
import { makeChange, tellChange } from '../library/make-change.ts';
import type { Services } from '../services.ts';
import { clickedAgent } from './library-row.ts';

export async function disableAgent(services: Services, clicked: unknown): Promise<void> {
  const node = clickedAgent(services, clicked);
  if (!node) return;
  const { folder, row } = node;
  const title = vscode.l10n.t('Disable {0}', row.name);
  const placeHolder = vscode.l10n.t('Where should nobody launch it?');
  const scope =
    row.group === 'project' ? 'project' : await chooseSettingScope(services.toolbox, folder, { title, placeHolder });
  if (!scope) return;
  const change = await makeChange(services, folder, (changes) => changes.switch(row.name, false, scope));
  const words =
    scope === 'project'
      ? vscode.l10n.t('{0} is disabled in this project.', row.name)
      : vscode.l10n.t('{0} is disabled in all your projects.', row.name);
  tellChange(services, folder, change, words);
}

export async function enableAgent(services: Services, clicked: unknown): Promise<void> {
  const node = clickedAgent(services, clicked);
  if (!node) return;
  const { folder, row } = node;
  const change = await makeChange(services, folder, (changes) => changes.switch(row.name, true));
  tellChange(services, folder, change, vscode.l10n.t('{0} can be launched again.', row.name));
}

/** At once, because it can be taken back. */
export async function deleteAgent(services: Services, clicked: unknown): Promise<void> {
  const node = clickedAgent(services, clicked);
  if (!node) return;
  const { folder, row } = node;
  const scope = row.group === 'project' ? 'project' : 'user';
  const change = await makeChange(services, folder, (changes) => changes.delete(row.name, scope));
  tellChange(services, folder, change, vscode.l10n.t('{0} was deleted: {1}', row.name, change.files.join(', ')));
}

export async function resetAgent(services: Services, clicked: unknown): Promise<void> {
  const node = clickedAgent(services, clicked);
  if (!node) return;
  const { folder, row } = node;
  const reset = (scope?: ChangeScope) => makeChange(services, folder, (changes) => changes.reset(row.name, scope));
  const change = await askedWhenAmbiguous(reset, row.name);
  if (!change) return;
  const words =
    change.files.length === 0
      ? vscode.l10n.t('{0} is the original already.', row.name)
      : vscode.l10n.t('{0} is the original again. Changed: {1}', row.name, change.files.join(', '));
  tellChange(services, folder, change, words);
}

async function askedWhenAmbiguous(
  change: (scope?: ChangeScope) => Promise<AgentChange>,
  name: string,
): Promise<AgentChange | undefined> {
  try {
    return await change();
  } catch (error) {
    if (!(error instanceof LanesError) || error.code !== 'agent_scope_needed') throw error;
    const scope = await askScope({
      title: vscode.l10n.t('Reset {0}', name),
      placeHolder: vscode.l10n.t('Both you and the project have changed it. What should be taken back?'),
      user: vscode.l10n.t('What you have changed'),
      project: vscode.l10n.t('What the project has changed'),
    });
    return scope && (await change(scope));
  }
}

export async function undoAgentChange(services: Services): Promise<void> {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  const { toolbox, agents } = services;
  const changes = toolbox.agentChanges(folder?.uri.fsPath ?? toolbox.agentDir, vscode.workspace.isTrusted);
  const { name, files } = await changes.undo();
  agents.lookSoon();
  void vscode.window.showInformationMessage(
    vscode.l10n.t('The latest change of {0} was taken back: {1}', name, files.join(', ')),
  );
}

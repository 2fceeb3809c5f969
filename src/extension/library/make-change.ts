/** Changes of agents from the Library: made by the core, seen at once, and offered to be taken back. */
import * as vscode from 'vscode';
import type { AgentChange, AgentChanges } from '../../core/agents/index.ts';
import { offerSteps, showError } from '../messages.ts';
import type { Services } from '../services.ts';

export async function makeChange(
  { toolbox, agents }: Services,
  folder: vscode.WorkspaceFolder,
  make: (changes: AgentChanges) => Promise<AgentChange>,
): Promise<AgentChange> {
  try {
    return await make(toolbox.agentChanges(folder.uri.fsPath, vscode.workspace.isTrusted));
  } finally {
    agents.lookSoon();
  }
}

/** Says what was done, with a button that takes exactly this back. Does not wait for an answer. */
export function tellChange(
  services: Services,
  folder: vscode.WorkspaceFolder,
  change: AgentChange,
  message: string,
): void {
  const undo = async () => {
    try {
      await makeChange(services, folder, (changes) => changes.undo(change));
      vscode.window.setStatusBarMessage(vscode.l10n.t('Taken back'), 2000);
    } catch (error) {
      showError(error, services.log);
    }
  };
  const steps = change.files.length === 0 ? [] : [{ title: vscode.l10n.t('Undo'), run: undo }];
  void offerSteps(vscode.window.showInformationMessage, message, steps);
}

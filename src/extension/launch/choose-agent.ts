import * as vscode from 'vscode';
import { bundledAgents } from '../../core/agents/index.ts';
import { defaultAgent } from '../configuration.ts';

const LAST_AGENT = 'launch.agent';

/** A pick of all agents: the one of the setting first, else the one that was launched last. */
export async function chooseAgent(state: vscode.Memento, folder: vscode.WorkspaceFolder): Promise<string | undefined> {
  const first = defaultAgent(folder.uri) ?? state.get<string>(LAST_AGENT);
  const agents = bundledAgents().sort((a, b) => Number(b.name === first) - Number(a.name === first));
  const picked = await vscode.window.showQuickPick(
    agents.map((agent) => ({ label: agent.name, detail: agent.description })),
    {
      title: vscode.l10n.t('Launch Agent'),
      placeHolder: vscode.l10n.t('Which agent?'),
      matchOnDetail: true,
      // The transcript of a launch just before this one may open meanwhile and take the focus.
      ignoreFocusOut: true,
    },
  );
  if (picked) await state.update(LAST_AGENT, picked.label);
  return picked?.label;
}

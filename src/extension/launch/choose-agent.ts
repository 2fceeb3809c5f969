import * as vscode from 'vscode';
import { type FoundAgent, unsupportedFields } from '../../core/agents/index.ts';
import { defaultAgent } from '../configuration.ts';
import type { AgentChecks } from '../editor/index.ts';

const LAST_AGENT = 'launch.agent';

/** A pick of all agents of a folder: the one of the setting first, else the one that was launched last. */
export async function chooseAgent(
  checks: AgentChecks,
  state: vscode.Memento,
  folder: vscode.WorkspaceFolder,
): Promise<string | undefined> {
  const { agents, refused } = await checks.agents(folder.uri);
  const wanted = defaultAgent(folder.uri);
  const first = agents.some(({ name }) => name === wanted) ? wanted : state.get<string>(LAST_AGENT);
  const usable = agents.map((agent) => ({ label: agent.name, description: noteOf(agent), detail: agent.description }));
  const broken = refused.map(({ name }) => ({ label: name, description: vscode.l10n.t('has mistakes: see Problems') }));
  const picked = await vscode.window.showQuickPick(
    [...usable.sort((a, b) => Number(b.label === first) - Number(a.label === first)), ...broken],
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

/** Where it comes from, and why it cannot be launched; nothing for an agent that is always there. */
function noteOf(agent: FoundAgent): string {
  const fields = unsupportedFields(agent);
  const sources = {
    builtin: '',
    runtime: '',
    package: agent.fromPackage?.name ?? '',
    user: vscode.l10n.t('yours'),
    project: vscode.l10n.t('of this project'),
  };
  const obstacle = fields.length === 0 ? '' : vscode.l10n.t('cannot be launched yet: {0}', fields.join(', '));
  return [sources[agent.source], obstacle].filter(Boolean).join(' · ');
}

/** What the editor of a task offers: launch it, see its plan, choose model and place, throw it away. */
import * as vscode from 'vscode';
import { LanesError } from '../../protocol/index.ts';
import { chooseAgent } from '../launch/choose-agent.ts';
import { chooseFolder } from '../launch/choose-folder.ts';
import { chooseWorkplace } from '../launch/choose-workplace.ts';
import { startAgent } from '../launch/start-agent.ts';
import type { Services } from '../services.ts';
import { changeModel, showAgentPlan } from './launch-agent.ts';

/** Where the task will be done and by whom; asked again for what is no longer there. */
async function placeOf(services: Services): Promise<{ folder: vscode.WorkspaceFolder; agent: string } | undefined> {
  const { agents, drafts, state } = services;
  const kept = drafts.value.folder;
  const folders = vscode.workspace.workspaceFolders ?? [];
  const folder = folders.find(({ uri }) => uri.toString() === kept) ?? (await chooseFolder(state));
  const agent = folder && (drafts.value.agent ?? (await chooseAgent(agents, state, folder)));
  return folder && agent ? { folder, agent } : undefined;
}

export async function launchTask(services: Services): Promise<void> {
  const { drafts, taskDocument } = services;
  const task = taskDocument.text();
  if (task === undefined)
    throw new LanesError({ code: 'launch_invalid', message: vscode.l10n.t('No task is being written in an editor.') });
  const place = await placeOf(services);
  if (!place) return;
  await drafts.save({ task });
  await startAgent(services, place.folder, { ...drafts.value, agent: place.agent });
  await taskDocument.discard();
}

export async function chooseTaskModel(services: Services): Promise<void> {
  const place = await placeOf(services);
  if (place) await changeModel(services, place.folder, place.agent);
}

export async function chooseTaskWorkplace(services: Services): Promise<void> {
  const place = await placeOf(services);
  if (place) await chooseWorkplace(services, place.folder, 'agent');
}

export async function showTaskPlan(services: Services): Promise<void> {
  const place = await placeOf(services);
  const task = services.taskDocument.text();
  if (!place) return;
  if (task !== undefined) await services.drafts.save({ task });
  await showAgentPlan(services, place.folder, place.agent);
}

export async function discardTask({ drafts, taskDocument }: Services): Promise<void> {
  const discard = vscode.l10n.t('Discard');
  const filled = (taskDocument.text() ?? '').trim() !== '';
  const question = vscode.l10n.t('Discard this task?');
  if (filled && (await vscode.window.showWarningMessage(question, { modal: true }, discard)) !== discard) return;
  await taskDocument.discard();
  await drafts.clear();
}

/** Launch Agent…: folder where several are possible, agent, task, with the plan of what will run; model and place for whoever wants others. */
import type * as vscode from 'vscode';
import { agentForLaunch } from '../../client/index.ts';
import { defaultModel } from '../configuration.ts';
import { agentPlanDocument } from '../launch/agent-plan-document.ts';
import { askTask } from '../launch/ask-task.ts';
import type { Attachment } from '../launch/attachment.ts';
import { chooseAgent } from '../launch/choose-agent.ts';
import { chooseFolder } from '../launch/choose-folder.ts';
import { chooseModel } from '../launch/choose-model.ts';
import { chooseWorkplace } from '../launch/choose-workplace.ts';
import { foreseeAgent } from '../launch/foresee-agent.ts';
import { recentTasks } from '../launch/recent-tasks.ts';
import { requireTrust, startAgent } from '../launch/start-agent.ts';
import { showError } from '../messages.ts';
import type { Services } from '../services.ts';

/** What the task is about, and where that lies. */
export interface LaunchContext {
  about?: vscode.Uri | undefined;
  attached?: Attachment;
  /** Absent: it is asked for. */
  agent?: string;
  /** Stands in the box when nothing else was kept. */
  proposal?: string;
}

export function launchAgent(services: Services): Promise<void> {
  return launchWith(services, undefined);
}

export async function launchWith(services: Services, context: LaunchContext | undefined): Promise<void> {
  requireTrust();
  const { drafts, state } = services;
  const folder = await chooseFolder(state, context?.about);
  if (!folder) return;
  const agent = context?.agent ?? (await chooseAgent(services.agents, state, folder));
  if (!agent) return;
  // Refused before a task is written for it.
  await agentForLaunch(services.toolbox, agent, { cwd: folder.uri.fsPath, trust: 'approve' });
  const task = drafts.value.task === '' ? (context?.proposal ?? '') : drafts.value.task;
  const attached = context?.attached ?? drafts.value.attached;
  await drafts.save({ agent, task, attached, folder: folder.uri.toString() });
  for (;;) {
    const draft = { ...drafts.value, agent };
    const workplace = services.workplaces.of(folder.uri.toString(), 'agent');
    const forecast = foreseeAgent(services, folder, draft, workplace);
    const answer = await askTask({
      draft,
      recent: recentTasks(state),
      workplace,
      forecast,
      showPlan: () => showLater(services, showAgentPlan(services, folder, agent)),
      onTyped: (typed) => void drafts.save({ task: typed }),
    });
    if (!answer) {
      // What was typed stays; what it was about belongs to the place where this began.
      await drafts.save({ attached: undefined });
      return;
    }
    if (answer.kind === 'launch') {
      await drafts.save({ task: answer.task });
      await startAgent(services, folder, { ...drafts.value, agent });
      return;
    }
    if (answer.kind === 'editor') {
      await drafts.save({ task: answer.task });
      await services.taskDocument.open();
      return;
    }
    if (answer.kind === 'model') await changeModel(services, folder, agent);
    else await chooseWorkplace(services, folder, 'agent');
  }
}

/** The plan of the draft as it is now, as a document. */
export async function showAgentPlan(services: Services, folder: vscode.WorkspaceFolder, agent: string): Promise<void> {
  const workplace = services.workplaces.of(folder.uri.toString(), 'agent');
  const forecast = await foreseeAgent(services, folder, { ...services.drafts.value, agent }, workplace);
  const id = forecast.plan?.record.runId ?? agent;
  await services.plans.show(agent, id, agentPlanDocument(agent, forecast));
}

/** What nobody waits for must not fail unseen. */
function showLater({ log }: Services, shown: Promise<void>): void {
  shown.catch((error: unknown) => showError(error, log));
}

/** Another model for the draft; a pick that was closed changes nothing. */
export async function changeModel(services: Services, folder: vscode.WorkspaceFolder, agent: string): Promise<void> {
  const { model } = await agentForLaunch(services.toolbox, agent, { cwd: folder.uri.fsPath, trust: 'approve' });
  const named = (model === 'inherit' ? undefined : model) ?? defaultModel(folder.uri);
  const choice = await chooseModel(services.toolbox, named);
  if (choice) await services.drafts.save(choice);
}

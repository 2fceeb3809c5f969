/** The one way in which an agent is launched from the editor, whatever led to it. */
import * as vscode from 'vscode';
import { launch } from '../../client/index.ts';
import { lanesError } from '../../protocol/index.ts';
import { COMMANDS } from '../command-ids.ts';
import { plain } from '../messages.ts';
import type { Services } from '../services.ts';
import type { Draft } from './draft.ts';
import { launchRequest } from './launch-request.ts';
import { rememberTask } from './recent-tasks.ts';

export function requireTrust(): void {
  if (vscode.workspace.isTrusted) return;
  throw lanesError('untrusted_workspace');
}

/** Launches what the draft says and forgets the draft. When it cannot be, the draft stays. */
export async function startAgent(
  services: Services,
  folder: vscode.WorkspaceFolder,
  draft: Draft & { agent: string },
): Promise<void> {
  requireTrust();
  const { agent } = draft;
  const workplace = services.workplaces.of(folder.uri.toString(), 'agent');
  const request = launchRequest(services, folder, draft, workplace);
  const launched = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: vscode.l10n.t('Starting {0}…', agent) },
    () => launch(services.toolbox, request),
  );
  if (launched.noScope !== undefined)
    void vscode.window.showWarningMessage(
      vscode.l10n.t('The runner was started without a scope of systemd of its own: {0}', plain(launched.noScope)),
    );
  await services.drafts.clear();
  await rememberTask(services.state, draft.task);
  services.log.info(`Run ${launched.runId} started: ${agent} in ${folder.uri.fsPath}`);
  await services.runs.noticeStarted();
  await services.tree.reveal(launched.runId);
  await vscode.commands.executeCommand(COMMANDS.openTranscript, { runId: launched.runId });
}

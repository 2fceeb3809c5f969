/**
 * Resume: a lost run goes on as the same run, and so does a workflow that a limit has ended; any other ended run gets a new run on its
 * session. One button picks the right one.
 */
import * as vscode from 'vscode';
import {
  continueWorkflow,
  GO_ON,
  isResumable,
  type RunSnapshot,
  reachedLimits,
  resumeKind,
  resumeRun,
} from '../../client/index.ts';
import { LanesError, lanesError, type RunState } from '../../protocol/index.ts';
import { COMMANDS } from '../command-ids.ts';
import { errorWords } from '../error-words.ts';
import { plain } from '../messages.ts';
import type { Services } from '../services.ts';
import { runTitle } from '../trees/runs/run-words.ts';
import { askHigherLimits } from '../workflows/ask-limits.ts';
import { chooseRun } from './choose-run.ts';

export async function resumeChosenRun(services: Services, node: unknown): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    throw lanesError('untrusted_workspace');
  }
  const fits = (state: RunState, { view }: RunSnapshot) => isResumable(state, view);
  const snapshot = await chooseRun(services, node, fits, vscode.l10n.t('There is no run here that can be resumed.'));
  if (!snapshot) return;
  const kind = await resumeKind(snapshot.directory);
  if (snapshot.view?.mode === 'workflow') {
    await goOnWithWorkflow(services, snapshot);
    return;
  }
  if (kind === 'continue') {
    await resume(services, snapshot, {}, vscode.l10n.t('Continuing where it stood…'));
    return;
  }
  const task = await vscode.window.showInputBox({
    title: vscode.l10n.t('Resume "{0}" as a new run on its session', runTitle(snapshot)),
    prompt: vscode.l10n.t('What should it do now?'),
    value: GO_ON,
    ignoreFocusOut: true,
    validateInput: (text) =>
      text.trim() === '' ? vscode.l10n.t('Say in a sentence or two what the agent should do.') : undefined,
  });
  if (task === undefined) return;
  try {
    await resume(services, snapshot, { task }, vscode.l10n.t('Resuming…'));
  } catch (error) {
    const fork = await offerFork(error, snapshot);
    if (!fork) throw error;
    await resume(services, snapshot, { task, ...fork }, vscode.l10n.t('Resuming on a copy…'));
  }
}

async function resume(
  services: Services,
  { runId, directory }: RunSnapshot,
  request: { task?: string; fork?: boolean; cwd?: string },
  progress: string,
): Promise<void> {
  const resumed = await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: progress }, () =>
    services.inHand.during(runId, () =>
      resumeRun(services.toolbox, { directory, owner: services.owner, trust: 'approve', ...request }),
    ),
  );
  await services.runs.noticeStarted();
  await services.tree.reveal(resumed.runId);
  await vscode.commands.executeCommand(COMMANDS.openTranscript, { runId: resumed.runId });
}

/** A workflow that a limit has ended goes on with a higher one; one that was cut off, as it is. */
async function goOnWithWorkflow(services: Services, snapshot: RunSnapshot): Promise<void> {
  const { runId, directory } = snapshot;
  const bounds = await askHigherLimits(runTitle(snapshot), await reachedLimits(directory));
  if (!bounds) return;
  const title = vscode.l10n.t('Continuing where it stood…');
  await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, () =>
    services.inHand.during(runId, () => continueWorkflow(services.toolbox, directory, services.owner, bounds)),
  );
  await services.runs.noticeStarted();
  await services.tree.reveal(runId);
}

/** A session in use, or one whose folder is gone, can still be gone on with on a copy. */
async function offerFork(error: unknown, snapshot: RunSnapshot): Promise<{ fork: true; cwd?: string } | undefined> {
  if (!(error instanceof LanesError)) return undefined;
  const copy = vscode.l10n.t('Resume on a Copy');
  if (error.code === 'session_in_use') {
    const answer = await vscode.window.showWarningMessage(plain(errorWords(error.toValue()).message), copy);
    return answer === copy ? { fork: true } : undefined;
  }
  if (error.code !== 'cwd_gone') return undefined;
  const elsewhere = vscode.l10n.t('Resume on a Copy in…');
  if ((await vscode.window.showWarningMessage(plain(errorWords(error.toValue()).message), elsewhere)) !== elsewhere)
    return undefined;
  const folders = vscode.workspace.workspaceFolders ?? [];
  const picked = await vscode.window.showQuickPick(
    folders.map((folder) => ({ label: folder.name, description: folder.uri.fsPath, folder })),
    { title: runTitle(snapshot), placeHolder: vscode.l10n.t('In which folder should the agent work?') },
  );
  return picked && { fork: true, cwd: picked.folder.uri.fsPath };
}

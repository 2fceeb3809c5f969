/** Commands on one run. */
import * as vscode from 'vscode';
import { type RunSnapshot, stopRun } from '../../client/index.ts';
import { isTerminal, LanesError } from '../../protocol/index.ts';
import { BUILT_IN } from '../command-ids.ts';
import type { Services } from '../services.ts';
import { TranscriptDocuments } from '../transcripts/transcript-documents.ts';
import { runTitle, stateText } from '../trees/run-item.ts';

/** The run meant: the row the command came from or the selected one; else the person picks. */
async function chooseRun(services: Services, node: unknown, which: 'any' | 'active'): Promise<RunSnapshot | undefined> {
  await services.runs.ready();
  const runId = services.tree.runIdOf(node);
  const given = runId === undefined ? undefined : services.runs.get(runId);
  if (given) return given;
  const runs = which === 'active' ? services.runs.active() : [...services.runs.active(), ...services.runs.recent()];
  if (runs.length === 0) {
    throw new LanesError(
      'run_not_found',
      which === 'active' ? vscode.l10n.t('No agent is running here.') : vscode.l10n.t('There are no runs here yet.'),
    );
  }
  const picked = await vscode.window.showQuickPick(
    runs.map((snapshot) => ({
      label: runTitle(snapshot),
      description: [snapshot.view?.agent, stateText(snapshot)].filter(Boolean).join(' · '),
      snapshot,
    })),
    { placeHolder: vscode.l10n.t('Which run?') },
  );
  return picked?.snapshot;
}

export async function openTranscript(services: Services, node: unknown): Promise<void> {
  const snapshot = await chooseRun(services, node, 'any');
  if (!snapshot) return;
  const { directory, runId, view } = snapshot;
  const uri = TranscriptDocuments.uriFor({
    directory,
    runId,
    agent: view?.agent ?? '',
    title: view?.label ?? view?.title ?? '',
  });
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document, { preview: true });
}

export async function stopChosenRun(services: Services, node: unknown): Promise<void> {
  const snapshot = await chooseRun(services, node, 'active');
  if (!snapshot) return;
  const title = runTitle(snapshot);
  if (isTerminal(snapshot.state)) {
    void vscode.window.showInformationMessage(
      vscode.l10n.t('"{0}" has ended already: {1}.', title, stateText(snapshot)),
    );
    return;
  }
  const stop = vscode.l10n.t('Stop Run');
  const answer = await vscode.window.showWarningMessage(
    vscode.l10n.t('Stop "{0}"?', title),
    {
      modal: true,
      detail: vscode.l10n.t(
        'The agent and everything it started are ended. What it has done so far stays; a stopped run cannot be resumed.',
      ),
    },
    stop,
  );
  if (answer !== stop) return;
  const { outcome } = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: vscode.l10n.t('Stopping…') },
    () => stopRun(services.toolbox, snapshot.directory, services.owner),
  );
  if (outcome === 'too-late')
    void vscode.window.showInformationMessage(vscode.l10n.t('"{0}" had ended before it could be stopped.', title));
  await services.runs.reload();
}

export async function copyRunId(services: Services, node: unknown): Promise<void> {
  const snapshot = await chooseRun(services, node, 'any');
  if (!snapshot) return;
  await vscode.env.clipboard.writeText(snapshot.runId);
  vscode.window.setStatusBarMessage(vscode.l10n.t('Run id copied'), 2000);
}

export async function revealRunFiles(services: Services, node: unknown): Promise<void> {
  const snapshot = await chooseRun(services, node, 'any');
  if (!snapshot) return;
  const folder = vscode.Uri.file(snapshot.directory);
  // A browser or a remote window has no file manager of the machine the run is on: then its files are offered here.
  if (vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined) {
    await vscode.commands.executeCommand(BUILT_IN.revealInOs, folder);
    return;
  }
  const files = await vscode.workspace.fs.readDirectory(folder);
  const picked = await vscode.window.showQuickPick(
    files.filter(([, type]) => type === vscode.FileType.File).map(([name]) => ({ label: name })),
    { title: snapshot.directory, placeHolder: vscode.l10n.t('Open a file of this run') },
  );
  if (picked) await vscode.window.showTextDocument(vscode.Uri.joinPath(folder, picked.label), { preview: true });
}

/** Commands that look at one run. */
import * as vscode from 'vscode';
import { childLayout } from '../../core/projects/index.ts';
import { childRunId } from '../../core/runs/index.ts';
import { BUILT_IN } from '../command-ids.ts';
import type { Services } from '../services.ts';
import { namedChild } from './choose-child.ts';
import { chooseRun } from './choose-run.ts';

const anyRun = (services: Services, node: unknown) =>
  chooseRun(services, node, () => true, vscode.l10n.t('There are no runs here yet.'));

export async function copyRunId(services: Services, node: unknown): Promise<void> {
  const snapshot = await anyRun(services, node);
  if (!snapshot) return;
  const child = namedChild(services, snapshot, node);
  await vscode.env.clipboard.writeText(child ? childRunId(snapshot.runId, child.child) : snapshot.runId);
  vscode.window.setStatusBarMessage(vscode.l10n.t('Run id copied'), 2000);
}

export async function revealRunFiles(services: Services, node: unknown): Promise<void> {
  const snapshot = await anyRun(services, node);
  if (!snapshot) return;
  const child = namedChild(services, snapshot, node);
  const { directory } = child ? childLayout(snapshot.directory, child.child) : snapshot;
  const folder = vscode.Uri.file(directory);
  // A browser or a remote window has no file manager of the machine the run is on: then its files are offered here.
  if (vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined) {
    await vscode.commands.executeCommand(BUILT_IN.revealInOs, folder);
    return;
  }
  const files = await vscode.workspace.fs.readDirectory(folder);
  const picked = await vscode.window.showQuickPick(
    files.filter(([, type]) => type === vscode.FileType.File).map(([name]) => ({ label: name })),
    { title: directory, placeHolder: vscode.l10n.t('Open a file of this run') },
  );
  if (picked) await vscode.window.showTextDocument(vscode.Uri.joinPath(folder, picked.label), { preview: true });
}

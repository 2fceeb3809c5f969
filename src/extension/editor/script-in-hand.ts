/** The workflow script that a command is meant for. */
import * as vscode from 'vscode';
import { isWorkflow } from './workflow-files.ts';

/** The one that was clicked, else the one in the active editor. `undefined`: it is none, and the person has been told so. */
export async function scriptInHand(clicked: unknown): Promise<vscode.TextDocument | undefined> {
  const document =
    clicked instanceof vscode.Uri
      ? await vscode.workspace.openTextDocument(clicked)
      : vscode.window.activeTextEditor?.document;
  if (document && isWorkflow(document)) return document;
  const message = vscode.l10n.t(
    'This is no workflow script. Scripts are called *.workflow.js, or stand in .pi/workflows or a folder of the setting piLanes.workflows.folders.',
  );
  void vscode.window.showInformationMessage(message);
  return undefined;
}

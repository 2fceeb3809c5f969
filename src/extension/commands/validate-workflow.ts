import * as vscode from 'vscode';
import { BUILT_IN } from '../command-ids.ts';
import { isWorkflow } from '../editor/workflow-files.ts';
import type { Services } from '../services.ts';

/** Checks the script that is shown, or the one whose lens was clicked, and shows the problems or says that there are none. */
export async function validateWorkflow({ workflows }: Services, clicked: unknown): Promise<void> {
  const document =
    clicked instanceof vscode.Uri
      ? await vscode.workspace.openTextDocument(clicked)
      : vscode.window.activeTextEditor?.document;
  if (!document || !isWorkflow(document)) {
    const message = vscode.l10n.t(
      'This is no workflow script. Scripts are called *.workflow.js, or stand in .pi/workflows or a folder of the setting piLanes.workflows.folders.',
    );
    void vscode.window.showInformationMessage(message);
    return;
  }
  const findings = await workflows.check(document);
  if (findings.length > 0) await vscode.commands.executeCommand(BUILT_IN.showProblems);
  else void vscode.window.showInformationMessage(vscode.l10n.t('No problems were found in this script.'));
}

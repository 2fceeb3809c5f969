import * as vscode from 'vscode';
import { BUILT_IN } from '../command-ids.ts';
import { scriptInHand } from '../editor/script-in-hand.ts';
import type { Services } from '../services.ts';
import { libraryScript } from '../trees/library/library-node.ts';

/** Checks the script that is shown, or the one whose lens was clicked, and shows the problems or says that there are none. */
export async function validateWorkflow({ workflows }: Services, clicked: unknown): Promise<void> {
  const document = await scriptInHand(libraryScript(clicked) ?? clicked);
  if (!document) return;
  const findings = await workflows.check(document);
  if (findings.length > 0) await vscode.commands.executeCommand(BUILT_IN.showProblems);
  else void vscode.window.showInformationMessage(vscode.l10n.t('No problems were found in this script.'));
}

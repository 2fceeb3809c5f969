import * as vscode from 'vscode';
import { chooseFolder } from '../launch/choose-folder.ts';
import type { Services } from '../services.ts';
import { libraryNode } from '../trees/library/library-node.ts';

/** Of the row that was clicked, else of the only folder, else the one that is chosen. */
export async function libraryFolder(
  { state }: Services,
  clicked: unknown,
  title: string,
): Promise<vscode.WorkspaceFolder | undefined> {
  const question = { title, placeHolder: vscode.l10n.t('For which folder is it?') };
  return libraryNode(clicked)?.folder ?? (await chooseFolder(state, undefined, question));
}

import * as vscode from 'vscode';
import { chooseFolder } from '../launch/choose-folder.ts';
import type { Services } from '../services.ts';
import { type LibraryNode, libraryNode } from '../trees/library/library-node.ts';

type AgentNode = Extract<LibraryNode, { kind: 'agent' }>;

/** Of the row that was clicked, else of the only folder, else the one that is chosen. */
export async function libraryFolder(
  { state }: Services,
  clicked: unknown,
  title: string,
): Promise<vscode.WorkspaceFolder | undefined> {
  const question = { title, placeHolder: vscode.l10n.t('For which folder is it?') };
  return libraryNode(clicked)?.folder ?? (await chooseFolder(state, undefined, question));
}

/** The agent an action is meant for: of the row it came from, else of the selected row. None: the person is told. */
export function clickedAgent({ library }: Services, clicked: unknown): AgentNode | undefined {
  const node = libraryNode(clicked) ?? library.view.selection[0];
  if (node?.kind === 'agent') return node;
  // The view hands over no row while it is being drawn anew.
  void vscode.window.showInformationMessage(vscode.l10n.t('Choose an agent in the Library, then try again.'));
  return undefined;
}

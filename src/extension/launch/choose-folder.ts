import * as vscode from 'vscode';
import { LanesError } from '../../protocol/index.ts';

const LAST_FOLDER = 'launch.folder';

/** Folders agents can work in: those on a disk. */
function workFolders(): vscode.WorkspaceFolder[] {
  return (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === 'file');
}

export function folderOf(uri: vscode.Uri | undefined): vscode.WorkspaceFolder | undefined {
  const folder = uri && vscode.workspace.getWorkspaceFolder(uri);
  return folder && workFolders().includes(folder) ? folder : undefined;
}

/**
 * The folder of `about`, else of the file in hand; the only folder; else a pick, last choice first.
 *
 * @param question what the pick asks; absent: where an agent should work
 */
export async function chooseFolder(
  state: vscode.Memento,
  about?: vscode.Uri,
  question?: { title: string; placeHolder: string },
): Promise<vscode.WorkspaceFolder | undefined> {
  const folders = workFolders();
  if (folders.length === 0) {
    throw new LanesError({
      code: 'launch_invalid',
      message: vscode.l10n.t('There is no folder for the agent to work in.'),
      hint: vscode.l10n.t('Open a folder first.'),
    });
  }
  const context = folderOf(about) ?? folderOf(vscode.window.activeTextEditor?.document.uri);
  if (context) return context;
  if (folders.length === 1) return folders[0];
  const last = state.get<string>(LAST_FOLDER);
  const ordered = [...folders].sort((a, b) => Number(b.uri.toString() === last) - Number(a.uri.toString() === last));
  const picked = await vscode.window.showQuickPick(
    ordered.map((folder) => ({ label: folder.name, description: folder.uri.fsPath, folder })),
    {
      title: question?.title ?? vscode.l10n.t('Launch Agent'),
      placeHolder: question?.placeHolder ?? vscode.l10n.t('In which folder should the agent work?'),
      ignoreFocusOut: true,
    },
  );
  if (picked) await state.update(LAST_FOLDER, picked.folder.uri.toString());
  return picked?.folder;
}

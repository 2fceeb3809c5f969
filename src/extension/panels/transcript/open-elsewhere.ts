/** Opening what a transcript names: files and links. They are words of a child, so nothing is opened that a person does not see coming. */
import { isAbsolute, resolve } from 'node:path';
import * as vscode from 'vscode';
import { visible } from '../../../core/transcripts/index.ts';
import { cutText, type LanesError, lanesError } from '../../../protocol/index.ts';
import { plain } from '../../messages.ts';

/**
 * Opens a file at a line. Outside the folders of a trusted workspace the person is asked first.
 * @param cwd folder that relative paths are relative to; null: not known
 * @param line from 1
 */
export async function openFileAt(cwd: string | null, path: string, line: number | null): Promise<void> {
  // Even to look at a path of another machine would log in there.
  if (path.includes('\0') || /^(?:\\\\|\/\/)/.test(path)) throw notFound(path);
  if (!isAbsolute(path) && cwd === null) {
    throw lanesError('file_not_found:relative', { path: plain(visible(path)) });
  }
  const uri = vscode.Uri.file(isAbsolute(path) ? path : resolve(cwd ?? '', path));
  let type: vscode.FileType;
  try {
    ({ type } = await vscode.workspace.fs.stat(uri));
  } catch {
    throw notFound(uri.fsPath);
  }
  if (type & vscode.FileType.Directory || !(type & vscode.FileType.File)) throw notFound(uri.fsPath);
  const isTrusted = vscode.workspace.isTrusted && vscode.workspace.getWorkspaceFolder(uri) !== undefined;
  if (!isTrusted) {
    const open = vscode.l10n.t('Open');
    const question = vscode.l10n.t('Open a file outside this trusted workspace?');
    if ((await vscode.window.showWarningMessage(question, { modal: true, detail: uri.fsPath }, open)) !== open) return;
  }
  const at = new vscode.Position(Math.max(0, (line ?? 1) - 1), 0);
  const options = { preview: true, ...(line === null ? {} : { selection: new vscode.Range(at, at) }) };
  // Pictures and other binary files have editors of their own.
  await vscode.commands.executeCommand('vscode.open', uri, options);
}

function notFound(path: string): LanesError {
  return lanesError('file_not_found', { path: plain(visible(path)) });
}

/** Opens a web page outside; the editor itself asks before it does. */
export async function openLink(url: string): Promise<void> {
  let parsed: URL | undefined;
  try {
    parsed = new URL(url);
  } catch {
    // Refused below.
  }
  const isWeb = parsed?.protocol === 'https:' || parsed?.protocol === 'http:';
  if (!parsed || !isWeb || parsed.username !== '' || parsed.password !== '') {
    throw lanesError('link_refused', { address: plain(cutText(visible(url), 200)) });
  }
  await vscode.env.openExternal(vscode.Uri.parse(parsed.href, true));
}

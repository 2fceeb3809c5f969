/** What can be done with the folder of a worktree, from its row. */
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { LanesError, type WorktreeView } from '../../protocol/index.ts';
import { BUILT_IN } from '../command-ids.ts';
import type { Services } from '../services.ts';

export async function openWorktree(services: Services, node: unknown): Promise<void> {
  const { path } = await thereIs(worktreeOf(services, node));
  await vscode.commands.executeCommand(BUILT_IN.openFolder, vscode.Uri.file(path), { forceNewWindow: true });
}

/** In the folder that its agent works in. */
export async function openWorktreeTerminal(services: Services, node: unknown): Promise<void> {
  const { path, folder } = await thereIs(worktreeOf(services, node));
  const cwd = (await isFolder(folder)) ? folder : path;
  vscode.window.createTerminal({ name: basename(path), cwd: vscode.Uri.file(cwd) }).show();
}

export async function revealWorktree(services: Services, node: unknown): Promise<void> {
  const { path } = await thereIs(worktreeOf(services, node));
  await vscode.commands.executeCommand(BUILT_IN.revealInOs, vscode.Uri.file(path));
}

export async function copyWorktreePath(services: Services, node: unknown): Promise<void> {
  await vscode.env.clipboard.writeText(worktreeOf(services, node).path);
  vscode.window.setStatusBarMessage(vscode.l10n.t('Path copied'), 2000);
}

function worktreeOf({ tree }: Services, node: unknown): WorktreeView {
  const worktree = tree.worktreeOf(node);
  if (worktree) return worktree;
  throw new LanesError({
    code: 'worktree_lost',
    message: vscode.l10n.t('No worktree is selected.'),
    hint: vscode.l10n.t('Select its row below a run.'),
  });
}

async function thereIs(worktree: WorktreeView): Promise<WorktreeView> {
  if (await isFolder(worktree.path)) return worktree;
  throw new LanesError({
    code: 'worktree_lost',
    message: vscode.l10n.t('The folder of the worktree, {0}, is not there.', worktree.path),
    hint: vscode.l10n.t('What was kept of it lies among the files of its run.'),
  });
}

async function isFolder(path: string): Promise<boolean> {
  const { type } = await vscode.workspace.fs.stat(vscode.Uri.file(path)).then(
    (found) => found,
    () => ({ type: vscode.FileType.Unknown }),
  );
  return (type & vscode.FileType.Directory) !== 0;
}

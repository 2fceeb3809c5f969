/** Whose an agent or a setting is to be: the person's, or the project's. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Toolbox } from '../../client/index.ts';
import { type ChangeScope, findMarkedRoot, findProjectRoot } from '../../core/agents/index.ts';

interface ScopeWords {
  title: string;
  placeHolder: string;
  /** What each choice means. */
  user: string;
  project: string;
}

/**
 * Where definitions go. A folder that nothing marks as a project is marked when the person chooses it.
 *
 * @param wanted what the person has said already
 */
export async function chooseDefinitionScope(
  toolbox: Toolbox,
  folder: vscode.WorkspaceFolder,
  title: string,
  wanted?: ChangeScope,
): Promise<ChangeScope | undefined> {
  const cwd = folder.uri.fsPath;
  const marked = vscode.workspace.isTrusted ? await findMarkedRoot(cwd, toolbox.home) : undefined;
  const possible = vscode.workspace.isTrusted && (await findProjectRoot(cwd, toolbox.home)) !== undefined;
  if (!possible) return 'user';
  const own = join(marked?.path ?? cwd, '.pi', 'agents');
  const scope =
    wanted ??
    (await askScope({
      title,
      placeHolder: vscode.l10n.t('For whom is it?'),
      user: join(toolbox.agentDir, 'agents'),
      project: marked ? own : vscode.l10n.t('{0}, which is made for it', own),
    }));
  if (scope === 'project' && !marked) await mkdir(own, { recursive: true });
  return scope;
}

/** Whose settings say something. The user's where there is no project that has any. */
export async function chooseSettingScope(
  toolbox: Toolbox,
  folder: vscode.WorkspaceFolder,
  words: Pick<ScopeWords, 'title' | 'placeHolder'>,
): Promise<ChangeScope | undefined> {
  const root = vscode.workspace.isTrusted ? await findMarkedRoot(folder.uri.fsPath, toolbox.home) : undefined;
  if (!root) return 'user';
  return askScope({ ...words, user: join(toolbox.agentDir, 'settings.json'), project: root.settings.file });
}

export async function askScope({ title, placeHolder, user, project }: ScopeWords): Promise<ChangeScope | undefined> {
  const picked = await vscode.window.showQuickPick(
    [
      {
        label: vscode.l10n.t('This Project'),
        detail: project,
        iconPath: new vscode.ThemeIcon('repo'),
        scope: 'project' as const,
      },
      {
        label: vscode.l10n.t('All Your Projects'),
        detail: user,
        iconPath: new vscode.ThemeIcon('account'),
        scope: 'user' as const,
      },
    ],
    { title, placeHolder, ignoreFocusOut: true },
  );
  return picked?.scope;
}

/** Which documents of this window are workflow scripts, and the folders that are said to hold them. */
import * as vscode from 'vscode';
import { isWorkflowPath } from '../../core/workflow-files/index.ts';
import { workflowFolders } from '../configuration.ts';

/** What providers are registered for; each still asks `isWorkflow`, because the folders are a setting. */
export const WORKFLOW_LANGUAGES: vscode.DocumentSelector = [
  { language: 'javascript', scheme: 'file' },
  { language: 'javascript', scheme: 'vscode-remote' },
];

/** The plugin that tells the editor's JavaScript service what scripts are. */
const PLUGIN = 'pi-lanes-typescript';

interface TypeScriptExtension {
  getAPI(version: 0): { configurePlugin(plugin: string, configuration: object): void } | undefined;
}

export function isWorkflow(document: vscode.TextDocument): boolean {
  const { uri, languageId } = document;
  if (languageId !== 'javascript' || (uri.scheme !== 'file' && uri.scheme !== 'vscode-remote')) return false;
  return isWorkflowPath(uri.fsPath, absoluteFolders());
}

/** Whether a document is Markdown, which may have scripts in fences. */
export function mayHaveFences({ uri, languageId }: vscode.TextDocument): boolean {
  return languageId === 'markdown' && (uri.scheme === 'file' || uri.scheme === 'vscode-remote');
}

/** The folders of all workspace folders, absolute. */
export function absoluteFolders(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).flatMap(({ uri }) =>
    workflowFolders(uri).map((folder) => vscode.Uri.joinPath(uri, folder).fsPath),
  );
}

/** Calls `changed` whenever other files may be scripts than before. */
export function watchWorkflowFolders(changed: () => void): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('piLanes.workflows.folders')) changed();
    }),
    vscode.workspace.onDidChangeWorkspaceFolders(changed),
  );
}

/** Tells the JavaScript service which folders hold scripts. It is started for this, as it is for any JavaScript that is opened. */
export async function tellJavaScriptService(): Promise<void> {
  const extension = vscode.extensions.getExtension<TypeScriptExtension>('vscode.typescript-language-features');
  // A person may have switched the service off; scripts are checked all the same.
  const service = await extension?.activate().then(undefined, () => undefined);
  service?.getAPI(0)?.configurePlugin(PLUGIN, { folders: absoluteFolders() });
}

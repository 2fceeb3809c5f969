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

/** The folders of all workspace folders, absolute. */
function absoluteFolders(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).flatMap(({ uri }) =>
    workflowFolders(uri).map((folder) => vscode.Uri.joinPath(uri, folder).fsPath),
  );
}

/** Tells the JavaScript service of the folders, now and whenever they change; `changed` is called with every change. */
export function watchWorkflowFolders(changed: () => void): vscode.Disposable {
  void tellService();
  const react = () => {
    void tellService();
    changed();
  };
  return vscode.Disposable.from(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('piLanes.workflows.folders')) react();
    }),
    vscode.workspace.onDidChangeWorkspaceFolders(react),
  );
}

async function tellService(): Promise<void> {
  const extension = vscode.extensions.getExtension<TypeScriptExtension>('vscode.typescript-language-features');
  // A person may have switched the service off; scripts are checked all the same.
  const service = await extension?.activate().then(undefined, () => undefined);
  service?.getAPI(0)?.configurePlugin(PLUGIN, { folders: absoluteFolders() });
}

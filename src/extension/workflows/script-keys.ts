/** Tells menus which files are workflow scripts, by context keys: open ones by their path, all others by their folder. */
import * as vscode from 'vscode';
import { BUILT_IN, CONTEXT } from '../command-ids.ts';
import { absoluteFolders, isWorkflow, watchWorkflowFolders } from '../editor/workflow-files.ts';

export class ScriptKeys implements vscode.Disposable {
  readonly #subscriptions: vscode.Disposable;
  readonly #told = new Map<string, string>();

  constructor() {
    const tell = () => this.#tell();
    this.#subscriptions = vscode.Disposable.from(
      vscode.workspace.onDidOpenTextDocument(tell),
      vscode.workspace.onDidCloseTextDocument(tell),
      watchWorkflowFolders(tell),
    );
    tell();
  }

  #tell(): void {
    const open = vscode.workspace.textDocuments.filter((document) => !document.isClosed && isWorkflow(document));
    this.#set(
      CONTEXT.workflowScripts,
      open.map(({ uri }) => uri.fsPath),
    );
    this.#set(
      CONTEXT.workflowFolders,
      absoluteFolders().map((folder) => folder.replace(/[\\/]+$/, '')),
    );
  }

  #set(key: string, paths: readonly string[]): void {
    const text = JSON.stringify(paths);
    if (this.#told.get(key) === text) return;
    this.#told.set(key, text);
    void vscode.commands.executeCommand(BUILT_IN.setContext, key, paths);
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }
}

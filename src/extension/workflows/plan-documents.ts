/** Plans of launches as read-only documents, kept for as long as they are open. */
import * as vscode from 'vscode';
import { PLAN_SCHEME } from '../command-ids.ts';
import { documentName } from './document-name.ts';

export class PlanDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  readonly #subscriptions: vscode.Disposable;

  constructor() {
    this.#subscriptions = vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(PLAN_SCHEME, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        if (uri.scheme === PLAN_SCHEME) this.#texts.delete(uri.toString());
      }),
    );
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return (
      this.#texts.get(uri.toString()) ?? vscode.l10n.t('This plan was not kept. Begin the launch again to see it.')
    );
  }

  /** Shows a plan beside what has the focus. `runId`: of the run it is the plan of. */
  async show(name: string, runId: string, text: string): Promise<void> {
    const path = `/${documentName(vscode.l10n.t('Plan of {0}', name))}.md`;
    const uri = vscode.Uri.from({ scheme: PLAN_SCHEME, path, query: runId });
    this.#texts.set(uri.toString(), text);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { preview: true, preserveFocus: true });
  }

  dispose(): void {
    this.#texts.clear();
    this.#subscriptions.dispose();
  }
}

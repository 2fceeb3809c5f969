/** The definitions of agents that come with the product, as read-only documents: they have no file. */
import * as vscode from 'vscode';
import { bundledText } from '../../core/agents/index.ts';
import { AGENT_SCHEME } from '../command-ids.ts';

export class AgentDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #registration = vscode.workspace.registerTextDocumentContentProvider(AGENT_SCHEME, this);

  /** @param name of a builtin agent */
  uriOf(name: string): vscode.Uri {
    return vscode.Uri.from({ scheme: AGENT_SCHEME, path: `/${name}.md` });
  }

  provideTextDocumentContent({ path }: vscode.Uri): string {
    const name = path.slice(1).replace(/\.md$/, '');
    return bundledText(name) ?? vscode.l10n.t('No built-in agent has the name "{0}".', name);
  }

  dispose(): void {
    this.#registration.dispose();
  }
}

/** Long bodies of transcripts as read-only documents, kept for as long as they are open. */
import * as vscode from 'vscode';
import { visible } from '../../../core/transcripts/index.ts';
import { cutText } from '../../../protocol/index.ts';
import { BODY_SCHEME } from '../../command-ids.ts';

/** The editor holds a document as one string. */
export const MAX_BODY_DOCUMENT_CHARS = 16 * 1024 * 1024;

export class BodyDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  readonly #subscription: vscode.Disposable;
  #count = 0;

  constructor() {
    this.#subscription = vscode.workspace.onDidCloseTextDocument(({ uri }) => {
      if (uri.scheme === BODY_SCHEME) this.#texts.delete(uri.toString());
    });
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return (
      this.#texts.get(uri.toString()) ?? vscode.l10n.t('This text was not kept. Open it from its transcript again.')
    );
  }

  async show(title: string, text: string): Promise<void> {
    const name =
      cutText(
        title
          .replace(/[^\p{L}\p{N} ._-]+/gu, ' ')
          .replace(/\s+/g, ' ')
          .trim(),
        60,
      ) || 'text';
    const uri = vscode.Uri.from({ scheme: BODY_SCHEME, path: `/${name}`, query: String(++this.#count) });
    this.#texts.set(uri.toString(), visible(text));
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { preview: true });
  }

  dispose(): void {
    this.#texts.clear();
    this.#subscription.dispose();
  }
}

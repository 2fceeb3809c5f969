/** All transcript panels of this window: one for each subject, restored after a reload. */
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { type FindHit, LanesError, lanesError, type SourceFile, TRANSCRIPT_WORDS } from '../../../protocol/index.ts';
import { BODY_SCHEME, TRANSCRIPT_VIEW } from '../../command-ids.ts';
import type { Services } from '../../services.ts';
import { BodyDocuments } from './body-documents.ts';
import { pageHtml } from './page-html.ts';
import { isAllowed, restoredSubject, type Subject, subjectKey } from './subject.ts';
import { type ShownHit, TranscriptPanel } from './transcript-panel.ts';
import { TranscriptReaders } from './transcript-reader.ts';

export class TranscriptPanels implements vscode.WebviewPanelSerializer, vscode.Disposable {
  readonly #services: () => Services;
  readonly #extensionUri: vscode.Uri;
  readonly #readers: TranscriptReaders;
  readonly #bodies = new BodyDocuments();
  readonly #panels = new Map<string, TranscriptPanel>();
  readonly #subscriptions: vscode.Disposable;

  /** @param services asked when a panel is opened: panels are among the services themselves */
  constructor(extensionUri: vscode.Uri, services: () => Services, log: vscode.LogOutputChannel) {
    this.#extensionUri = extensionUri;
    this.#services = services;
    const script = vscode.Uri.joinPath(extensionUri, 'dist', 'transcript-worker.mjs').fsPath;
    const words = { model: vscode.l10n.t('Model: {0}', '{0}'), name: vscode.l10n.t('Session name: {0}', '{0}') };
    this.#readers = new TranscriptReaders(script, { words }, (text) => log.error(text));
    this.#subscriptions = vscode.Disposable.from(
      this.#bodies,
      vscode.workspace.registerTextDocumentContentProvider(BODY_SCHEME, this.#bodies),
      vscode.window.registerWebviewPanelSerializer(TRANSCRIPT_VIEW, this),
    );
  }

  /** Shows a transcript: the panel that has it already, or a new one. With a hit: its place, in the find box. */
  show(subject: Subject, hit?: ShownHit): void {
    if (!isAllowed(this.#services().toolbox.root.projects, subject)) throw notOurs();
    const known = this.#panels.get(subjectKey(subject));
    if (known) {
      known.reveal();
      if (hit) known.showHit(hit);
      return;
    }
    const panel = vscode.window.createWebviewPanel(TRANSCRIPT_VIEW, '', vscode.ViewColumn.Active, {});
    const shown = this.#take(panel, subject);
    if (hit) shown.showHit(hit);
  }

  /** The panel that has the focus. */
  active(): TranscriptPanel | undefined {
    return [...this.#panels.values()].find((panel) => panel.isActive);
  }

  /**
   * Writes a whole transcript into a file as Markdown. Rejects with what cannot be read or written; cancelled, it leaves no
   * file behind.
   */
  export(files: SourceFile[], title: string, path: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const context = { live: false, steering: [] };
      const reader = this.#readers.open({ files, wanted: null, context, quiet: true }, (message) => {
        if (message.type === 'failed') reject(new LanesError(message.error));
        else if (message.type === 'exported') resolve();
        else return;
        reader.close();
      });
      signal.addEventListener('abort', () => {
        reader.send({ type: 'cancel', request: 1 });
        reader.close();
        resolve();
      });
      reader.send({ type: 'export', request: 1, path, title });
    });
  }

  /**
   * The first places at which a text stands in a transcript, upper and lower case being the same. Rejects with what cannot
   * be read, and with the signal's reason.
   * @param limit hits at most
   */
  search(files: SourceFile[], query: string, limit: number, signal: AbortSignal): Promise<FindHit[]> {
    return new Promise((resolve, reject) => {
      const hits: FindHit[] = [];
      const context = { live: false, steering: [] };
      const reader = this.#readers.open({ files, wanted: null, context, quiet: true }, (message) => {
        if (message.type === 'failed') end(() => reject(new LanesError(message.error)));
        if (message.type !== 'found') return;
        hits.push(...message.hits);
        if (message.done || hits.length >= limit) end(() => resolve(hits.slice(0, limit)));
      });
      const onAbort = () => end(() => reject(signal.reason));
      const end = (tell: () => void) => {
        signal.removeEventListener('abort', onAbort);
        reader.close();
        tell();
      };
      signal.addEventListener('abort', onAbort, { once: true });
      reader.send({ type: 'find', request: 1, query, matchCase: false });
    });
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const subject = restoredSubject(this.#services().toolbox.root.projects, state);
    // What is not ours to read leaves no empty tab behind; neither does the second tab of one transcript.
    if (!subject || this.#panels.has(subjectKey(subject))) {
      panel.dispose();
      return;
    }
    this.#take(panel, subject);
  }

  #take(panel: vscode.WebviewPanel, subject: Subject): TranscriptPanel {
    const folder = vscode.Uri.joinPath(this.#extensionUri, 'dist', 'webview');
    panel.webview.options = { enableScripts: true, localResourceRoots: [folder], enableCommandUris: false };
    const key = subjectKey(subject);
    const shown = new TranscriptPanel(
      panel,
      subject,
      {
        services: this.#services(),
        readers: this.#readers,
        bodies: this.#bodies,
        extensionUri: this.#extensionUri,
      },
      () => this.#panels.delete(key),
    );
    this.#panels.set(key, shown);
    const address = (name: string) => panel.webview.asWebviewUri(vscode.Uri.joinPath(folder, name)).toString();
    panel.webview.html = pageHtml({
      cspSource: panel.webview.cspSource,
      nonce: randomBytes(16).toString('hex'),
      script: address('transcript.js'),
      style: address('transcript.css'),
      language: vscode.env.language,
      title: panel.title,
      subject,
      words: translated(TRANSCRIPT_WORDS),
    });
    return shown;
  }

  dispose(): void {
    this.#subscriptions.dispose();
    for (const panel of this.#panels.values()) panel.release();
    this.#panels.clear();
    this.#readers.dispose();
  }
}

/** The texts are collected where they are written down; here they are only looked up. */
function translated(words: Readonly<Record<string, string>>): Record<string, string> {
  const { t } = vscode.l10n;
  return Object.fromEntries(Object.entries(words).map(([key, text]) => [key, t(text)]));
}

function notOurs(): LanesError {
  return lanesError('transcript_unreadable:not-ours');
}

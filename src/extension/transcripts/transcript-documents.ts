/** Transcripts as read-only documents that grow while their run lives. */
import { type FSWatcher, watch } from 'node:fs';
import { relative, sep } from 'node:path';
import * as vscode from 'vscode';
import { readSnapshot, TranscriptFollower } from '../../client/index.ts';
import { childLayout } from '../../core/projects/index.ts';
import { isTerminal, RUN_ID } from '../../protocol/index.ts';
import { TRANSCRIPT_SCHEME } from '../command-ids.ts';

const GATHER_MS = 100;
const POLL_MS = 1000;
/** The editor shows a document as one string: of a longer one only the end is shown. */
const MAX_CHARS = 2 * 1024 * 1024;

interface Followed {
  follower: TranscriptFollower;
  stop: () => void;
}

export class TranscriptDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #projectsRoot: string;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #followed = new Map<string, Followed>();
  readonly #subscriptions: vscode.Disposable;
  /** Editors that showed the end of their document before it grew: they are shown the new end. */
  readonly #atEnd = new Set<vscode.TextEditor>();
  readonly onDidChange = this.#changed.event;

  /** @param projectsRoot the only folder below which runs are read */
  constructor(projectsRoot: string) {
    this.#projectsRoot = projectsRoot;
    this.#subscriptions = vscode.Disposable.from(
      vscode.workspace.onDidCloseTextDocument((document) => this.#forget(document.uri)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.#showEnd(document)),
    );
  }

  static uriFor(run: { directory: string; agent: string; title: string; runId: string }): vscode.Uri {
    const name = `${run.agent} ${run.title}`
      .replace(/[^\p{L}\p{N} ._-]+/gu, ' ')
      .replace(/\s+/g, ' ')
      .trim();
    const path = `/${name.slice(0, 40).trim()} ${run.runId.slice(-6)}.pi-transcript`;
    return vscode.Uri.from({ scheme: TRANSCRIPT_SCHEME, path, query: run.directory });
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const directory = this.#checkedDirectory(uri);
    if (!directory) return vscode.l10n.t('This is not a run of Pi Lanes.');
    const followed = await this.#follow(uri, directory);
    await followed.follower.refresh();
    const text = followed.follower.toString();
    const snapshot = await readSnapshot(directory.split(sep).at(-1) ?? '', directory);
    const tail = isTerminal(snapshot.state) || snapshot.state === 'lost' ? `\n── ${snapshot.state}\n` : '';
    const why = tail !== '' && snapshot.error ? `${snapshot.error.message}\n${snapshot.error.hint ?? ''}\n` : '';
    const body = text === '' && tail === '' ? vscode.l10n.t('Waiting for the agent…') : `${text}${tail}${why}`;
    if (body.length <= MAX_CHARS) return body;
    return `${vscode.l10n.t('The beginning is not shown here; it is in {0}', childLayout(directory, 1).transcript)}\n\n${body.slice(-MAX_CHARS)}`;
  }

  /** Only run folders of our own store are read, whoever opens the document. */
  #checkedDirectory(uri: vscode.Uri): string | undefined {
    const parts = relative(this.#projectsRoot, uri.query).split(sep);
    const [project, runs, runId] = parts;
    const ok = parts.length === 3 && project && project !== '..' && runs === 'runs' && runId && RUN_ID.test(runId);
    return ok ? uri.query : undefined;
  }

  async #follow(uri: vscode.Uri, directory: string): Promise<Followed> {
    const known = this.#followed.get(uri.toString());
    if (known) return known;
    const follower = new TranscriptFollower(directory, 1);
    let watcher: FSWatcher | undefined;
    let timer: NodeJS.Timeout | undefined;
    let last = '';
    const look = async () => {
      timer = undefined;
      const grew = await follower.refresh().catch(() => false);
      const { state } = await readSnapshot(directory.split(sep).at(-1) ?? '', directory);
      if (grew || state !== last) {
        this.#noteFollowers(uri);
        this.#changed.fire(uri);
      }
      last = state;
      if (isTerminal(state)) stop();
    };
    const soon = () => {
      timer ??= setTimeout(() => void look(), GATHER_MS);
    };
    const startWatching = () => {
      try {
        watcher ??= watch(childLayout(directory, 1).directory, { persistent: false }, soon);
        watcher.on('error', () => watcher?.close());
      } catch {
        // The child's folder is not there yet; the poll looks again.
      }
    };
    const poll = setInterval(() => {
      startWatching();
      soon();
    }, POLL_MS);
    const stop = () => {
      clearInterval(poll);
      clearTimeout(timer);
      watcher?.close();
    };
    startWatching();
    const followed = { follower, stop };
    this.#followed.set(uri.toString(), followed);
    return followed;
  }

  #noteFollowers(uri: vscode.Uri): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const { document, visibleRanges } = editor;
      if (document.uri.toString() !== uri.toString()) continue;
      const last = visibleRanges.at(-1)?.end.line ?? 0;
      if (last >= document.lineCount - 2) this.#atEnd.add(editor);
    }
  }

  #showEnd(document: vscode.TextDocument): void {
    for (const editor of this.#atEnd) {
      if (editor.document !== document) continue;
      this.#atEnd.delete(editor);
      const end = document.lineAt(document.lineCount - 1).range;
      editor.revealRange(end, vscode.TextEditorRevealType.Default);
    }
  }

  #forget(uri: vscode.Uri): void {
    this.#followed.get(uri.toString())?.stop();
    this.#followed.delete(uri.toString());
  }

  dispose(): void {
    for (const { stop } of this.#followed.values()) stop();
    this.#followed.clear();
    this.#subscriptions.dispose();
    this.#changed.dispose();
  }
}

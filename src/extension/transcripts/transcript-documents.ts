/** Transcripts as read-only documents that grow while their run lives. */
import { sep } from 'node:path';
import * as vscode from 'vscode';
import type { RunSnapshot } from '../../client/index.ts';
import { childLayout } from '../../core/projects/index.ts';
import { cutTextFront, isTerminal } from '../../protocol/index.ts';
import { TRANSCRIPT_SCHEME } from '../command-ids.ts';
import { errorWords } from '../error-words.ts';
import { isRunFolder } from '../panels/transcript/subject.ts';
import { childState, findChild, isWorkflow } from '../runs/child-state.ts';
import { stateWord } from '../trees/runs/run-words.ts';
import { LiveTranscript } from './live-transcript.ts';

/** The editor shows a document as one string: of a longer one only the end is shown. */
const MAX_CHARS = 2 * 1024 * 1024;

/** `undefined` for documents of any other kind. */
export function runIdOfTranscript(uri: vscode.Uri): string | undefined {
  return uri.scheme === TRANSCRIPT_SCHEME ? uri.query.split(sep).at(-1) : undefined;
}

/** Documents of older windows name no child: theirs is the only one. */
function childOfUri({ fragment }: vscode.Uri): number {
  return /^[1-9]\d{0,5}$/.test(fragment) ? Number(fragment) : 1;
}

/** How the child stands: of a single run as the run does. */
function ownEnd(snapshot: RunSnapshot, index: number): Pick<RunSnapshot, 'state' | 'error'> {
  const child = isWorkflow(snapshot) ? findChild(snapshot, index) : undefined;
  return child ? { state: childState(child, snapshot), error: child.error } : snapshot;
}

export class TranscriptDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #projectsRoot: string;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #followed = new Map<string, LiveTranscript>();
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

  static uriFor(run: { directory: string; child: number; agent: string; title: string; runId: string }): vscode.Uri {
    const name = `${run.agent} ${run.title}`
      .replace(/[^\p{L}\p{N} ._-]+/gu, ' ')
      .replace(/\s+/g, ' ')
      .trim();
    // Cut between words; the end of the id keeps two runs of one task apart.
    const letters = [...name];
    const short =
      letters.length > 40
        ? `${letters
            .slice(0, 40)
            .join('')
            .replace(/ [^ ]*$/, '')}…`
        : name;
    const path = `/${short} ${run.runId.slice(-6)}.pi-transcript`;
    return vscode.Uri.from({ scheme: TRANSCRIPT_SCHEME, path, query: run.directory, fragment: String(run.child) });
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const notOurs = vscode.l10n.t('This is not a run of Pi Lanes.');
    const directory = this.#checkedDirectory(uri);
    if (!directory) return notOurs;
    const index = childOfUri(uri);
    const { text, snapshot } = await this.#follow(uri, directory, index).read();
    if (snapshot.error?.code === 'run_not_found') return notOurs;
    const { state, error } = ownEnd(snapshot, index);
    const over = isTerminal(state) || state === 'lost' || state === 'unknown';
    // A model's error stands in the transcript already.
    const told = error?.code === 'child_model_error' && text.includes('\nerror: ');
    const words = over && error && !told ? errorWords(error) : undefined;
    const why = words ? `${words.message}\n${words.hint ?? ''}\n` : '';
    const end = over ? `\n── ${stateWord(state)}\n${why}` : '';
    const body = text === '' && end === '' ? vscode.l10n.t('Waiting for the agent…') : `${text}${end}`;
    if (body.length <= MAX_CHARS) return body;
    return `${vscode.l10n.t('The beginning is not shown here; it is in {0}', childLayout(directory, index).transcript)}\n\n${cutTextFront(body, MAX_CHARS)}`;
  }

  /** Only run folders of our own store are read, whoever opens the document. */
  #checkedDirectory({ query }: vscode.Uri): string | undefined {
    return isRunFolder(this.#projectsRoot, query) ? query : undefined;
  }

  #follow(uri: vscode.Uri, directory: string, child: number): LiveTranscript {
    const key = uri.toString();
    const known = this.#followed.get(key);
    if (known) return known;
    const live = new LiveTranscript(directory, child, () => {
      this.#noteFollowers(uri);
      this.#changed.fire(uri);
    });
    this.#followed.set(key, live);
    return live;
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
    this.#followed.get(uri.toString())?.dispose();
    this.#followed.delete(uri.toString());
  }

  dispose(): void {
    for (const live of this.#followed.values()) live.dispose();
    this.#followed.clear();
    this.#subscriptions.dispose();
    this.#changed.dispose();
  }
}

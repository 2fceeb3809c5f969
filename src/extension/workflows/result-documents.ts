/** What runs came to, as read-only documents that are made from the files of the run whenever they are opened. */
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { type RunSnapshot, readResult, readSnapshot, readWorkflowReport } from '../../client/index.ts';
import { RESULT_SCHEME } from '../command-ids.ts';
import { isRunFolder } from '../panels/transcript/subject.ts';
import { runTitle } from '../trees/runs/run-words.ts';
import { answerDocument } from './answer-document.ts';
import { documentName } from './document-name.ts';
import { resultDocument } from './result-document.ts';

export class ResultDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #projectsRoot: string;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #registration: vscode.Disposable;
  readonly onDidChange = this.#changed.event;

  /** @param projectsRoot the only folder below which runs are read */
  constructor(projectsRoot: string) {
    this.#projectsRoot = projectsRoot;
    this.#registration = vscode.workspace.registerTextDocumentContentProvider(RESULT_SCHEME, this);
  }

  async show(snapshot: RunSnapshot): Promise<void> {
    const { directory, runId } = snapshot;
    // The end of the id keeps two runs of one workflow apart.
    const path = `/${documentName(runTitle(snapshot))} ${runId.slice(-6)}.md`;
    const uri = vscode.Uri.from({ scheme: RESULT_SCHEME, path, query: directory });
    // One that is open may be of an earlier end: a workflow can be continued.
    this.#changed.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { preview: true });
  }

  /** Only run folders of our own store are read, whoever opens the document. */
  async provideTextDocumentContent({ query: directory }: vscode.Uri): Promise<string> {
    const notOurs = vscode.l10n.t('This is not a run of Pi Lanes.');
    if (!isRunFolder(this.#projectsRoot, directory)) return notOurs;
    const snapshot = await readSnapshot(basename(directory), directory);
    if (snapshot.error?.code === 'run_not_found') return notOurs;
    return snapshot.view?.mode === 'single'
      ? answerDocument(snapshot, await readResult(directory, 1))
      : resultDocument(snapshot, await readWorkflowReport(directory));
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}

/**
 * A task written in an editor: a file of ours outside the project that saves itself, so that the window can be reloaded
 * at any time. Its lenses say what will be launched, and launch it.
 */
import * as vscode from 'vscode';
import { COMMANDS, TASK_LANGUAGE } from '../command-ids.ts';
import type { DraftStore } from './draft.ts';
import { modelWords } from './model-words.ts';
import { type Workplaces, workplaceWords } from './workplaces.ts';

const FILE = 'Task.pi-task';
const SAVE_MS = 300;

export class TaskDocument implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #drafts: DraftStore;
  readonly #workplaces: Workplaces;
  readonly #uri: vscode.Uri | undefined;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #subscriptions: vscode.Disposable;
  #timer: NodeJS.Timeout | undefined;
  readonly onDidChangeCodeLenses = this.#changed.event;

  /** @param storage the folder of this workspace; absent in a window without one, where nothing is launched */
  constructor(drafts: DraftStore, workplaces: Workplaces, storage: vscode.Uri | undefined) {
    this.#drafts = drafts;
    this.#workplaces = workplaces;
    this.#uri = storage && vscode.Uri.joinPath(storage, FILE);
    this.#subscriptions = vscode.Disposable.from(
      this.#changed,
      drafts.onDidChange(() => this.#changed.fire()),
      workplaces.onDidChange(() => this.#changed.fire()),
      vscode.languages.registerCodeLensProvider({ language: TASK_LANGUAGE }, this),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (this.#is(document) && document.isDirty) this.#keepSoon(document);
      }),
    );
  }

  #is(document: vscode.TextDocument): boolean {
    return document.uri.toString() === this.#uri?.toString();
  }

  #keepSoon(document: vscode.TextDocument): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      void this.#drafts.save({ task: document.getText() });
      void document.save();
    }, SAVE_MS);
  }

  /** Shows the task of the draft in an editor. */
  async open(): Promise<void> {
    if (!this.#uri) return;
    const { task } = this.#drafts.value;
    const open = vscode.workspace.textDocuments.find((document) => this.#is(document) && !document.isClosed);
    if (!open) {
      await vscode.workspace.fs.createDirectory(vscode.Uri.joinPath(this.#uri, '..'));
      await vscode.workspace.fs.writeFile(this.#uri, new TextEncoder().encode(task));
    }
    const document = open ?? (await vscode.workspace.openTextDocument(this.#uri));
    if (document.getText() !== task) {
      const edit = new vscode.WorkspaceEdit();
      edit.replace(document.uri, wholeOf(document), task);
      await vscode.workspace.applyEdit(edit);
      await document.save();
    }
    const end = document.lineAt(document.lineCount - 1).range.end;
    // Set as it opens: somebody who types at once must not have the cursor moved.
    await vscode.window.showTextDocument(document, { preview: false, selection: new vscode.Range(end, end) });
  }

  /** What stands in the editor now; `undefined` when it is not open. */
  text(): string | undefined {
    return vscode.workspace.textDocuments.find((document) => this.#is(document))?.getText();
  }

  /** Closes the editor and removes the file. */
  async discard(): Promise<void> {
    clearTimeout(this.#timer);
    if (!this.#uri) return;
    const open = vscode.workspace.textDocuments.find((document) => this.#is(document));
    // A dirty editor would ask whether to save what is thrown away.
    if (open?.isDirty) await open.save();
    const uri = this.#uri.toString();
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const own = tabs.filter(({ input }) => input instanceof vscode.TabInputText && input.uri.toString() === uri);
    await vscode.window.tabGroups.close(own);
    await vscode.workspace.fs.delete(this.#uri).then(undefined, () => undefined);
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    if (!this.#is(document)) return [];
    const draft = this.#drafts.value;
    const agent = draft.agent ?? '';
    const top = new vscode.Range(0, 0, 0, 0);
    const lens = (title: string, command: string) => new vscode.CodeLens(top, { title, command });
    const launch = draft.attached
      ? vscode.l10n.t('Launch {0} on {1}', agent, draft.attached.label)
      : vscode.l10n.t('Launch {0}', agent);
    return [
      lens(launch, COMMANDS.launchTask),
      lens(vscode.l10n.t('Model: {0}', modelWords(draft)), COMMANDS.chooseTaskModel),
      lens(
        vscode.l10n.t('Works {0}', workplaceWords(this.#workplaces.of(draft.folder, 'agent'))),
        COMMANDS.chooseTaskWorkplace,
      ),
      lens(vscode.l10n.t('Show Plan'), COMMANDS.showTaskPlan),
      lens(vscode.l10n.t('Discard'), COMMANDS.discardTask),
    ];
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#subscriptions.dispose();
  }
}

function wholeOf(document: vscode.TextDocument): vscode.Range {
  return new vscode.Range(new vscode.Position(0, 0), document.lineAt(document.lineCount - 1).range.end);
}

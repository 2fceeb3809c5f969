/** What can be done with a script, above its first line. */
import * as vscode from 'vscode';
import { COMMANDS } from '../command-ids.ts';
import { showsScriptLenses } from '../configuration.ts';
import { folderOf } from '../launch/choose-folder.ts';
import type { Workplaces } from '../launch/workplaces.ts';
import type { WorkflowChecks } from './workflow-checks.ts';
import { isWorkflow } from './workflow-files.ts';

export class WorkflowLenses implements vscode.CodeLensProvider {
  readonly #checks: WorkflowChecks;
  readonly #workplaces: Workplaces;
  /** The findings that stand in the lenses of each script. */
  readonly #shown = new Map<string, string>();
  readonly onDidChangeCodeLenses: vscode.Event<void>;

  constructor(checks: WorkflowChecks, workplaces: Workplaces) {
    this.#checks = checks;
    this.#workplaces = workplaces;
    this.onDidChangeCodeLenses = (listener, thisArgs, disposables) => {
      const tell = () => listener.call(thisArgs);
      return vscode.Disposable.from(
        // The editor makes told lenses anew, and a click on what it takes away is lost.
        checks.onDidCheck((uri) => this.#isNew(uri) && tell(), undefined, disposables),
        workplaces.onDidChange(tell, undefined, disposables),
        vscode.workspace.onDidGrantWorkspaceTrust(tell, undefined, disposables),
        vscode.workspace.onDidChangeConfiguration(
          (event) => event.affectsConfiguration('piLanes.workflows.codeLens') && tell(),
          undefined,
          disposables,
        ),
      );
    };
  }

  /** Whether the lenses of a script would say something else now. */
  #isNew(uri: vscode.Uri): boolean {
    const key = uri.toString();
    const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === key);
    if (document && isWorkflow(document)) return this.#shown.get(key) !== this.#title(document);
    this.#shown.delete(key);
    return true;
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    if (!isWorkflow(document) || !showsScriptLenses(document.uri)) return [];
    const title = this.#title(document);
    this.#shown.set(document.uri.toString(), title);
    const top = new vscode.Range(0, 0, 0, 0);
    const run = {
      title: vscode.l10n.t('$(play) Run workflow'),
      command: COMMANDS.runWorkflow,
      arguments: [document.uri],
    };
    const folder = folderOf(document.uri)?.uri.toString();
    const where = {
      title: this.#workplaces.of(folder, 'workflow').kind === 'folder' ? inFolder() : inWorktrees(),
      command: COMMANDS.chooseWorkflowWorkplace,
      arguments: [document.uri],
    };
    return [
      ...(vscode.workspace.isTrusted ? [run, where].map((command) => new vscode.CodeLens(top, command)) : []),
      new vscode.CodeLens(top, {
        title,
        command: COMMANDS.validateWorkflow,
        arguments: [document.uri],
      }),
    ];
  }

  #title(document: vscode.TextDocument): string {
    const findings = this.#checks.findings(document);
    if (!findings) return vscode.l10n.t('Validate');
    const errors = findings.filter(({ severity }) => severity === 'error').length;
    const warnings = findings.length - errors;
    if (findings.length === 0) return vscode.l10n.t('Validate (no problems)');
    return vscode.l10n.t('Validate (errors: {0}, warnings: {1})', errors, warnings);
  }
}

const inFolder = () => vscode.l10n.t('$(folder) Agents work in the folder');
const inWorktrees = () => vscode.l10n.t('$(git-branch) Agents work in new worktrees');

/** What can be done with a script, above its first line. */
import * as vscode from 'vscode';
import { COMMANDS } from '../command-ids.ts';
import type { WorkflowChecks } from './workflow-checks.ts';
import { isWorkflow } from './workflow-files.ts';

export class WorkflowLenses implements vscode.CodeLensProvider {
  readonly #checks: WorkflowChecks;
  readonly onDidChangeCodeLenses: vscode.Event<void>;

  constructor(checks: WorkflowChecks) {
    this.#checks = checks;
    this.onDidChangeCodeLenses = (listener, thisArgs, disposables) =>
      checks.onDidCheck(() => listener.call(thisArgs), undefined, disposables);
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    if (!isWorkflow(document)) return [];
    const top = new vscode.Range(0, 0, 0, 0);
    return [
      new vscode.CodeLens(top, {
        title: this.#title(document),
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

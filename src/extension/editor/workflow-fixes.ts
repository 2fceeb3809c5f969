/** Quick fixes of findings, and all safe ones at once. */
import * as vscode from 'vscode';
import { applySafeFixes } from '../../core/workflow/index.ts';
import type { Finding, FindingFix } from '../../protocol/index.ts';
import { codeOf, DIAGNOSTIC_SOURCE } from './finding-diagnostics.ts';
import { inEditorLanguage } from './finding-words.ts';
import { toRange } from './script-ranges.ts';
import type { WorkflowChecks } from './workflow-checks.ts';
import { isWorkflow } from './workflow-files.ts';

export const FIX_ALL = vscode.CodeActionKind.SourceFixAll.append('piLanes');

/** A fix can bring the next finding to light; more rounds than this would be going round in circles. */
const MAX_ROUNDS = 8;

export class WorkflowFixes implements vscode.CodeActionProvider {
  static readonly kinds = [vscode.CodeActionKind.QuickFix, FIX_ALL];
  readonly #checks: WorkflowChecks;

  constructor(checks: WorkflowChecks) {
    this.#checks = checks;
  }

  async provideCodeActions(
    document: vscode.TextDocument,
    range: vscode.Range,
    context: vscode.CodeActionContext,
  ): Promise<vscode.CodeAction[]> {
    if (!isWorkflow(document)) return [];
    const asksForAll = context.only !== undefined && (FIX_ALL.contains(context.only) || context.only.contains(FIX_ALL));
    // Saving waits for "fix all", which must not work on what an older text said.
    const findings = asksForAll ? await this.#checks.check(document) : (this.#checks.findings(document) ?? []);
    const actions: vscode.CodeAction[] = [];
    if (!context.only || context.only.intersects(vscode.CodeActionKind.QuickFix)) {
      for (const finding of findings) {
        if (finding.fix && toRange(finding).intersection(range)) {
          actions.push(quickFix(document, finding, finding.fix, context.diagnostics));
        }
      }
      const safe = findings.filter(({ fix }) => fix?.safe).length;
      if (actions.length > 0 && safe > 1) {
        const all = await this.#fixAll(document, findings, vscode.CodeActionKind.QuickFix);
        if (all) actions.push(all);
      }
    }
    if (asksForAll) {
      const all = await this.#fixAll(document, findings, FIX_ALL);
      if (all) actions.push(all);
    }
    return actions;
  }

  async #fixAll(
    document: vscode.TextDocument,
    findings: readonly Finding[],
    kind: vscode.CodeActionKind,
  ): Promise<vscode.CodeAction | undefined> {
    const before = document.getText();
    let text = before;
    let left = findings;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const { script, applied } = applySafeFixes(text, left);
      if (applied.length === 0) break;
      text = script;
      left = await this.#checks.findingsOf(text);
    }
    if (text === before) return undefined;
    const action = new vscode.CodeAction(vscode.l10n.t('Fix all safe problems of this script'), kind);
    action.edit = new vscode.WorkspaceEdit();
    const changed = difference(before, text);
    const where = new vscode.Range(document.positionAt(changed.start), document.positionAt(changed.end));
    action.edit.replace(document.uri, where, changed.text);
    return action;
  }
}

function quickFix(
  document: vscode.TextDocument,
  finding: Finding,
  fix: FindingFix,
  diagnostics: readonly vscode.Diagnostic[],
): vscode.CodeAction {
  const action = new vscode.CodeAction(
    inEditorLanguage(finding.words.title ?? fix.title),
    vscode.CodeActionKind.QuickFix,
  );
  action.edit = new vscode.WorkspaceEdit();
  for (const edit of fix.edits) action.edit.replace(document.uri, toRange(edit), edit.text);
  action.isPreferred = fix.safe;
  action.diagnostics = diagnostics.filter(
    (diagnostic) =>
      diagnostic.source === DIAGNOSTIC_SOURCE &&
      codeOf(diagnostic) === finding.code &&
      diagnostic.range.isEqual(toRange(finding)),
  );
  return action;
}

/** The part in which two texts differ. */
function difference(before: string, after: string): { start: number; end: number; text: string } {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - start;
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  return { start, end: before.length - tail, text: after.slice(start, after.length - tail) };
}

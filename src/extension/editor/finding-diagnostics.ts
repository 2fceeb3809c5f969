import * as vscode from 'vscode';
import type { Finding, FindingCode } from '../../protocol/index.ts';
import { inEditorLanguage } from './finding-words.ts';
import { toRange } from './script-ranges.ts';

export const DIAGNOSTIC_SOURCE = 'Pi Lanes';

/** @param docs where each code is explained */
export function toDiagnostic(
  finding: Finding,
  document: vscode.TextDocument,
  docs: (code: FindingCode) => vscode.Uri | undefined,
): vscode.Diagnostic {
  const { code, severity, related, words } = finding;
  const range = toRange(finding);
  // What concerns the whole script stands at its first line, where it can be seen.
  const shown = range.isEmpty ? document.lineAt(range.start.line).range : range;
  const diagnostic = new vscode.Diagnostic(
    shown,
    inEditorLanguage(words.message),
    severity === 'error' ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning,
  );
  const target = docs(code);
  diagnostic.source = DIAGNOSTIC_SOURCE;
  diagnostic.code = target ? { value: code, target } : code;
  if (code === 'unreachable_code') diagnostic.tags = [vscode.DiagnosticTag.Unnecessary];
  if (related) {
    diagnostic.relatedInformation = related.map((entry, at) => {
      const message = inEditorLanguage(words.related?.[at] ?? entry.message);
      return new vscode.DiagnosticRelatedInformation(new vscode.Location(document.uri, toRange(entry)), message);
    });
  }
  return diagnostic;
}

export function codeOf({ code }: vscode.Diagnostic): string {
  return String(typeof code === 'object' ? code.value : code);
}

import * as vscode from 'vscode';
import { AGENT_TEXTS, type AgentDiagnostic, type AgentDiagnosticCode, type AgentText } from '../../protocol/index.ts';
import { DIAGNOSTIC_SOURCE } from './finding-diagnostics.ts';
import { toRange } from './script-ranges.ts';

const SEVERITIES = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  info: vscode.DiagnosticSeverity.Information,
} as const;

// Under another name, because these texts are collected from the catalogue and not from this call.
const translate = vscode.l10n.t;

/** What is wrong and the next step, in the language of the editor. */
export function agentProblemWords({ text, params = {} }: Pick<AgentDiagnostic, 'text' | 'params'>): string {
  const words: AgentText = AGENT_TEXTS[text];
  return `${translate(words.message, params)} ${translate(words.hint, params)}`;
}

/** @param docs where each code is explained */
export function toAgentDiagnostic(
  problem: AgentDiagnostic,
  docs: (code: AgentDiagnosticCode) => vscode.Uri | undefined,
): vscode.Diagnostic {
  const { code, severity } = problem;
  const diagnostic = new vscode.Diagnostic(toRange(problem), agentProblemWords(problem), SEVERITIES[severity]);
  const target = docs(code);
  diagnostic.source = DIAGNOSTIC_SOURCE;
  diagnostic.code = target ? { value: code, target } : code;
  return diagnostic;
}

/** Workflow scripts and definitions of agents in the editor: problems, fixes, completion, outline, lenses. */
import * as vscode from 'vscode';
import type { Workplaces } from '../launch/workplaces.ts';
import { AgentChecks, type LookedAt } from './agent-checks.ts';
import { DIAGNOSTIC_SOURCE } from './finding-diagnostics.ts';
import { FindingDocs } from './finding-docs.ts';
import { KeyReferences } from './key-references.ts';
import { WorkflowChecks, type WorkflowChecksOptions } from './workflow-checks.ts';
import { WorkflowCompletion } from './workflow-completion.ts';
import { WORKFLOW_LANGUAGES } from './workflow-files.ts';
import { WorkflowFixes } from './workflow-fixes.ts';
import { WorkflowLenses } from './workflow-lenses.ts';
import { WorkflowSymbols } from './workflow-symbols.ts';

export { AgentChecks, FindingDocs, type LookedAt, WorkflowChecks, type WorkflowChecksOptions };

export function registerWorkflowLanguage(checks: WorkflowChecks, workplaces: Workplaces): vscode.Disposable {
  const { languages } = vscode;
  const references = new KeyReferences(checks);
  return vscode.Disposable.from(
    languages.registerCodeActionsProvider(WORKFLOW_LANGUAGES, new WorkflowFixes(checks), {
      providedCodeActionKinds: WorkflowFixes.kinds,
    }),
    languages.registerCompletionItemProvider(
      WORKFLOW_LANGUAGES,
      new WorkflowCompletion(checks),
      ...WorkflowCompletion.triggers,
    ),
    languages.registerDocumentSymbolProvider(WORKFLOW_LANGUAGES, new WorkflowSymbols(checks), {
      label: DIAGNOSTIC_SOURCE,
    }),
    languages.registerReferenceProvider(WORKFLOW_LANGUAGES, references),
    languages.registerDefinitionProvider(WORKFLOW_LANGUAGES, references),
    languages.registerRenameProvider(WORKFLOW_LANGUAGES, references),
    languages.registerCodeLensProvider(WORKFLOW_LANGUAGES, new WorkflowLenses(checks, workplaces)),
  );
}

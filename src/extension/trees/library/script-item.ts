/** One workflow script as a row of the Library. */
import { posix, sep } from 'node:path';
import * as vscode from 'vscode';
import { visible } from '../../../core/transcripts/index.ts';
import { COMMANDS, ITEM } from '../../command-ids.ts';
import { inEditorLanguage } from '../../editor/finding-words.ts';
import { countOf, type ScriptRow } from '../../library/library-scripts.ts';
import { ERROR, WARNING } from '../runs/state-icon.ts';
import { TooltipLines } from '../runs/tooltip-lines.ts';
import type { LibraryNode } from './library-node.ts';

const MAX_FINDINGS = 5;

export function createScriptItem(row: ScriptRow, id: string, node: LibraryNode): vscode.TreeItem {
  const path = row.path.split(sep).join(posix.sep);
  const name = posix.basename(path).replace(/(\.workflow)?\.m?js$/, '');
  const item = new vscode.TreeItem(visible(name));
  const words = validityWords(row);
  item.id = id;
  item.resourceUri = row.uri;
  item.iconPath = iconOf(row);
  item.contextValue = isFaulty(row) ? ITEM.faultyScript : ITEM.script;
  item.description = [words, visible(path)].filter(Boolean).join(' · ');
  const sentence = [vscode.l10n.t('Workflow {0}', visible(name)), words ?? vscode.l10n.t('no problems'), visible(path)];
  item.accessibilityInformation = { label: sentence.join(', ') };
  item.command = { command: COMMANDS.openDefinition, title: vscode.l10n.t('Open'), arguments: [node] };
  return item;
}

export function createScriptTooltip({ uri, findings = [], unreadable }: ScriptRow): vscode.MarkdownString {
  const lines = new TooltipLines();
  lines.add(vscode.l10n.t('File'), uri.fsPath);
  lines.add(vscode.l10n.t('Cannot be read'), unreadable);
  for (const { line, words } of findings.slice(0, MAX_FINDINGS))
    lines.add(vscode.l10n.t('Line {0}', line), inEditorLanguage(words.message));
  if (findings.length > MAX_FINDINGS)
    lines.add(vscode.l10n.t('More'), vscode.l10n.t('{0} further problems', findings.length - MAX_FINDINGS));
  return lines.text;
}

function isFaulty({ findings = [], unreadable }: ScriptRow): boolean {
  return unreadable !== undefined || countOf(findings, 'error') > 0;
}

/** `undefined`: nothing is wrong, as far as is known. */
function validityWords({ findings, unreadable }: ScriptRow): string | undefined {
  if (unreadable !== undefined) return vscode.l10n.t('cannot be read');
  if (!findings) return vscode.l10n.t('being checked');
  const errors = countOf(findings, 'error');
  const warnings = findings.length - errors;
  const words = [
    errors === 0 ? '' : errors === 1 ? vscode.l10n.t('1 error') : vscode.l10n.t('{0} errors', errors),
    warnings === 0 ? '' : warnings === 1 ? vscode.l10n.t('1 warning') : vscode.l10n.t('{0} warnings', warnings),
  ];
  return words.filter(Boolean).join(', ') || undefined;
}

function iconOf(row: ScriptRow): vscode.ThemeIcon {
  if (isFaulty(row)) return new vscode.ThemeIcon('error', new vscode.ThemeColor(ERROR));
  if ((row.findings ?? []).length > 0) return new vscode.ThemeIcon('warning', new vscode.ThemeColor(WARNING));
  return new vscode.ThemeIcon('type-hierarchy-sub');
}

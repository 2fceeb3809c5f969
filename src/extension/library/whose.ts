/** Whose agents are, in words. */
import * as vscode from 'vscode';
import type { FoundAgent } from '../../core/agents/index.ts';
import type { AgentGroup, AgentRow } from './library-layout.ts';

export function groupTitle(group: AgentGroup | 'scripts'): string {
  const titles = {
    project: () => vscode.l10n.t('Agents of the Project'),
    user: () => vscode.l10n.t('Your Agents'),
    package: () => vscode.l10n.t('Agents of Packages'),
    builtin: () => vscode.l10n.t('Built-in Agents'),
    scripts: () => vscode.l10n.t('Workflows'),
  };
  return titles[group]();
}

export function sourceWords({ group, fromPackage }: Pick<AgentRow, 'group' | 'fromPackage'>): string {
  const words = {
    project: () => vscode.l10n.t('the project'),
    user: () => vscode.l10n.t('your own'),
    package: () =>
      fromPackage
        ? vscode.l10n.t('package {0}', [fromPackage.name, fromPackage.version].filter(Boolean).join(' '))
        : vscode.l10n.t('a package'),
    builtin: () => vscode.l10n.t('built in'),
  };
  return words[group]();
}

/** By what a definition is kept from counting, as its row says it. */
export function hiddenWords(group: AgentGroup, by: FoundAgent['source']): string {
  if (by === group) return vscode.l10n.t('replaced by another file');
  if (by === 'project') return vscode.l10n.t('replaced by the one of the project');
  if (by === 'user') return vscode.l10n.t('replaced by your own');
  return vscode.l10n.t('replaced by one of a package');
}

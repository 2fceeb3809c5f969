/** Rows that are neither runs nor sections of runs: a project, what could not be read, and the way to older runs. */
import * as vscode from 'vscode';
import { COMMANDS, ITEM } from '../../command-ids.ts';
import { errorWords } from '../../error-words.ts';
import type { RunsProblem } from '../../runs/runs-model.ts';
import { WARNING } from './state-icon.ts';

export function createProjectItem(title: string, id: string): vscode.TreeItem {
  const item = new vscode.TreeItem(title, vscode.TreeItemCollapsibleState.Expanded);
  item.id = id;
  item.iconPath = new vscode.ThemeIcon('repo');
  item.contextValue = ITEM.project;
  item.accessibilityInformation = { label: vscode.l10n.t('Project {0}.', title) };
  return item;
}

/** What went wrong, in its place; a click does the next step. */
export function createProblemItem({ kind, title, error }: RunsProblem, id: string): vscode.TreeItem {
  const item = new vscode.TreeItem(title);
  item.id = id;
  item.iconPath = new vscode.ThemeIcon('warning', new vscode.ThemeColor(WARNING));
  item.contextValue = ITEM.problem;
  const words =
    kind === 'project' ? vscode.l10n.t('its project cannot be told') : vscode.l10n.t('its runs cannot be read');
  item.description = words;
  const { message, hint } = errorWords(error);
  item.tooltip = [message, hint].filter(Boolean).join('\n');
  item.accessibilityInformation = {
    label: vscode.l10n.t('{0}: {1}. {2}', title, words, hint ?? message),
  };
  item.command =
    kind === 'project'
      ? { command: COMMANDS.runDoctor, title: vscode.l10n.t('Check Installation') }
      : { command: COMMANDS.showOutput, title: vscode.l10n.t('Show Output') };
  return item;
}

export function createMoreItem(id: string): vscode.TreeItem {
  const title = vscode.l10n.t('Show Older Runs…');
  const item = new vscode.TreeItem(title);
  item.id = id;
  item.iconPath = new vscode.ThemeIcon('ellipsis');
  item.contextValue = ITEM.more;
  item.command = { command: COMMANDS.showMoreRuns, title };
  return item;
}

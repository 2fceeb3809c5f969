/** The heading of a section: what needs a person, what is active, or a day. */
import * as vscode from 'vscode';
import { ITEM } from '../../command-ids.ts';
import type { Day } from '../../runs/run-days.ts';
import type { Section } from '../../runs/runs-layout.ts';

/** Days before yesterday are closed at first, unless they hold what a person looks for. */
export function createSectionItem(section: Section, options: { id: string; open: boolean }): vscode.TreeItem {
  const { kind, day, runs } = section;
  const { Expanded, Collapsed } = vscode.TreeItemCollapsibleState;
  const open = options.open || kind !== 'day' || section.newest || (day?.daysAgo ?? 0) <= 1;
  const item = new vscode.TreeItem(headingOf(section), open ? Expanded : Collapsed);
  item.id = options.id;
  const failed = runs.some(({ state }) => state === 'failed');
  item.contextValue = kind === 'needs' && failed ? ITEM.needsWithFailed : ITEM.section;
  if (kind !== 'day') item.description = String(runs.length);
  item.accessibilityInformation = { label: sentenceOf(section) };
  return item;
}

function headingOf({ kind, day }: Section): string {
  if (kind === 'needs') return vscode.l10n.t('Needs You');
  return kind === 'active' || !day ? vscode.l10n.t('Active') : dayName(day);
}

function sentenceOf({ kind, day, runs }: Section): string {
  const count = runs.length;
  if (kind === 'needs')
    return count === 1 ? vscode.l10n.t('1 run needs you.') : vscode.l10n.t('{0} runs need you.', count);
  if (kind === 'active' || !day)
    return count === 1 ? vscode.l10n.t('1 run is active.') : vscode.l10n.t('{0} runs are active.', count);
  return count === 1
    ? vscode.l10n.t('{0}: 1 run.', dayName(day))
    : vscode.l10n.t('{0}: {1} runs.', dayName(day), count);
}

function dayName({ daysAgo, noon }: Day): string {
  if (daysAgo === 0) return vscode.l10n.t('Today');
  if (daysAgo === 1) return vscode.l10n.t('Yesterday');
  const sameYear = new Date(noon).getFullYear() === new Date().getFullYear();
  const format: Intl.DateTimeFormatOptions = { weekday: 'long', day: 'numeric', month: 'long' };
  return new Intl.DateTimeFormat(vscode.env.language, sameYear ? format : { ...format, year: 'numeric' }).format(noon);
}

/** A worktree as a row: its branch, what became of it, and what can be done with its folder. */
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import type { WorktreeFate } from '../../../../client/index.ts';
import { visible } from '../../../../core/transcripts/index.ts';
import { BRANCH_PREFIX } from '../../../../core/worktrees/index.ts';
import { PATCH_NAME, type WorktreeView } from '../../../../protocol/index.ts';
import { BUILT_IN, ITEM } from '../../../command-ids.ts';
import { errorWords } from '../../../error-words.ts';
import { WARNING } from '../state-icon.ts';
import { TooltipLines } from '../tooltip-lines.ts';
import { keptText } from '../workplace-lines.ts';

export interface ShownWorktree {
  worktree: WorktreeView;
  fate: WorktreeFate;
  /** Folder of the run. */
  directory: string;
  /** Its child has not ended. */
  isWorking: boolean;
}

const SHORT_HASH = 8;

export function createWorktreeItem(shown: ShownWorktree, id: string): vscode.TreeItem {
  const { worktree, directory } = shown;
  const item = new vscode.TreeItem(shortBranch(worktree), vscode.TreeItemCollapsibleState.None);
  const words = worktreeText(shown);
  item.id = id;
  item.iconPath = iconOf(shown);
  item.contextValue = isThere(shown) ? ITEM.worktree : ITEM.absentWorktree;
  item.description = [words, baseText(worktree), visible(worktree.path)].join(' · ');
  item.accessibilityInformation = {
    label: vscode.l10n.t('Worktree {0}: {1}. {2}', visible(worktree.branch), words, visible(worktree.path)),
  };
  if (worktree.capture && worktree.files > 0)
    item.command = {
      command: BUILT_IN.open,
      title: vscode.l10n.t('Open Changes'),
      arguments: [vscode.Uri.file(join(directory, dirname(worktree.capture.file), PATCH_NAME))],
    };
  return item;
}

export function createWorktreeTooltip(shown: ShownWorktree): vscode.MarkdownString {
  const { worktree, fate } = shown;
  const lines = new TooltipLines();
  lines.add(vscode.l10n.t('Worktree'), worktree.path);
  lines.add(vscode.l10n.t('State'), worktreeText(shown));
  lines.add(vscode.l10n.t('Branch'), worktree.branch);
  lines.add(vscode.l10n.t('Base'), worktree.base);
  lines.add(vscode.l10n.t('Kept'), keptText(worktree));
  lines.add(
    vscode.l10n.t('Made for'),
    worktree.of && vscode.l10n.t('child {0} of run {1}', worktree.of.child, worktree.of.runId),
  );
  for (const error of [
    ...worktree.warnings,
    ...worktree.faults,
    ...fate.reasons,
    ...(fate.fault ? [fate.fault] : []),
  ]) {
    const { message, hint } = errorWords(error);
    lines.add(vscode.l10n.t('Note'), [message, hint].filter(Boolean).join(' '));
  }
  return lines.text;
}

/** What became of it, in words. What the ledger says of its end is newer than what its run has seen. */
function worktreeText({ worktree, fate, isWorking }: ShownWorktree): string {
  if (fate.state === 'removed') return vscode.l10n.t('removed');
  if (fate.state === 'removing') return vscode.l10n.t('being removed');
  if (fate.state === 'restoring') return vscode.l10n.t('being brought back');
  if (fate.state === 'undone' || worktree.state === 'undone') return vscode.l10n.t('taken back');
  if (worktree.state === 'planned') return vscode.l10n.t('being made');
  if (fate.present === false) return vscode.l10n.t('its folder is gone');
  switch (worktree.state) {
    case 'made':
      return vscode.l10n.t('being made ready');
    case 'ready':
      return isWorking ? vscode.l10n.t('in use') : vscode.l10n.t('not kept yet');
    case 'capture-failed':
      return vscode.l10n.t('could not be kept');
    case 'captured':
      return vscode.l10n.t('kept: {0}', changesText(worktree));
    default:
      return worktree.state satisfies never;
  }
}

function changesText({ changed, files, commits, insertions, deletions }: WorktreeView): string {
  if (!changed) return vscode.l10n.t('no changes');
  const parts = [
    files === 1 ? vscode.l10n.t('1 file') : vscode.l10n.t('{0} files', files),
    `+${insertions} -${deletions}`,
    ...(commits === 0 ? [] : [commits === 1 ? vscode.l10n.t('1 commit') : vscode.l10n.t('{0} commits', commits)]),
  ];
  return parts.join(', ');
}

/** Without what all of them have in common: rows are narrow. */
function shortBranch({ branch }: WorktreeView): string {
  return visible(branch.startsWith(BRANCH_PREFIX) ? branch.slice(BRANCH_PREFIX.length) : branch);
}

function baseText({ base }: WorktreeView): string {
  return vscode.l10n.t('from {0}', base.slice(0, SHORT_HASH));
}

/** Whether its folder can be gone into. Where the disk does not tell, that is tried. */
function isThere({ worktree, fate }: ShownWorktree): boolean {
  if (worktree.state === 'planned' || worktree.state === 'undone') return false;
  return fate.present !== false && fate.state !== 'removed' && fate.state !== 'undone';
}

function iconOf(shown: ShownWorktree): vscode.ThemeIcon {
  const { worktree, fate } = shown;
  const isOver = fate.state === 'removed' || fate.state === 'undone' || worktree.state === 'undone';
  if (isOver) return new vscode.ThemeIcon('circle-slash');
  const mustBeLookedAt = worktree.state === 'capture-failed' || worktree.faults.length > 0 || fate.fault !== undefined;
  const isLost = worktree.state !== 'planned' && fate.present === false;
  if (mustBeLookedAt || isLost) return new vscode.ThemeIcon('warning', new vscode.ThemeColor(WARNING));
  return new vscode.ThemeIcon('git-branch');
}

/** Where a child works, as tooltips tell it: its worktree and what was kept of it, or whom it waits for. */
import * as vscode from 'vscode';
import type { ChildView, WorktreeView } from '../../../protocol/index.ts';
import { errorWords } from '../../error-words.ts';
import type { TooltipLines } from './tooltip-lines.ts';

export function addWorkplace(lines: TooltipLines, { awaits, worktree }: Pick<ChildView, 'awaits' | 'worktree'>): void {
  if (awaits) {
    const { owner, folder } = awaits;
    lines.add(vscode.l10n.t('Waits for'), vscode.l10n.t('{0}, which may change files in {1}', owner, folder));
  }
  if (!worktree) return;
  lines.add(vscode.l10n.t('Worktree'), worktree.path);
  lines.add(vscode.l10n.t('Branch'), worktree.branch);
  lines.add(vscode.l10n.t('Kept'), keptText(worktree));
}

export function keptText({ state, changed, files, commits, outside, faults }: WorktreeView): string | undefined {
  if (state === 'capture-failed') {
    const [fault] = faults;
    return vscode.l10n.t('not yet: {0}', fault ? errorWords(fault).message : '');
  }
  if (state !== 'captured') return undefined;
  return changed
    ? vscode.l10n.t('{0} changed files, {1} commits, {2} files outside of git', files, commits, outside)
    : vscode.l10n.t('nothing was changed');
}

/** Why no worktree can be made, short enough for a row of a list. */
import * as vscode from 'vscode';
import type { ErrorValue } from '../../protocol/index.ts';
import { errorWords } from '../error-words.ts';
import { plainLabel } from '../plain-label.ts';

/** Whether it hangs on where an agent is to work. */
export function isAboutWorktree({ code }: ErrorValue): boolean {
  return code === 'worktree_refused' || code === 'git_unusable' || code === 'git_failed';
}

/** The parts of a row. What the reason names and the list shows already is left out. */
export function refusalRow(refusal: ErrorValue): { label: string; description: string; detail: string } {
  const { message, hint } = errorWords(refusal);
  const reason = shortReason(refusal);
  return {
    label: vscode.l10n.t('No worktree can be made now'),
    description: plainLabel(reason ?? (hint === undefined ? '' : message)),
    detail: plainLabel(hint ?? message),
  };
}

function shortReason({ text, params = {} }: ErrorValue): string | undefined {
  switch (text) {
    case 'worktree_refused:no-repository':
      return vscode.l10n.t('the folder is in no git repository');
    case 'worktree_refused:unborn':
      return vscode.l10n.t('its branch has no commit yet');
    case 'worktree_refused:dirty':
      return vscode.l10n.t('not committed, so it would not be in it: {0}', String(params['files'] ?? ''));
    case 'worktree_refused:base':
      return vscode.l10n.t('there is no branch or tag {0}, or more than one', String(params['ref'] ?? ''));
    default:
      return undefined;
  }
}

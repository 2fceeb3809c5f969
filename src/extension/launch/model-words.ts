import * as vscode from 'vscode';
import type { Draft } from './draft.ts';

/** The model of a draft, as a person is told it. */
export function modelWords({ model, thinking }: Pick<Draft, 'model' | 'thinking'>): string {
  const name = model ?? vscode.l10n.t('default');
  return thinking === undefined ? name : vscode.l10n.t('{0}, thinking {1}', name, thinking);
}

/** What findings say, in the language of the editor. */
import * as vscode from 'vscode';
import { spellOut, type Words } from '../../protocol/index.ts';

// Under another name, because these texts are collected from the catalogue and not from this call.
const translate = vscode.l10n.t;

export function inEditorLanguage(words: Words): string {
  return spellOut(words, (text, params) => translate(text, params));
}

import * as vscode from 'vscode';
import type { TextRange } from '../../protocol/index.ts';

/** Places of the check count from 1, those of the editor from 0; columns are the same units. */
export function toRange({ line, column, endLine, endColumn }: TextRange): vscode.Range {
  return new vscode.Range(line - 1, column - 1, endLine - 1, endColumn - 1);
}

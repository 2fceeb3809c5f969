import * as vscode from 'vscode';
import { visible } from '../../../core/transcripts/index.ts';

/** A tooltip of names and values, one a line. Values are text, whatever is in them; one that says nothing is left out. */
export class TooltipLines {
  readonly text = new vscode.MarkdownString('', true);

  add(name: string, value: string | null | undefined): void {
    if (!value) return;
    this.text.appendMarkdown(`**${name}**: `);
    this.text.appendText(visible(value));
    this.text.appendMarkdown('  \n');
  }
}

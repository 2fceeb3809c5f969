/** What a field does, what settings make of it, and what the models, tools and skills are that it names. */
import * as vscode from 'vscode';
import { type Explanation, explanationAt, type FromSettings } from '../../core/agent-language/index.ts';
import { cutText } from '../../protocol/index.ts';
import { escaped } from '../markdown-text.ts';
import type { AgentDefinitions } from './agent-definitions.ts';
import { fieldWords, modelFacts, toolSource } from './agent-words.ts';

const SHOWN = 120;

export class AgentHover implements vscode.HoverProvider {
  readonly #definitions: AgentDefinitions;

  constructor(definitions: AgentDefinitions) {
    this.#definitions = definitions;
  }

  async provideHover(document: vscode.TextDocument, position: vscode.Position): Promise<vscode.Hover | undefined> {
    if (!this.#definitions.isDefinition(document)) return undefined;
    const known = await this.#definitions.known(document);
    const text = document.getText();
    const found = explanationAt(text, document.offsetAt(position), document.uri.fsPath, known);
    if (!found) return undefined;
    const range = new vscode.Range(document.positionAt(found.span.start), document.positionAt(found.span.end));
    return new vscode.Hover(wordsOf(found), range);
  }
}

function wordsOf(found: Explanation): vscode.MarkdownString {
  switch (found.kind) {
    case 'field': {
      const words = fieldWords(found.field);
      for (const setting of found.settings) words.appendMarkdown(`\n\n${settingWords(setting)}`);
      const { hiddenBy } = found;
      if (hiddenBy)
        words.appendMarkdown(
          `\n\n${escaped(vscode.l10n.t('Not used: {0} has a stronger definition of this name.', hiddenBy.file))}`,
        );
      return words;
    }
    case 'model': {
      const { model, level, isDefault } = found;
      const facts = [
        ...modelFacts(model, isDefault),
        ...(level === undefined ? [] : [vscode.l10n.t('level {0}', level)]),
      ];
      return new vscode.MarkdownString(`**${escaped(model.name)}**\n\n${facts.map(escaped).join('; ')}`);
    }
    case 'tool':
      return new vscode.MarkdownString(`**${escaped(found.tool.name)}**\n\n${escaped(toolSource(found.tool))}`);
    case 'skill':
      return new vscode.MarkdownString(`**${escaped(found.skill.name)}**\n\n${escaped(found.skill.path)}`);
    default:
      return found satisfies never;
  }
}

function settingWords({ field, value, place: { setting, file, line } }: FromSettings): string {
  const where = `${setting}, ${file}:${line}`;
  const shown = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const words =
    value === undefined || value === false
      ? vscode.l10n.t('Settings take {0} away ({1}).', field, where)
      : vscode.l10n.t('Settings make {0} {1} ({2}).', field, cutText(shown, SHOWN), where);
  return escaped(words);
}

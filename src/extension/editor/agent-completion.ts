/** Fields of a definition and what they can hold. */
import * as vscode from 'vscode';
import { FIELD_VALUES, type Suggestion, suggestionsAt } from '../../core/agent-language/index.ts';
import type { AgentDefinitions } from './agent-definitions.ts';
import { fieldWords, modelFacts, toolSource } from './agent-words.ts';

const KINDS: Readonly<Record<Suggestion['kind'], vscode.CompletionItemKind>> = {
  field: vscode.CompletionItemKind.Property,
  key: vscode.CompletionItemKind.Property,
  option: vscode.CompletionItemKind.EnumMember,
  model: vscode.CompletionItemKind.Value,
  tool: vscode.CompletionItemKind.Function,
  skill: vscode.CompletionItemKind.Module,
};

export class AgentCompletion implements vscode.CompletionItemProvider {
  static readonly triggers = [' ', ',', '[', '{', '-', ':', '/', '"', "'"];
  readonly #definitions: AgentDefinitions;

  constructor(definitions: AgentDefinitions) {
    this.#definitions = definitions;
  }

  async provideCompletionItems(
    document: vscode.TextDocument,
    position: vscode.Position,
  ): Promise<vscode.CompletionList | undefined> {
    if (!this.#definitions.isDefinition(document)) return undefined;
    const known = await this.#definitions.known(document);
    const text = document.getText();
    const items = suggestionsAt(text, document.offsetAt(position), known).map((suggestion, at) =>
      toItem(suggestion, document, at),
    );
    // As soon as Pi has answered there may be more.
    return new vscode.CompletionList(items, this.#definitions.isAsking(document));
  }
}

function toItem(suggestion: Suggestion, document: vscode.TextDocument, at: number): vscode.CompletionItem {
  const { text, span } = suggestion;
  const item = new vscode.CompletionItem(labelOf(suggestion), KINDS[suggestion.kind]);
  item.insertText = text;
  item.range = new vscode.Range(document.positionAt(span.start), document.positionAt(span.end));
  // What stands there is compared with what is written, and in this order.
  item.filterText = text.trimStart();
  item.sortText = String(at).padStart(5, '0');
  if (suggestion.kind === 'field') {
    item.documentation = fieldWords(suggestion.field);
    // Whoever has written the name of a field goes on with its value.
    if (FIELD_VALUES[suggestion.field].values.kind !== 'text' && text.endsWith(' '))
      item.command = { command: 'editor.action.triggerSuggest', title: vscode.l10n.t('Suggest Values') };
  }
  return item;
}

function labelOf(suggestion: Suggestion): vscode.CompletionItemLabel {
  const label = suggestion.text.trim().replace(/:$/, '');
  switch (suggestion.kind) {
    case 'model': {
      const { model, isDefault } = suggestion;
      return { label, description: modelFacts(model, isDefault).join('; ') };
    }
    case 'tool':
      return { label, description: toolSource(suggestion.tool) };
    case 'skill':
      return { label, description: suggestion.skill.path };
    default:
      return { label };
  }
}

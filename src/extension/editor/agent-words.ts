/** What fields, models and tools are, in the language of the editor. */
import * as vscode from 'vscode';
import type { KnownTool } from '../../core/agent-language/index.ts';
import type { KnownModel } from '../../core/models/index.ts';
import { AGENT_FIELD_TEXTS, type AgentFieldName, type AgentFieldText, formatTokens } from '../../protocol/index.ts';
import { escaped } from '../markdown-text.ts';

// Under another name, because these texts are collected from the catalogue and not from this call.
const translate = vscode.l10n.t;

export function fieldWords(field: AgentFieldName): vscode.MarkdownString {
  const { about, usual, value }: AgentFieldText = AGENT_FIELD_TEXTS[field];
  const words = new vscode.MarkdownString(escaped(translate(about)));
  const otherwise = usual === undefined ? value : translate(usual);
  if (otherwise !== undefined) words.appendMarkdown(`\n\n${escaped(vscode.l10n.t('Default: {0}', otherwise))}`);
  return words;
}

export function modelFacts({ name, title, reasoning, contextWindow, price }: KnownModel, isDefault: boolean): string[] {
  return [
    ...(title === name.slice(name.indexOf('/') + 1) ? [] : [title]),
    ...(isDefault ? [vscode.l10n.t('default of Pi')] : []),
    reasoning ? vscode.l10n.t('thinks') : vscode.l10n.t('does not think'),
    ...(contextWindow === null ? [] : [vscode.l10n.t('{0} tokens of context', formatTokens(contextWindow))]),
    ...(price === null
      ? []
      : [vscode.l10n.t('{0} in, {1} out per million tokens', `$${price.input}`, `$${price.output}`)]),
  ];
}

export function toolSource({ extension }: KnownTool): string {
  return extension === undefined ? vscode.l10n.t('tool of Pi') : extension;
}

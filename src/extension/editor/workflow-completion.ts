/** Names of agents, keys that were launched before, and the usual shapes of calls. */
import * as vscode from 'vscode';
import { toRange } from './script-ranges.ts';
import type { WorkflowChecks } from './workflow-checks.ts';
import { isWorkflow } from './workflow-files.ts';
import texts from './workflow-snippets.json' with { type: 'json' };

/** An open string after `agent:`; what is typed of it comes last. */
const AGENT = /\bagent\s*:\s*(["'`])([^"'`\\]*)$/;
/** An open string as first argument of a call that names a child. */
const KEY = /\bruns\s*\.\s*(?:steer|status)\s*\(\s*(["'`])([^"'`\\]*)$/;

export class WorkflowCompletion implements vscode.CompletionItemProvider {
  static readonly triggers = ['"', "'", '`'];
  readonly #checks: WorkflowChecks;

  constructor(checks: WorkflowChecks) {
    this.#checks = checks;
  }

  async provideCompletionItems(
    document: vscode.TextDocument,
    position: vscode.Position,
  ): Promise<vscode.CompletionItem[]> {
    if (!isWorkflow(document)) return [];
    const before = document.lineAt(position).text.slice(0, position.character);
    const agent = AGENT.exec(before);
    if (agent) return await this.#agents(document, openString(document, position, agent[2] ?? '', agent[1] ?? ''));
    const key = KEY.exec(before);
    if (key) return this.#keys(document, position, openString(document, position, key[2] ?? '', key[1] ?? ''));
    return /^\s*\w*$/.test(before) ? snippets(document, position) : [];
  }

  async #agents(document: vscode.TextDocument, range: vscode.Range): Promise<vscode.CompletionItem[]> {
    const agents = await this.#checks.agents(document.uri);
    return agents.map(({ name, description, aliases }) => {
      const item = new vscode.CompletionItem({ label: name, description }, vscode.CompletionItemKind.Value);
      item.range = range;
      item.detail = description;
      item.filterText = [name, ...aliases].join(' ');
      return item;
    });
  }

  #keys(document: vscode.TextDocument, position: vscode.Position, range: vscode.Range): vscode.CompletionItem[] {
    const keys = this.#checks.outline(document)?.keys ?? [];
    const seen = new Set<string>();
    return keys.flatMap(({ key, launches, api, agent, range: place }) => {
      if (!launches || api === 'host' || seen.has(key) || toRange(place).start.isAfter(position)) return [];
      seen.add(key);
      const item = new vscode.CompletionItem(
        { label: key, ...(agent && { description: agent }) },
        vscode.CompletionItemKind.Reference,
      );
      item.range = range;
      return [item];
    });
  }
}

/** What has been typed of a string, and the rest of it up to its quote. */
function openString(
  document: vscode.TextDocument,
  position: vscode.Position,
  typed: string,
  quote: string,
): vscode.Range {
  const after = document.lineAt(position).text.slice(position.character);
  const rest = new RegExp(`^[\\w.-]*(?=${quote})`).exec(after)?.[0] ?? '';
  return new vscode.Range(position.translate(0, -typed.length), position.translate(0, rest.length));
}

function snippets(document: vscode.TextDocument, position: vscode.Position): vscode.CompletionItem[] {
  const range = document.getWordRangeAtPosition(position) ?? new vscode.Range(position, position);
  const shapes = [
    { name: 'runs.run', about: vscode.l10n.t('Launch one child and wait for it'), text: texts['runs.run'] },
    {
      name: 'runs.all',
      about: vscode.l10n.t('Launch children at once, results in their order'),
      text: texts['runs.all'],
    },
    {
      name: 'runs.all map',
      about: vscode.l10n.t('Launch one child for each of several things'),
      text: texts['runs.all map'],
    },
    {
      name: 'runs.lanes',
      about: vscode.l10n.t('Run lanes beside each other, each in stages'),
      text: texts['runs.lanes'],
    },
    { name: 'runs.host', about: vscode.l10n.t('Run a command on this machine'), text: texts['runs.host'] },
    { name: 'runs.steer', about: vscode.l10n.t('Say something to a child'), text: texts['runs.steer'] },
    { name: 'emit', about: vscode.l10n.t('Publish a value while the workflow goes on'), text: texts['emit'] },
  ];
  return shapes.map(({ name, about, text: lines }) => {
    const text = lines.join('\n');
    const item = new vscode.CompletionItem({ label: name, description: about }, vscode.CompletionItemKind.Snippet);
    item.insertText = new vscode.SnippetString(text);
    item.range = range;
    item.detail = about;
    item.documentation = new vscode.MarkdownString().appendCodeblock(
      text.replace(/\$\{\d+:?([^}]*)\}|\$0/g, '$1'),
      'javascript',
    );
    item.sortText = `~${name}`;
    return item;
  });
}

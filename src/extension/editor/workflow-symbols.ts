/** The children of a script in outline and breadcrumbs: lanes with their stages, batches, single launches, host steps. */
import * as vscode from 'vscode';
import type { ScriptKey } from '../../protocol/index.ts';
import { toRange } from './script-ranges.ts';
import type { WorkflowChecks } from './workflow-checks.ts';
import { isWorkflow } from './workflow-files.ts';

export class WorkflowSymbols implements vscode.DocumentSymbolProvider {
  readonly #checks: WorkflowChecks;

  constructor(checks: WorkflowChecks) {
    this.#checks = checks;
  }

  async provideDocumentSymbols(document: vscode.TextDocument): Promise<vscode.DocumentSymbol[]> {
    if (!isWorkflow(document)) return [];
    await this.#checks.check(document);
    const keys = this.#checks.outline(document)?.keys ?? [];
    const lanes = keys.filter(({ api }) => api === 'lane').map((lane) => ({ lane, symbol: toSymbol(lane) }));
    const roots: vscode.DocumentSymbol[] = lanes.map(({ symbol }) => symbol);
    for (const key of keys) {
      if (!key.launches) continue;
      const symbol = toSymbol(key);
      const lane = key.api === 'stage' && lanes.find(({ symbol: around }) => around.range.contains(symbol.range));
      if (lane) lane.symbol.children.push(symbol);
      else roots.push(symbol);
    }
    return roots.sort((a, b) => a.range.start.compareTo(b.range.start));
  }
}

function toSymbol({ key, api, agent, label, range, whole }: ScriptKey): vscode.DocumentSymbol {
  const kind =
    api === 'lane' ? vscode.SymbolKind.Array : api === 'host' ? vscode.SymbolKind.Operator : vscode.SymbolKind.Event;
  const detail = [agent, label].filter(Boolean).join(' · ');
  return new vscode.DocumentSymbol(key, detail, kind, toRange(whole), toRange(range));
}

/** From what a definition names to where it is: skills, extensions, other agents, the settings that have the last word. */
import * as vscode from 'vscode';
import { targetAt } from '../../core/agent-language/index.ts';
import type { AgentDefinitions } from './agent-definitions.ts';
import { toRange } from './script-ranges.ts';

const START = new vscode.Range(0, 0, 0, 0);

export class AgentTargets implements vscode.DefinitionProvider {
  readonly #definitions: AgentDefinitions;

  constructor(definitions: AgentDefinitions) {
    this.#definitions = definitions;
  }

  async provideDefinition(
    document: vscode.TextDocument,
    position: vscode.Position,
  ): Promise<vscode.DefinitionLink[] | undefined> {
    if (!this.#definitions.isDefinition(document)) return undefined;
    const known = await this.#definitions.known(document);
    const places = this.#definitions.places(document);
    const target = targetAt(document.getText(), document.offsetAt(position), places, known);
    if (!target) return undefined;
    const { start, end } = target.span;
    const origin = new vscode.Range(document.positionAt(start), document.positionAt(end));
    for (const file of target.files) {
      const uri = vscode.Uri.file(file);
      if (!(await isFile(uri))) continue;
      const range = target.range ? toRange(target.range) : START;
      return [{ originSelectionRange: origin, targetUri: uri, targetRange: range }];
    }
    return undefined;
  }
}

async function isFile(uri: vscode.Uri): Promise<boolean> {
  return vscode.workspace.fs.stat(uri).then(
    ({ type }) => (type & vscode.FileType.File) !== 0,
    () => false,
  );
}

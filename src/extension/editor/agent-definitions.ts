/** Definitions of agents that are open, with what is known around them: for whoever helps to write or read one. */
import * as vscode from 'vscode';
import type { Known, TargetPlaces } from '../../core/agent-language/index.ts';
import { parseAgent } from '../../core/agents/index.ts';
import type { AgentChecks } from './agent-checks.ts';
import type { AgentNames } from './agent-names.ts';

/** What providers are registered for; each still asks `isDefinition`, because the folders are found. */
export const DEFINITION_LANGUAGES: vscode.DocumentSelector = [
  { language: 'markdown', scheme: 'file' },
  { language: 'markdown', scheme: 'vscode-remote' },
];

export class AgentDefinitions {
  readonly #checks: AgentChecks;
  readonly #names: AgentNames;
  readonly #home: string;

  constructor(checks: AgentChecks, names: AgentNames, home: string) {
    this.#checks = checks;
    this.#names = names;
    this.#home = home;
  }

  isDefinition(document: vscode.TextDocument): boolean {
    return this.#checks.isDefinition(document);
  }

  isAsking(document: vscode.TextDocument): boolean {
    return this.#names.isAsking(workFolder(document).fsPath);
  }

  async known(document: vscode.TextDocument): Promise<Known> {
    const folder = workFolder(document);
    const file = document.uri.fsPath;
    const own = parseAgent(document.getText(), { file, source: 'user' }).agent?.skillPath ?? [];
    const [{ agents }, skills] = await Promise.all([
      this.#checks.recentAgents(folder),
      this.#names.skills(folder.fsPath, own),
    ]);
    return { ...this.#names.of(folder.fsPath), skills, agents };
  }

  places(document: vscode.TextDocument): TargetPlaces {
    return { file: document.uri.fsPath, cwd: workFolder(document).fsPath, home: this.#home };
  }
}

/** The folder agents of this window work in. */
export function workFolder({ uri }: vscode.TextDocument): vscode.Uri {
  const [first] = vscode.workspace.workspaceFolders ?? [];
  return (vscode.workspace.getWorkspaceFolder(uri) ?? first)?.uri ?? vscode.Uri.joinPath(uri, '..');
}

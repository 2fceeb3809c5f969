/** All places of a script that mean one child, and another name for it in all of them. */
import * as vscode from 'vscode';
import { type ScriptKey, WORKFLOW_KEY } from '../../protocol/index.ts';
import { toRange } from './script-ranges.ts';
import type { WorkflowChecks } from './workflow-checks.ts';
import { isWorkflow } from './workflow-files.ts';

export class KeyReferences implements vscode.ReferenceProvider, vscode.DefinitionProvider, vscode.RenameProvider {
  readonly #checks: WorkflowChecks;

  constructor(checks: WorkflowChecks) {
    this.#checks = checks;
  }

  async provideReferences(
    document: vscode.TextDocument,
    position: vscode.Position,
    { includeDeclaration }: vscode.ReferenceContext,
  ): Promise<vscode.Location[]> {
    const { at, same } = await this.#sameKey(document, position);
    if (!at) return [];
    const wanted = includeDeclaration ? same : same.filter((key) => key !== same.find(({ launches }) => launches));
    return wanted.map(({ range }) => new vscode.Location(document.uri, toRange(range)));
  }

  /** From steering to the launch. */
  async provideDefinition(
    document: vscode.TextDocument,
    position: vscode.Position,
  ): Promise<vscode.Location | undefined> {
    const { same } = await this.#sameKey(document, position);
    const launch = same.find(({ launches }) => launches);
    return launch && new vscode.Location(document.uri, toRange(launch.range));
  }

  async prepareRename(
    document: vscode.TextDocument,
    position: vscode.Position,
  ): Promise<{ range: vscode.Range; placeholder: string }> {
    const { at } = await this.#renamable(document, position);
    return { range: inside(at), placeholder: at.key };
  }

  async provideRenameEdits(
    document: vscode.TextDocument,
    position: vscode.Position,
    newName: string,
  ): Promise<vscode.WorkspaceEdit> {
    const { at, same, others } = await this.#renamable(document, position);
    if (!WORKFLOW_KEY.test(newName)) {
      throw new Error(
        vscode.l10n.t('A key has 1 to 128 characters: letters, digits, ".", "_", "-"; the first is a letter or digit.'),
      );
    }
    if (newName !== at.key && others.some(({ key }) => key === newName)) {
      throw new Error(vscode.l10n.t('The key {0} is used for another child of this script.', newName));
    }
    const edit = new vscode.WorkspaceEdit();
    for (const key of same) edit.replace(document.uri, inside(key), newName);
    return edit;
  }

  /** The key at a place that can be renamed; throws with the reason, which the editor shows. */
  async #renamable(document: vscode.TextDocument, position: vscode.Position) {
    const { at, same, others } = await this.#sameKey(document, position);
    if (!at) throw new Error(vscode.l10n.t('There is no key of a child here.'));
    if (same.some(({ api }) => api === 'stage' || api === 'lane')) {
      throw new Error(vscode.l10n.t('The key of a stage is made of two names; change them where they stand.'));
    }
    return { at, same, others };
  }

  async #sameKey(document: vscode.TextDocument, position: vscode.Position) {
    if (!isWorkflow(document)) return { at: undefined, same: [], others: [] };
    await this.#checks.check(document);
    const keys = this.#checks.outline(document)?.keys ?? [];
    const at = keys.find(({ range }) => toRange(range).contains(position));
    return {
      at,
      same: keys.filter(({ key }) => key === at?.key),
      others: keys.filter(({ key }) => key !== at?.key),
    };
  }
}

/** What stands between the quotes. */
function inside({ range }: ScriptKey): vscode.Range {
  const { start, end } = toRange(range);
  return new vscode.Range(start.translate(0, 1), end.translate(0, -1));
}

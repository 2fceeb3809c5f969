/** Which row of the Library an action is meant for. The editor hands over none that is just being drawn anew. */
import * as vscode from 'vscode';
import type { Services } from '../services.ts';
import type { LibraryNode } from '../trees/library/library-node.ts';

type AgentNode = Extract<LibraryNode, { kind: 'agent' }>;
type DefinitionNode = Extract<LibraryNode, { kind: 'agent' | 'script' }>;
type Action = (services: Services, clicked: unknown) => Promise<void> | void;

/** The agent an action is meant for: of the row it came from, else of the selected row. None: the person is told. */
export function clickedAgent({ library }: Services, clicked: unknown): AgentNode | undefined {
  const node = library.meant(clicked);
  if (node?.kind === 'agent') return node;
  void vscode.window.showInformationMessage(vscode.l10n.t('Choose an agent in the Library, then try again.'));
  return undefined;
}

/** The same for agents and scripts. */
export function clickedDefinition({ library }: Services, clicked: unknown): DefinitionNode | undefined {
  const node = library.meant(clicked);
  if (node?.kind === 'agent' || node?.kind === 'script') return node;
  tellNoRow();
  return undefined;
}

/**
 * An action of a row, which never takes something else in the place of a row that got lost: not what is selected, nor the script
 * in hand. A menu hands over two things even then; keys and the palette hand over none.
 */
export function ofRow(action: Action) {
  return (services: Services, clicked: unknown, _selected: unknown, count: number): Promise<void> | void => {
    if (count > 1 && (clicked === undefined || clicked === null)) return tellNoRow();
    return action(services, clicked);
  };
}

function tellNoRow(): void {
  void vscode.window.showInformationMessage(
    vscode.l10n.t('Choose an agent or a workflow in the Library, then try again.'),
  );
}

import type * as vscode from 'vscode';
import type { AgentDiagnostic, ErrorValue } from '../../../protocol/index.ts';
import type { AgentGroup, AgentRow } from '../../library/library-layout.ts';
import type { ScriptRow } from '../../library/library-scripts.ts';

export type NoteKind = 'untrusted' | 'no-pi' | 'no-agents' | 'no-scripts' | 'looking';

/** A row of the Library. Each knows the folder whose agents and scripts it is about. */
export type LibraryNode = { folder: vscode.WorkspaceFolder } & (
  | { kind: 'project' }
  | { kind: 'group'; group: AgentGroup | 'scripts' }
  | { kind: 'agent'; row: AgentRow }
  | { kind: 'script'; row: ScriptRow }
  | { kind: 'problem'; problem: AgentDiagnostic }
  | { kind: 'failure'; error: ErrorValue }
  | { kind: 'note'; note: NoteKind; group?: AgentGroup }
);

const KINDS: ReadonlySet<unknown> = new Set<LibraryNode['kind']>([
  'project',
  'group',
  'agent',
  'script',
  'problem',
  'failure',
  'note',
]);

/** What a menu or a row hands to a command, where it is one of ours. */
export function libraryNode(clicked: unknown): LibraryNode | undefined {
  return isNode(clicked) ? clicked : undefined;
}

/** The script of a row. */
export function libraryScript(clicked: unknown): vscode.Uri | undefined {
  const node = libraryNode(clicked);
  return node?.kind === 'script' ? node.row.uri : undefined;
}

function isNode(clicked: unknown): clicked is LibraryNode {
  return (
    typeof clicked === 'object' &&
    clicked !== null &&
    'folder' in clicked &&
    'kind' in clicked &&
    KINDS.has(clicked.kind)
  );
}

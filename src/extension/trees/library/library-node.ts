import type * as vscode from 'vscode';
import type { AgentDiagnostic, ErrorValue } from '../../../protocol/index.ts';
import type { AgentGroup, AgentRow } from '../../library/library-layout.ts';
import type { ScriptRow } from '../../library/library-scripts.ts';

export type NoteKind = 'untrusted' | 'no-pi' | 'no-agents' | 'no-scripts' | 'looking';

export interface GroupFacts {
  group: AgentGroup | 'scripts';
  /** Rows in it; `undefined` while they are being looked for. */
  count: number | undefined;
  /** Rows that cannot be used because of mistakes. */
  broken: number;
  open: boolean;
}

/** A row of the Library. Each knows the folder whose agents and scripts it is about. */
export type LibraryNode = { folder: vscode.WorkspaceFolder } & (
  | { kind: 'project' }
  | { kind: 'group'; group: AgentGroup | 'scripts'; facts: GroupFacts }
  | { kind: 'agent'; row: AgentRow }
  | { kind: 'script'; row: ScriptRow }
  | { kind: 'problem'; problem: AgentDiagnostic }
  | { kind: 'failure'; of: 'agents' | 'scripts'; error: ErrorValue }
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

/** By it a row is known again, whatever becomes of it. */
export function idOf(node: LibraryNode): string {
  const at = node.folder.uri.toString();
  switch (node.kind) {
    case 'project':
      return `project ${at}`;
    case 'group':
      return `group ${node.group} ${at}`;
    case 'agent':
      return `agent ${node.row.group} ${node.row.name} ${node.row.file} ${at}`;
    case 'script':
      return `script ${node.row.path} ${at}`;
    case 'problem':
      return `problem ${node.problem.file} ${node.problem.line} ${node.problem.column} ${node.problem.text} ${at}`;
    case 'failure':
      return `failure ${node.of} ${node.error.code} ${at}`;
    case 'note':
      return `note ${node.note} ${node.group ?? ''} ${at}`;
    default:
      return node satisfies never;
  }
}

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

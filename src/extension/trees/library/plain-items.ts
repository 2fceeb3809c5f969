/** Rows of the Library that are neither agents nor scripts: groups, what could not be read, and notes with the next step. */
import * as vscode from 'vscode';
import { visible } from '../../../core/transcripts/index.ts';
import type { AgentDiagnostic, ErrorValue } from '../../../protocol/index.ts';
import { BUILT_IN, COMMANDS, ITEM } from '../../command-ids.ts';
import { agentProblemWords } from '../../editor/agent-diagnostics.ts';
import { toRange } from '../../editor/script-ranges.ts';
import { errorWords } from '../../error-words.ts';
import type { AgentGroup } from '../../library/library-layout.ts';
import { groupTitle } from '../../library/whose.ts';
import { ERROR, WARNING } from '../runs/state-icon.ts';
import type { GroupFacts, LibraryNode, NoteKind } from './library-node.ts';

export function createGroupItem({ group, count, broken, open }: GroupFacts, id: string): vscode.TreeItem {
  const { Expanded, Collapsed } = vscode.TreeItemCollapsibleState;
  const title = groupTitle(group);
  const item = new vscode.TreeItem(title, open ? Expanded : Collapsed);
  item.id = id;
  item.contextValue = group === 'scripts' ? ITEM.scriptGroup : isOwnGroup(group) ? ITEM.ownGroup : ITEM.group;
  const faults = broken === 0 ? '' : vscode.l10n.t('{0} with mistakes', broken);
  item.description = [count ? String(count) : '', faults].filter(Boolean).join(' · ');
  item.accessibilityInformation = {
    label: [title, count === undefined ? '' : String(count), faults].filter(Boolean).join(', '),
  };
  return item;
}

function isOwnGroup(group: AgentGroup): boolean {
  return group === 'project' || group === 'user';
}

/** What is wrong with a folder of agents or with settings; a click opens it at its line. */
export function createFaultItem(problem: AgentDiagnostic, id: string): vscode.TreeItem {
  const words = agentProblemWords(problem);
  const uri = vscode.Uri.file(problem.file);
  const item = new vscode.TreeItem(visible(words));
  item.id = id;
  const isError = problem.severity === 'error';
  item.iconPath = new vscode.ThemeIcon(isError ? 'error' : 'warning', new vscode.ThemeColor(isError ? ERROR : WARNING));
  item.contextValue = ITEM.note;
  item.description = visible(vscode.workspace.asRelativePath(uri));
  item.tooltip = `${visible(words)}\n${visible(problem.file)}`;
  item.accessibilityInformation = { label: [visible(words), visible(problem.file)].join(' ') };
  if (problem.code === 'settings_invalid')
    item.command = {
      command: BUILT_IN.open,
      title: vscode.l10n.t('Open'),
      arguments: [uri, { selection: toRange(problem) }],
    };
  return item;
}

export function createFailureItem(error: ErrorValue, id: string): vscode.TreeItem {
  const { message, hint } = errorWords(error);
  const item = new vscode.TreeItem(visible(message.split('\n')[0] ?? message));
  item.id = id;
  item.iconPath = new vscode.ThemeIcon('error', new vscode.ThemeColor(ERROR));
  item.contextValue = ITEM.note;
  item.tooltip = [message, hint].filter(Boolean).join('\n');
  item.accessibilityInformation = { label: [message, hint].filter(Boolean).join(' ') };
  item.command = { command: COMMANDS.showOutput, title: vscode.l10n.t('Show Output') };
  return item;
}

/** What is not there, and what a person can do about it; a click does it. */
export function createNoteItem(note: NoteKind, id: string, node: LibraryNode): vscode.TreeItem {
  const { text, more, icon, command, isWarning } = noteOf(note, node);
  const item = new vscode.TreeItem(text);
  item.id = id;
  item.contextValue = ITEM.note;
  if (more !== undefined) item.description = more;
  item.iconPath = new vscode.ThemeIcon(icon, isWarning ? new vscode.ThemeColor(WARNING) : undefined);
  item.tooltip = [text, more].filter(Boolean).join(': ');
  item.accessibilityInformation = { label: [text, more].filter(Boolean).join(', ') };
  if (command) item.command = { command, title: text, arguments: [node] };
  return item;
}

interface Note {
  text: string;
  /** Why, or what a click is good for. */
  more?: string;
  icon: string;
  command?: string;
  isWarning?: boolean;
}

function noteOf(note: NoteKind, node: LibraryNode): Note {
  switch (note) {
    case 'untrusted':
      return {
        text: vscode.l10n.t('Workspace not trusted'),
        more: vscode.l10n.t('agents of the project are left out'),
        icon: 'shield',
        command: BUILT_IN.manageTrust,
      };
    case 'no-pi':
      return {
        text: vscode.l10n.t('Install Pi…'),
        more: vscode.l10n.t('nothing can be launched without it'),
        icon: 'warning',
        command: COMMANDS.installPi,
        isWarning: true,
      };
    case 'no-agents':
      return {
        text: vscode.l10n.t('New Agent…'),
        more:
          node.kind === 'note' && node.group === 'project'
            ? vscode.l10n.t('none of this project yet')
            : vscode.l10n.t('none of your own yet'),
        icon: 'add',
        command: COMMANDS.newAgent,
      };
    case 'no-scripts':
      return {
        text: vscode.l10n.t('New Workflow…'),
        more: vscode.l10n.t('no scripts yet'),
        icon: 'add',
        command: COMMANDS.newWorkflow,
      };
    case 'looking':
      return { text: vscode.l10n.t('Looking for scripts…'), icon: 'loading~spin' };
    default:
      return note satisfies never;
  }
}

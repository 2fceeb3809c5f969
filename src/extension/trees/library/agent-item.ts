/** One definition of an agent as a row of the Library. */
import * as vscode from 'vscode';
import { visible } from '../../../core/transcripts/index.ts';
import { cutText } from '../../../protocol/index.ts';
import { COMMANDS, ITEM } from '../../command-ids.ts';
import type { AgentRow } from '../../library/library-layout.ts';
import { hiddenWords, sourceWords } from '../../library/whose.ts';
import { ERROR, WARNING } from '../runs/state-icon.ts';
import type { LibraryNode } from './library-node.ts';

const DIM = 'disabledForeground';
const MAX_DESCRIPTION_CHARS = 120;

export function createAgentItem(row: AgentRow, id: string, node: LibraryNode): vscode.TreeItem {
  const item = new vscode.TreeItem(visible(row.name));
  item.id = id;
  item.iconPath = iconOf(row);
  item.contextValue = contextOf(row);
  item.description = descriptionOf(row);
  item.accessibilityInformation = { label: sentenceOf(row) };
  // The editor then shows the problems of the file beside its row, and what git says of it.
  if (row.group !== 'builtin') item.resourceUri = vscode.Uri.file(row.file);
  item.command = { command: COMMANDS.openDefinition, title: vscode.l10n.t('Open'), arguments: [node] };
  return item;
}

export function isOwn({ group }: Pick<AgentRow, 'group'>): boolean {
  return group === 'user' || group === 'project';
}

function contextOf(row: AgentRow): string {
  const { state, canReset } = row;
  switch (state.kind) {
    case 'usable':
      if (isOwn(row)) return canReset ? ITEM.replacingAgent : ITEM.ownAgent;
      return canReset ? ITEM.changedAgent : ITEM.bundledAgent;
    case 'disabled':
      return isOwn(row) ? ITEM.disabledOwnAgent : ITEM.disabledAgent;
    case 'refused':
      if (isOwn(row)) return ITEM.brokenAgent;
      return canReset ? ITEM.brokenOverride : ITEM.hiddenAgent;
    case 'hidden':
      return ITEM.hiddenAgent;
    default:
      return state satisfies never;
  }
}

function iconOf({ state, problems }: AgentRow): vscode.ThemeIcon {
  const icon = (name: string, colour?: string) =>
    new vscode.ThemeIcon(name, colour === undefined ? undefined : new vscode.ThemeColor(colour));
  if (state.kind === 'hidden') return icon('eye-closed', DIM);
  if (state.kind === 'disabled') return icon('circle-slash', DIM);
  if (state.kind === 'refused') return icon('error', ERROR);
  return problems.some(({ severity }) => severity !== 'info') ? icon('warning', WARNING) : icon('hubot');
}

/** Why it is not launched as it stands; `undefined` for an agent that is. */
function stateWords({ state, group, unsupported }: AgentRow): string | undefined {
  if (state.kind === 'hidden') return hiddenWords(group, state.by.source);
  if (state.kind === 'disabled') return vscode.l10n.t('disabled');
  if (state.kind === 'refused') return vscode.l10n.t('has mistakes');
  return unsupported.length === 0 ? undefined : vscode.l10n.t('cannot be launched yet: {0}', unsupported.join(', '));
}

/** The model without its provider, and the level, as far as the definition or settings name them. */
function modelWords({ agent, state }: AgentRow): string | undefined {
  if (!agent || state.kind !== 'usable') return undefined;
  const { model, thinking } = agent;
  const name = model === 'inherit' ? vscode.l10n.t('model of the parent') : model?.slice(model.indexOf('/') + 1);
  const level = thinking === undefined || thinking === false ? undefined : vscode.l10n.t('thinking {0}', thinking);
  return [name, level].filter(Boolean).join(', ') || undefined;
}

function descriptionOf(row: AgentRow): string {
  const { agent, fromPackage } = row;
  const words = agent && cutText(visible(agent.description).replace(/\s+/g, ' '), MAX_DESCRIPTION_CHARS);
  return [stateWords(row), modelWords(row), fromPackage?.name, words].filter(Boolean).join(' · ');
}

function sentenceOf(row: AgentRow): string {
  const { name, agent, problems, state } = row;
  const worst = state.kind === 'refused' ? undefined : problemCount(problems.length);
  const facts = [
    vscode.l10n.t('Agent {0}, {1}', visible(name), sourceWords(row)),
    stateWords(row),
    worst,
    modelWords(row),
    agent && visible(agent.description).replace(/\s+/g, ' '),
  ];
  return facts.filter(Boolean).join(', ');
}

function problemCount(count: number): string | undefined {
  if (count === 0) return undefined;
  return count === 1 ? vscode.l10n.t('1 problem') : vscode.l10n.t('{0} problems', count);
}

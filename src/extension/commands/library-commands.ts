/** What the rows of the Library offer without changing anything. */
import * as vscode from 'vscode';
import { BUILT_IN } from '../command-ids.ts';
import { toRange } from '../editor/script-ranges.ts';
import type { Services } from '../services.ts';
import { launchWith } from './launch-agent.ts';
import { clickedAgent, clickedDefinition } from './library-row.ts';

export async function launchLibraryAgent(services: Services, clicked: unknown): Promise<void> {
  const node = clickedAgent(services, clicked);
  if (!node) return;
  await launchWith(services, { about: node.folder.uri, agent: node.row.name });
}

/** Opens a definition or a script; one that cannot be used where it is wrong. */
export async function openDefinition(services: Services, clicked: unknown): Promise<void> {
  const node = clickedDefinition(services, clicked);
  if (node?.kind === 'script') await vscode.commands.executeCommand(BUILT_IN.open, node.row.uri);
  if (node?.kind !== 'agent') return;
  const { name, group, file, state } = node.row;
  const fault = state.kind === 'refused' ? state.diagnostic : undefined;
  if (fault) {
    await vscode.commands.executeCommand(BUILT_IN.open, vscode.Uri.file(fault.file), { selection: toRange(fault) });
    return;
  }
  const uri = group === 'builtin' ? services.agentDocuments.uriOf(name) : vscode.Uri.file(file);
  await vscode.commands.executeCommand(BUILT_IN.open, uri);
}

/** In the editor's explorer where it is shown there, else in that of the machine. */
export async function revealDefinition(services: Services, clicked: unknown): Promise<void> {
  const node = clickedDefinition(services, clicked);
  if (!node) return;
  const uri = node.kind === 'script' ? node.row.uri : vscode.Uri.file(node.row.file);
  if (vscode.workspace.getWorkspaceFolder(uri)) {
    await vscode.commands.executeCommand(BUILT_IN.revealInExplorer, uri);
  } else if (vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined) {
    await vscode.commands.executeCommand(BUILT_IN.revealInOs, uri);
  } else {
    // A browser or a remote window has no file manager of that machine.
    await vscode.env.clipboard.writeText(uri.fsPath);
    vscode.window.setStatusBarMessage(vscode.l10n.t('Path copied: {0}', uri.fsPath), 5000);
  }
}

export async function copyAgentName(services: Services, clicked: unknown): Promise<void> {
  const node = clickedAgent(services, clicked);
  if (!node) return;
  await vscode.env.clipboard.writeText(node.row.name);
  vscode.window.setStatusBarMessage(vscode.l10n.t('Name copied'), 2000);
}

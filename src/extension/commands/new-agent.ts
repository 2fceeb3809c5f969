/** New definitions of agents: from nothing, and as copies of others. */
import * as vscode from 'vscode';
import { type ChangeScope, plainName } from '../../core/agents/index.ts';
import { chooseDefinitionScope } from '../library/choose-scope.ts';
import { makeChange, tellChange } from '../library/make-change.ts';
import type { Services } from '../services.ts';
import { libraryNode } from '../trees/library/library-node.ts';
import { libraryFolder } from './library-folder.ts';
import { clickedAgent } from './library-row.ts';

export async function newAgent(services: Services, clicked: unknown): Promise<void> {
  const title = vscode.l10n.t('New Agent');
  const folder = await libraryFolder(services, clicked, title);
  if (!folder) return;
  const name = await askName(services, folder, { title, value: '' });
  if (name === undefined) return;
  const description = await vscode.window.showInputBox({
    title,
    prompt: vscode.l10n.t('What is {0} for? Whoever chooses an agent goes by this.', name),
    ignoreFocusOut: true,
    validateInput: (value) => (value.trim() === '' ? vscode.l10n.t('Say it in a sentence.') : undefined),
  });
  if (description === undefined) return;
  const scope = await chooseDefinitionScope(services.toolbox, folder, title, scopeOfGroup(clicked));
  if (!scope) return;
  const config = { name, description: description.trim(), systemPrompt: `${description.trim()}\n` };
  const change = await makeChange(services, folder, (changes) => changes.create(config, scope));
  await openLast(change.files[0]);
  if (change.hides) tellChange(services, folder, change, replacedText(change.name));
}

export async function duplicateAgent(services: Services, clicked: unknown): Promise<void> {
  const node = clickedAgent(services, clicked);
  if (!node) return;
  const { folder, row } = node;
  const title = vscode.l10n.t('Duplicate {0}', row.name);
  const name = await askName(services, folder, { title, value: plainName(`${row.name.replaceAll('.', '-')}-2`) });
  if (name === undefined) return;
  const scope = await chooseDefinitionScope(services.toolbox, folder, title);
  if (!scope) return;
  const change = await makeChange(services, folder, (changes) => changes.duplicate(row.name, name, scope));
  await openLast(change.files[0]);
}

/** A copy of one that came along, under its own name: from then on it is launched in the place of the other. */
export async function ejectAgent(services: Services, clicked: unknown): Promise<void> {
  const node = clickedAgent(services, clicked);
  if (!node) return;
  const { folder, row } = node;
  const title = vscode.l10n.t('Eject {0}', row.name);
  const scope = await chooseDefinitionScope(services.toolbox, folder, title);
  if (!scope) return;
  const change = await makeChange(services, folder, (changes) => changes.eject(row.name, scope));
  await openLast(change.files[0]);
  tellChange(services, folder, change, replacedText(change.name));
}

/** Whoever asks from the heading of one's own agents has said whose it is to be. */
function scopeOfGroup(clicked: unknown): ChangeScope | undefined {
  const node = libraryNode(clicked);
  const group = node?.kind === 'group' || node?.kind === 'note' ? node.group : undefined;
  return group === 'user' || group === 'project' ? group : undefined;
}

function replacedText(name: string): string {
  return vscode.l10n.t('{0} is launched from this file now. Reset to the Original takes it away again.', name);
}

async function askName(
  { agents }: Services,
  folder: vscode.WorkspaceFolder,
  { title, value }: { title: string; value: string },
): Promise<string | undefined> {
  const found = await agents.agents(folder.uri);
  const known = [...found.agents, ...found.disabled.map(({ agent }) => agent), ...found.refused];
  const typed = await vscode.window.showInputBox({
    title,
    value,
    prompt: vscode.l10n.t('By which name is it launched? Small letters, digits and dashes.'),
    ignoreFocusOut: true,
    validateInput: (text) => {
      const name = nameOf(text);
      if (name === undefined) return vscode.l10n.t('A name needs a letter or a digit.');
      const other = known.find((one) => one.name === name);
      if (other && (other.source === 'builtin' || other.source === 'package'))
        return {
          message: vscode.l10n.t('It will take the place of {0}, which comes with a package or with Pi Lanes.', name),
          severity: vscode.InputBoxValidationSeverity.Warning,
        };
      if (other) return vscode.l10n.t('There is an agent of this name already.');
      if (name === text.trim()) return undefined;
      return {
        message: vscode.l10n.t('It will be called {0}.', name),
        severity: vscode.InputBoxValidationSeverity.Info,
      };
    },
  });
  return typed === undefined ? undefined : nameOf(typed);
}

function nameOf(text: string): string | undefined {
  try {
    return plainName(text);
  } catch {
    return undefined;
  }
}

async function openLast(file: string | undefined): Promise<void> {
  if (file === undefined) return;
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(file));
  const end = document.lineAt(document.lineCount - 1).range.end;
  await vscode.window.showTextDocument(document, { preview: false, selection: new vscode.Range(end, end) });
}

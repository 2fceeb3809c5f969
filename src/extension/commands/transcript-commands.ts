/** Commands that show transcripts, or write them to a file. */
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import type { RunSnapshot } from '../../client/index.ts';
import { cutText, lanesError, type SourceFile } from '../../protocol/index.ts';
import { BUILT_IN } from '../command-ids.ts';
import { filesOfRun } from '../panels/transcript/transcript-panel.ts';
import { findChild } from '../runs/child-state.ts';
import type { Services } from '../services.ts';
import { TranscriptDocuments } from '../transcripts/transcript-documents.ts';
import { type ChosenChild, chooseChild } from './choose-child.ts';
import { chooseRun } from './choose-run.ts';

const anyRun = (services: Services, node: unknown) =>
  chooseRun(services, node, () => true, vscode.l10n.t('There are no runs here yet.'));

interface Meant {
  snapshot: RunSnapshot;
  child: ChosenChild;
}

/** What was clicked, else the child of the panel in front. */
function clickedOrFront({ panels }: Services, clicked: unknown): unknown {
  const { subject } = (clicked === undefined && panels.active()) || {};
  if (subject?.kind !== 'run') return clicked;
  return { runId: basename(subject.directory), directory: subject.directory, child: subject.child };
}

/** The child an action is meant for, else one the person picks. */
async function childFor(services: Services, node: unknown): Promise<Meant | undefined> {
  const snapshot = await anyRun(services, node);
  if (!snapshot) return undefined;
  const none = vscode.l10n.t('This workflow has no agents yet.');
  const child = await chooseChild(services, snapshot, node, () => true, none);
  return child && { snapshot, child };
}

export async function openTranscript(services: Services, node: unknown): Promise<void> {
  const meant = await childFor(services, node);
  if (!meant) return;
  const { snapshot, child } = meant;
  services.panels.show({ kind: 'run', directory: snapshot.directory, child: child.child });
  services.seen.markSeen([snapshot]);
}

export async function openTranscriptText(services: Services, node: unknown): Promise<void> {
  const { subject } = (node === undefined && services.panels.active()) || {};
  if (subject?.kind === 'session') {
    await vscode.commands.executeCommand(BUILT_IN.open, vscode.Uri.file(subject.file));
    return;
  }
  const meant = await childFor(services, clickedOrFront(services, node));
  if (!meant) return;
  const { directory, runId, view } = meant.snapshot;
  const { child, title } = meant.child;
  const agent = findChild(meant.snapshot, child)?.agent ?? view?.agent ?? '';
  const uri = TranscriptDocuments.uriFor({ directory, runId, child, agent, title });
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document, { preview: true });
  services.seen.markSeen([meant.snapshot]);
}

/** Any session file of Pi: the one that was clicked, else one the person picks. */
export async function openSession(services: Services, clicked: unknown): Promise<void> {
  const given = clicked instanceof vscode.Uri ? clicked : undefined;
  const uri = given ?? (await pickSession(services));
  if (!uri) return;
  if (uri.scheme !== 'file') {
    throw lanesError('transcript_unreadable:elsewhere', { address: uri.toString(true) });
  }
  services.panels.show({ kind: 'session', file: uri.fsPath });
}

async function pickSession({ toolbox }: Services): Promise<vscode.Uri | undefined> {
  const picked = await vscode.window.showOpenDialog({
    defaultUri: vscode.Uri.file(join(toolbox.agentDir, 'sessions')),
    filters: { [vscode.l10n.t('Pi sessions')]: ['jsonl'] },
    openLabel: vscode.l10n.t('Open as Transcript'),
  });
  return picked?.[0];
}

export async function exportTranscript(services: Services, node: unknown): Promise<void> {
  const what = await exported(services, node);
  if (!what) return;
  const { files, title } = what;
  const name = `${cutText(
    title
      .replace(/[^\p{L}\p{N} ._-]+/gu, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
    60,
  )}.md`;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const target = await vscode.window.showSaveDialog({
    ...(folder ? { defaultUri: vscode.Uri.joinPath(folder, name) } : {}),
    filters: { Markdown: ['md'] },
    saveLabel: vscode.l10n.t('Export'),
  });
  if (!target) return;
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: vscode.l10n.t('Exporting the transcript…'),
    cancellable: true,
  };
  const isDone = await vscode.window.withProgress(options, async (_, token) => {
    const cancel = new AbortController();
    token.onCancellationRequested(() => cancel.abort());
    await services.panels.export(files, title, target.fsPath, cancel.signal);
    return !cancel.signal.aborted;
  });
  if (isDone) await vscode.window.showTextDocument(target, { preview: true });
}

async function exported(
  services: Services,
  node: unknown,
): Promise<{ files: SourceFile[]; title: string } | undefined> {
  const { subject } = (node === undefined && services.panels.active()) || {};
  if (subject?.kind === 'session')
    return { files: [{ kind: 'session', path: subject.file }], title: basename(subject.file, '.jsonl') };
  const meant = await childFor(services, clickedOrFront(services, node));
  return meant && { files: filesOfRun(meant.snapshot, meant.child.child), title: meant.child.title };
}

export function findInTranscript({ panels }: Services): void {
  panels.active()?.focus('find');
}

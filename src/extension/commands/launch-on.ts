/** Launch Agent on Selection, File, Folder or Problems: the same launch, with what it is about. */
import * as vscode from 'vscode';
import { LanesError } from '../../protocol/index.ts';
import { filesText, type Problem, problemsText, selectionText } from '../launch/attachment.ts';
import { folderOf } from '../launch/choose-folder.ts';
import type { Services } from '../services.ts';
import { launchWith } from './launch-agent.ts';

/** As the agent finds it: below its folder, or absolute. */
function pathOf(uri: vscode.Uri): string {
  if (!folderOf(uri)) return uri.scheme === 'file' ? uri.fsPath : uri.path;
  return vscode.workspace.asRelativePath(uri, false);
}

export async function launchOnSelection(services: Services): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.selection.isEmpty)
    throw refused(vscode.l10n.t('Nothing is selected.'), vscode.l10n.t('Select text first.'));
  const { document, selection } = editor;
  const path = pathOf(document.uri);
  const firstLine = selection.start.line + 1;
  // A selection of whole lines ends at the beginning of the next.
  const lastLine = selection.end.character === 0 ? selection.end.line : selection.end.line + 1;
  const text = selectionText({
    path,
    firstLine,
    lastLine,
    language: document.languageId,
    text: document.getText(selection),
    unsaved: document.isDirty,
  });
  const lines = firstLine === lastLine ? String(firstLine) : `${firstLine}-${lastLine}`;
  const label = `${path}:${lines}`;
  await launchWith(services, { about: document.uri, attached: { label, text } });
}

/** @param clicked the row of the explorer, and `selected` all that are selected there; neither: the file in hand */
export async function launchOnFile(services: Services, clicked: unknown, selected: unknown): Promise<void> {
  const uris = urisOf(clicked, selected).filter(({ scheme }) => scheme === 'file');
  if (uris.length === 0) throw refused(vscode.l10n.t('No file is open.'), vscode.l10n.t('Open a file first.'));
  const paths = uris.map(pathOf);
  const label = paths.length === 1 ? (paths[0] ?? '') : vscode.l10n.t('{0} files', paths.length);
  await launchWith(services, { about: uris[0], attached: { label, text: filesText(paths) } });
}

export async function launchOnProblems(services: Services, clicked: unknown, selected: unknown): Promise<void> {
  const uris = urisOf(clicked, selected);
  const found = vscode.languages.getDiagnostics().filter(([uri]) => uris.some((above) => isWithin(uri, above)));
  const problems = found.flatMap(([uri, diagnostics]) => diagnostics.map((diagnostic) => problemOf(uri, diagnostic)));
  const where = uris.length === 1 && uris[0] ? pathOf(uris[0]) : vscode.l10n.t('{0} files', uris.length);
  if (problems.length === 0) throw refused(vscode.l10n.t('The editor reports no problems in {0}.', where));
  const label =
    problems.length === 1
      ? vscode.l10n.t('1 problem in {0}', where)
      : vscode.l10n.t('{0} problems in {1}', problems.length, where);
  await launchWith(services, {
    about: uris[0],
    attached: { label, text: problemsText(problems) },
    proposal: vscode.l10n.t('Fix these problems.'),
  });
}

function urisOf(clicked: unknown, selected: unknown): vscode.Uri[] {
  const given = (Array.isArray(selected) ? selected : []).filter((one) => one instanceof vscode.Uri);
  if (given.length > 0) return given;
  if (clicked instanceof vscode.Uri) return [clicked];
  const open = vscode.window.activeTextEditor?.document.uri;
  return open ? [open] : [];
}

function isWithin(uri: vscode.Uri, above: vscode.Uri): boolean {
  if (uri.scheme !== above.scheme || uri.authority !== above.authority) return false;
  return uri.path === above.path || uri.path.startsWith(`${above.path.replace(/\/$/, '')}/`);
}

const SEVERITY = {
  [vscode.DiagnosticSeverity.Error]: 'error',
  [vscode.DiagnosticSeverity.Warning]: 'warning',
  [vscode.DiagnosticSeverity.Information]: 'information',
  [vscode.DiagnosticSeverity.Hint]: 'hint',
} as const;

function problemOf(uri: vscode.Uri, { range, severity, message, source, code }: vscode.Diagnostic): Problem {
  const number = typeof code === 'object' ? code.value : code;
  return {
    path: pathOf(uri),
    line: range.start.line + 1,
    column: range.start.character + 1,
    severity: SEVERITY[severity],
    message,
    source: number === undefined ? (source ?? '') : `${source ?? ''}(${number})`,
  };
}

function refused(message: string, hint?: string): LanesError {
  return new LanesError({ code: 'launch_invalid', message, ...(hint === undefined ? {} : { hint }) });
}

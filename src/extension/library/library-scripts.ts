/** The workflow scripts of a folder, found by their places, and what the check says of each. */
import { relative } from 'node:path';
import * as vscode from 'vscode';
import type { Finding } from '../../protocol/index.ts';
import { workflowFolders } from '../configuration.ts';
import type { WorkflowChecks } from '../editor/index.ts';

export interface ScriptRow {
  uri: vscode.Uri;
  /** From the workspace folder on. */
  path: string;
  /** Absent until it has been checked. */
  findings?: readonly Finding[];
  /** Why it cannot be read. */
  unreadable?: string;
}

const SCRIPT = '{js,mjs}';
const MAX_SCRIPTS = 500;
/** Nobody writes workflows there, and there are many files. */
const LEFT_OUT = '**/{node_modules,.git}/**';
/** Bytes; a script that a run accepts is smaller. */
const MAX_BYTES = 1024 * 1024;

/** By their paths, at most 500. What the settings of the editor hide is left out. */
export async function findScripts(folder: vscode.WorkspaceFolder): Promise<ScriptRow[]> {
  const folders = workflowFolders(folder.uri).map((path) => path.replaceAll('\\', '/').replace(/\/+$/, ''));
  const patterns = [
    `**/*.workflow.${SCRIPT}`,
    `**/.pi/workflows/**/*.${SCRIPT}`,
    ...folders.map((path) => `${path}/**/*.${SCRIPT}`),
  ];
  const found = await Promise.all(
    patterns.map((pattern) =>
      vscode.workspace.findFiles(new vscode.RelativePattern(folder, pattern), LEFT_OUT, MAX_SCRIPTS),
    ),
  );
  const byPath = new Map(found.flat().map((uri) => [uri.fsPath, uri]));
  return [...byPath]
    .map(([file, uri]) => ({ uri, path: relative(folder.uri.fsPath, file) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .slice(0, MAX_SCRIPTS);
}

/** As it stands in the editor where it is open, else as it is on the disk. Never rejects. */
export async function checkScript(checks: WorkflowChecks, { uri, path }: ScriptRow): Promise<ScriptRow> {
  try {
    const open = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString() && !one.isClosed);
    const shown = open && checks.findings(open);
    if (shown) return { uri, path, findings: shown };
    const { size } = await vscode.workspace.fs.stat(uri);
    if (size > MAX_BYTES) return { uri, path, unreadable: vscode.l10n.t('It has more than {0} MiB.', 1) };
    const text = open?.getText() ?? new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
    return { uri, path, findings: await checks.findingsIn(uri, text) };
  } catch (error) {
    return { uri, path, unreadable: error instanceof Error ? error.message : String(error) };
  }
}

export function countOf(findings: readonly Finding[], severity: Finding['severity']): number {
  return findings.filter((finding) => finding.severity === severity).length;
}

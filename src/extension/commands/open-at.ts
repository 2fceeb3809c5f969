/**
 * Opens a file at a place that was found in it on the disk. The editor keeps files that were open, and hears later than we do that
 * one has changed: what is selected in the text it had before moves to another place when the new text comes.
 */
import * as vscode from 'vscode';
import { BUILT_IN } from '../command-ids.ts';

/** Milliseconds; a text that the editor decodes in another way is never the same. */
const RELOAD_DEADLINE_MS = 2000;

export async function openAt(uri: vscode.Uri, selection: vscode.Range): Promise<void> {
  const document = await vscode.workspace.openTextDocument(uri);
  if (!document.isDirty && !(await isAsOnDisk(document))) {
    // Showing it makes the editor read it again.
    await vscode.commands.executeCommand(BUILT_IN.open, uri);
    await reloaded(document);
  }
  await vscode.commands.executeCommand(BUILT_IN.open, uri, { selection });
}

/** Comes back when the document is as on the disk, or after two seconds. */
async function reloaded(document: vscode.TextDocument): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = () => {
      listening.dispose();
      clearTimeout(timer);
      resolve();
    };
    const look = async () => {
      if (await isAsOnDisk(document)) done();
    };
    const listening = vscode.workspace.onDidChangeTextDocument((change) => {
      if (change.document.uri.toString() === document.uri.toString()) void look();
    });
    const timer = setTimeout(done, RELOAD_DEADLINE_MS);
    void look();
  });
}

/** Never rejects: a file that cannot be read is not waited for. */
async function isAsOnDisk(document: vscode.TextDocument): Promise<boolean> {
  try {
    const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(document.uri));
    return withPlainEnds(text) === withPlainEnds(document.getText());
  } catch {
    return true;
  }
}

function withPlainEnds(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

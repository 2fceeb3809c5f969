/** Whoever has the transcript of a failed run before them has seen that it failed. */
import * as vscode from 'vscode';
import { runIdOfTranscript } from '../transcripts/transcript-documents.ts';
import type { RunsModel } from './runs-model.ts';
import type { SeenRuns } from './seen-runs.ts';

export function markReadAsSeen(runs: RunsModel, seen: SeenRuns): vscode.Disposable {
  return vscode.window.onDidChangeActiveTextEditor((editor) => {
    const runId = editor && runIdOfTranscript(editor.document.uri);
    const snapshot = runId === undefined ? undefined : runs.get(runId);
    if (snapshot) seen.markSeen([snapshot]);
  });
}

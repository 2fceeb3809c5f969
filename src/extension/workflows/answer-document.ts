/** What a run of one agent came to, as a document. */
import * as vscode from 'vscode';
import type { RunSnapshot, readResult } from '../../client/index.ts';
import { childLayout } from '../../core/projects/index.ts';
import { headOf, shownText, shownValue } from './result-parts.ts';

/** @param result `undefined`: the agent has left no answer, or none that can be read */
export function answerDocument(snapshot: RunSnapshot, result: Awaited<ReturnType<typeof readResult>>): string {
  const file = childLayout(snapshot.directory, 1).result;
  const { text = '', structuredOutput } = result ?? {};
  const none = vscode.l10n.t('Not there: this run has not written it, or it was removed.');
  return [
    ...headOf(snapshot),
    `## ${vscode.l10n.t('Answer')}`,
    result ? shownText(text, 'markdown', file) : none,
    ...(structuredOutput === undefined
      ? []
      : [`## ${vscode.l10n.t('Structured Answer')}`, shownValue(structuredOutput, file)]),
    '',
  ].join('\n\n');
}

/** What documents of all kinds of runs have: how a run is, why it ended, and values in full. */
import * as vscode from 'vscode';
import type { RunSnapshot } from '../../client/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import {
  cutText,
  describeError,
  elapsedMs,
  formatCost,
  formatDuration,
  formatTokens,
  totalTokens,
  type Usage,
  type WorkflowView,
} from '../../protocol/index.ts';
import { errorWords } from '../error-words.ts';
import { escaped, fenced } from '../markdown-text.ts';
import { runTitle, stateWord } from '../trees/runs/run-words.ts';

/** Of each part; the editor shows a document as one string. */
const MAX_PART_CHARS = 256 * 1024;

export function headOf(snapshot: RunSnapshot): string[] {
  return [`# ${escaped(runTitle(snapshot))}: ${stateWord(snapshot.state)}`, factsOf(snapshot), ...failureOf(snapshot)];
}

/** Texts are shown as they are, everything else as JSON. */
export function shownValue(value: unknown, file: string): string {
  if (typeof value === 'string') return shownText(value, 'text', file);
  return shownText(JSON.stringify(value ?? null, null, 2), 'json', file);
}

/** `file`: where all of it is. */
export function shownText(text: string, language: string, file: string): string {
  if (text.length <= MAX_PART_CHARS) return fenced(visible(text), language);
  const rest = vscode.l10n.t('Only the beginning is shown here; all of it is in {0}', escaped(file));
  return `${fenced(visible(cutText(text, MAX_PART_CHARS)), language)}\n\n${rest}`;
}

function factsOf({ view, state, runId, directory, skipped, damage }: RunSnapshot): string {
  const facts = [
    ...(view?.workflow?.file ? [vscode.l10n.t('Script: {0}', escaped(view.workflow.file))] : []),
    ...(view
      ? [
          vscode.l10n.t('Folder: {0}', escaped(view.cwd)),
          vscode.l10n.t('Started: {0}', new Date(view.createdAt).toLocaleString(vscode.env.language)),
          vscode.l10n.t('Time: {0}', formatDuration(elapsedMs(view, state, Date.now()))),
          usageWords(view.usage),
        ]
      : []),
    ...(view?.workflow?.output ? [outputWords(view.workflow.output)] : []),
    ...(view?.workflow?.continued ? [vscode.l10n.t('Continued: {0} times', view.workflow.continued)] : []),
    ...(skipped > 0 ? [vscode.l10n.t('Damaged: {0} records of its journal cannot be read', skipped)] : []),
    ...(damage === undefined ? [] : [vscode.l10n.t('Damaged: {0}', escaped(damage))]),
    vscode.l10n.t('Run: {0}', runId),
    vscode.l10n.t('Files: {0}', escaped(directory)),
  ];
  return facts.map((fact) => `- ${fact}`).join('\n');
}

function outputWords({ path, outcome, error }: NonNullable<WorkflowView['output']>): string {
  if (outcome !== 'failed')
    return outcome === null
      ? vscode.l10n.t('Result file, not written: {0}', escaped(path))
      : vscode.l10n.t('Result file: {0}', escaped(path));
  const reason = error ?? 'the reason is not known';
  return escaped(
    visible(errorWords(describeError('output_unusable:unsaved-result', { file: path, reason, result: '' })).message),
  );
}

function usageWords(usage: Usage): string {
  return vscode.l10n.t('Used: {0} tokens, {1}', formatTokens(totalTokens(usage)), formatCost(usage.cost));
}

function failureOf({ error, view }: RunSnapshot): string[] {
  const { message, hint } = error ? errorWords(error) : { message: view?.workflow?.failure?.message, hint: undefined };
  if (message === undefined) return [];
  return [
    `## ${vscode.l10n.t('Why It Ended')}`,
    fenced(visible(message), 'text'),
    ...(hint === undefined ? [] : [escaped(hint)]),
  ];
}

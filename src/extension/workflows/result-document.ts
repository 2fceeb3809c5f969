/** What a workflow came to, as a document. */
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Found, RunSnapshot, WorkflowReport } from '../../client/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import {
  type ChildView,
  cutText,
  formatCost,
  formatDuration,
  formatTokens,
  type HostStepView,
  totalTokens,
} from '../../protocol/index.ts';
import { errorWords } from '../error-words.ts';
import { escaped, table } from '../markdown-text.ts';
import { stateWord } from '../trees/runs/run-words.ts';
import { hostWord } from '../trees/runs/workflow/row-words.ts';
import { headOf, shownText, shownValue } from './result-parts.ts';

const MAX_CELL_CHARS = 200;

export function resultDocument(snapshot: RunSnapshot, report: WorkflowReport): string {
  const { view, directory } = snapshot;
  const resultFile = join(directory, 'result.json');
  return [
    ...headOf(snapshot),
    ...part(vscode.l10n.t('Value'), report.value, (value) => shownValue(value, resultFile), noValue(snapshot)),
    ...(report.isFromJournal
      ? [vscode.l10n.t('What follows was read from the journal of the run, up to its last step that was written down.')]
      : []),
    ...part(vscode.l10n.t('Emitted Values'), report.emits, (emits) =>
      emits.length === 0 ? undefined : shownValue(emits, resultFile),
    ),
    ...part(vscode.l10n.t('Console'), report.console, (lines) =>
      lines.length === 0
        ? undefined
        : shownText(lines.map(({ level, text }) => `[${level}] ${text}`).join('\n'), 'text', resultFile),
    ),
    ...childParts(view?.children ?? []),
    ...hostParts(view?.workflow?.hosts ?? []),
    ...part(vscode.l10n.t('Trace'), report.trace, (rows) =>
      rows.length === 0
        ? undefined
        : table(
            [
              vscode.l10n.t('Call'),
              vscode.l10n.t('Key'),
              vscode.l10n.t('State'),
              vscode.l10n.t('Agent'),
              vscode.l10n.t('Time'),
              vscode.l10n.t('Error'),
            ],
            rows.map(({ operation, key, state, agent, durationMs, error }) => [
              cell(operation),
              cell(key),
              cell(state),
              cell(agent),
              durationMs === undefined ? '' : formatDuration(durationMs),
              cell(error),
            ]),
          ),
    ),
    ...part(vscode.l10n.t('Receipt'), report.receipt, (receipt) =>
      shownText(JSON.stringify(receipt, null, 2), 'json', join(directory, 'receipt.json')),
    ),
    '',
  ].join('\n\n');
}

/** A heading and what was found below it. `undefined` from `show`: there is nothing in it, so it is left out. */
function part<T>(title: string, found: Found<T>, show: (value: T) => string | undefined, missing?: string): string[] {
  switch (found.state) {
    case 'there': {
      const text = show(found.value);
      return text === undefined ? [] : [`## ${title}`, text];
    }
    case 'missing':
      return [`## ${title}`, missing ?? vscode.l10n.t('Not there: this run has not written it, or it was removed.')];
    case 'damaged':
      return [`## ${title}`, vscode.l10n.t('Damaged, it cannot be read: {0}', escaped(visible(found.reason)))];
    default:
      return found satisfies never;
  }
}

function noValue({ state }: RunSnapshot): string | undefined {
  return state === 'complete' ? undefined : vscode.l10n.t('None: the script has not come to its end.');
}

function childParts(children: readonly ChildView[]): string[] {
  if (children.length === 0) return [];
  const head = [
    vscode.l10n.t('Key'),
    vscode.l10n.t('Agent'),
    vscode.l10n.t('State'),
    vscode.l10n.t('Model'),
    vscode.l10n.t('Time'),
    vscode.l10n.t('Tokens'),
    vscode.l10n.t('Cost'),
  ];
  const rows = children.map((child) => [
    cell(child.key ?? child.label ?? String(child.index)),
    cell(child.agent),
    stateWord(child.state),
    cell(child.model),
    child.startedAt === null ? '' : formatDuration((child.endedAt ?? Date.now()) - child.startedAt),
    formatTokens(totalTokens(child.usage)),
    formatCost(child.usage.cost),
  ]);
  const failed = children.flatMap(({ key, index, error }) =>
    error ? [`- **${cell(key ?? String(index))}**: ${escaped(visible(errorWords(error).message))}`] : [],
  );
  return [
    `## ${vscode.l10n.t('Agents')}`,
    table(head, rows),
    ...(failed.length === 0 ? [] : [`### ${vscode.l10n.t('Errors of Agents')}`, failed.join('\n')]),
  ];
}

function hostParts(hosts: readonly HostStepView[]): string[] {
  if (hosts.length === 0) return [];
  const head = [
    vscode.l10n.t('Key'),
    vscode.l10n.t('Command'),
    vscode.l10n.t('State'),
    vscode.l10n.t('Exit Code'),
    vscode.l10n.t('Output'),
  ];
  const rows = hosts.map(({ key, command, state, exitCode, outputPath }) => [
    cell(key),
    cell(command),
    hostWord(state),
    exitCode === null ? '' : String(exitCode),
    cell(outputPath),
  ]);
  return [`## ${vscode.l10n.t('Commands on This Machine')}`, table(head, rows)];
}

function cell(text: string | null | undefined): string {
  return escaped(visible(cutText(text ?? '', MAX_CELL_CHARS)));
}

/** What is worth knowing of a run, made when somebody points at its row. */
import * as vscode from 'vscode';
import type { RunSnapshot } from '../../../client/index.ts';
import { type ProcessProof, processProof } from '../../../core/runs/index.ts';
import { visible } from '../../../core/transcripts/index.ts';
import { elapsedMs, formatCost, formatDuration, totalTokens } from '../../../protocol/index.ts';
import { errorWords } from '../../error-words.ts';
import { attentionText, stateText } from './run-words.ts';

export function createRunTooltip(
  snapshot: RunSnapshot,
  project: string | undefined,
  now: number,
): vscode.MarkdownString {
  const text = new vscode.MarkdownString('', true);
  const { view, error } = snapshot;
  const line = (name: string, value: string | null | undefined) => {
    if (!value) return;
    text.appendMarkdown(`**${name}**: `);
    text.appendText(visible(value));
    text.appendMarkdown('  \n');
  };
  line(vscode.l10n.t('Task'), view?.title);
  line(vscode.l10n.t('State'), stateText(snapshot));
  line(vscode.l10n.t('Agent'), view?.agent);
  line(vscode.l10n.t('Model'), view?.model);
  line(vscode.l10n.t('Thinking'), view?.children[0]?.thinking);
  line(vscode.l10n.t('Project'), project);
  line(vscode.l10n.t('Folder'), view?.cwd);
  line(vscode.l10n.t('Started'), view && new Date(view.createdAt).toLocaleString(vscode.env.language));
  line(vscode.l10n.t('Elapsed'), view && formatDuration(elapsedMs(view, snapshot.state, now)));
  line(vscode.l10n.t('Tokens'), view && `${totalTokens(view.usage)} (${formatCost(view.usage.cost)})`);
  for (const question of view?.questions ?? [])
    line(vscode.l10n.t('Asks'), [question.title, question.message].filter(Boolean).join(' '));
  if ((view?.children[0]?.attention.length ?? 0) > 0)
    line(vscode.l10n.t('Attention'), view?.children[0]?.attention.map(attentionText).join(', '));
  line(vscode.l10n.t('Resumed from'), view?.resumedFrom);
  line(vscode.l10n.t('Error'), error && errorWords(error).message.split('\n')[0]);
  line(vscode.l10n.t('Next step'), error?.hint);
  line(
    vscode.l10n.t('Journal'),
    view?.progressCut && vscode.l10n.t('full: what the agent is doing is not recorded any more'),
  );
  if (snapshot.skipped > 0)
    line(vscode.l10n.t('Damaged'), vscode.l10n.t('{0} records of its journal cannot be read', snapshot.skipped));
  line(vscode.l10n.t('Damaged'), snapshot.damage);
  line(vscode.l10n.t('Processes'), view && proofText(processProof(view)));
  line(vscode.l10n.t('Run'), snapshot.runId);
  return text;
}

function proofText(proof: ProcessProof): string | null {
  switch (proof.state) {
    case 'pending':
      return null;
    case 'not-started':
      return vscode.l10n.t('none was started');
    case 'observed':
      return vscode.l10n.t('all proven gone');
    case 'unknown':
      return vscode.l10n.t('not proven gone');
    default:
      return proof satisfies never;
  }
}

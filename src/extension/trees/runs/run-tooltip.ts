/** What is worth knowing of a run, made when somebody points at its row. */
import * as vscode from 'vscode';
import type { RunSnapshot } from '../../../client/index.ts';
import { type ProcessProof, processProof } from '../../../core/runs/index.ts';
import {
  type ChildView,
  elapsedMs,
  formatCost,
  formatDuration,
  totalTokens,
  type WorkflowView,
} from '../../../protocol/index.ts';
import { errorWords } from '../../error-words.ts';
import { progressOf, workflowRows } from '../../runs/workflow-rows.ts';
import { attentionText, stateText } from './run-words.ts';
import { TooltipLines } from './tooltip-lines.ts';
import { progressText } from './workflow/row-words.ts';
import { addWorkplace } from './workplace-lines.ts';

export function createRunTooltip(
  snapshot: RunSnapshot,
  project: string | undefined,
  now: number,
): vscode.MarkdownString {
  const lines = new TooltipLines();
  const line = lines.add.bind(lines);
  const { view, error } = snapshot;
  if (view?.workflow) workflowLines(lines, snapshot, view.workflow);
  else {
    line(vscode.l10n.t('Task'), view?.title);
    line(vscode.l10n.t('State'), stateText(snapshot));
    line(vscode.l10n.t('Agent'), view?.agent);
    line(vscode.l10n.t('Model'), view?.model);
    line(vscode.l10n.t('Thinking'), view?.children[0]?.thinking);
  }
  line(vscode.l10n.t('Project'), project);
  line(vscode.l10n.t('Folder'), view?.cwd);
  const [child] = view?.children ?? [];
  if (child && !view?.workflow) addWorkplace(lines, child);
  line(vscode.l10n.t('Started'), view && new Date(view.createdAt).toLocaleString(vscode.env.language));
  line(vscode.l10n.t('Elapsed'), view && formatDuration(elapsedMs(view, snapshot.state, now)));
  line(vscode.l10n.t('Tokens'), view && `${totalTokens(view.usage)} (${formatCost(view.usage.cost)})`);
  for (const question of view?.questions ?? [])
    line(vscode.l10n.t('Asks'), [question.title, question.message].filter(Boolean).join(' '));
  for (const child of view?.children ?? []) line(attentionName(child), child.attention.map(attentionText).join(', '));
  line(vscode.l10n.t('Output'), (view?.workflow ? view.workflow.output : view?.children[0]?.output)?.path);
  line(vscode.l10n.t('Resumed from'), view?.resumedFrom);
  line(vscode.l10n.t('Error'), error && errorWords(error).message.split('\n')[0]);
  line(vscode.l10n.t('Next step'), error && errorWords(error).hint);
  line(
    vscode.l10n.t('Journal'),
    view?.progressCut && vscode.l10n.t('full: what the agent is doing is not recorded any more'),
  );
  if (snapshot.skipped > 0)
    line(vscode.l10n.t('Damaged'), vscode.l10n.t('{0} records of its journal cannot be read', snapshot.skipped));
  line(vscode.l10n.t('Damaged'), snapshot.damage);
  line(vscode.l10n.t('Processes'), view && proofText(processProof(view)));
  line(vscode.l10n.t('Run'), snapshot.runId);
  return lines.text;
}

function workflowLines(lines: TooltipLines, snapshot: RunSnapshot, { name, file, continued }: WorkflowView): void {
  lines.add(vscode.l10n.t('Workflow'), name);
  lines.add(vscode.l10n.t('File'), file);
  lines.add(vscode.l10n.t('State'), stateText(snapshot));
  lines.add(vscode.l10n.t('Progress'), progressText(progressOf(workflowRows(snapshot))));
  lines.add(vscode.l10n.t('Continued'), continued === 0 ? null : String(continued));
}

function attentionName({ key }: ChildView): string {
  return key === undefined ? vscode.l10n.t('Attention') : vscode.l10n.t('Attention ({0})', key);
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

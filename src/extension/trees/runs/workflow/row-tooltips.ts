/** What is worth knowing of a child or a command, made when somebody points at its row. */
import * as vscode from 'vscode';
import type { RunSnapshot } from '../../../../client/index.ts';
import { childRunId } from '../../../../core/runs/index.ts';
import {
  type ChildView,
  formatCost,
  formatDuration,
  type HostStepView,
  type RunState,
  totalTokens,
} from '../../../../protocol/index.ts';
import { errorWords } from '../../../error-words.ts';
import type { LaneRow, LaunchRow, StageRow } from '../../../runs/workflow-rows.ts';
import { laneProgress } from '../../../runs/workflow-rows.ts';
import { attentionText } from '../run-words.ts';
import { TooltipLines } from '../tooltip-lines.ts';
import { addWorkplace } from '../workplace-lines.ts';
import { childElapsedMs } from './row-items.ts';
import { childText, hostText, progressText, rowWord, unstartedSentence } from './row-words.ts';

export function createChildTooltip(child: ChildView, state: RunState, snapshot: RunSnapshot, now: number) {
  const { view, runId } = snapshot;
  const lines = new TooltipLines();
  const elapsed = childElapsedMs(child, snapshot, now);
  lines.add(vscode.l10n.t('Key'), child.key);
  lines.add(vscode.l10n.t('Task'), child.label);
  lines.add(vscode.l10n.t('State'), childText(child, state, snapshot));
  lines.add(vscode.l10n.t('Verdict'), child.verdict);
  lines.add(vscode.l10n.t('Agent'), child.agent);
  lines.add(vscode.l10n.t('Model'), child.model);
  lines.add(vscode.l10n.t('Thinking'), child.thinking);
  lines.add(vscode.l10n.t('Phase'), child.phaseLabel);
  lines.add(vscode.l10n.t('Lane'), child.lane?.key);
  lines.add(vscode.l10n.t('Folder'), child.cwd);
  addWorkplace(lines, child);
  lines.add(
    vscode.l10n.t('Started'),
    child.startedAt === null ? null : new Date(child.startedAt).toLocaleString(vscode.env.language),
  );
  lines.add(vscode.l10n.t('Elapsed'), elapsed === undefined ? null : formatDuration(elapsed));
  lines.add(vscode.l10n.t('Tokens'), `${totalTokens(child.usage)} (${formatCost(child.usage.cost)})`);
  for (const question of view?.questions ?? [])
    if (question.child === child.index)
      lines.add(vscode.l10n.t('Asks'), [question.title, question.message].filter(Boolean).join(' '));
  lines.add(vscode.l10n.t('Attention'), child.attention.map(attentionText).join(', '));
  lines.add(vscode.l10n.t('Output'), child.output?.path);
  lines.add(vscode.l10n.t('Error'), child.error && errorWords(child.error).message.split('\n')[0]);
  lines.add(vscode.l10n.t('Next step'), child.error && errorWords(child.error).hint);
  lines.add(vscode.l10n.t('Run'), childRunId(runId, child.index));
  return lines.text;
}

/** Of what has no child yet. */
export function createUnstartedTooltip(stage: StageRow | LaunchRow): vscode.MarkdownString {
  const lines = new TooltipLines();
  lines.add(vscode.l10n.t('Key'), stage.key);
  if (stage.kind === 'stage') {
    lines.add(vscode.l10n.t('Task'), stage.label);
    lines.add(vscode.l10n.t('Agent'), stage.agent);
  }
  lines.add(vscode.l10n.t('State'), unstartedSentence(stage));
  return lines.text;
}

export function createLaneTooltip(lane: LaneRow): vscode.MarkdownString {
  const lines = new TooltipLines();
  lines.add(vscode.l10n.t('Lane'), lane.key);
  lines.add(vscode.l10n.t('State'), rowWord(lane.state));
  lines.add(vscode.l10n.t('Stages'), progressText(laneProgress(lane)));
  return lines.text;
}

export function createHostTooltip(host: HostStepView, now: number): vscode.MarkdownString {
  const lines = new TooltipLines();
  const { startedAt, endedAt, error } = host;
  lines.add(vscode.l10n.t('Key'), host.key);
  lines.add(vscode.l10n.t('Command'), host.command);
  lines.add(vscode.l10n.t('State'), hostText(host));
  lines.add(vscode.l10n.t('Elapsed'), startedAt === null ? null : formatDuration((endedAt ?? now) - startedAt));
  lines.add(vscode.l10n.t('Output'), host.outputPath);
  lines.add(vscode.l10n.t('Error'), error && errorWords(error).message.split('\n')[0]);
  lines.add(vscode.l10n.t('Next step'), error && errorWords(error).hint);
  return lines.text;
}

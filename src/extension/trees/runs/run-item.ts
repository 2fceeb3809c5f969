/** One run as a row of the tree. */
import * as vscode from 'vscode';
import { isResumable, mayContinue, mayNeedForce, type RunSnapshot } from '../../../client/index.ts';
import {
  elapsedMs,
  formatCost,
  formatDuration,
  formatTokens,
  isTerminal,
  type RunState,
  type RunView,
  totalTokens,
} from '../../../protocol/index.ts';
import { COMMANDS, ITEM } from '../../command-ids.ts';
import { progressOf, workflowRows } from '../../runs/workflow-rows.ts';
import { isSaidByIcon, runSentence, runTitle, stateText } from './run-words.ts';
import { stateIcon } from './state-icon.ts';
import { branchState } from './workflow/row-items.ts';
import { progressText } from './workflow/row-words.ts';

function contextValueOf(snapshot: RunSnapshot, needsPerson: boolean): string {
  const { state, view } = snapshot;
  if (view?.workflow) return workflowContext(snapshot, view, needsPerson);
  switch (state) {
    case 'queued':
    case 'running':
      return mayNeedForce(state, view) ? ITEM.endingRun : ITEM.activeRun;
    case 'waiting':
      return mayNeedForce(state, view) ? ITEM.endingRun : ITEM.waitingRun;
    case 'lost':
      return ITEM.lostRun;
    case 'unresponsive':
      return ITEM.unresponsiveRun;
    case 'unknown':
      return ITEM.unknownRun;
    case 'stopped':
      return isResumable(state, view) ? ITEM.resumableRun : ITEM.endedRun;
    case 'rejected':
      return ITEM.endedRun;
    case 'failed':
      if (needsPerson) return ITEM.unseenRun;
      return isResumable(state, view) ? ITEM.resumableRun : ITEM.endedRun;
    case 'paused':
    case 'complete':
    case 'partial':
      return isResumable(state, view) ? ITEM.resumableRun : ITEM.endedRun;
    default:
      return state satisfies never;
  }
}

/** A workflow has no work of its own that could be steered, interrupted or resumed by words. */
function workflowContext({ state }: RunSnapshot, view: RunView, needsPerson: boolean): string {
  switch (state) {
    case 'queued':
    case 'running':
      return mayNeedForce(state, view) ? ITEM.endingWorkflow : ITEM.activeWorkflow;
    case 'waiting':
      return mayNeedForce(state, view) ? ITEM.endingWorkflow : ITEM.waitingWorkflow;
    case 'lost':
      return ITEM.lostWorkflow;
    case 'unresponsive':
    case 'unknown':
      return ITEM.unresponsiveWorkflow;
    default:
      if (state === 'failed' && needsPerson) return mayContinue(view) ? ITEM.unseenWorkflow : ITEM.unseenFinalWorkflow;
      return mayContinue(view) ? ITEM.resumableWorkflow : ITEM.endedWorkflow;
  }
}

export interface RunItemContext {
  needsPerson: boolean;
  /** Named in the row when its section holds runs of several projects. */
  project: string | undefined;
  now: number;
}

export function createRunItem(snapshot: RunSnapshot, context: RunItemContext): vscode.TreeItem {
  const { view, state } = snapshot;
  const { Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  const below = view?.workflow ? (isTerminal(state) ? Collapsed : Expanded) : branchState(view?.children[0]);
  const item = new vscode.TreeItem(runTitle(snapshot), below);
  item.id = snapshot.runId;
  item.iconPath = stateIcon(state);
  item.contextValue = contextValueOf(snapshot, context.needsPerson);
  item.accessibilityInformation = { label: runSentence(snapshot) };
  item.description = descriptionOf(snapshot, context);
  // What a workflow consists of stands below it.
  if (!view || view.workflow) return item;
  item.command = {
    command: COMMANDS.openTranscript,
    title: vscode.l10n.t('Open Transcript'),
    arguments: [{ runId: snapshot.runId }],
  };
  return item;
}

/** How long a run has taken, as its row says it. */
export function elapsedText(view: RunView, state: RunState, now: number): string {
  return formatDuration(elapsedMs(view, state, now));
}

function descriptionOf(snapshot: RunSnapshot, { project, now }: RunItemContext): string {
  const { view, state } = snapshot;
  const words = stateText(snapshot);
  if (!view) return words;
  const tokens = totalTokens(view.usage);
  const parts = [
    project,
    isSaidByIcon(words) ? undefined : words,
    view.workflow ? progressText(progressOf(workflowRows(snapshot))) : undefined,
    // With the row of a workflow that is open, everything below it is asked for again: too much for every second.
    view.workflow && !isTerminal(state) ? undefined : elapsedText(view, state, now),
    // Of a workflow more has to find room.
    view.workflow ? undefined : view.agent,
    view.model?.slice(view.model.indexOf('/') + 1),
    tokens > 0 ? vscode.l10n.t('{0} tok', formatTokens(tokens)) : undefined,
    view.usage.cost > 0 ? formatCost(view.usage.cost) : undefined,
  ];
  return parts.filter((part) => part !== undefined).join(' · ');
}

/** What of the row changes with the run alone, not with its clock and its counters. */
export function runMark(snapshot: RunSnapshot, { needsPerson, project }: Omit<RunItemContext, 'now'>): string {
  const { view } = snapshot;
  const progress = (view?.workflow && progressText(progressOf(workflowRows(snapshot)))) ?? '';
  const words = [snapshot.state, contextValueOf(snapshot, needsPerson), stateText(snapshot), progress, project];
  return [runTitle(snapshot), ...words, snapshot.error?.message].join('\n');
}

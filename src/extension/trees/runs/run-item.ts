/** One run as a row of the tree. */
import * as vscode from 'vscode';
import { isResumable, mayNeedForce, type RunSnapshot } from '../../../client/index.ts';
import {
  elapsedMs,
  formatCost,
  formatDuration,
  formatTokens,
  type RunState,
  type RunView,
  totalTokens,
} from '../../../protocol/index.ts';
import { COMMANDS, ITEM } from '../../command-ids.ts';
import { runSentence, runTitle, stateText, stateWord } from './run-words.ts';

// Not the colours of lists and tests: high-contrast themes have none for some of them, and the green is too light on white.
const SUCCESS = 'charts.green';
const ERROR = 'problemsErrorIcon.foreground';
export const WARNING = 'problemsWarningIcon.foreground';

const ICONS: Record<RunState, { icon: string; color?: string }> = {
  queued: { icon: 'clock' },
  running: { icon: 'sync~spin', color: 'charts.blue' },
  waiting: { icon: 'question', color: 'charts.yellow' },
  paused: { icon: 'debug-pause', color: 'charts.yellow' },
  complete: { icon: 'pass', color: SUCCESS },
  partial: { icon: 'warning', color: WARNING },
  failed: { icon: 'error', color: ERROR },
  stopped: { icon: 'circle-slash' },
  rejected: { icon: 'circle-slash' },
  lost: { icon: 'debug-disconnect', color: WARNING },
  unresponsive: { icon: 'watch', color: WARNING },
  unknown: { icon: 'question' },
};

export function stateIcon(state: RunState): vscode.ThemeIcon {
  const { icon, color } = ICONS[state];
  return new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
}

function contextValueOf({ state, view }: RunSnapshot, needsPerson: boolean): string {
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
      return needsPerson ? ITEM.unseenRun : ITEM.resumableRun;
    case 'paused':
    case 'complete':
    case 'partial':
      return ITEM.resumableRun;
    default:
      return state satisfies never;
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
  const item = new vscode.TreeItem(runTitle(snapshot), vscode.TreeItemCollapsibleState.None);
  item.id = snapshot.runId;
  item.iconPath = stateIcon(state);
  item.contextValue = contextValueOf(snapshot, context.needsPerson);
  item.accessibilityInformation = { label: runSentence(snapshot) };
  item.description = descriptionOf(snapshot, context);
  if (!view) return item;
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
  // What the icon says already takes the place of what it does not.
  const isSaid = words === stateWord('running') || words === stateWord('complete');
  const tokens = totalTokens(view.usage);
  const parts = [
    project,
    isSaid ? undefined : words,
    elapsedText(view, state, now),
    view.agent,
    view.model?.slice(view.model.indexOf('/') + 1),
    tokens > 0 ? vscode.l10n.t('{0} tok', formatTokens(tokens)) : undefined,
    view.usage.cost > 0 ? formatCost(view.usage.cost) : undefined,
  ];
  return parts.filter((part) => part !== undefined).join(' · ');
}

/** Rows below a workflow run: lanes, their stages, other children, commands. */
import * as vscode from 'vscode';
import type { RunSnapshot } from '../../../../client/index.ts';
import { childRunId } from '../../../../core/runs/index.ts';
import { visible } from '../../../../core/transcripts/index.ts';
import {
  type ChildView,
  formatCost,
  formatDuration,
  formatTokens,
  isTerminal,
  type RunState,
  totalTokens,
} from '../../../../protocol/index.ts';
import { BUILT_IN, COMMANDS, ITEM } from '../../../command-ids.ts';
import type { ChildRow, HostRow, LaneRow, LaunchRow, StageRow } from '../../../runs/workflow-rows.ts';
import { laneProgress } from '../../../runs/workflow-rows.ts';
import { isSaidByIcon } from '../run-words.ts';
import { hostIcon, stateIcon } from '../state-icon.ts';
import { childName } from './child-names.ts';
import {
  childSentence,
  childText,
  hostSentence,
  hostText,
  laneSentence,
  progressText,
  rowWord,
  unstartedSentence,
} from './row-words.ts';

const { None, Expanded, Collapsed } = vscode.TreeItemCollapsibleState;

/** Lanes that are over are closed at first, unless something went wrong in them. */
export function createLaneItem(lane: LaneRow, runId: string): vscode.TreeItem {
  const isQuiet = lane.state === 'complete' || lane.state === 'omitted';
  const item = new vscode.TreeItem(visible(lane.key), isQuiet ? Collapsed : Expanded);
  item.id = `${runId} lane ${lane.key}`;
  item.iconPath = stateIcon(lane.state);
  item.contextValue = ITEM.lane;
  const words = rowWord(lane.state);
  const parts = [isSaidByIcon(words) ? undefined : words, progressText(laneProgress(lane))];
  item.description = parts.filter((part) => part !== undefined).join(' · ');
  item.accessibilityInformation = { label: laneSentence(lane) };
  return item;
}

export function createStageItem(stage: StageRow, snapshot: RunSnapshot, now: number): vscode.TreeItem {
  const { runId } = snapshot;
  const { lane, key, agent } = stage;
  const name = visible(key.startsWith(`${lane}.`) ? key.slice(lane.length + 1) : key);
  const item = new vscode.TreeItem(name, branchState(stage.child));
  // Its row stays the same when its child comes.
  item.id = `${runId} stage ${key}`;
  item.iconPath = stateIcon(stage.state);
  if (stage.child) {
    dress(item, stage.child, stage.state, snapshot, now);
    return item;
  }
  item.contextValue = ITEM.unstartedStage;
  item.description = [rowWord(stage.state), agent].filter(Boolean).join(' · ');
  item.accessibilityInformation = { label: unstartedSentence(stage) };
  return item;
}

export function createLaunchItem(launch: LaunchRow, runId: string): vscode.TreeItem {
  const item = new vscode.TreeItem(visible(launch.key), None);
  item.id = `${runId} launch ${launch.call}`;
  item.iconPath = stateIcon(launch.state);
  item.contextValue = ITEM.unstartedStage;
  item.description = rowWord(launch.state);
  item.accessibilityInformation = { label: unstartedSentence(launch) };
  return item;
}

export function createChildItem({ child, state, replaced }: ChildRow, snapshot: RunSnapshot, now: number) {
  const item = new vscode.TreeItem(childName(child), branchState(child));
  item.id = childRunId(snapshot.runId, child.index);
  item.iconPath = stateIcon(state);
  dress(item, child, state, snapshot, now);
  if (replaced) item.description = `${item.description} · ${vscode.l10n.t('earlier attempt')}`;
  return item;
}

/** Below a child stands its worktree. */
export function branchState(child: Pick<ChildView, 'worktree'> | undefined): vscode.TreeItemCollapsibleState {
  return child?.worktree ? Collapsed : None;
}

function dress(item: vscode.TreeItem, child: ChildView, state: RunState, snapshot: RunSnapshot, now: number): void {
  item.contextValue = contextOf(child, state, snapshot);
  item.description = descriptionOf(child, state, snapshot, now);
  item.accessibilityInformation = { label: childSentence(child, state) };
  item.command = {
    command: COMMANDS.openTranscript,
    title: vscode.l10n.t('Open Transcript'),
    arguments: [{ runId: snapshot.runId, child: child.index }],
  };
}

/** Only what a runner that answers can do is offered. */
function contextOf({ endRequested }: ChildView, state: RunState, { view }: RunSnapshot): string {
  if (state !== 'queued' && state !== 'running' && state !== 'waiting') return ITEM.endedChild;
  if (endRequested || view?.stopRequested) return ITEM.endingChild;
  return state === 'waiting' ? ITEM.waitingChild : ITEM.activeChild;
}

function descriptionOf(child: ChildView, state: RunState, snapshot: RunSnapshot, now: number): string {
  const tokens = totalTokens(child.usage);
  const elapsed = childElapsedMs(child, snapshot, now);
  const words = childText(child, state, snapshot);
  const parts = [
    isSaidByIcon(words) ? undefined : words,
    child.verdict === undefined ? undefined : vscode.l10n.t('verdict: {0}', visible(child.verdict)),
    elapsed === undefined ? undefined : formatDuration(elapsed),
    child.agent,
    child.model?.slice(child.model.indexOf('/') + 1),
    tokens > 0 ? vscode.l10n.t('{0} tok', formatTokens(tokens)) : undefined,
    child.usage.cost > 0 ? formatCost(child.usage.cost) : undefined,
  ];
  return parts.filter((part) => part !== undefined).join(' · ');
}

/** Milliseconds it has taken so far; `undefined`: it has not begun. */
export function childElapsedMs(child: ChildView, { state, view }: RunSnapshot, now: number): number | undefined {
  if (child.startedAt === null) return undefined;
  const isOver = isTerminal(state) || state === 'lost';
  return Math.max(0, (child.endedAt ?? (isOver && view ? view.updatedAt : now)) - child.startedAt);
}

export function createHostItem({ host }: HostRow, runId: string, now: number): vscode.TreeItem {
  const item = new vscode.TreeItem(visible(host.key), None);
  item.id = `${runId} host ${host.id}`;
  item.iconPath = hostIcon(host.state);
  item.contextValue = host.state === 'asking' ? ITEM.askingHost : ITEM.host;
  const elapsed = host.startedAt === null ? undefined : (host.endedAt ?? now) - host.startedAt;
  const isTimed = host.state !== 'asking' && host.state !== 'denied' && elapsed !== undefined;
  item.description = [
    ...(host.state === 'running' || host.state === 'passed' ? [] : [hostText(host)]),
    ...(isTimed ? [formatDuration(elapsed)] : []),
    vscode.l10n.t('command'),
    visible(host.command.split('\n')[0] ?? ''),
  ].join(' · ');
  item.accessibilityInformation = { label: hostSentence(host) };
  if (host.outputPath !== null)
    item.command = {
      command: BUILT_IN.open,
      title: vscode.l10n.t('Open Output'),
      arguments: [vscode.Uri.file(host.outputPath)],
    };
  return item;
}

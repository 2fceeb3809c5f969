/** One run as a row of the tree. */
import * as vscode from 'vscode';
import type { RunSnapshot } from '../../client/index.ts';
import { type ProcessProof, processProof } from '../../core/runs/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import {
  type AttentionKind,
  elapsedMs,
  formatCost,
  formatDuration,
  formatTokens,
  type RunState,
  totalTokens,
} from '../../protocol/index.ts';
import { COMMANDS, ITEM } from '../command-ids.ts';

const ICONS: Record<RunState, { icon: string; color?: string }> = {
  queued: { icon: 'clock' },
  running: { icon: 'sync~spin', color: 'charts.blue' },
  waiting: { icon: 'question', color: 'charts.yellow' },
  paused: { icon: 'debug-pause', color: 'charts.yellow' },
  complete: { icon: 'pass', color: 'testing.iconPassed' },
  partial: { icon: 'warning', color: 'list.warningForeground' },
  failed: { icon: 'error', color: 'list.errorForeground' },
  stopped: { icon: 'circle-slash' },
  rejected: { icon: 'circle-slash' },
  lost: { icon: 'debug-disconnect', color: 'list.warningForeground' },
  unresponsive: { icon: 'watch', color: 'list.warningForeground' },
  unknown: { icon: 'question' },
};

/** The state in words, with what the agent is doing while it runs. */
export function stateText(snapshot: RunSnapshot): string {
  const child = snapshot.view?.children[0];
  if (snapshot.state !== 'running' || !child?.phase) return STATE_WORDS[snapshot.state]();
  if (snapshot.view?.stopRequested) return vscode.l10n.t('stopping');
  switch (child.phase) {
    case 'starting':
      return vscode.l10n.t('starting');
    case 'tool':
      return child.tool ?? vscode.l10n.t('running');
    case 'retrying':
      return vscode.l10n.t('retrying');
    case 'compacting':
      return vscode.l10n.t('compacting');
    default:
      return vscode.l10n.t('running');
  }
}

const STATE_WORDS: Record<RunState, () => string> = {
  queued: () => vscode.l10n.t('queued'),
  running: () => vscode.l10n.t('running'),
  waiting: () => vscode.l10n.t('waiting'),
  paused: () => vscode.l10n.t('paused'),
  complete: () => vscode.l10n.t('complete'),
  partial: () => vscode.l10n.t('partial'),
  failed: () => vscode.l10n.t('failed'),
  stopped: () => vscode.l10n.t('stopped'),
  rejected: () => vscode.l10n.t('rejected'),
  lost: () => vscode.l10n.t('lost'),
  unresponsive: () => vscode.l10n.t('unresponsive'),
  unknown: () => vscode.l10n.t('unknown'),
};

export function attentionText(kind: AttentionKind): string {
  switch (kind) {
    case 'needs_attention':
      return vscode.l10n.t('it has been silent for long');
    case 'active_long_running':
      return vscode.l10n.t('it has been working for long');
    case 'failing_tools':
      return vscode.l10n.t('its edits or commands keep failing');
    default:
      return kind satisfies never;
  }
}

export function runTitle(snapshot: RunSnapshot): string {
  const { view } = snapshot;
  return visible(view ? (view.label ?? view.title) : snapshot.runId);
}

function contextValueOf(state: RunState): string {
  switch (state) {
    case 'queued':
    case 'running':
      return ITEM.activeRun;
    case 'waiting':
      return ITEM.waitingRun;
    case 'lost':
      return ITEM.lostRun;
    case 'unresponsive':
      return ITEM.unresponsiveRun;
    case 'unknown':
      return ITEM.unknownRun;
    case 'stopped':
    case 'rejected':
      return ITEM.endedRun;
    case 'paused':
    case 'complete':
    case 'partial':
    case 'failed':
      return ITEM.resumableRun;
    default:
      return state satisfies never;
  }
}

export function createRunItem(snapshot: RunSnapshot, now: number): vscode.TreeItem {
  const { view, state } = snapshot;
  const title = runTitle(snapshot);
  const item = new vscode.TreeItem(title, vscode.TreeItemCollapsibleState.None);
  item.id = snapshot.runId;
  const { icon, color } = ICONS[state];
  item.iconPath = new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
  item.contextValue = contextValueOf(state);
  const words = stateText(snapshot);
  if (!view) {
    item.description = words;
    return item;
  }
  const elapsed = formatDuration(elapsedMs(view, state, now));
  const model = view.model?.slice(view.model.indexOf('/') + 1);
  const tokens = totalTokens(view.usage);
  const parts = [view.agent, words, elapsed, model, tokens > 0 ? `${formatTokens(tokens)} tok` : undefined];
  if (view.usage.cost > 0) parts.push(formatCost(view.usage.cost));
  item.description = parts.filter((part) => part !== undefined).join(' · ');
  // A screen reader hears the row as one sentence; it must not change every second.
  item.accessibilityInformation = { label: vscode.l10n.t('{0}, {1}, {2}', title, view.agent, STATE_WORDS[state]()) };
  item.command = {
    command: COMMANDS.openTranscript,
    title: vscode.l10n.t('Open Transcript'),
    arguments: [{ runId: snapshot.runId }],
  };
  return item;
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

export function createTooltip(snapshot: RunSnapshot, now: number): vscode.MarkdownString {
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
  line(vscode.l10n.t('Folder'), view?.cwd);
  line(vscode.l10n.t('Elapsed'), view && formatDuration(elapsedMs(view, snapshot.state, now)));
  line(vscode.l10n.t('Tokens'), view && `${totalTokens(view.usage)} (${formatCost(view.usage.cost)})`);
  for (const question of view?.questions ?? [])
    line(vscode.l10n.t('Asks'), [question.title, question.message].filter(Boolean).join(' '));
  if ((view?.children[0]?.attention.length ?? 0) > 0)
    line(vscode.l10n.t('Attention'), view?.children[0]?.attention.map(attentionText).join(', '));
  line(vscode.l10n.t('Resumed from'), view?.resumedFrom);
  line(vscode.l10n.t('Error'), error?.message.split('\n')[0]);
  line(vscode.l10n.t('Next step'), error?.hint);
  line(vscode.l10n.t('Processes'), view && proofText(processProof(view)));
  line(vscode.l10n.t('Run'), snapshot.runId);
  return text;
}

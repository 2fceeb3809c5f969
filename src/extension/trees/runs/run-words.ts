/** Runs in words. */
import * as vscode from 'vscode';
import type { RunSnapshot } from '../../../client/index.ts';
import { visible } from '../../../core/transcripts/index.ts';
import type { AttentionKind, ChildView, RunState } from '../../../protocol/index.ts';
import { askingText } from './workflow/child-names.ts';

export function runTitle({ view, runId }: RunSnapshot): string {
  return visible(view ? (view.label ?? view.title) : runId);
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

export function stateWord(state: RunState): string {
  return STATE_WORDS[state]();
}

/** The same for something that may be a state. */
export function wordForState(value: unknown): string | undefined {
  return Object.entries(STATE_WORDS).find(([state]) => state === value)?.[1]();
}

/** Whether an icon says a word already: then it would take the place of what the icon does not say. */
export function isSaidByIcon(words: string): boolean {
  return words === stateWord('running') || words === stateWord('complete');
}

/** The state in words, with what the agent is doing while it runs. */
export function stateText(snapshot: RunSnapshot): string {
  const { state, view } = snapshot;
  if (view?.workflow) {
    if (state === 'running' && view.stopRequested) return vscode.l10n.t('stopping');
    return (state === 'waiting' && askingText(snapshot)) || stateWord(state);
  }
  const child = view?.children[0];
  if (child?.awaits && isToBegin(state)) return awaitsWord();
  if (state !== 'running' || !child?.phase) return stateWord(state);
  return view?.stopRequested ? vscode.l10n.t('stopping') : activityWord(child);
}

/** Another one is to be done with changing files in its checkout first. */
export function awaitsWord(): string {
  return vscode.l10n.t('waiting for the checkout');
}

export function isToBegin(state: RunState): boolean {
  return state === 'queued' || state === 'running';
}

/** What a child that runs is doing. */
export function activityWord({ phase, tool }: Pick<ChildView, 'phase' | 'tool'>): string {
  switch (phase) {
    case 'starting':
      return vscode.l10n.t('starting');
    case 'tool':
      return tool ?? vscode.l10n.t('running');
    case 'retrying':
      return vscode.l10n.t('retrying');
    case 'compacting':
      return vscode.l10n.t('compacting');
    default:
      return vscode.l10n.t('running');
  }
}

const SENTENCES: Record<RunState, (title: string, agent: string) => string> = {
  queued: (title, agent) => vscode.l10n.t('{0}: {1} is about to start.', title, agent),
  running: (title, agent) => vscode.l10n.t('{0}: {1} is running.', title, agent),
  waiting: (title, agent) => vscode.l10n.t('{0}: {1} is waiting for your answer.', title, agent),
  paused: (title, agent) => vscode.l10n.t('{0}: {1} is paused.', title, agent),
  complete: (title, agent) => vscode.l10n.t('{0}: {1} has completed its work.', title, agent),
  partial: (title, agent) => vscode.l10n.t('{0}: {1} has completed its work in part.', title, agent),
  failed: (title, agent) => vscode.l10n.t('{0}: {1} has failed.', title, agent),
  stopped: (title, agent) => vscode.l10n.t('{0}: {1} was stopped.', title, agent),
  rejected: (title, agent) => vscode.l10n.t('{0}: the work of {1} was rejected.', title, agent),
  lost: (title, agent) => vscode.l10n.t('{0}: {1} was cut off and can be resumed.', title, agent),
  unresponsive: (title, agent) => vscode.l10n.t('{0}: the runner of {1} does not answer.', title, agent),
  unknown: (title) => vscode.l10n.t('{0}: nothing is known about this run.', title),
};

/** What a screen reader says of a run. It changes with the state, never with the clock. */
export function runSentence(snapshot: RunSnapshot): string {
  const { state, view } = snapshot;
  if (!view?.workflow) return sentence(state, runTitle(snapshot), view?.agent ?? '');
  return sentence(state, runTitle(snapshot), vscode.l10n.t('workflow'));
}

/** The same of an agent by its name. */
export function sentence(state: RunState, title: string, agent: string): string {
  return SENTENCES[state](title, agent);
}

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

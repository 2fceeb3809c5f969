/** The parts of a workflow in words. */
import * as vscode from 'vscode';
import type { RunSnapshot } from '../../../../client/index.ts';
import { visible } from '../../../../core/transcripts/index.ts';
import type { ChildView, HostStepView, RunState } from '../../../../protocol/index.ts';
import {
  type LaneRow,
  type LaunchRow,
  laneProgress,
  type Progress,
  type RowState,
  type StageRow,
} from '../../../runs/workflow-rows.ts';
import { activityWord, awaitsWord, isToBegin, sentence, stateWord } from '../run-words.ts';
import { childName } from './child-names.ts';

export function rowWord(state: RowState): string {
  switch (state) {
    case 'planned':
      return vscode.l10n.t('planned');
    case 'skipped':
      return vscode.l10n.t('skipped');
    case 'omitted':
      return vscode.l10n.t('not started');
    default:
      return stateWord(state);
  }
}

/** The state in words, with what the agent is doing while it runs. */
export function childText(child: ChildView, state: RunState, { view }: Pick<RunSnapshot, 'view'>): string {
  if (state === 'running' && (child.endRequested === 'stop' || view?.stopRequested)) return vscode.l10n.t('stopping');
  if (state === 'running' && child.endRequested === 'interrupt') return vscode.l10n.t('interrupting');
  if (child.awaits && isToBegin(state)) return awaitsWord();
  return state === 'running' ? activityWord(child) : stateWord(state);
}

/** What a screen reader says of a child. It changes with the state, never with the clock. */
export function childSentence(child: ChildView, state: RunState): string {
  return sentence(state, childName(child), child.agent);
}

export function unstartedSentence({ key, state }: Pick<StageRow | LaunchRow, 'key' | 'state'>): string {
  const name = visible(key);
  if (state === 'skipped') return vscode.l10n.t('{0} is skipped: a stage before it did not complete.', name);
  if (state === 'omitted') return vscode.l10n.t('{0} was not started: the run ended before.', name);
  return vscode.l10n.t('{0} has not started yet.', name);
}

/** `undefined` where nothing has begun or is announced. */
export function progressText({ done, failed, total }: Progress): string | undefined {
  if (total === 0) return undefined;
  const text = vscode.l10n.t('{0} of {1} done', done, total);
  return failed === 0 ? text : `${text}, ${vscode.l10n.t('{0} failed', failed)}`;
}

export function laneSentence(lane: LaneRow): string {
  const { done, total } = laneProgress(lane);
  return vscode.l10n.t('Lane {0}: {1}, {2} of {3} stages done.', visible(lane.key), rowWord(lane.state), done, total);
}

export function hostWord(state: HostStepView['state']): string {
  switch (state) {
    case 'asking':
      return vscode.l10n.t('waits for your consent');
    case 'running':
      return vscode.l10n.t('running');
    case 'passed':
      return vscode.l10n.t('passed');
    case 'failed':
      return vscode.l10n.t('failed');
    case 'timed-out':
      return vscode.l10n.t('timed out');
    case 'stopped':
      return vscode.l10n.t('stopped');
    case 'denied':
      return vscode.l10n.t('not allowed');
    case 'unknown':
      return vscode.l10n.t('outcome unknown');
    default:
      return state satisfies never;
  }
}

/** As `hostWord`, with the exit code that tells more. */
export function hostText({ state, exitCode }: HostStepView): string {
  const word = hostWord(state);
  return state === 'failed' && exitCode !== null ? `${word} (${vscode.l10n.t('exit code {0}', exitCode)})` : word;
}

export function hostSentence({ key, state }: HostStepView): string {
  return vscode.l10n.t('Command {0}: {1}.', visible(key), hostWord(state));
}

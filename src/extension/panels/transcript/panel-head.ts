/** Head and foot of the transcript page: the run in words and numbers, and what can be done with it. */
import * as vscode from 'vscode';
import { isResumable, mayNeedForce, type RunSnapshot } from '../../../client/index.ts';
import type { ChildView, PanelHead, PanelItem, RunState } from '../../../protocol/index.ts';
import { translatedError } from '../../error-words.ts';
import { runTitle, stateWord } from '../../trees/runs/run-words.ts';

export const isWorking = (state: RunState): boolean => state === 'queued' || state === 'running' || state === 'waiting';

export interface HeadFacts {
  source: PanelHead['source'];
  /** Tokens of the last request; null: none was seen. */
  tokens: number | null;
  /** The model of the last answer, and the most it takes. */
  model: string | null;
  window: number | null;
}

const contextOf = ({ tokens, window }: HeadFacts): PanelHead['context'] =>
  tokens === null ? null : { tokens, window };

export function runHead(snapshot: RunSnapshot, childIndex: number, facts: HeadFacts): PanelHead {
  const { state, view, runId, error } = snapshot;
  const child = view?.children.find(({ index }) => index === childIndex);
  const working = isWorking(state);
  const canResume = view !== null && isResumable(state, view) && vscode.workspace.isTrusted;
  return {
    runId,
    title: runTitle(snapshot),
    agent: view?.agent ?? null,
    state,
    stateWord: view?.stopRequested && working ? vscode.l10n.t('stopping') : stateWord(state),
    // A run that waits for a person does nothing else.
    activity: working && child && state !== 'waiting' ? activityOf(child) : null,
    model: facts.model ?? child?.model ?? view?.model ?? null,
    usage: view?.usage ?? null,
    context: contextOf(facts),
    startedAt: view?.startedAt ?? null,
    endedAt: view?.endedAt ?? null,
    error: error && (error.code === 'run_not_found' ? { ...error, ...gone() } : translatedError(error)),
    questions: view?.questions ?? [],
    steering: view?.steering ?? [],
    can: {
      steer: working,
      interrupt: working,
      stop: working || state === 'lost',
      forceStop: mayNeedForce(state, view),
      resume: canResume,
    },
    source: facts.source,
  };
}

/** A run whose folder is not there any more, in words that say what to do. */
function gone(): { message: string; hint: string } {
  return {
    message: vscode.l10n.t('This run is not there any more.'),
    hint: vscode.l10n.t(
      'It was removed, or kept for another agent folder. Close this tab, or open another run from the Runs view.',
    ),
  };
}

export function sessionHead(title: string, facts: HeadFacts): PanelHead {
  return {
    runId: null,
    title,
    agent: null,
    state: null,
    stateWord: '',
    activity: null,
    model: facts.model,
    usage: null,
    context: contextOf(facts),
    startedAt: null,
    endedAt: null,
    error: null,
    questions: [],
    steering: [],
    can: { steer: false, interrupt: false, stop: false, forceStop: false, resume: false },
    source: facts.source,
  };
}

function activityOf({ phase, tool }: ChildView): string | null {
  switch (phase) {
    case 'starting':
      return vscode.l10n.t('starting');
    case 'thinking':
      return vscode.l10n.t('thinking');
    case 'tool':
      return tool === null ? vscode.l10n.t('running a tool') : vscode.l10n.t('running {0}', tool);
    case 'retrying':
      return vscode.l10n.t('retrying');
    case 'compacting':
      return vscode.l10n.t('compacting');
    default:
      return null;
  }
}

/** What the last answer among these items says of model and context. */
export function lastRequest(items: readonly PanelItem[]): { tokens: number; model: string | null } | undefined {
  const turn = items.findLast(
    (item) => item.kind === 'turn' && item.usage !== null && item.usage.input + item.usage.cacheRead > 0,
  );
  if (turn?.kind !== 'turn' || !turn.usage) return undefined;
  const { input, output, cacheRead, cacheWrite } = turn.usage;
  return { tokens: input + output + cacheRead + cacheWrite, model: turn.model };
}

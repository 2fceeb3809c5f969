/** Head and foot of the transcript page: the run in words and numbers, and what can be done with it. */
import * as vscode from 'vscode';
import { isResumable, mayNeedForce, type RunSnapshot } from '../../../client/index.ts';
import { childRunId } from '../../../core/runs/index.ts';
import type { ChildView, PanelHead, PanelItem, RunState, SteerView } from '../../../protocol/index.ts';
import { translatedError } from '../../error-words.ts';
import { childState, findChild, isWorkflow } from '../../runs/child-state.ts';
import { runTitle, stateWord } from '../../trees/runs/run-words.ts';
import { childTitle } from '../../trees/runs/workflow/child-names.ts';

export const isWorking = (state: RunState): boolean => state === 'queued' || state === 'running' || state === 'waiting';

export interface HeadFacts {
  source: PanelHead['source'];
  /** Tokens of the last request; null: none was seen. */
  tokens: number | null;
  /** The model of the last answer, and the most it takes. */
  model: string | null;
  window: number | null;
}

const NOTHING: PanelHead['can'] = { steer: false, interrupt: false, stop: false, forceStop: false, resume: false };

const contextOf = ({ tokens, window }: HeadFacts): PanelHead['context'] =>
  tokens === null ? null : { tokens, window };

/** How the child of a panel stands: of a single run as the run does. */
export function ownState(snapshot: RunSnapshot, childIndex: number): RunState {
  const child = isWorkflow(snapshot) ? findChild(snapshot, childIndex) : undefined;
  return child ? childState(child, snapshot) : snapshot.state;
}

/** What was said to it. */
export function steeringOf({ view }: Pick<RunSnapshot, 'view'>, childIndex: number): SteerView[] {
  return view?.steering.filter(({ child }) => child === undefined || child === childIndex) ?? [];
}

export function runHead(snapshot: RunSnapshot, childIndex: number, facts: HeadFacts): PanelHead {
  const child = findChild(snapshot, childIndex);
  if (child && isWorkflow(snapshot)) return childHead(snapshot, child, facts);
  const { state, view, runId, error } = snapshot;
  const working = isWorking(state);
  const canResume = view !== null && isResumable(state, view) && vscode.workspace.isTrusted;
  // A child that is not known yet, or not any more.
  const can = isWorkflow(snapshot)
    ? NOTHING
    : {
        steer: working,
        interrupt: working,
        stop: working || state === 'lost',
        forceStop: mayNeedForce(state, view),
        resume: canResume,
      };
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
    can,
    source: facts.source,
  };
}

/** One child of a workflow: its own state, time and cost. It is talked to and ended alone; the workflow goes on. */
function childHead(snapshot: RunSnapshot, child: ChildView, facts: HeadFacts): PanelHead {
  const { view, runId } = snapshot;
  const state = childState(child, snapshot);
  const working = isWorking(state);
  return {
    runId: childRunId(runId, child.index),
    title: childTitle(runTitle(snapshot), child),
    agent: child.agent,
    state,
    stateWord: (child.endRequested ?? view?.stopRequested) && working ? vscode.l10n.t('stopping') : stateWord(state),
    activity: working ? activityOf(child) : null,
    model: facts.model ?? child.model,
    usage: child.usage,
    context: contextOf(facts),
    startedAt: child.startedAt,
    endedAt: child.endedAt,
    error: child.error && translatedError(child.error),
    questions: view?.questions.filter((question) => question.child === child.index) ?? [],
    steering: steeringOf(snapshot, child.index),
    can: {
      steer: working,
      interrupt: working,
      stop: working,
      // Force ends the runner of the whole workflow, and a workflow is continued as a whole.
      forceStop: false,
      resume: false,
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
    can: NOTHING,
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

/** Stop, Interrupt, Force Stop: three ways to end a run, each said plainly before it happens. */
import * as vscode from 'vscode';
import {
  type Ended,
  type ForceStopped,
  forceStopRun,
  interruptRun,
  mayNeedForce,
  type RunSnapshot,
  stopRun,
} from '../../client/index.ts';
import { isTerminal, LanesError } from '../../protocol/index.ts';
import { plain, showError } from '../messages.ts';
import { childState, findChild, isWorkflow } from '../runs/child-state.ts';
import type { Services } from '../services.ts';
import { runTitle, stateText } from '../trees/runs/run-words.ts';
import { childText } from '../trees/runs/workflow/row-words.ts';
import { type ChosenChild, chooseChild, namedChild } from './choose-child.ts';
import { chooseRun } from './choose-run.ts';

type Way = 'stop' | 'interrupt' | 'force';

const ACT = { stop: stopRun, interrupt: interruptRun, force: forceStopRun };

/** Whether a run in this state can be ended this way. */
function fits(way: Way, { state, view }: RunSnapshot): boolean {
  if (way === 'force') return mayNeedForce(state, view);
  return ['queued', 'running', 'waiting'].includes(state) || (way === 'stop' && state === 'lost');
}

interface Question {
  text: string;
  detail: string;
  button: string;
}

/** What is asked before it happens; `undefined`: nothing is lost by it. */
function questionOf(way: Way, title: string, what: 'run' | 'workflow' | 'child'): Question | undefined {
  if (way === 'interrupt') return undefined;
  if (way === 'force')
    return {
      text: vscode.l10n.t('Force "{0}" to stop?', title),
      detail:
        what === 'run'
          ? vscode.l10n.t(
              'For a runner that does not answer, or does not come to its end. It and all processes of the agent are killed, then the run is written off as stopped.',
            )
          : vscode.l10n.t(
              'For a runner that does not answer, or does not come to its end. It and all processes of its agents and commands are killed, then the run is written off as stopped.',
            ),
      button: vscode.l10n.t('Force Stop'),
    };
  const text = vscode.l10n.t('Stop "{0}"?', title);
  switch (what) {
    case 'run':
      return {
        text,
        detail: vscode.l10n.t(
          'The agent and everything it started are ended. What it has done so far stays; a stopped run cannot be resumed. To go on later, use Interrupt instead.',
        ),
        button: vscode.l10n.t('Stop Run'),
      };
    case 'workflow':
      return {
        text,
        detail: vscode.l10n.t(
          'The script, all its agents and the commands it started are ended. What they have done so far stays; a stopped workflow cannot be continued.',
        ),
        button: vscode.l10n.t('Stop Run'),
      };
    case 'child':
      return {
        text,
        detail: vscode.l10n.t(
          'This agent and everything it started are ended, and it cannot be resumed. The workflow goes on: its script is told that the agent was stopped.',
        ),
        button: vscode.l10n.t('Stop Agent'),
      };
    default:
      return what satisfies never;
  }
}

function progressOf(way: Way): string {
  if (way === 'force') return vscode.l10n.t('Stopping by force…');
  return way === 'stop' ? vscode.l10n.t('Stopping…') : vscode.l10n.t('Interrupting…');
}

/** @param part what of a workflow is meant where no row says so */
async function endRun(services: Services, node: unknown, way: Way, part: 'run' | 'child' = 'run'): Promise<void> {
  const none =
    way === 'force'
      ? vscode.l10n.t('Every runner here answers, and none has been asked to end; use Stop Run.')
      : vscode.l10n.t('No agent is running here.');
  const snapshot = await chooseRun(
    services,
    node,
    (_, candidate) => fits(way, candidate) && (part === 'run' || isWorkflow(candidate)),
    none,
  );
  if (!snapshot) return;
  const meant =
    way === 'force' ? undefined : await meantChild(services, snapshot, node, way === 'interrupt' ? 'child' : part);
  if (meant === 'none') return;
  const title = plain(meant?.title ?? runTitle(snapshot));
  const child = meant && findChild(snapshot, meant.child);
  if (isTerminal(snapshot.state) || (child && isTerminal(child.state))) {
    const word = child ? childText(child, childState(child, snapshot), snapshot) : stateText(snapshot);
    void vscode.window.showInformationMessage(vscode.l10n.t('"{0}" has ended already: {1}.', title, word));
    return;
  }
  const question = questionOf(way, title, meant ? 'child' : isWorkflow(snapshot) ? 'workflow' : 'run');
  if (question) {
    const { text, detail, button } = question;
    if ((await vscode.window.showWarningMessage(text, { modal: true, detail }, button)) !== button) return;
  }
  const { toolbox, owner, inHand, runs } = services;
  const ended: Ended & Partial<ForceStopped> = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: progressOf(way) },
    () => inHand.during(snapshot.runId, () => ACT[way](toolbox, snapshot.directory, owner, meant?.named)),
  );
  if (ended.note) showError(new LanesError(ended.note), services.log);
  else if (ended.outcome === 'too-late')
    void vscode.window.showInformationMessage(vscode.l10n.t('"{0}" had ended before.', title));
  await runs.reload();
}

/** The one child of a workflow that is to end; `undefined`: the run as a whole; `none`: the person chose none. */
async function meantChild(
  services: Services,
  snapshot: RunSnapshot,
  node: unknown,
  part: 'run' | 'child',
): Promise<ChosenChild | 'none' | undefined> {
  if (!isWorkflow(snapshot)) return undefined;
  // A row names what is meant.
  if (part === 'run') return node === undefined ? undefined : namedChild(services, snapshot, node);
  const none = vscode.l10n.t('No agent of this workflow is at work.');
  return (await chooseChild(services, snapshot, node, (state) => !isTerminal(state), none)) ?? 'none';
}

export function stopChosenRun(services: Services, node: unknown): Promise<void> {
  return endRun(services, node, 'stop');
}

/** One agent of a workflow, which goes on. */
export function stopChosenChild(services: Services, node: unknown): Promise<void> {
  return endRun(services, node, 'stop', 'child');
}

export function interruptChosenRun(services: Services, node: unknown): Promise<void> {
  return endRun(services, node, 'interrupt');
}

export function forceStopChosenRun(services: Services, node: unknown): Promise<void> {
  return endRun(services, node, 'force');
}

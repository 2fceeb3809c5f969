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
import type { Services } from '../services.ts';
import { runTitle, stateText } from '../trees/runs/run-words.ts';
import { chooseRun } from './choose-run.ts';

type Way = 'stop' | 'interrupt' | 'force';

const ACT = { stop: stopRun, interrupt: interruptRun, force: forceStopRun };

/** Whether a run in this state can be ended this way. */
function fits(way: Way, { state, view }: RunSnapshot): boolean {
  if (way === 'force') return mayNeedForce(state, view);
  return ['queued', 'running', 'waiting'].includes(state) || (way === 'stop' && state === 'lost');
}

/** What is asked before it happens; `undefined`: nothing is lost by it. */
function questionOf(way: Way, title: string): { text: string; detail: string; button: string } | undefined {
  if (way === 'interrupt') return undefined;
  const isStop = way === 'stop';
  return {
    text: isStop ? vscode.l10n.t('Stop "{0}"?', title) : vscode.l10n.t('Force "{0}" to stop?', title),
    detail: isStop
      ? vscode.l10n.t(
          'The agent and everything it started are ended. What it has done so far stays; a stopped run cannot be resumed. To go on later, use Interrupt instead.',
        )
      : vscode.l10n.t(
          'For a runner that does not answer, or does not come to its end. It and all processes of the agent are killed, then the run is written off as stopped.',
        ),
    button: isStop ? vscode.l10n.t('Stop Run') : vscode.l10n.t('Force Stop'),
  };
}

function progressOf(way: Way): string {
  if (way === 'force') return vscode.l10n.t('Stopping by force…');
  return way === 'stop' ? vscode.l10n.t('Stopping…') : vscode.l10n.t('Interrupting…');
}

async function endRun(services: Services, node: unknown, way: Way): Promise<void> {
  const none =
    way === 'force'
      ? vscode.l10n.t('Every runner here answers, and none has been asked to end; use Stop Run.')
      : vscode.l10n.t('No agent is running here.');
  const snapshot = await chooseRun(services, node, (_, candidate) => fits(way, candidate), none);
  if (!snapshot) return;
  const title = plain(runTitle(snapshot));
  if (isTerminal(snapshot.state)) {
    void vscode.window.showInformationMessage(
      vscode.l10n.t('"{0}" has ended already: {1}.', title, stateText(snapshot)),
    );
    return;
  }
  const question = questionOf(way, title);
  if (question) {
    const { text, detail, button } = question;
    if ((await vscode.window.showWarningMessage(text, { modal: true, detail }, button)) !== button) return;
  }
  const { toolbox, owner, inHand, runs } = services;
  const ended: Ended & Partial<ForceStopped> = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: progressOf(way) },
    () => inHand.during(snapshot.runId, () => ACT[way](toolbox, snapshot.directory, owner)),
  );
  if (ended.note) showError(new LanesError(ended.note), services.log);
  else if (ended.outcome === 'too-late')
    void vscode.window.showInformationMessage(vscode.l10n.t('"{0}" had ended before.', title));
  await runs.reload();
}

export function stopChosenRun(services: Services, node: unknown): Promise<void> {
  return endRun(services, node, 'stop');
}

export function interruptChosenRun(services: Services, node: unknown): Promise<void> {
  return endRun(services, node, 'interrupt');
}

export function forceStopChosenRun(services: Services, node: unknown): Promise<void> {
  return endRun(services, node, 'force');
}

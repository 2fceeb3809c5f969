/** Stop, Interrupt, Force Stop: three ways to end a run, each said plainly before it happens. */
import * as vscode from 'vscode';
import { type Ended, forceStopRun, interruptRun, stopRun } from '../../client/index.ts';
import { isTerminal, type RunState } from '../../protocol/index.ts';
import { plain } from '../messages.ts';
import type { Services } from '../services.ts';
import { runTitle, stateText } from '../trees/runs/run-words.ts';
import { chooseRun } from './choose-run.ts';

interface Way {
  fits: (state: RunState) => boolean;
  none: string;
  /** Asked before it happens; absent: nothing is lost by it. */
  question?: { text: (title: string) => string; detail: string; button: string };
  progress: string;
  act: (services: Services, directory: string) => Promise<Ended>;
}

async function endRun(services: Services, node: unknown, way: Way): Promise<void> {
  const snapshot = await chooseRun(services, node, way.fits, way.none);
  if (!snapshot) return;
  const title = plain(runTitle(snapshot));
  if (isTerminal(snapshot.state)) {
    void vscode.window.showInformationMessage(
      vscode.l10n.t('"{0}" has ended already: {1}.', title, stateText(snapshot)),
    );
    return;
  }
  if (way.question) {
    const { text, detail, button } = way.question;
    if ((await vscode.window.showWarningMessage(text(title), { modal: true, detail }, button)) !== button) return;
  }
  const { outcome } = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: way.progress },
    () => services.inHand.during(snapshot.runId, () => way.act(services, snapshot.directory)),
  );
  if (outcome === 'too-late')
    void vscode.window.showInformationMessage(vscode.l10n.t('"{0}" had ended before.', title));
  await services.runs.reload();
}

const isStarted = (state: RunState) => state === 'queued' || state === 'running' || state === 'waiting';

export function stopChosenRun(services: Services, node: unknown): Promise<void> {
  return endRun(services, node, {
    fits: (state) => isStarted(state) || state === 'lost',
    none: vscode.l10n.t('No agent is running here.'),
    question: {
      text: (title) => vscode.l10n.t('Stop "{0}"?', title),
      detail: vscode.l10n.t(
        'The agent and everything it started are ended. What it has done so far stays; a stopped run cannot be resumed. To go on later, use Interrupt instead.',
      ),
      button: vscode.l10n.t('Stop Run'),
    },
    progress: vscode.l10n.t('Stopping…'),
    act: ({ toolbox, owner }, directory) => stopRun(toolbox, directory, owner),
  });
}

export function interruptChosenRun(services: Services, node: unknown): Promise<void> {
  return endRun(services, node, {
    fits: isStarted,
    none: vscode.l10n.t('No agent is running here.'),
    progress: vscode.l10n.t('Interrupting…'),
    act: ({ toolbox, owner }, directory) => interruptRun(toolbox, directory, owner),
  });
}

export function forceStopChosenRun(services: Services, node: unknown): Promise<void> {
  return endRun(services, node, {
    fits: (state) => state === 'unresponsive',
    none: vscode.l10n.t('Every runner here answers; use Stop Run.'),
    question: {
      text: (title) => vscode.l10n.t('Force "{0}" to stop?', title),
      detail: vscode.l10n.t(
        'Its runner does not answer. The runner and all processes of the agent are killed, then the run is written off as stopped.',
      ),
      button: vscode.l10n.t('Force Stop'),
    },
    progress: vscode.l10n.t('Stopping by force…'),
    act: ({ toolbox, owner }, directory) => forceStopRun(toolbox, directory, owner),
  });
}

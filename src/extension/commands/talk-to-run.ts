/** Saying something to a working agent, and answering what it asks. */
import * as vscode from 'vscode';
import { answerQuestion, steerRun } from '../../client/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { LanesError, type QuestionAnswer, type QuestionView, type RunState } from '../../protocol/index.ts';
import { plain } from '../messages.ts';
import type { Services } from '../services.ts';
import { steerDraftKey } from '../steer-draft.ts';
import { runTitle } from '../trees/runs/run-words.ts';
import { chooseRun } from './choose-run.ts';

const isWorking = (state: RunState) => state === 'queued' || state === 'running' || state === 'waiting';

async function say(services: Services, node: unknown, mode: 'steer' | 'follow-up'): Promise<void> {
  const snapshot = await chooseRun(services, node, isWorking, vscode.l10n.t('No agent is running here.'));
  if (!snapshot) return;
  const kept = steerDraftKey(snapshot.runId);
  const message = await vscode.window.showInputBox({
    title: runTitle(snapshot),
    prompt:
      mode === 'steer'
        ? vscode.l10n.t('Tell it now: it hears this after its present step.')
        : vscode.l10n.t('Tell it when it is done with what it does now.'),
    value: services.state.get<string>(kept) ?? '',
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === '' ? vscode.l10n.t('Say something to the agent.') : undefined),
  });
  if (message === undefined) return;
  await services.state.update(kept, message);
  const { state, reason } = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: vscode.l10n.t('Telling the agent…') },
    () => steerRun(services.toolbox, snapshot.directory, services.owner, message, mode),
  );
  if (state === 'queued' || state === 'delivered') {
    await services.state.update(kept, undefined);
    const text =
      state === 'queued' ? vscode.l10n.t('Queued: it hears this after its present step') : vscode.l10n.t('Delivered');
    vscode.window.setStatusBarMessage(`$(check) ${text}`, 4000);
    return;
  }
  void vscode.window.showWarningMessage(vscode.l10n.t('Your message did not arrive: {0}.', plain(reason ?? state)));
}

export function steerChosenRun(services: Services, node: unknown): Promise<void> {
  return say(services, node, 'steer');
}

export function followUpChosenRun(services: Services, node: unknown): Promise<void> {
  return say(services, node, 'follow-up');
}

export async function answerChosenQuestion(services: Services, node: unknown): Promise<void> {
  const snapshot = await chooseRun(
    services,
    node,
    (state) => state === 'waiting',
    vscode.l10n.t('No agent is asking anything.'),
  );
  const question = snapshot?.view?.questions[0];
  if (!snapshot) return;
  if (!question) {
    const message = vscode.l10n.t('"{0}" asks nothing now.', runTitle(snapshot));
    throw new LanesError({ code: 'question_gone', message });
  }
  const answer = await askPerson(question);
  if (!answer) return;
  const { accepted, reason } = await answerQuestion(
    services.toolbox,
    snapshot.directory,
    services.owner,
    question.id,
    answer,
  );
  if (!accepted)
    void vscode.window.showWarningMessage(vscode.l10n.t('The answer came too late: {0}.', plain(reason ?? '')));
}

/** The dialog the child asked for, as one of the editor's own. `undefined`: closed without an answer; the child goes on waiting. */
async function askPerson(question: QuestionView): Promise<QuestionAnswer | undefined> {
  const title = visible(question.title);
  const message = visible(question.message);
  if (question.method === 'confirm') {
    const yes = { label: vscode.l10n.t('Yes') };
    const no = { label: vscode.l10n.t('No') };
    const picked = await vscode.window.showQuickPick([yes, no], { title, placeHolder: message, ignoreFocusOut: true });
    return picked && { confirmed: picked === yes };
  }
  if (question.method === 'select') {
    const items = question.options.map((option) => ({ label: visible(option), option }));
    const picked = await vscode.window.showQuickPick(items, { title, placeHolder: message, ignoreFocusOut: true });
    return picked && { value: picked.option };
  }
  const value = await vscode.window.showInputBox({ title, prompt: message, ignoreFocusOut: true });
  return value === undefined ? undefined : { value };
}

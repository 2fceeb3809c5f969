/** Saying something to a working agent, and answering what it asks. */
import * as vscode from 'vscode';
import { answerQuestion, type RunSnapshot, steerRun } from '../../client/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import {
  type AskedCommand,
  LanesError,
  type QuestionAnswer,
  type QuestionView,
  type RunState,
} from '../../protocol/index.ts';
import { plain } from '../messages.ts';
import { isWorkflow } from '../runs/child-state.ts';
import type { Services } from '../services.ts';
import { steerDraftKey } from '../steer-draft.ts';
import { runTitle } from '../trees/runs/run-words.ts';
import { askerName } from '../trees/runs/workflow/child-names.ts';
import { chooseChild } from './choose-child.ts';
import { chooseRun } from './choose-run.ts';

const isWorking = (state: RunState) => state === 'queued' || state === 'running' || state === 'waiting';

async function say(services: Services, node: unknown, mode: 'steer' | 'follow-up'): Promise<void> {
  const snapshot = await chooseRun(services, node, isWorking, vscode.l10n.t('No agent is running here.'));
  if (!snapshot) return;
  const none = vscode.l10n.t('No agent of this workflow is at work.');
  const to = await chooseChild(services, snapshot, node, isWorking, none);
  if (!to) return;
  const kept = steerDraftKey(snapshot.runId, to.child);
  const message = await vscode.window.showInputBox({
    title: to.title,
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
    () => steerRun(services.toolbox, snapshot.directory, services.owner, message, mode, to.named),
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
  if (!snapshot) return;
  const question = await chooseQuestion(services, snapshot, node);
  if (!question) return;
  const answer = await askPerson(question, snapshot);
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

/** The question an action names; else that of the row it came from; else the person picks among those that are open. */
async function chooseQuestion(
  services: Services,
  snapshot: RunSnapshot,
  node: unknown,
): Promise<QuestionView | undefined> {
  const questions = meantQuestions(services, snapshot, node);
  const [first, ...more] = questions;
  if (!first) {
    const message = vscode.l10n.t('"{0}" asks nothing now.', runTitle(snapshot));
    throw new LanesError({ code: 'question_gone', message });
  }
  if (more.length === 0 || !isWorkflow(snapshot)) return first;
  const picked = await vscode.window.showQuickPick(
    questions.map((question) => ({
      label: askerName(question, snapshot),
      description: visible(question.host?.command ?? question.title),
      question,
    })),
    { title: runTitle(snapshot), placeHolder: vscode.l10n.t('Which question do you want to answer?') },
  );
  return picked?.question;
}

function meantQuestions({ tree }: Services, { view }: RunSnapshot, node: unknown): readonly QuestionView[] {
  const questions = view?.questions ?? [];
  const named = questions.find(({ id }) => isNamed(node, id));
  if (named) return [named];
  const host = tree.hostOf(node);
  if (host !== undefined) return questions.filter((question) => question.host?.id === host);
  const child = tree.childOf(node);
  return child === undefined ? questions : questions.filter((question) => question.child === child);
}

function isNamed(node: unknown, id: string): boolean {
  return typeof node === 'object' && node !== null && 'question' in node && node.question === id;
}

/**
 * The dialog that was asked for, as one of the editor's own. `undefined`: closed without an answer; whoever asked goes on
 * waiting.
 */
async function askPerson(question: QuestionView, snapshot: RunSnapshot): Promise<QuestionAnswer | undefined> {
  if (question.host) return askForConsent(question.host, snapshot);
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

/** Of a command the whole is shown: in a box of one line its end would be out of sight. */
async function askForConsent(
  { key, command }: AskedCommand,
  snapshot: RunSnapshot,
): Promise<QuestionAnswer | undefined> {
  const run = vscode.l10n.t('Run Command');
  const refuse = vscode.l10n.t('Do Not Run');
  const folder = vscode.l10n.t('In the folder {0}', visible(snapshot.view?.cwd ?? ''));
  const detail = [visible(command), folder].join('\n\n');
  const text = vscode.l10n.t('May "{0}" of the workflow "{1}" run this command?', visible(key), runTitle(snapshot));
  const answer = await vscode.window.showWarningMessage(plain(text), { modal: true, detail }, run, refuse);
  return answer === undefined ? undefined : { confirmed: answer === run };
}

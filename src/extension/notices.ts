/**
 * Notices, only for what needs a person: a question, a silent agent, a failed run, a lost run, the result of a workflow. Each once, however often the
 * window is reloaded, and never more than one a minute for one run.
 *
 * The editor cannot take a notification back once it is shown. So what a run may only pass through is told when it has
 * lasted, and never while this window itself is ending or continuing the run.
 */
import * as vscode from 'vscode';
import { isResumable, type RunSnapshot, recoverRun } from '../client/index.ts';
import { visible } from '../core/transcripts/index.ts';
import { cutText, isTerminal, type RunView } from '../protocol/index.ts';
import { COMMANDS } from './command-ids.ts';
import { recoverSetting } from './configuration.ts';
import { errorWords } from './error-words.ts';
import { plain, showError } from './messages.ts';
import type { RunsModel } from './runs/runs-model.ts';
import type { Services } from './services.ts';
import { attentionText, runTitle } from './trees/runs/run-words.ts';
import { childTitle } from './trees/runs/workflow/child-names.ts';

const DELIVERED = 'notices.delivered';
const MAX_DELIVERED = 500;
const PAUSE_MS = 60_000;
/** Milliseconds a run must stay cut off: a Force Stop, also one from another window, passes through it. */
const LASTING_MS = 1500;
const COMMAND_CHARS = 200;

interface Notice {
  /** The same notice has the same key. */
  key: string;
  text: string;
  severity: 'info' | 'warning' | 'error';
  actions: { title: string; command: string }[];
  /** What the actions are about beside the run. */
  about?: { child?: number; question?: string };
  /** It may be over in a moment. */
  passing?: true;
}

export class Notices implements vscode.Disposable {
  readonly #services: Services;
  readonly #runs: RunsModel;
  readonly #delivered: Set<string>;
  readonly #lastAt = new Map<string, number>();
  /** Notices that are shown when they still hold, by key. */
  readonly #lasting = new Map<string, NodeJS.Timeout>();
  readonly #openedAt = Date.now();
  readonly #subscription: vscode.Disposable;

  constructor(services: Services, runs: RunsModel) {
    this.#services = services;
    this.#delivered = new Set(services.state.get<string[]>(DELIVERED) ?? []);
    const lookAtAll = () => {
      for (const { snapshot } of runs.all()) this.#look(snapshot);
    };
    this.#runs = runs;
    const lookAt = (runId: string) => {
      const one = runs.get(runId);
      if (one) this.#look(one);
    };
    this.#subscription = vscode.Disposable.from(
      services.inHand.onDidRelease(lookAt),
      runs.onDidChange((runId) => {
        if (runId !== undefined && runs.get(runId)) lookAt(runId);
        else lookAtAll();
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('piLanes.recover')) lookAtAll();
      }),
    );
  }

  #look(snapshot: RunSnapshot): void {
    // Looked at again when it is released.
    if (snapshot.state === 'lost' && this.#services.inHand.has(snapshot.runId)) return;
    if (snapshot.state === 'lost' && recoverSetting() === 'always') {
      void this.#recover(snapshot);
      return;
    }
    for (const notice of this.#noticesFor(snapshot)) {
      if (this.#delivered.has(notice.key)) continue;
      if (notice.passing) this.#tellIfItLasts(notice.key, snapshot.runId);
      else this.#tell(notice, snapshot);
    }
  }

  #tell(notice: Notice, snapshot: RunSnapshot): void {
    const now = performance.now();
    // A question is never held back: the agent waits for its answer.
    if (
      now - (this.#lastAt.get(snapshot.runId) ?? Number.NEGATIVE_INFINITY) < PAUSE_MS &&
      notice.severity === 'warning'
    )
      return;
    this.#lastAt.set(snapshot.runId, now);
    this.#remember(notice.key);
    void this.#show(notice, snapshot);
  }

  #tellIfItLasts(key: string, runId: string): void {
    if (this.#lasting.has(key)) return;
    const look = () => {
      this.#lasting.delete(key);
      const now = this.#runs.get(runId);
      const notice = now && this.#noticesFor(now).find((one) => one.key === key);
      if (now && notice && !this.#services.inHand.has(runId)) this.#tell(notice, now);
    };
    this.#lasting.set(key, setTimeout(look, LASTING_MS));
  }

  #noticesFor(snapshot: RunSnapshot): Notice[] {
    const { view, state } = snapshot;
    if (!view) return [];
    // Of a workflow several may ask at once.
    if (state === 'waiting') return questionNotices(snapshot, view);
    if (state === 'running') return attentionNotices(snapshot, view);
    const notice = this.#stateNotice(snapshot, view);
    return notice ? [notice] : [];
  }

  #stateNotice(snapshot: RunSnapshot, view: RunView): Notice | undefined {
    const { state, runId } = snapshot;
    const title = runTitle(snapshot);
    if (state === 'lost' && recoverSetting() === 'ask') {
      const resume = { title: vscode.l10n.t('Resume'), command: COMMANDS.resumeRun };
      const stop = { title: vscode.l10n.t('Stop Run'), command: COMMANDS.stopRun };
      return {
        key: `${runId} lost ${view.epoch}`,
        severity: 'warning',
        passing: true,
        text: vscode.l10n.t('"{0}" was cut off: its runner is gone.', title),
        actions: [resume, stop],
      };
    }
    // What ended on earlier days was told in earlier windows.
    const endsNow = (view.endedAt ?? 0) >= this.#openedAt;
    if (view.mode === 'workflow' && isTerminal(state) && endsNow) return workflowNotice(snapshot, view);
    if (state === 'failed' && endsNow) {
      const why = visible(snapshot.error ? (errorWords(snapshot.error).message.split('\n')[0] ?? '') : '');
      return {
        key: `${runId} failed`,
        severity: 'error',
        text: vscode.l10n.t('"{0}" failed: {1}', title, why),
        actions: view.children.length > 0 ? [transcriptAction()] : [],
      };
    }
    return undefined;
  }

  async #show(notice: Notice, snapshot: RunSnapshot): Promise<void> {
    const titles = notice.actions.map((action) => action.title);
    const show = (): Thenable<string | undefined> => {
      if (notice.severity === 'error') return vscode.window.showErrorMessage(plain(notice.text), ...titles);
      if (notice.severity === 'warning') return vscode.window.showWarningMessage(plain(notice.text), ...titles);
      return vscode.window.showInformationMessage(plain(notice.text), ...titles);
    };
    const answer = await show();
    const action = notice.actions.find(({ title }) => title === answer);
    if (action) await vscode.commands.executeCommand(action.command, { runId: snapshot.runId, ...notice.about });
  }

  async #recover(snapshot: RunSnapshot): Promise<void> {
    const key = `${snapshot.runId} recovering ${snapshot.view?.epoch}`;
    if (this.#delivered.has(key) || !vscode.workspace.isTrusted) return;
    this.#remember(key);
    try {
      await recoverRun(this.#services.toolbox, snapshot.directory, 'continue', this.#services.owner);
    } catch (error) {
      showError(error, this.#services.log);
    }
  }

  #remember(key: string): void {
    this.#delivered.add(key);
    void this.#services.state.update(DELIVERED, [...this.#delivered].slice(-MAX_DELIVERED));
  }

  dispose(): void {
    for (const timer of this.#lasting.values()) clearTimeout(timer);
    this.#subscription.dispose();
  }
}

const transcriptAction = () => ({ title: vscode.l10n.t('Open Transcript'), command: COMMANDS.openTranscript });

function questionNotices(snapshot: RunSnapshot, view: RunView): Notice[] {
  const run = runTitle(snapshot);
  const answer = { title: vscode.l10n.t('Answer…'), command: COMMANDS.answerQuestion };
  return view.questions.map(({ id, child, host, title, message }) => {
    const key = `${snapshot.runId} question ${id}`;
    if (host) {
      const command = shortened(visible(host.command));
      const text = vscode.l10n.t('"{0}" asks whether "{1}" may run a command: {2}', run, visible(host.key), command);
      return { key, severity: 'info', text, actions: [answer], about: { question: id } };
    }
    const asker = view.children.find(({ index }) => index === child);
    const who = view.workflow && asker ? childTitle(run, asker) : run;
    const text = vscode.l10n.t('"{0}" asks: {1}', who, visible([title, message].filter(Boolean).join(' ')));
    const about = { question: id, ...(child === null ? {} : { child }) };
    return { key, severity: 'info', text, actions: [answer, transcriptAction()], about };
  });
}

function attentionNotices(snapshot: RunSnapshot, view: RunView): Notice[] {
  const run = runTitle(snapshot);
  const steer = { title: vscode.l10n.t('Steer…'), command: COMMANDS.steerRun };
  return view.children.flatMap((child) => {
    const attention = child.attention.find((kind) => kind !== 'active_long_running');
    if (!attention) return [];
    const title = view.workflow ? childTitle(run, child) : run;
    return [
      {
        key: view.workflow ? `${snapshot.runId} ${child.index} ${attention}` : `${snapshot.runId} ${attention}`,
        severity: 'warning' as const,
        text: vscode.l10n.t('"{0}" may need you: {1}.', title, attentionText(attention)),
        actions: [transcriptAction(), steer],
        about: { child: child.index },
      },
    ];
  });
}

/** A command in a notification; the whole is shown where it is answered. */
function shortened(text: string): string {
  return text.length > COMMAND_CHARS ? `${cutText(text, COMMAND_CHARS)}…` : text;
}

/** Nobody watches a workflow to its end: the end is told. What a person has ended is known to them. */
function workflowNotice(snapshot: RunSnapshot, { workflow, epoch }: RunView): Notice | undefined {
  const title = runTitle(snapshot);
  const result = { title: vscode.l10n.t('Open Result'), command: COMMANDS.openResult };
  const resume = { title: vscode.l10n.t('Resume'), command: COMMANDS.resumeRun };
  const key = `${snapshot.runId} ended ${workflow?.continued ?? 0} ${epoch}`;
  const why = visible(snapshot.error ? (errorWords(snapshot.error).message.split('\n')[0] ?? '') : '');
  const actions = isResumable(snapshot.state, snapshot.view) ? [result, resume] : [result];
  switch (snapshot.state) {
    case 'complete':
      return { key, severity: 'info', text: vscode.l10n.t('"{0}" is complete.', title), actions: [result] };
    case 'partial':
      return { key, severity: 'info', text: vscode.l10n.t('"{0}" ended before it was done: {1}', title, why), actions };
    case 'failed':
      return { key, severity: 'error', text: vscode.l10n.t('"{0}" failed: {1}', title, why), actions };
    default:
      return undefined;
  }
}

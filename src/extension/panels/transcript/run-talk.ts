/** What a person says to the child of one run from its panel: the draft that waits, messages with their receipts, answers. */
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { answerQuestion, steerRun } from '../../../client/index.ts';
import { type FromTranscriptPanel, type ToTranscriptPanel, toErrorValue } from '../../../protocol/index.ts';
import { errorWords } from '../../error-words.ts';
import type { Services } from '../../services.ts';
import { steerDraftKey } from '../../steer-draft.ts';
import type { Subject } from './subject.ts';

type Message<T extends FromTranscriptPanel['type']> = Extract<FromTranscriptPanel, { type: T }>;
type Receipt = Extract<ToTranscriptPanel, { type: 'receipt' }>;

export class RunTalk {
  /** Absent for a session of no run: nobody is there who could be told anything. */
  readonly #run: Extract<Subject, { kind: 'run' }> | undefined;
  /** Whether the run has several children: then the one that is meant is named. */
  readonly #isWorkflow: () => boolean;
  readonly #services: Services;
  readonly #send: (receipt: Receipt) => void;
  #isSending = false;

  constructor(subject: Subject, services: Services, isWorkflow: () => boolean, send: (receipt: Receipt) => void) {
    this.#run = subject.kind === 'run' ? subject : undefined;
    this.#isWorkflow = isWorkflow;
    this.#services = services;
    this.#send = send;
  }

  get #draftKey(): string {
    return this.#run ? steerDraftKey(basename(this.#run.directory), this.#run.child) : '';
  }

  get draft(): string {
    return (this.#run && this.#services.state.get<string>(this.#draftKey)) ?? '';
  }

  async keepDraft(text: string): Promise<void> {
    // A box that was emptied by sending is not empty for good before there is a receipt.
    if (!this.#run || (this.#isSending && text === '')) return;
    await this.#services.state.update(this.#draftKey, text === '' ? undefined : text);
  }

  /** Never throws: what goes wrong is the receipt. The text stays the draft until the child has it in its queue. */
  async steer({ request, mode, text }: Message<'steer'>): Promise<void> {
    const { toolbox, owner, state: memento } = this.#services;
    const receipt = (state: Receipt['state'], message: string | null) =>
      this.#send({ type: 'receipt', request, state, message });
    if (!this.#run) {
      receipt('refused', vscode.l10n.t('No agent is running here.'));
      return;
    }
    const key = this.#draftKey;
    const { directory, child } = this.#run;
    this.#isSending = true;
    try {
      await memento.update(key, text);
      const { state, reason } = await steerRun(
        toolbox,
        directory,
        owner,
        text,
        mode,
        this.#isWorkflow() ? child : undefined,
      );
      // What was written meanwhile stays.
      if ((state === 'queued' || state === 'delivered') && this.draft === text) await memento.update(key, undefined);
      receipt(state, reason);
    } catch (error) {
      const { message, hint } = errorWords(toErrorValue(error));
      receipt('refused', hint === undefined ? message : `${message} ${hint}`);
    } finally {
      this.#isSending = false;
    }
  }

  async answer({ request, questionId, answer }: Message<'answer'>): Promise<void> {
    if (!this.#run) return;
    const { toolbox, owner } = this.#services;
    const { accepted, reason } = await answerQuestion(toolbox, this.#run.directory, owner, questionId, answer);
    this.#send({ type: 'receipt', request, state: accepted ? 'delivered' : 'refused', message: reason });
  }
}

/** Children as `pi --mode rpc` processes. */
import { mkdir, writeFile } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod/mini';
import {
  CONTRACT_ENV,
  describeError,
  type ErrorValue,
  type ProcessIdentity,
  type QuestionAnswer,
  REPORT_KEY,
  toErrorValue,
} from '../../../protocol/index.ts';
import { systemPromptOf } from '../../launch/index.ts';
import { childMarker, MARKER_ENV } from '../../processes/index.ts';
import type {
  Child,
  ChildDriver,
  ChildEnd,
  ChildEvent,
  ChildOutcome,
  ChildReady,
  ChildStart,
} from '../child-driver.ts';
import { capabilitiesOf, type PiCapabilities, piArguments } from './arguments.ts';
import { contractOf, readReport } from './contract.ts';
import { applyRecord, type Conversation, NEW_CONVERSATION, nextPrompt, progressOf } from './conversation.ts';
import { ExpandedMessages } from './expanded-messages.ts';
import { getState, shakeHands } from './handshake.ts';
import { launchEnvironment } from './launch-environment.ts';
import { judgeOutcome, type ProcessExit } from './outcome.ts';
import { PiProcess } from './pi-process.ts';
import { type PiRecord, textOf } from './records.ts';
import { toTranscriptEntry } from './transcript-entries.ts';

/** Milliseconds until Pi must have accepted a prompt. Extensions may handle input first. */
const PROMPT_MS = 60_000;
const ABORT_MS = 1000;
const STEER_MS = 10_000;
const MAX_PARTIAL_CHARS = 1024 * 1024;
/** Pause before an end that Pi did not confirm (0.73) is checked, and between checks. */
const CONFIRM_MS = 50;

const BLOCKING_DIALOGS = new Set(['select', 'confirm', 'input', 'editor']);
const promptAnswer = z.nullish(z.object({ disposition: z.optional(z.string()) }));

export class PiDriver implements ChildDriver {
  readonly #now: () => number;
  readonly #extension: string;

  /** `extension`: path of `pi-child.mjs`, which is loaded into every child. */
  constructor(options: { extension: string; now?: () => number }) {
    this.#extension = options.extension;
    this.#now = options.now ?? Date.now;
  }

  async start(start: ChildStart, onEvent: (event: ChildEvent) => void): Promise<Child> {
    const { layout, plan, pi } = start;
    const systemPrompt = systemPromptOf(plan);
    await Promise.all([
      mkdir(layout.sessions, { recursive: true, mode: 0o700 }),
      systemPrompt === '' ? undefined : writeFile(layout.systemPrompt, systemPrompt, { mode: 0o600 }),
      writeFile(layout.contract, `${JSON.stringify(contractOf(plan, layout))}\n`, { mode: 0o600 }),
    ]);
    const marker = childMarker(start.runId, start.index);
    const child = new PiChild(start, onEvent, this.#now);
    const process = await PiProcess.start(
      { file: pi.command.file, args: [...pi.command.args, ...piArguments(start, this.#extension)] },
      {
        cwd: start.cwd,
        env: {
          ...start.env,
          ...pi.command.env,
          ...launchEnvironment(plan),
          PI_CODING_AGENT_DIR: start.agentDir,
          [MARKER_ENV]: marker,
          [CONTRACT_ENV]: layout.contract,
        },
        marker,
      },
      child,
    );
    child.attach(process);
    return child;
  }
}

class PiChild implements Child {
  readonly #start: ChildStart;
  readonly #onEvent: (event: ChildEvent) => void;
  readonly #now: () => number;
  readonly #capabilities: PiCapabilities;
  #conversation: Conversation = NEW_CONVERSATION;
  #process: PiProcess | undefined;
  /** A character can be cut between two chunks. */
  readonly #stderr = new StringDecoder('utf8');
  #confirming = false;
  #work = Promise.withResolvers<ChildOutcome>();
  #over = false;
  /** The next user message is the prompt. */
  #prompting = false;
  readonly #expanded = new ExpandedMessages();
  /** Text of the answer that is being streamed: all there is when the child goes away in the middle of it. */
  #partial = '';
  #toolBudgetBlocked = false;

  constructor(start: ChildStart, onEvent: (event: ChildEvent) => void, now: () => number) {
    this.#start = start;
    this.#onEvent = onEvent;
    this.#now = now;
    this.#capabilities = capabilitiesOf(start.pi.version);
  }

  attach(process: PiProcess): void {
    this.#process = process;
    void process.drained().then((exit) => this.#finish({ exit }));
  }

  get process(): ProcessIdentity {
    return this.#pi.identity;
  }

  get settled(): Promise<ChildOutcome> {
    return this.#work.promise;
  }

  get #pi(): PiProcess {
    if (!this.#process) throw new Error('the child has no process yet');
    return this.#process;
  }

  ready(): Promise<ChildReady> {
    return shakeHands(this.#pi, this.#start.plan.model);
  }

  async prompt(text: string): Promise<{ disposition: string }> {
    this.#beginAnew();
    this.#prompting = true;
    const disposition = await this.#send(text, 'followUp', PROMPT_MS);
    // An extension dealt with the text: no run starts, so nothing will ever settle.
    if (disposition === 'handled') {
      this.#prompting = false;
      this.#finish({});
    }
    return { disposition };
  }

  async steer(text: string, mode: 'steer' | 'follow-up'): Promise<{ disposition: string }> {
    const disposition = await this.#send(text, mode === 'steer' ? 'steer' : 'followUp', STEER_MS);
    if (!this.#over) this.#expanded.queued(text, mode === 'steer' ? 'steering' : 'followUp');
    // The work was over before the message came; older versions do not say what they made of it.
    else if (disposition === 'started') {
      this.#expanded.began(text);
      if (await this.#isStreaming()) this.#beginAnew();
    }
    return { disposition };
  }

  async #isStreaming(): Promise<boolean> {
    return getState(this.#pi).then(
      (state) => state.isStreaming || state.isCompacting,
      () => false,
    );
  }

  /** A new piece of work in the same conversation. */
  #beginAnew(): void {
    if (!this.#over || this.#pi.hasExited) return;
    this.#over = false;
    this.#work = Promise.withResolvers<ChildOutcome>();
    this.#conversation = nextPrompt(this.#conversation);
  }

  /** `streamingBehavior` makes it race-free: an idle session starts, a busy one queues. */
  async #send(message: string, streamingBehavior: 'steer' | 'followUp', deadlineMs: number): Promise<string> {
    const answer = await this.#pi.rpc.request('prompt', { message, streamingBehavior }, { deadlineMs });
    const parsed = promptAnswer.safeParse(answer);
    return (parsed.success ? parsed.data?.disposition : undefined) ?? 'started';
  }

  answer(questionId: string, answer: QuestionAnswer): void {
    this.#pi.rpc.send({ type: 'extension_ui_response', id: questionId, ...answer });
  }

  async abort(): Promise<boolean> {
    // A message still in the queue would be recorded and never answered.
    if (this.#capabilities.clearsQueue)
      await this.#pi.rpc.request('clear_queue', {}, { deadlineMs: ABORT_MS }).catch(() => undefined);
    return this.#pi.rpc.request('abort', {}, { deadlineMs: ABORT_MS }).then(
      () => true,
      () => false,
    );
  }

  end(): Promise<ChildEnd> {
    return this.#pi.end();
  }

  hurry(): Promise<ChildEnd> {
    return this.#pi.hurry();
  }

  onRecord(record: Exclude<PiRecord, { type: 'response' }>): void {
    if (record.type === 'extension_ui_request') {
      this.#ask(record);
      return;
    }
    // Work that nobody here asked for, or that a late message began.
    if (record.type === 'agent_start') this.#beginAnew();
    if (record.type === 'queue_update') {
      this.#expanded.onQueue(record);
      return;
    }
    const before = this.#conversation;
    this.#conversation = applyRecord(before, record, { reportsSettled: this.#capabilities.reportsSettled });
    const entry = toTranscriptEntry(record, this.#now());
    if (entry) this.#onEvent({ type: 'transcript', entry });
    this.#tell(record);
    if (this.#conversation !== before) this.#onEvent({ type: 'progress', progress: progressOf(this.#conversation) });
    if (this.#conversation.settled === 'yes') this.#finish({});
    else if (this.#conversation.settled === 'tentative') void this.#confirmSettled();
  }

  #tell(record: PiRecord): void {
    switch (record.type) {
      case 'tool_execution_start':
        this.#onEvent({ type: 'tool.start', id: record.toolCallId, name: record.toolName });
        break;
      case 'tool_execution_end':
        this.#onEvent({ type: 'tool.end', id: record.toolCallId, name: record.toolName, isError: record.isError });
        break;
      case 'message_update':
        if (record.assistantMessageEvent.type === 'text_delta' && this.#partial.length < MAX_PARTIAL_CHARS) {
          this.#partial += record.assistantMessageEvent.delta ?? '';
        }
        break;
      case 'message_start':
        this.#partial = '';
        if (record.message.role === 'assistant') this.#onEvent({ type: 'model-asked' });
        break;
      case 'message_end':
        this.#partial = '';
        if (record.message.role === 'user') this.#heard(textOf(record.message.content));
        break;
      default:
    }
  }

  #heard(text: string): void {
    if (!this.#prompting) this.#onEvent({ type: 'heard', text: this.#expanded.original(text) });
    this.#prompting = false;
  }

  onNoise(text: string): void {
    this.#onEvent({ type: 'stdout', text });
  }

  onStderr(chunk: Buffer): void {
    this.#onEvent({ type: 'stderr', text: this.#stderr.write(chunk) });
  }

  onLimit(bytes: number): void {
    this.#finish({
      failure: describeError('protocol_output_limit', { bytes }),
    });
  }

  #ask(request: Extract<PiRecord, { type: 'extension_ui_request' }>): void {
    if (request.method === 'setStatus' && request.statusKey === REPORT_KEY) this.#reported(request.statusText ?? '');
    if (!BLOCKING_DIALOGS.has(request.method)) return;
    this.#onEvent({
      type: 'question',
      question: {
        id: request.id,
        method: request.method,
        title: request.title ?? '',
        message: request.message ?? request.placeholder ?? request.prefill ?? '',
        options: request.options ?? [],
        ...(request.timeout === undefined ? {} : { timeoutMs: request.timeout }),
      },
    });
  }

  /** What our extension in the child has to say. */
  #reported(text: string): void {
    const said = readReport(text);
    if (said?.type === 'tool-budget-blocked') this.#toolBudgetBlocked = true;
    if (said?.type === 'rate-limited') this.#onEvent(said);
    if (said?.type !== 'tools-missing') return;
    const { name } = this.#start.plan.agent;
    this.#finish({ failure: describeError('tools_missing', { agent: name, tools: said.tools.join(', ') }) });
  }

  /** Before 0.80.4 the end of a run is a guess until Pi says that nothing is under way or queued. */
  async #confirmSettled(): Promise<void> {
    if (this.#confirming) return;
    this.#confirming = true;
    try {
      for (;;) {
        await delay(CONFIRM_MS);
        if (this.#conversation.settled !== 'tentative') return;
        const state = await getState(this.#pi);
        const idle = !state.isStreaming && !state.isCompacting && state.pendingMessageCount === 0;
        if (idle && this.#conversation.settled === 'tentative') {
          this.#finish({});
          return;
        }
      }
    } catch (error) {
      if (!this.#pi.hasExited) this.#finish({ failure: toErrorValue(error) });
    } finally {
      this.#confirming = false;
    }
  }

  #finish(facts: { exit?: ProcessExit; failure?: ErrorValue }): void {
    if (this.#over) return;
    this.#over = true;
    const stderr = this.#process?.stderr.text() ?? '';
    this.#work.resolve(
      judgeOutcome({
        conversation: this.#conversation,
        partial: this.#partial,
        wantsAnswer: this.#start.plan.outputSchema !== undefined,
        toolBudgetBlocked: this.#toolBudgetBlocked,
        stderr,
        ...facts,
      }),
    );
  }
}

// What the session is doing: idle or at a run, what is queued, whether it compacts.
import { usageOf } from './messages.mjs';
import { findTask } from './plan.mjs';
import { Run } from './run.mjs';
import { PromptAnswered, runSteps } from './steps.mjs';
import { Aborted } from './waiting.mjs';

const BUSY = "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.";
const QUEUE_OF = { steer: 'steering', followUp: 'followUp' };

export class Agent {
  isStreaming = false;
  isCompacting = false;
  #fake;
  #queue = { steering: [], followUp: [] };
  #controller = new AbortController();
  #idle = Promise.resolve();

  constructor(fake) {
    this.#fake = fake;
  }

  get pendingCount() {
    return this.#queue.steering.length + this.#queue.followUp.length;
  }

  /** @param kind `steering`, `followUp` or `any` */
  hasQueued(kind) {
    return (kind === 'any' ? this.pendingCount : this.#queue[kind].length) > 0;
  }

  /**
   * Answers a prompt through `respond`, and plays it when it starts a run.
   * @throws PlanError when the message has a plan that cannot be read
   */
  async prompt({ message, streamingBehavior }, respond) {
    if (this.isStreaming) {
      if (QUEUE_OF[streamingBehavior] === undefined) return respond({ success: false, error: BUSY });
      await this.enqueue(QUEUE_OF[streamingBehavior], message);
      return respond({ success: true, disposition: 'queued' });
    }
    const { plan: given, rest, source } = findTask(message);
    const plan = this.#fake.beginTask(given, { rest, source });
    this.#controller = new AbortController();
    const signal = AbortSignal.any([this.#controller.signal, this.#fake.shutdown.signal]);
    this.isStreaming = true;
    const run = new Run(this.#fake, { prompt: { text: message }, plan, signal });
    const idle = Promise.withResolvers();
    this.#idle = idle.promise;
    try {
      await runSteps(plan.accepting, { fake: this.#fake, signal });
    } catch (reason) {
      this.isStreaming = false;
      idle.resolve();
      if (reason instanceof PromptAnswered) return respond(reason.answer);
      if (reason instanceof Aborted) return respond({ success: false, error: 'This operation was aborted' });
      throw reason;
    }
    await respond({ success: true, disposition: 'started' });
    const aborted = await run.play().catch((error) => this.#fake.crash(error));
    this.isStreaming = false;
    const { abilities, output } = this.#fake;
    if (abilities.settles) {
      await output.record({ type: 'agent_settled', ...(abilities.settledAborted ? { aborted } : {}) });
    }
    idle.resolve();
    await runSteps(plan.settled, { fake: this.#fake, signal: this.#fake.shutdown.signal });
  }

  /** @throws PlanError when the text has a plan that cannot be read */
  async enqueue(kind, text) {
    findTask(text);
    this.#queue[kind].push(text);
    await this.#reportQueue();
  }

  async takeQueued(kind) {
    const text = this.#queue[kind].shift();
    await this.#reportQueue();
    return text;
  }

  async clearQueue() {
    const cleared = this.#queue;
    this.#queue = { steering: [], followUp: [] };
    await this.#reportQueue();
    return cleared;
  }

  /** Resolves when the session is idle. */
  abort() {
    this.#controller.abort();
    return this.#idle;
  }

  /** Resolves when the present run has ended. */
  whenIdle() {
    return this.#idle;
  }

  /** `work` is what happens between the two events. */
  async compact(reason, { summary = 'What went before.', failure, aborted = false }, work) {
    const { output, session } = this.#fake;
    this.isCompacting = true;
    try {
      await output.record({ type: 'compaction_start', reason });
      await work();
      const done = failure === undefined && !aborted;
      const result = {
        summary,
        firstKeptEntryId: session.leafId,
        tokensBefore: 125_010,
        estimatedTokensAfter: 26_353,
        usage: usageOf(),
        details: { readFiles: [], modifiedFiles: [] },
      };
      if (done) session.append('compaction', result);
      await output.record({
        type: 'compaction_end',
        reason,
        ...(done ? { result } : {}),
        aborted,
        willRetry: false,
        ...(failure === undefined ? {} : { errorMessage: failure }),
      });
    } finally {
      this.isCompacting = false;
    }
  }

  #reportQueue() {
    const { steering, followUp } = this.#queue;
    return this.#fake.output.record({ type: 'queue_update', steering: [...steering], followUp: [...followUp] });
  }
}

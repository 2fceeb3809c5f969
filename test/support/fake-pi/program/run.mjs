// From an accepted prompt to idle: the order of events, the queue, retries, and what an abort leaves.
import { filler } from './floods.mjs';
import { assistantMessage, NOTHING_USED, systemMessage, userMessage } from './messages.mjs';
import { findTask, kindOf } from './plan.mjs';
import { runStep, runSteps } from './steps.mjs';
import { playTurn } from './turn.mjs';
import { Aborted, pause, throwIfAborted } from './waiting.mjs';

/** What the model says to a message without a plan. */
const ECHO = { say: 'You said: {{prompt}}' };

const RETRY = { delayMs: 20, maxAttempts: 3 };

export class Run {
  fake;
  signal;
  /** An aborted message stands at the end already. */
  abortIsRecorded = false;
  #prompt;
  #plan;
  /** Messages since the last `agent_start`. */
  #messages = [];
  #todo = [];
  #turnIsOpen = false;
  #retries = 0;
  #stage = 'accepted';

  constructor(fake, { prompt, plan, signal }) {
    this.fake = fake;
    this.#prompt = prompt;
    this.#plan = plan;
    this.signal = signal;
  }

  /** For steps; turns are taken by the run itself, between the steps. */
  get context() {
    return { fake: this.fake, signal: this.signal, run: this };
  }

  /** Ends when the session is idle, whatever happened. @returns whether it was aborted */
  async play() {
    try {
      await runSteps(this.#plan.accepted, this.context);
      await this.#begin();
      await this.#work();
      if (this.#plan.agentEnd !== false) await this.emitAgentEnd(this.#plan.agentEnd);
      this.#stage = 'ended';
      await this.endRetries({ success: false });
      await runSteps(this.#plan.ended, this.context);
      throwIfAborted(this.signal);
      return false;
    } catch (reason) {
      if (!(reason instanceof Aborted)) throw reason;
      await this.#endAborted();
      return true;
    }
  }

  emit(record) {
    return this.fake.output.record(record);
  }

  /** Adds a message to the run and to the session file. */
  keep(message) {
    this.#messages.push(message);
    if (this.fake.saves()) this.fake.session.append('message', { message });
  }

  /** A message that is there at once. It is in the session file before anybody hears of it. */
  async say(message) {
    this.keep(message);
    await this.emit({ type: 'message_start', message });
    await this.emit({ type: 'message_end', message });
  }

  /** `bytes`: pads the line to this length. */
  async emitAgentEnd({ willRetry = false, bytes = 0 } = {}) {
    const record = (messages) => ({
      type: 'agent_end',
      messages,
      ...(this.fake.abilities.settles ? { willRetry } : {}),
    });
    const padding = (text) => ({ role: 'custom', customType: 'padding', content: text, display: false });
    const frame = Buffer.byteLength(JSON.stringify(record([...this.#messages, padding('')])));
    const messages = bytes > frame ? [...this.#messages, padding(filler(bytes - frame))] : this.#messages;
    await this.emit(record(messages));
  }

  /** Says how the retries came out, if there were any. */
  async endRetries({ success, finalError = this.#messages.at(-1)?.errorMessage }) {
    if (this.#retries === 0) return;
    const attempt = this.#retries;
    this.#retries = 0;
    await this.emit({ type: 'auto_retry_end', success, attempt, ...(success ? {} : { finalError }) });
  }

  async #begin() {
    const { fake } = this;
    this.#stage = 'working';
    await this.emit({ type: 'agent_start' });
    await this.emit({ type: 'turn_start' });
    this.#turnIsOpen = true;
    if (fake.abilities.modern && !fake.session.messages.some((message) => message.role === 'system')) {
      await this.say(systemMessage(process.cwd(), fake.systemPrompt));
    }
    await this.say(userMessage(this.#prompt.text));
    this.#todo.push(...(this.#plan.steps ?? [ECHO]));
    await this.#deliver('steering');
  }

  async #work() {
    for (;;) {
      throwIfAborted(this.signal);
      const next = this.#todo[0];
      if (next === undefined) {
        if (!(await this.#takeQueued())) return;
      } else if (kindOf(next) === 'turn' && !this.#turnIsOpen) {
        // A steering message lands here, and may bring steps of its own to the front.
        await this.#openTurn('steering');
      } else {
        this.#todo.shift();
        await this.#step(next);
      }
    }
  }

  async #step(step) {
    if (kindOf(step) !== 'turn') return runStep(step, this.context);
    throwIfAborted(this.signal);
    const message = await playTurn(step, this);
    this.#turnIsOpen = false;
    if (step.retry) await this.#retry(message, { ...RETRY, ...(step.retry === true ? {} : step.retry) });
  }

  /** Nothing is left to do: a queued message starts a turn of its own. @returns whether there was one */
  async #takeQueued() {
    if (this.#plan.keepQueue) return false;
    const { agent } = this.fake;
    const kind = ['steering', 'followUp'].find((one) => agent.hasQueued(one));
    if (kind === undefined) return false;
    await this.#openTurn(kind);
    if (this.#todo.length === 0) this.#todo.push(ECHO);
    return true;
  }

  async #openTurn(kind) {
    await this.emit({ type: 'turn_start' });
    this.#turnIsOpen = true;
    await this.#deliver(kind);
  }

  /** Hands at most one queued message to the model; a plan in it comes before what is left of the present one. */
  async #deliver(kind) {
    const { fake } = this;
    if (this.#plan.keepQueue || !fake.agent.hasQueued(kind)) return;
    const text = await fake.agent.takeQueued(kind);
    const { plan, rest } = findTask(text);
    fake.facts.steers.push(rest);
    fake.facts.prompt = rest;
    await this.say(userMessage(text));
    if (plan) this.#todo.unshift(...(plan.steps ?? [ECHO]));
  }

  async #retry(message, { delayMs, maxAttempts }) {
    const { fake } = this;
    await this.emitAgentEnd({ willRetry: true });
    this.#stage = 'retrying';
    this.#retries += 1;
    const errorMessage = message.errorMessage ?? '';
    await this.emit({ type: 'auto_retry_start', attempt: this.#retries, maxAttempts, delayMs, errorMessage });
    if (fake.abilities.modern) {
      const targetId = fake.session.leafId;
      await this.emit({
        type: 'entry_appended',
        entry: fake.session.append('context_edit', { targetId, replacement: null }),
      });
    }
    await pause(delayMs, this.signal);
    this.#stage = 'working';
    this.#messages = [];
    await this.emit({ type: 'agent_start' });
    await this.emit({ type: 'turn_start' });
    this.#turnIsOpen = true;
  }

  async #endAborted() {
    if (this.#stage === 'ended') return;
    if (this.#stage === 'retrying') {
      await this.endRetries({ success: false, finalError: 'Retry cancelled' });
      return;
    }
    if (this.#stage === 'accepted') await this.#begin();
    if (!this.abortIsRecorded) {
      if (!this.#turnIsOpen) await this.emit({ type: 'turn_start' });
      const { model } = this.fake;
      const message = assistantMessage(model, [], {
        usage: NOTHING_USED,
        stopReason: 'aborted',
        errorMessage: 'This operation was aborted',
      });
      await this.say(message);
      await this.emit({ type: 'turn_end', message, toolResults: [] });
    }
    await this.emitAgentEnd();
  }
}

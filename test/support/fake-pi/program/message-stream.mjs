// One message of the model, as it is streamed: blocks of thinking, text and tool calls, each opened, filled and closed.
import { assistantMessage, NOTHING_USED } from './messages.mjs';

export class MessageStream {
  #emit;
  #keep;
  #model;
  #abilities;
  #usage;
  #thinkingLevel;
  #startedAt = performance.now();
  #content = [];
  #open;

  /** `keep` gets the finished message before anybody hears of it. */
  constructor({ emit, keep, model, abilities, thinkingLevel, usage }) {
    this.#emit = emit;
    this.#keep = keep;
    this.#model = model;
    this.#abilities = abilities;
    this.#thinkingLevel = thinkingLevel;
    this.#usage = usage;
  }

  start() {
    const stopReason = this.#abilities.modern ? 'pending' : 'stop';
    return this.#emit({
      type: 'message_start',
      message: assistantMessage(this.#model, [], { usage: NOTHING_USED, stopReason }),
    });
  }

  async text(delta) {
    await this.#openBlock('text');
    this.#block.text += delta;
    await this.#update({ type: 'text_delta', contentIndex: this.#index, delta });
  }

  async think(delta) {
    await this.#openBlock('thinking');
    this.#block.thinking += delta;
    await this.#update({ type: 'thinking_delta', contentIndex: this.#index, delta });
  }

  /** `call`: `id`, `name`, `arguments`. */
  async toolCall(call) {
    await this.closeBlock();
    this.#content.push({ type: 'toolCall', ...call });
    const contentIndex = this.#index;
    const identity = this.#abilities.toolCallStartIds ? { id: call.id, toolName: call.name } : {};
    await this.#update({ type: 'toolcall_start', contentIndex, ...identity });
    await this.#update({ type: 'toolcall_delta', contentIndex, delta: JSON.stringify(call.arguments) });
    await this.#update({ type: 'toolcall_end', contentIndex, toolCall: { type: 'toolCall', ...call } });
  }

  async closeBlock() {
    if (this.#open === undefined) return;
    const type = `${this.#open}_end`;
    const content = this.#block[this.#open];
    this.#open = undefined;
    await this.#update({ type, contentIndex: this.#index, content });
  }

  /** Closes the message and returns it. */
  async end({ stopReason, errorMessage }) {
    await this.closeBlock();
    const durationMs = Math.round(performance.now() - this.#startedAt);
    const message = assistantMessage(this.#model, this.#content, {
      usage: this.#usage,
      stopReason,
      errorMessage,
      ...(this.#abilities.modern ? { durationMs, thinkingLevel: this.#thinkingLevel } : {}),
    });
    this.#keep(message);
    await this.#emit({ type: 'message_end', message });
    return message;
  }

  get #index() {
    return this.#content.length - 1;
  }

  get #block() {
    return this.#content[this.#index];
  }

  async #openBlock(kind) {
    if (this.#open === kind) return;
    await this.closeBlock();
    this.#content.push({ type: kind, [kind]: '' });
    this.#open = kind;
    await this.#update({ type: `${kind}_start`, contentIndex: this.#index });
  }

  #update(assistantMessageEvent) {
    if (this.#abilities.deltasOnly) {
      return this.#emit({ type: 'message_update', usage: this.#usage, assistantMessageEvent });
    }
    const partial = assistantMessage(this.#model, this.#content, { usage: this.#usage, stopReason: 'stop' });
    return this.#emit({
      type: 'message_update',
      assistantMessageEvent: { ...assistantMessageEvent, partial },
      message: partial,
    });
  }
}

/** What a script publishes: emitted values and console lines, within their limits. */
import { type Call, CONSOLE_LEVELS } from './calls.ts';
import { MAX_CONSOLE_CHARS, MAX_CONSOLE_ENTRIES, MAX_EMIT_CHARS, MAX_EMITS, MAX_EMITS_CHARS } from './limits.ts';
import { Refusal } from './refusal.ts';

export class Publications {
  #emits = 0;
  #emitChars = 0;
  #entries = 0;
  #consoleChars = 0;

  /** @param value JSON text. @throws Refusal */
  emit(value: string): Call {
    if (value.length > MAX_EMIT_CHARS) {
      throw new Refusal(
        'limit',
        `The emitted value has ${value.length} characters as JSON; at most ${MAX_EMIT_CHARS} are possible.`,
      );
    }
    if (this.#emits >= MAX_EMITS || this.#emitChars + value.length > MAX_EMITS_CHARS) {
      throw new Refusal(
        'limit',
        `A workflow can emit at most ${MAX_EMITS} values with ${MAX_EMITS_CHARS} characters together.`,
      );
    }
    this.#emits += 1;
    this.#emitChars += value.length;
    return { type: 'emit', value };
  }

  /** What is too much is dropped: a script does not fail because it talks. The last line says so. */
  console(level: string, text: string): Call | undefined {
    if (this.#entries > MAX_CONSOLE_ENTRIES) return undefined;
    this.#entries += 1;
    this.#consoleChars += text.length;
    if (this.#entries <= MAX_CONSOLE_ENTRIES && this.#consoleChars <= MAX_CONSOLE_CHARS) {
      return { type: 'console', level: CONSOLE_LEVELS.find((known) => known === level) ?? 'log', text };
    }
    this.#entries = MAX_CONSOLE_ENTRIES + 1;
    return {
      type: 'console',
      level: 'warn',
      text: 'Further console output was dropped: the workflow has written too much.',
    };
  }
}

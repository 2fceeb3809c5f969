// Questions to the person, one at a time. Pi enforces `timeout` itself and then takes the default.
import { randomUUID } from 'node:crypto';

export class Dialogs {
  #output;
  #waiting = new Map();
  #tail = Promise.resolve();

  constructor(output) {
    this.#output = output;
  }

  /** @returns the answer in words: `value:…`, `confirmed:true`, `confirmed:false`, `cancelled` or `timeout` */
  ask(method, fields, timeout) {
    // The second dialog appears only when the first is answered, also between parallel tools.
    const answer = this.#tail.then(() => this.#ask(method, fields, timeout));
    this.#tail = answer.catch(() => undefined);
    return answer;
  }

  /** Takes an `extension_ui_response`; one that nobody waits for is dropped, as Pi does. */
  answer({ id, value, confirmed, cancelled }) {
    const words = cancelled ? 'cancelled' : confirmed === undefined ? `value:${value}` : `confirmed:${confirmed}`;
    this.#waiting.get(id)?.(words);
  }

  /** The process is ending: whoever still waits gets `cancelled`. */
  cancelAll() {
    for (const answer of this.#waiting.values()) answer('cancelled');
  }

  async #ask(method, fields, timeout) {
    const id = randomUUID();
    let timer;
    const answered = new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      if (timeout !== undefined) timer = setTimeout(resolve, timeout, 'timeout');
    });
    await this.#output.record({
      type: 'extension_ui_request',
      id,
      method,
      ...fields,
      ...(timeout === undefined ? {} : { timeout }),
    });
    const words = await answered;
    clearTimeout(timer);
    this.#waiting.delete(id);
    return words;
  }
}

// How the process ends: closed input and signals, as Pi treats them, unless the plan has other ideas.
import { runSteps } from './steps.mjs';

const EXIT_CODES = { SIGTERM: 143, SIGHUP: 129 };

export class Shutdown {
  #fake;
  #controller = new AbortController();
  #begun = false;
  #signals = 0;
  #ignored = 0;

  constructor(fake) {
    this.#fake = fake;
  }

  /** Aborted when the process is ending. */
  get signal() {
    return this.#controller.signal;
  }

  listen() {
    for (const signal of Object.keys(EXIT_CODES)) process.on(signal, () => void this.#onSignal(signal));
    // Pi has no handler for it; a plan that ignores signals needs one.
    process.on('SIGINT', () => {
      if (!this.#ignores()) this.#dieBy('SIGINT');
    });
  }

  async onInputEnd() {
    await this.#runHook('onStdinClose');
    await this.#begin(0);
  }

  async #onSignal(signal) {
    if (this.#ignores()) return;
    this.#signals += 1;
    // A repeated signal does not wait for anything.
    if (this.#signals > 1) process.exit(EXIT_CODES[signal]);
    await this.#runHook('onSigterm');
    await this.#begin(EXIT_CODES[signal]);
  }

  #ignores() {
    const limit = this.#fake.hooks.ignoreSignals ?? 0;
    if (limit !== 'all' && this.#ignored >= limit) return false;
    this.#ignored += 1;
    return true;
  }

  #dieBy(signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }

  /** An abort does not end these steps: the process is asked to end already. */
  #runHook(name) {
    return runSteps(this.#fake.hooks[name], { fake: this.#fake, signal: new AbortController().signal });
  }

  async #begin(code) {
    if (this.#begun) return;
    this.#begun = true;
    // What happens from here on is not reported, only saved.
    this.#fake.output.mute();
    this.#controller.abort();
    this.#fake.dialogs.cancelAll();
    if (this.#fake.isStuck) return;
    await this.#fake.agent.whenIdle();
    // After SIGTERM Pi does not wait for a reader.
    if (code !== EXIT_CODES.SIGTERM) await this.#fake.flush();
    process.exit(code);
  }
}

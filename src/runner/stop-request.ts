/** Whether a person asked this run to stop. Asked once, never taken back. */
export class StopRequest {
  readonly #controller = new AbortController();
  readonly #requested: Promise<'stop'>;

  constructor() {
    this.#requested = new Promise((resolve) => {
      this.#controller.signal.addEventListener('abort', () => resolve('stop'), { once: true });
    });
  }

  get isRequested(): boolean {
    return this.#controller.signal.aborted;
  }

  request(): void {
    this.#controller.abort();
  }

  /** The work's result, or `stop` as soon as a stop is asked for. The work itself goes on and must be ended. */
  async race<T>(work: Promise<T>): Promise<T | 'stop'> {
    if (this.isRequested) {
      work.catch(() => undefined);
      return 'stop';
    }
    return Promise.race([work, this.#requested]);
  }
}

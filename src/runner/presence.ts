/**
 * Keeps a living run findable: its lease, its mark and its socket lie in folders that cleaners empty and people tidy up. A
 * look is a few file system calls, so an idle runner stays idle.
 */

/** Milliseconds between two looks. */
const LOOK_MS = 5000;

export interface PresenceOptions {
  run: () => { renew(): Promise<'held' | 'renewed' | 'lost'> } | undefined;
  server: { renew(): Promise<unknown> };
  /** The run has another owner: this process must do nothing more. */
  onLost: () => void;
  everyMs?: number;
}

export class Presence {
  readonly #options: PresenceOptions;
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> | undefined;

  constructor(options: PresenceOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.look(), options.everyMs ?? LOOK_MS);
    this.#timer.unref();
  }

  /** Never rejects: what cannot be put right now is tried again at the next look. */
  look(): Promise<void> {
    this.#looking ??= this.#look()
      .catch(() => undefined)
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { run, server, onLost } = this.#options;
    // One that fails does not keep the other from being put right.
    const lease = await run()
      ?.renew()
      .catch(() => undefined);
    if (lease === 'lost') {
      this.stop();
      onLost();
      return;
    }
    await server.renew();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

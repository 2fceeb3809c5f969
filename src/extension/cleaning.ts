/**
 * Runs that are too old are removed by whichever window comes first; the others find it at work and leave it alone. Never at
 * the start, a hundred runs at a time, and again each day in a window that stays open.
 */
import * as vscode from 'vscode';
import { cleanUp, type Toolbox } from '../client/index.ts';
import { toErrorValue } from '../protocol/index.ts';

/** Milliseconds after the start, and between two parts of a large store. */
const PAUSE_MS = 60_000;
const DAY_MS = 24 * 60 * 60_000;

export class Cleaning implements vscode.Disposable {
  readonly #toolbox: Toolbox;
  readonly #log: vscode.LogOutputChannel;
  readonly #pauseMs: number;
  #timer: NodeJS.Timeout | undefined;
  #disposed = false;

  constructor(toolbox: Toolbox, log: vscode.LogOutputChannel, pauseMs = PAUSE_MS) {
    this.#toolbox = toolbox;
    this.#log = log;
    this.#pauseMs = pauseMs;
    this.#after(pauseMs);
  }

  #after(ms: number): void {
    if (this.#disposed) return;
    this.#timer = setTimeout(() => void this.#clean().then((next) => this.#after(next)), ms);
    this.#timer.unref();
  }

  /** Milliseconds until the next pass. Never rejects. */
  async #clean(): Promise<number> {
    // A workspace that is not trusted is only read from; another window will do it.
    if (!vscode.workspace.isTrusted) return DAY_MS;
    try {
      const report = await cleanUp(this.#toolbox, { isAsked: false });
      const { removed, leftovers, failed, problems, left, days } = report;
      if (removed.length + leftovers.length > 0) {
        this.#log.info(
          `Removed ${removed.length} run(s) that ended more than ${days} days ago, and ${leftovers.length} leftover(s).`,
        );
      }
      for (const { runId, reason } of failed) this.#log.warn(`Run ${runId} could not be removed: ${reason}`);
      for (const problem of problems) this.#log.warn(`Not everything could be tidied up: ${problem}`);
      return left > 0 ? this.#pauseMs : DAY_MS;
    } catch (error) {
      const { message, hint } = toErrorValue(error);
      this.#log.error(`Old runs are not removed: ${message} ${hint ?? ''}`);
      return DAY_MS;
    }
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
  }
}

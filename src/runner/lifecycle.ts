/** The life of a runner: listen, be given one run, be told to proceed, execute it, end it, exit. */
import type { ChildDriver } from '../core/children/index.ts';
import {
  LanesError,
  PROCEED_DEADLINE_MS,
  type RpcParams,
  type RpcResult,
  type StartOrder,
  toErrorValue,
} from '../protocol/index.ts';
import { OpenRun } from './open-run.ts';
import { RunnerServer } from './server.ts';
import { executeSingleRun } from './single-run.ts';
import { StopRequest } from './stop-request.ts';

export class RunnerLifecycle {
  readonly #order: StartOrder;
  readonly #driver: ChildDriver;
  readonly #deadlineMs: number;
  readonly #stop = new StopRequest();
  readonly #started = Promise.withResolvers<true>();
  readonly #proceeded = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  #run: OpenRun | undefined;
  #starting = false;
  #over = false;
  #stopRequestId: string | undefined;

  constructor(order: StartOrder, driver: ChildDriver, options: { proceedDeadlineMs?: number } = {}) {
    this.#order = order;
    this.#driver = driver;
    this.#deadlineMs = options.proceedDeadlineMs ?? PROCEED_DEADLINE_MS;
  }

  /** Resolves with the exit code when everything is over. */
  async live(): Promise<number> {
    const server = await RunnerServer.listen(this.#order.address, this.#order, {
      start: (params) => this.#onStart(params),
      proceed: async () => {
        if (!this.#run) throw new LanesError('runner_refused', 'There is no run to proceed with.');
        this.#proceeded.resolve();
        return {};
      },
      ping: async () => ({ seq: this.#run?.seq ?? 0 }),
      status: async () => this.#existing.view,
      stop: (params) => this.#onStop(params),
    });
    try {
      if (!(await this.#within(this.#started.promise))) return 3;
      await this.#execute(this.#existing);
      return 0;
    } finally {
      await server.close();
    }
  }

  get #existing(): OpenRun {
    if (!this.#run) throw new LanesError('run_not_found', 'The run has not been started yet.');
    return this.#run;
  }

  async #onStart({ record }: RpcParams<'start'>): Promise<RpcResult<'start'>> {
    if (this.#starting) throw new LanesError('runner_refused', 'This runner has a run already.');
    if (record.runId !== this.#order.runId)
      throw new LanesError('runner_refused', `This runner was started for ${this.#order.runId}.`);
    this.#starting = true;
    try {
      this.#run = await OpenRun.create(this.#order, record);
    } catch (error) {
      // Answered first, then the runner leaves: there is nothing it could own.
      setImmediate(() => this.#started.reject(error));
      throw error;
    }
    this.#started.resolve(true);
    return { runId: record.runId, directory: this.#run.layout.directory };
  }

  async #execute(run: OpenRun): Promise<void> {
    if ((await this.#within(this.#proceeded.promise.then(() => true))) === undefined && !this.#stop.isRequested) {
      await this.#end(run, {
        state: 'failed',
        error: new LanesError(
          'start_not_confirmed',
          'Whoever started this run went away before confirming it; no child was started.',
        ).toValue(),
      });
      return;
    }
    try {
      await run.append({ type: 'run.proceeded' });
      await this.#end(run, await executeSingleRun(run, this.#driver, this.#stop));
    } catch (error) {
      await this.#end(run, { state: 'failed', error: toErrorValue(error) });
    }
  }

  async #end(
    run: OpenRun,
    result: { state: Parameters<OpenRun['end']>[0]; error: Parameters<OpenRun['end']>[1] },
  ): Promise<void> {
    this.#over = true;
    if (this.#stopRequestId !== undefined) {
      const outcome = result.state === 'stopped' ? 'done' : 'too-late';
      await run.append({ type: 'control.settled', requestId: this.#stopRequestId, outcome });
    }
    await run.end(result.state, result.error);
    this.#ended.resolve();
  }

  async #onStop({ requestId, by }: RpcParams<'stop'>): Promise<RpcResult<'stop'>> {
    const run = this.#existing;
    if (this.#over) return { outcome: 'too-late' };
    if (this.#stopRequestId === undefined) {
      this.#stopRequestId = requestId;
      await run.append({ type: 'control.requested', requestId, action: 'stop', by });
      this.#stop.request();
      this.#proceeded.resolve();
    }
    await this.#ended.promise;
    return { outcome: run.view.state === 'stopped' ? 'done' : 'too-late' };
  }

  /** `undefined` when nothing came within the start deadline. */
  async #within<T>(work: Promise<T>): Promise<T | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), this.#deadlineMs);
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The life of a runner: listen, be given one run or take one over, execute it, end it, exit. */
import { rm } from 'node:fs/promises';
import type { ChildDriver } from '../core/children/index.ts';
import { childNames } from '../core/runs/index.ts';
import { inTime } from '../core/time/index.ts';
import {
  describeError,
  isTerminal,
  type JournalEventType,
  type JournalLine,
  type LanesError,
  lanesError,
  type NewOrder,
  PROCEED_DEADLINE_MS,
  type RecoverOrder,
  type RpcParams,
  type RpcResult,
  type StartOrder,
} from '../protocol/index.ts';
import { OpenRun } from './open-run.ts';
import { Presence } from './presence.ts';
import { type EndReason, RunControl } from './run-control.ts';
import type { RunResult, RunWork } from './run-work.ts';
import { RunnerServer } from './server.ts';
import { SingleRun } from './single-run.ts';
import { isDecided } from './workflow/continued.ts';

/** Milliseconds the last lines of an end have when the system wants the process gone. */
const LAST_WORDS_MS = 2000;
/** The same for an end that still has to end its child: asking it twice, the whole ladder, and the lines. */
const ENDING_MS = 15_000;
/** Everything together, whatever hangs. */
const LEAVE_MS = 30_000;
/** Exit code of a runner whose run was taken over while it lived. */
const SUPERSEDED = 4;

export interface LifecycleOptions {
  /** Path of `engine-worker.mjs`. */
  engine: string;
  proceedDeadlineMs?: number;
  fault?: ((type: JournalEventType, when: 'before' | 'after') => void) | undefined;
  /** Bytes of journal up to which progress is recorded. */
  maxJournalBytes?: number;
}

export class RunnerLifecycle {
  readonly #order: StartOrder;
  readonly #driver: ChildDriver;
  readonly #options: LifecycleOptions;
  readonly #control = new RunControl();
  readonly #started = Promise.withResolvers<true>();
  readonly #proceeded = Promise.withResolvers<true>();
  readonly #ended = Promise.withResolvers<void>();
  /** Another runner owns the run. */
  readonly #superseded = Promise.withResolvers<number>();
  /** Ends that were asked for, in order. */
  readonly #requests = new Map<EndReason, string>();
  #run: OpenRun | undefined;
  #work: RunWork | undefined;
  #starting = false;
  #over = false;
  #leaving: Promise<void> | undefined;

  constructor(order: StartOrder, driver: ChildDriver, options: LifecycleOptions) {
    this.#order = order;
    this.#driver = driver;
    this.#options = options;
  }

  /** Resolves with the exit code when everything is over, or when the run turns out to have another owner. */
  live(): Promise<number> {
    return Promise.race([this.#live(), this.#superseded.promise]);
  }

  async #live(): Promise<number> {
    const order = this.#order;
    // A run that is taken over is ours before anybody can talk to us.
    if (order.kind === 'recover') await this.#own(await this.#takeOver(order));
    const server = await RunnerServer.listen(order.address, order, {
      start: (params) => this.#onStart(params),
      proceed: async () => {
        if (!this.#run) throw lanesError('runner_refused:proceed');
        this.#proceeded.resolve(true);
        // Answered when it is written: a starter that was told so can rely on it.
        await Promise.race([this.#run.started, this.#ended.promise]);
        return {};
      },
      ping: async () => ({ seq: this.#run?.seq ?? 0, endAskedMs: this.#control.askedMs }),
      status: async () => this.#existing.view,
      stop: (params) => this.#onEnd('stop', params),
      interrupt: (params) => this.#onEnd('interrupt', params),
      steer: (params) => this.#existingWork.steer(params),
      answer: (params) => this.#existingWork.answer(params),
    });
    const presence = new Presence({ run: () => this.#run, server, onLost: () => this.#giveUp() });
    try {
      if (order.kind === 'recover') await this.#recover(this.#existing, order);
      else if (await this.#within(this.#started.promise)) await this.#begin(this.#existing);
      else {
        // There is no run whose folder it could lie in.
        await rm(order.log, { force: true }).catch(() => undefined);
        return 3;
      }
      return 0;
    } finally {
      presence.stop();
      await server.close();
    }
  }

  /** Whoever is told that the run has a runner must not find its old end any more. */
  async #takeOver(order: RecoverOrder): Promise<OpenRun> {
    const run = await OpenRun.takeOver(order, this.#options);
    // What is left of a run that is to be stopped, or has come to its end, needs no limits.
    const isOpen = isTerminal(run.view.state) || !isDecided(run.earlier);
    if (order.bounds && order.settle === 'continue' && run.view.workflow && isOpen)
      await run.reopen(order.by, order.bounds);
    return run;
  }

  /** Two runners must never write one run. The new owner ends our children, and they see their input end. */
  #giveUp(): void {
    this.#run?.suspend();
    console.error('pi-lanes runner: the run has another owner now; this runner leaves.');
    this.#superseded.resolve(SUPERSEDED);
  }

  async #own(run: OpenRun): Promise<void> {
    this.#run = run;
    this.#work = await workOf(run, this.#driver, this.#control, this.#options);
  }

  /**
   * The system wants this process gone (a shutdown, an administrator). The children are ended; the run is left without an
   * end, so that it can be continued. One that is ending already, or was asked to, comes to its end. Asked again it is the
   * same leaving, and what is being ended is killed without any more patience.
   */
  leave(): Promise<void> {
    if (this.#leaving) this.#work?.hurry();
    this.#leaving ??= inTime(this.#leave(), LEAVE_MS);
    return this.#leaving;
  }

  async #leave(): Promise<void> {
    // A wish counts from when it was taken: it may still be on its way into the journal.
    const isAsked = this.#requests.size > 0 || this.#control.reason !== undefined;
    const isEnding = isAsked || this.#work?.isEnding === true;
    if (this.#over) await inTime(this.#ended.promise, LAST_WORDS_MS);
    else if (isEnding) await inTime(this.#ended.promise, ENDING_MS);
    this.#run?.suspend();
    await this.#work?.endLiving();
    await rm(this.#order.address, { force: true }).catch(() => undefined);
  }

  get #existing(): OpenRun {
    if (!this.#run) throw notStarted();
    return this.#run;
  }

  get #existingWork(): RunWork {
    if (!this.#work) throw notStarted();
    return this.#work;
  }

  async #onStart({ record }: RpcParams<'start'>): Promise<RpcResult<'start'>> {
    const order = this.#order;
    if (this.#starting || order.kind !== 'new') throw lanesError('runner_refused:second');
    if (record.runId !== order.runId) throw lanesError('runner_refused:other', { runId: order.runId });
    this.#starting = true;
    return this.#create(order, record);
  }

  async #create(order: NewOrder, record: RpcParams<'start'>['record']): Promise<RpcResult<'start'>> {
    try {
      await this.#own(await OpenRun.create(order, record, this.#options));
    } catch (error) {
      // Answered first, then the runner leaves: there is nothing it could own.
      setImmediate(() => this.#started.reject(error));
      throw error;
    }
    this.#started.resolve(true);
    return { runId: record.runId, directory: this.#existing.layout.directory };
  }

  async #begin(run: OpenRun): Promise<void> {
    const proceeded = await this.#control.race(this.#within(this.#proceeded.promise));
    if (proceeded === undefined) {
      await this.#end(run, { state: 'failed', error: describeError('start_not_confirmed:waited') });
      return;
    }
    if (proceeded === 'ended') {
      await this.#end(run, { state: this.#control.reason === 'stop' ? 'stopped' : 'paused', error: null });
      return;
    }
    await this.#end(run, await this.#existingWork.begin());
  }

  async #recover(run: OpenRun, order: RecoverOrder): Promise<void> {
    if (isTerminal(run.view.state)) {
      // Only what comes after the terminal event was missing.
      this.#over = true;
      await run.finish();
      this.#ended.resolve();
      return;
    }
    for (const [reason, requestId] of openEnds(run.earlier)) this.#requests.set(reason, requestId);
    await this.#end(run, await this.#existingWork.recover(order));
  }

  async #end(run: OpenRun, came: RunResult): Promise<void> {
    this.#over = true;
    await this.#existingWork.close();
    // A stop that came while an interrupt or a limit was still ending the work wins over it; not over work that was done.
    const result: RunResult =
      this.#requests.has('stop') && wasCutShort(came) ? { state: 'stopped', error: null } : came;
    for (const [reason, requestId] of this.#requests) {
      const done = reason === 'stop' ? result.state === 'stopped' : result.state === 'paused';
      await run.append({ type: 'control.settled', requestId, outcome: done ? 'done' : 'too-late', reason: null });
    }
    await run.end(result.state, result.error);
    this.#ended.resolve();
  }

  async #onEnd(reason: 'stop' | 'interrupt', params: RpcParams<'stop'>): Promise<RpcResult<'stop'>> {
    const work = this.#existingWork;
    const { child } = params;
    if (child !== undefined && work.endChild) return work.endChild(reason, child, params);
    if (reason === 'interrupt' && work.endChild)
      throw lanesError('child_unknown:needed', { known: childNames(this.#existing.view) });
    return this.#onEndOfAll(reason, params);
  }

  async #onEndOfAll(reason: 'stop' | 'interrupt', { requestId, by }: RpcParams<'stop'>): Promise<RpcResult<'stop'>> {
    const run = this.#existing;
    const wanted = reason === 'stop' ? 'stopped' : 'paused';
    if (this.#over) {
      await this.#ended.promise;
      return { outcome: 'too-late' };
    }
    if (!this.#requests.has(reason)) {
      this.#requests.set(reason, requestId);
      try {
        await run.appendInTime({
          type: 'control.requested',
          requestId,
          action: reason,
          by,
          message: null,
          preview: null,
        });
      } catch (error) {
        // Asked again it must be able to take effect.
        this.#requests.delete(reason);
        throw error;
      }
      this.#control.request(reason);
    }
    await this.#ended.promise;
    return { outcome: run.view.state === wanted ? 'done' : 'too-late' };
  }

  /** `undefined` when nothing came within the start deadline. */
  #within<T>(work: Promise<T>): Promise<T | undefined> {
    return inTime(work, this.#options.proceedDeadlineMs ?? PROCEED_DEADLINE_MS);
  }
}

async function workOf(
  run: OpenRun,
  driver: ChildDriver,
  control: RunControl,
  { engine }: LifecycleOptions,
): Promise<RunWork> {
  const { record } = run;
  if (record.mode === 'single') return new SingleRun(run, record, driver, control);
  // A single run pays nothing for it.
  const { WorkflowRun } = await import('./workflow/workflow-run.ts');
  return new WorkflowRun(run, record, driver, control, { engine });
}

function wasCutShort({ state, error }: RunResult): boolean {
  return state === 'paused' || error?.code === 'timed_out' || error?.code === 'tool_timed_out';
}

function notStarted(): LanesError {
  return lanesError('run_not_found:not-started');
}

/** Ends that an earlier runner was asked for and did not report on. */
function openEnds(earlier: readonly JournalLine[]): Map<'stop' | 'interrupt', string> {
  const open = new Map<'stop' | 'interrupt', string>();
  for (const line of earlier) {
    const isOfAll = line.type === 'control.requested' && line.child === undefined;
    if (isOfAll && (line.action === 'stop' || line.action === 'interrupt')) open.set(line.action, line.requestId);
    if (line.type === 'control.settled')
      for (const [action, requestId] of open) if (requestId === line.requestId) open.delete(action);
  }
  return open;
}

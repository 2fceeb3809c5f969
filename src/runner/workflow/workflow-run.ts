/** A run of a workflow script: the engine moves it, the journal remembers it, and children and commands do what it asks for. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { ChildDriver } from '../../core/children/index.ts';
import {
  aliveMs,
  childNames,
  describePrinted,
  foldRun,
  MAX_EPOCHS,
  RunReader,
  runnerLogTail,
} from '../../core/runs/index.ts';
import { type Effect, type Fact, type HistoryEntry, isObject, runExecution } from '../../core/workflow/index.ts';
import {
  describeError,
  type JournalLine,
  lanesError,
  type RecoverOrder,
  type RpcParams,
  type RpcResult,
  toErrorValue,
  type WorkflowBounds,
  type WorkflowRecord,
  withDetail,
  wordsOf,
} from '../../protocol/index.ts';
import { endLeftovers, settleRequests } from '../leftovers.ts';
import type { OpenRun } from '../open-run.ts';
import { captureWorktrees, settleWorktrees } from '../open-worktrees.ts';
import type { RunControl } from '../run-control.ts';
import type { RunResult, RunWork } from '../run-work.ts';
import { notConfirmed } from '../started-children.ts';
import { AggregateOutput } from './aggregate-output.ts';
import { isStopAsked, sinceContinued } from './continued.ts';
import { HostSteps } from './host-steps.ts';
import { latestRunId } from './receipts.ts';
import { WorkflowChildren } from './workflow-children.ts';
import { concludeWorkflow, endOfRecord, leaveReceipt } from './workflow-end.ts';
import { readHistory, WorkflowJournal } from './workflow-journal.ts';

export interface WorkflowRunOptions {
  /** Path of `engine-worker.mjs`. */
  engine: string;
}

export class WorkflowRun implements RunWork {
  readonly #run: OpenRun;
  readonly #record: WorkflowRecord;
  readonly #control: RunControl;
  readonly #options: WorkflowRunOptions;
  readonly #children: WorkflowChildren;
  readonly #hosts: HostSteps;
  readonly #aggregate: AggregateOutput | undefined;
  readonly #journal: WorkflowJournal;
  /** Aborted with the reason when an answer for the script could not be saved. */
  readonly #unkept = new AbortController();
  #isOver = false;

  constructor(
    run: OpenRun,
    record: WorkflowRecord,
    driver: ChildDriver,
    control: RunControl,
    options: WorkflowRunOptions,
  ) {
    this.#run = run;
    this.#record = record;
    this.#control = control;
    this.#options = options;
    this.#aggregate = AggregateOutput.of(run, record);
    this.#children = new WorkflowChildren(run, record, driver, () => control.reason === 'stop', this.#aggregate);
    this.#hosts = new HostSteps(run, record);
    this.#journal = new WorkflowJournal(run);
  }

  async begin(): Promise<RunResult> {
    try {
      const claimed = (await this.#aggregate?.claim()) ?? [];
      await this.#run.append({ type: 'run.proceeded' }, ...claimed);
    } catch (error) {
      await this.#aggregate?.release();
      return { state: 'failed', error: toErrorValue(error) };
    }
    return this.#execute(undefined);
  }

  async recover(order: RecoverOrder): Promise<RunResult> {
    const run = this.#run;
    const { earlier } = run;
    try {
      const view = foldRun(this.#record, earlier);
      const ended = (await endLeftovers(run, view.children)) + (await this.#hosts.endLeftovers(view));
      await run.append({ type: 'recovery.begun', epoch: run.epoch, settle: order.settle, ended });
      await settleRequests(run, earlier);
      await settleWorktrees(run);
      const lines = sinceContinued(earlier);
      const known = await this.#knownEnd(order, lines);
      if (known) {
        await captureWorktrees(run);
        return known.isTold ? known.result : await this.#withoutResult(known.result);
      }
      const history = await readHistory(run.layout.directory, earlier);
      await this.#children.checkResults(toldCalls(history));
      const claimed = (await this.#aggregate?.claimAgain()) ?? [];
      if (claimed.length > 0) await run.append(...claimed);
      return await this.#execute(history);
    } catch (error) {
      await this.#aggregate?.release();
      return this.#withoutResult({ state: 'failed', error: toErrorValue(error) });
    }
  }

  /** Why it is not gone on with, if there is a reason. `isTold`: what became of its children need not be told any more. */
  async #knownEnd(
    order: RecoverOrder,
    lines: readonly JournalLine[],
  ): Promise<{ result: RunResult; isTold: boolean } | undefined> {
    const run = this.#run;
    if (order.settle === 'stop' || isStopAsked(lines))
      return { result: { state: 'stopped', error: null }, isTold: false };
    const end = endOfRecord(lines);
    if (end) return { result: end, isTold: true };
    const printed = describePrinted(await runnerLogTail(run.layout.directory, run.epoch - 1));
    if (!run.earlier.some(({ type }) => type === 'run.proceeded'))
      return { result: { state: 'failed', error: withDetail(await notConfirmed(run), printed) }, isTold: true };
    if (lostInARow(lines) <= MAX_EPOCHS) return undefined;
    const error = withDetail(describeError('recovery_failed', { count: run.epoch - 1 }), printed);
    return { result: { state: 'failed', error }, isTold: false };
  }

  /** The script came to nothing that could be told; what became of its children is told all the same. */
  async #withoutResult(result: RunResult): Promise<RunResult> {
    await leaveReceipt(this.#run, result);
    return result;
  }

  async #execute(history: readonly HistoryEntry[] | undefined): Promise<RunResult> {
    const run = this.#run;
    const { script, args, seed, output } = this.#record.workflow;
    const { limits, timeoutMs } = boundsOf(this.#record, run.earlier);
    const stop = new AbortController();
    const over = Promise.withResolvers<void>();
    void this.#control
      .race(over.promise)
      .then((how) => how === 'ended' && stop.abort(new Error('somebody stopped it')));
    try {
      const { result } = await runExecution({
        script,
        ...(args === null ? {} : { args }),
        state: false,
        seed,
        settings: {
          ...limits,
          capabilities: { steer: true, host: true, status: true, resolveResume: true },
          outputs: {
            children: run.layout.outputs,
            hosts: this.#record.cwd,
            ...(output === undefined ? {} : { aggregate: output }),
          },
        },
        worker: this.#options.engine,
        ...(timeoutMs === null ? {} : { timeoutMs }),
        usedMs: aliveMs(run.earlier),
        signal: AbortSignal.any([stop.signal, this.#unkept.signal]),
        perform: (effect, ended, again) => this.#perform(effect, ended, again),
        journal: {
          delivered: this.#journal.delivered,
          stepped: async (step) => {
            await this.#journal.stepped(step);
            this.#children.expect(step.launches);
          },
          late: this.#journal.late,
        },
        onProgress: ({ budgetExhausted }) => {
          if (budgetExhausted) this.#children.wrapUp();
        },
        ...(history ? { history } : {}),
      });
      // What was told to stop comes to its end, with proof, before the run does.
      await this.#children.idle();
      this.#isOver = true;
      if (this.#unkept.signal.aborted && this.#control.reason !== 'stop')
        return await this.#withoutResult({ state: 'failed', error: this.#unkept.signal.reason });
      const isStopped = this.#control.reason === 'stop';
      return await concludeWorkflow(run, this.#record, result, { isStopped, aggregate: this.#aggregate });
    } catch (error) {
      return await this.#withoutResult({ state: 'failed', error: toErrorValue(error) });
    } finally {
      this.#isOver = true;
      over.resolve();
      await this.#aggregate?.release();
    }
  }

  async #perform(effect: Effect, ended: AbortSignal, again: boolean): Promise<Fact> {
    const { id } = effect;
    const key = effect.type === 'status' ? effect.target : effect.key;
    let value: unknown;
    try {
      value = await this.#answer(effect, ended, again);
    } catch (error) {
      return { id, key, ok: false, message: toErrorValue(error).message };
    }
    try {
      return await this.#journal.keep({ id, key, ok: true, value });
    } catch (error) {
      // The script must not take what was done for failed: it is not told, and goes on when there is room for the answer.
      this.#unkept.abort(describeError('result_unsaved:workflow', { key, reason: wordsOf(error) }));
      return new Promise(() => undefined);
    }
  }

  async #answer(effect: Effect, ended: AbortSignal, again: boolean): Promise<unknown> {
    switch (effect.type) {
      case 'launch': {
        const { id, key } = effect;
        const params = { ...effect.params };
        if (isObject(params['resume'])) params['resume'] = await latestRunId(this.#run.project.runs, params['resume']);
        return this.#children.launch({ id, key, params, again }, ended);
      }
      case 'host':
        return this.#hosts.execute({ id: effect.id, key: effect.key, params: effect.params, again }, ended);
      case 'steer':
        return this.#say(effect, again);
      case 'status':
        return this.#status(effect.target, effect.runId);
      default:
        throw new Error(`${effect.type} is not available: the workflow belongs to no mission.`);
    }
  }

  async #say({ key, message, options }: Extract<Effect, { type: 'steer' }>, again: boolean) {
    const child = this.#children.find(key);
    if (again) return { state: 'missed', error: 'outcome unknown: the runner was lost' };
    const steering = child && this.#children.steering(child.index);
    if (!child || !steering) return { state: 'missed', error: 'the agent is not at work' };
    const requestId = randomUUID();
    const mode = options['mode'] === 'follow_up' ? 'follow-up' : 'steer';
    const { state, reason } = await steering.request({ requestId, by: this.#record.owner, mode, message });
    const detail = reason === null ? {} : { reason };
    return {
      state,
      requestId,
      deliveryStatus: state,
      targets: [{ index: child.index, state, ...detail }],
      ...(reason !== null && (state === 'missed' || state === 'failed') ? { error: reason } : {}),
    };
  }

  async #status(target: string, runId: string): Promise<unknown> {
    const child = this.#children.find(target) ?? this.#children.byRunId(runId);
    if (child) {
      const { key, index, agent, state, phase, tool, turns, toolCalls, usage, error } = child;
      return {
        ok: true,
        key,
        index,
        agent,
        state,
        phase,
        tool,
        turns,
        toolCalls,
        usage,
        error: error?.message ?? null,
      };
    }
    const { view } = await RunReader.open(join(this.#run.project.runs, runId)).catch(() => {
      throw lanesError('run_not_found:id', { id: runId });
    });
    const { state, title, usage, error } = view;
    return { ok: true, runId, state, title, usage, error: error?.message ?? null };
  }

  // ---- control

  async endChild(reason: 'stop' | 'interrupt', child: number, params: RpcParams<'stop'>): Promise<RpcResult<'stop'>> {
    if (!this.#children.find(child)) throw this.#unknownChild(child);
    return this.#children.end(reason, child, params);
  }

  async steer(params: RpcParams<'steer'>): Promise<RpcResult<'steer'>> {
    const child = params.child ?? this.#children.only;
    if (child === undefined) throw lanesError('child_unknown:needed', { known: childNames(this.#run.view) });
    if (!this.#children.find(child)) throw this.#unknownChild(child);
    const steering = this.#children.steering(child);
    return steering ? steering.request(params) : { state: 'missed', reason: 'the agent is not at work' };
  }

  #unknownChild(child: number) {
    return lanesError('child_unknown', { name: String(child), known: childNames(this.#run.view) || '-' });
  }

  async answer(params: RpcParams<'answer'>): Promise<RpcResult<'answer'>> {
    return (await this.#children.answer(params)) ?? this.#hosts.questions.answer(params);
  }

  async close(): Promise<void> {
    await this.#hosts.questions.close();
  }

  get isEnding(): boolean {
    return this.#isOver;
  }

  hurry(): void {
    this.#children.hurry();
  }

  async endLiving(): Promise<void> {
    await Promise.all([this.#children.endLiving(), this.#hosts.endLiving()]);
  }
}

/** Calls whose answers stand in the journal. */
function toldCalls(history: readonly HistoryEntry[]): ReadonlySet<number> {
  return new Set(history.flatMap((entry) => (entry.type === 'delivered' ? entry.facts.map(({ id }) => id) : [])));
}

/** The newest limits: those it was launched with, or continued with. */
function boundsOf({ workflow, timeoutMs }: WorkflowRecord, lines: readonly JournalLine[]): WorkflowBounds {
  const continued = lines.findLast((line) => line.type === 'run.continued');
  return continued?.type === 'run.continued' ? continued : { limits: workflow.limits, timeoutMs };
}

/** How many runners were started, this one included, since one of them got a step done. */
function lostInARow(lines: readonly JournalLine[]): number {
  const last = lines.findLastIndex(({ type }) => type === 'workflow.stepped' || type === 'child.settled');
  return 1 + lines.slice(last + 1).filter(({ type }) => type === 'runner.started').length;
}

/** One run of a script: moves the engine step by step, starts what may start, and ends with a result and a record. */
import type { Delivery, StepOutput, WorkflowError } from './calls.ts';
import { conclude, type EndCause, type WorkflowResult } from './conclusion.ts';
import { Conductor, type ConductorSettings, type Effect, type Fact } from './conductor.ts';
import { EngineGone, EngineThread } from './engine-thread.ts';
import { HEAP_BYTES, TERMINATE_AFTER_MS } from './limits.ts';
import { askedOf, type ExecutionRecord, isInterrupt, keyOf, type RecordedStep } from './record.ts';

export interface ExecutionOptions {
  script: string;
  /** JSON text. */
  args?: string;
  state: boolean;
  seed: number;
  settings: ConductorSettings;
  /** Path or URL of `engine-worker.mjs`. */
  worker: string | URL;
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Carries out an effect. Its answer is plain JSON; a rejection is a failure. `ended` aborts when the answer no longer matters. */
  perform: (effect: Effect, ended: AbortSignal) => Promise<Fact>;
  /** Told after each step; what it throws changes nothing. */
  onProgress?: (conductor: Conductor) => void;
  now?: () => number;
}

/** How long the end of a workflow that failed waits for steers and host commands that were told to stop. */
const LATE_MS = 3000;

export async function runExecution(
  options: ExecutionOptions,
): Promise<{ result: WorkflowResult; record: ExecutionRecord }> {
  return new Execution(options).run();
}

class Execution {
  readonly #options: ExecutionOptions;
  readonly #conductor: Conductor;
  readonly #record: ExecutionRecord;
  readonly #now: () => number;
  readonly #children = new AbortController();
  readonly #others = new AbortController();
  readonly #engine = { steps: 0, fuel: 0, heapBytes: 0 };
  #inbox: Fact[] = [];
  #wake: () => void = () => {};
  /** Set from outside: the deadline, a stop. */
  #cause: EndCause | undefined;

  constructor(options: ExecutionOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#conductor = new Conductor(options.settings);
    const { script, args, state, seed, settings } = options;
    this.#record = {
      version: 1,
      script,
      ...(args === undefined ? {} : { args }),
      state,
      seed,
      settings,
      steps: [],
      late: [],
      end: undefined,
    };
  }

  async run(): Promise<{ result: WorkflowResult; record: ExecutionRecord }> {
    const { signal, script, args, state, seed, worker } = this.#options;
    if (signal?.aborted) return this.#conclude({ type: 'aborted', reason: reasonOf(signal) });
    await using thread = new EngineThread(worker);
    const guard = new Guard(thread, (cause) => {
      this.#cause ??= cause;
      this.#wake();
    });
    using _ = guard;
    guard.watch(signal);
    let refused: WorkflowError | undefined;
    try {
      const request = { script, state, seed, heapBytes: HEAP_BYTES, ...(args === undefined ? {} : { args }) };
      refused = await thread.open(request);
    } catch (error) {
      return this.#conclude(this.#cause ?? { type: 'crashed', message: messageOf(error) });
    }
    if (refused) return this.#conclude(this.#cause ?? { type: 'refused', error: refused });
    guard.startDeadline(this.#options.timeoutMs);
    const cause = await this.#steps(thread);
    await this.#finish(cause);
    return this.#conclude(cause);
  }

  async #steps(thread: EngineThread): Promise<EndCause> {
    while (!this.#cause) {
      const step: RecordedStep = { at: this.#now(), facts: this.#inbox.splice(0) };
      const deliveries: Delivery[] = this.#conductor.takeLocal();
      for (const fact of step.facts) {
        const delivery = this.#conductor.deliver(fact, step.at);
        if (delivery) deliveries.push(delivery);
      }
      this.#record.steps.push(step);
      let output: Omit<StepOutput, 'calls'>;
      try {
        const taken: Parameters<Conductor['take']>[0][] = [];
        output = await thread.step({ at: step.at, deliveries }, (calls) => taken.push(calls));
        for (const calls of taken) this.#conductor.take(calls, step.at);
      } catch (error) {
        if (!(error instanceof EngineGone)) throw error;
        step.killed = true;
        return this.#cause ?? { type: 'crashed', message: error.message };
      }
      this.#engine.steps += 1;
      this.#engine.fuel += output.fuel;
      this.#engine.heapBytes = Math.max(this.#engine.heapBytes, output.heapBytes);
      if (output.end) return { type: 'body', end: output.end };
      if (output.broken) {
        if (!isInterrupt(output.broken)) return { type: 'broken', by: output.broken };
        const { polls, reason } = output.broken;
        step.interruptAt = { polls, reason };
        if (reason === 'fuel') return { type: 'broken', by: { reason } };
        return this.#cause ?? (await this.#causeOf(reason));
      }
      const effects = this.#conductor.next(step.at);
      this.#progress();
      if (this.#cause) break;
      for (const effect of effects) this.#start(effect);
      if (this.#conductor.hasLocal || this.#inbox.length > 0) continue;
      if (!this.#conductor.waiting) return { type: 'deadlock' };
      await this.#something();
    }
    return this.#cause ?? { type: 'deadlock' };
  }

  /** The worker saw the deadline before our timer did. */
  async #causeOf(reason: 'deadline' | 'stop'): Promise<EndCause> {
    if (reason === 'deadline') return { type: 'timeout', ms: this.#options.timeoutMs ?? 0 };
    while (!this.#cause) await this.#something();
    return this.#cause;
  }

  /** Waits for a fact, for a stop from outside that nobody has seen yet, or for so many milliseconds. */
  async #something(ms?: number): Promise<void> {
    if (this.#inbox.length > 0 || (this.#cause && !this.#others.signal.aborted)) return;
    await new Promise<void>((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #start(effect: Effect): void {
    const signal = effect.type === 'launch' ? this.#children.signal : this.#others.signal;
    const asked = askedOf(effect);
    void this.#options
      .perform(effect, signal)
      .catch((error: unknown): Fact => ({ id: effect.id, key: keyOf(effect), ok: false, message: messageOf(error) }))
      .then((fact) => {
        this.#inbox.push({ ...fact, asked });
        this.#wake();
      });
  }

  #progress(): void {
    try {
      this.#options.onProgress?.(this.#conductor);
    } catch {
      // Whoever watches must not change what happens.
    }
  }

  /** Children are told to stop; steers, host commands and stored values may come to their end. */
  async #finish(cause: EndCause): Promise<void> {
    const reason = cause.type === 'body' && cause.end.type === 'returned' ? 'completed' : cause.type;
    this.#children.abort(new Error(reason));
    if (cause.type === 'body') for (const effect of this.#conductor.atEnd()) this.#start(effect);
    else this.#others.abort(new Error(reason));
    let patience = Date.now() + LATE_MS;
    this.#settleLate();
    while (this.#conductor.finishing) {
      if (this.#cause && !this.#others.signal.aborted) {
        this.#others.abort(new Error(this.#cause.type));
        patience = Date.now() + LATE_MS;
      }
      const stopped = this.#others.signal.aborted;
      if (stopped && Date.now() >= patience) return;
      await this.#something(stopped ? patience - Date.now() : undefined);
      this.#settleLate();
    }
  }

  /** What is settled after the end reaches the trace, and no script any more. */
  #settleLate(): void {
    const at = this.#now();
    const facts = this.#inbox.splice(0).filter((fact) => this.#conductor.isFinishing(fact.id));
    for (const fact of facts) this.#conductor.deliver(fact, at);
    if (facts.length > 0) this.#record.late.push({ at, facts });
  }

  #conclude(cause: EndCause): { result: WorkflowResult; record: ExecutionRecord } {
    const steps = this.#record.steps.at(-1);
    // What the steps give by themselves is not written down a second time.
    if (cause.type !== 'body' && !(cause.type === 'broken' && !steps?.killed)) this.#record.end = cause;
    const result = conclude(this.#conductor, cause, this.#engine);
    this.#progress();
    return { result, record: this.#record };
  }
}

/** Ends a run from outside: at the deadline and on a stop, first by interrupting, then by ending the worker. */
class Guard implements Disposable {
  readonly #thread: EngineThread;
  readonly #end: (cause: EndCause) => void;
  readonly #timers: NodeJS.Timeout[] = [];
  #signal: AbortSignal | undefined;
  #onAbort: (() => void) | undefined;

  constructor(thread: EngineThread, end: (cause: EndCause) => void) {
    this.#thread = thread;
    this.#end = end;
  }

  watch(signal: AbortSignal | undefined): void {
    if (!signal) return;
    this.#signal = signal;
    this.#onAbort = () => this.#fire({ type: 'aborted', reason: reasonOf(signal) });
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  startDeadline(ms: number | undefined): void {
    if (ms === undefined) return;
    this.#thread.deadlineIn = ms;
    this.#timers.push(setTimeout(() => this.#fire({ type: 'timeout', ms }), ms));
  }

  #fire(cause: EndCause): void {
    this.#thread.interrupt();
    this.#end(cause);
    this.#timers.push(
      setTimeout(() => {
        if (this.#thread.computing) void this.#thread[Symbol.asyncDispose]();
      }, TERMINATE_AFTER_MS),
    );
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearTimeout(timer);
    if (this.#onAbort) this.#signal?.removeEventListener('abort', this.#onAbort);
  }
}

function reasonOf(signal: AbortSignal): string {
  return messageOf(signal.reason);
}

/** What somebody else's error says. Never throws, whatever was thrown: getters, proxies and conversions are theirs. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return 'an error that cannot be read';
  }
}

/** One run of a script: moves the engine step by step, starts what may start, and ends with a result and a record. */
import type { WorkflowError } from './calls.ts';
import { conclude, type EndCause, type WorkflowResult } from './conclusion.ts';
import { Conductor } from './conductor.ts';
import { diverged } from './contradiction.ts';
import type { AskedFact, Effect, Fact } from './effects.ts';
import { EngineThread } from './engine-thread.ts';
import type { ExecutionOptions } from './execution-options.ts';
import { Guard } from './guard.ts';
import { type History, HistoryFault, historyOf } from './history.ts';
import type { SteppedStep } from './journal.ts';
import type { Claim } from './leftovers.ts';
import { HEAP_BYTES } from './limits.ts';
import { messageOf, reasonOf } from './message-of.ts';
import { askOf, type ExecutionRecord } from './record.ts';
import { saidIn } from './said.ts';
import { type Ran, Stepper } from './stepper.ts';

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
  readonly #stepper: Stepper;
  #history: History | undefined;
  #inbox: AskedFact[] = [];
  #wake: () => void = () => {};
  /** Set from outside: the deadline, a stop. */
  #cause: EndCause | undefined;
  /** Steers, commands and stored values of the last step. */
  #atEnd: Effect[] = [];
  /** Numbers of what is performed and has not come to its end. */
  readonly #performed = new Set<number>();

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
    this.#stepper = new Stepper({
      conductor: this.#conductor,
      record: this.#record,
      leftovers: () => this.#history?.leftovers,
      timeoutMs: options.timeoutMs,
      ended: () => this.#cause,
    });
  }

  async run(): Promise<{ result: WorkflowResult; record: ExecutionRecord }> {
    const { signal, script, args, state, seed, worker, history, settings } = this.#options;
    if (signal?.aborted) return this.#conclude({ type: 'aborted', reason: reasonOf(signal) });
    try {
      if (history) this.#history = historyOf(history, settings);
    } catch (error) {
      if (!(error instanceof HistoryFault)) throw error;
      return this.#conclude(diverged(error.message));
    }
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
    let cause: EndCause;
    try {
      cause = await this.#live(thread, guard);
    } catch (error) {
      if (!(error instanceof JournalFault)) throw error;
      this.#atEnd = [];
      cause = { type: 'crashed', message: error.message };
    }
    cause = await this.#finish(cause);
    return this.#conclude(cause);
  }

  async #live(thread: EngineThread, guard: Guard): Promise<EndCause> {
    const { timeoutMs, usedMs = 0 } = this.#options;
    if (!this.#history) {
      guard.startDeadline(timeoutMs, usedMs);
      return this.#steps(thread);
    }
    const began = performance.now();
    const repeated = await this.#repeat(thread, this.#history);
    guard.startDeadline(timeoutMs, usedMs + performance.now() - began);
    if (repeated && 'type' in repeated) return repeated;
    return this.#cause ?? (await this.#resume(thread, this.#history, repeated)) ?? (await this.#steps(thread));
  }

  // ---- what was recorded

  /** @returns what ended the script, or the step from which on the limits decide otherwise, which has run and is not written down */
  async #repeat(thread: EngineThread, history: History): Promise<EndCause | Ran | undefined> {
    const { exact, again, leftovers } = history;
    for (const [index, known] of exact.entries()) {
      if (this.#cause) return this.#cause;
      this.#conductor.repeatUnder(known.stepped.limits);
      const ran = await this.#stepper.run(thread, this.#stepper.begin(known.at, known.facts), known);
      if ('type' in ran) return ran;
      if (ran.step.interruptAt) return ran.cause;
      const departed = this.#conductor.departed;
      if (!departed && !ran.cause) continue;
      if (!departed && index < exact.length - 1) return diverged('The script ended before its record does.');
      history.again = undefined;
      for (const later of [...exact.slice(index + 1), ...(again ? [again] : [])]) leftovers.add(later);
      leftovers.expect(this.#conductor.unanswered.map(askOf));
      if (departed) return ran;
      this.#atEnd = this.#finishing();
      return ran.cause;
    }
    this.#conductor.repeatUnder(undefined);
    leftovers.expect(this.#conductor.unanswered.map(askOf));
    leftovers.expect(again?.stepped?.asks ?? []);
    return undefined;
  }

  /** Goes on from where a history ends: with a step of it that is done again, and with what was under way. */
  async #resume(thread: EngineThread, history: History, departed: Ran | undefined): Promise<EndCause | undefined> {
    const { again } = history;
    let ran = departed;
    if (again) {
      const next = await this.#stepper.run(thread, this.#stepper.begin(again.at, again.facts), again);
      if ('type' in next) return next;
      ran = next;
    }
    if (!ran) {
      for (const effect of this.#conductor.underWay) this.#start(effect);
      return undefined;
    }
    const ids = new Set(ran.effects.map(({ id }) => id));
    const before = this.#conductor.underWay.filter(({ id }) => !ids.has(id));
    const cause = await this.#commit(ran);
    if (cause) this.#atEnd = cause === ran.cause ? this.#finishing() : [];
    else for (const effect of [...before, ...ran.effects]) this.#start(effect);
    return cause;
  }

  // ---- steps

  async #steps(thread: EngineThread): Promise<EndCause> {
    while (!this.#cause) {
      if (!this.#due) {
        if (!this.#conductor.waiting) return { type: 'deadlock' };
        await this.#something();
        continue;
      }
      const known = this.#history?.leftovers.take();
      const facts = known?.facts ?? this.#inbox.splice(0);
      const step = this.#stepper.begin(known?.at ?? this.#now(), facts);
      this.#tell('delivered', step.at, facts);
      const ran = await this.#stepper.run(thread, step);
      if ('type' in ran) return ran;
      const cause = await this.#commit(ran);
      if (cause) {
        if (cause === ran.cause) this.#atEnd = ran.effects;
        return cause;
      }
      for (const effect of ran.effects) this.#start(effect);
    }
    return this.#cause;
  }

  /** Whether there is something to give to the script. Its first step needs nothing. */
  get #due(): boolean {
    const known = this.#history?.leftovers.ready === true;
    return known || this.#record.steps.length === 0 || this.#conductor.hasLocal || this.#inbox.length > 0;
  }

  /** Writes down what a step came to. @returns why nothing of it may start, if so */
  async #commit({ step, calls, asked, effects, queued, cause }: Ran): Promise<EndCause | undefined> {
    const { journal, settings } = this.#options;
    if (journal) {
      const { globalConcurrencyLimit, maxSubagentSpawnsPerRun, usageBudget } = settings;
      try {
        await journal.stepped({
          step: this.#record.steps.length,
          asks: asked.map(askOf),
          ...saidIn(calls),
          effects,
          launches: launchesOf(asked, [...effects.map(({ id }) => id), ...queued]),
          ...queueOf(asked, queued),
          ...(step.interruptAt ? { interruptAt: step.interruptAt } : {}),
          limits: { globalConcurrencyLimit, maxSubagentSpawnsPerRun, ...(usageBudget ? { usageBudget } : {}) },
        });
      } catch (error) {
        throw new JournalFault(messageOf(error));
      }
    }
    if (cause) return cause;
    this.#progress();
    return this.#cause;
  }

  #tell(what: 'delivered' | 'late', at: number, facts: readonly AskedFact[]): void {
    try {
      this.#options.journal?.[what]({ step: this.#record.steps.length + this.#record.late.length, at, facts });
    } catch (error) {
      throw new JournalFault(messageOf(error));
    }
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
    const ask = askOf(effect);
    const claim: Claim = this.#history?.leftovers.claim(ask) ?? 'new';
    if (claim === 'known') return;
    const { id, key, asked } = ask;
    this.#performed.add(id);
    void this.#options
      .perform(effect, signal, claim === 'again')
      .catch((error: unknown): Fact => ({ id, key, ok: false, message: messageOf(error) }))
      .then((fact) => {
        this.#performed.delete(id);
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

  // ---- the end

  #finishing(): Effect[] {
    return this.#conductor.underWay.filter(({ id }) => this.#conductor.isFinishing(id));
  }

  /** Children are told to stop; steers, host commands and stored values may come to their end. @returns why it ended */
  async #finish(cause: EndCause): Promise<EndCause> {
    const reason = cause.type === 'body' && cause.end.type === 'returned' ? 'completed' : cause.type;
    this.#children.abort(new Error(reason));
    if (cause.type === 'body') for (const effect of this.#atEnd) this.#start(effect);
    else this.#others.abort(new Error(reason));
    try {
      await this.#lateFacts();
      return cause;
    } catch (error) {
      if (!(error instanceof JournalFault)) throw error;
      this.#others.abort(new Error('crashed'));
      return { type: 'crashed', message: error.message };
    }
  }

  async #lateFacts(): Promise<void> {
    let patience = Date.now() + LATE_MS;
    this.#settleLate();
    while (this.#finishing().some(({ id }) => this.#performed.has(id))) {
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
    for (let known = this.#history?.leftovers.take(); known; known = this.#history?.leftovers.take()) {
      this.#takeLate(known.at, known.facts);
    }
    this.#takeLate(this.#now(), this.#inbox.splice(0));
  }

  #takeLate(at: number, all: readonly AskedFact[]): void {
    const facts = all.filter((fact) => this.#conductor.isFinishing(fact.id));
    if (facts.length === 0) return;
    for (const fact of facts) this.#conductor.deliver(fact, at);
    this.#record.late.push({ at, facts });
    this.#tell('late', at, facts);
  }

  #conclude(cause: EndCause): { result: WorkflowResult; record: ExecutionRecord } {
    const steps = this.#record.steps.at(-1);
    // What the steps give by themselves is not written down a second time.
    if (cause.type !== 'body' && !(cause.type === 'broken' && !steps?.killed)) this.#record.end = cause;
    const result = conclude(this.#conductor, cause, this.#stepper.engine);
    this.#progress();
    return { result, record: this.#record };
  }
}

/** What happened could not be written down. */
class JournalFault extends Error {}

/** Launches of a step that wait for their turn, and how many wait altogether. */
/** Those of the step that were not refused. */
function launchesOf(asked: Ran['asked'], admitted: readonly number[]): SteppedStep['launches'] {
  const ids = new Set(admitted);
  return asked.filter((effect) => effect.type === 'launch').filter(({ id }) => ids.has(id));
}

function queueOf(asked: Ran['asked'], queued: readonly number[]): { queue?: NonNullable<SteppedStep['queue']> } {
  if (queued.length === 0) return {};
  const own = new Set(asked.map(({ id }) => id));
  return { queue: { added: queued.filter((id) => own.has(id)), length: queued.length } };
}

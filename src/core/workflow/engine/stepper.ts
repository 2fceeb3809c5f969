/** One step of a script: what is delivered to it, what it makes of it, and what may start then. */
import type { Call, Delivery, StepOutput } from './calls.ts';
import type { EndCause } from './conclusion.ts';
import type { Conductor } from './conductor.ts';
import { asksContradiction, contradictionOf, otherParameters } from './contradiction.ts';
import type { Effect, Fact } from './effects.ts';
import { EngineGone, type EngineThread } from './engine-thread.ts';
import type { KnownStep } from './history.ts';
import type { Leftovers } from './leftovers.ts';
import { askOf, type ExecutionRecord, isInterrupt, type RecordedStep } from './record.ts';

/** What a step came to. */
export interface Ran {
  step: RecordedStep;
  calls: readonly Call[][];
  asked: readonly Effect[];
  effects: Effect[];
  /** Launches that wait for their turn after it, by number. */
  queued: number[];
  /** The script is over. */
  cause: EndCause | undefined;
}

export interface StepperOptions {
  conductor: Conductor;
  record: ExecutionRecord;
  /** Of a history, when there is one. */
  leftovers: () => Leftovers | undefined;
  timeoutMs: number | undefined;
  /** What has ended the execution from outside. */
  ended: () => EndCause | undefined;
}

export class Stepper {
  readonly engine = { steps: 0, fuel: 0, heapBytes: 0 };
  readonly #options: StepperOptions;

  constructor(options: StepperOptions) {
    this.#options = options;
  }

  /** A step at this time, or at that of the step before when that is later: the script's clock does not go back. */
  begin(at: number, facts: readonly Fact[]): RecordedStep {
    const step: RecordedStep = { at: Math.max(at, this.#options.record.steps.at(-1)?.at ?? at), facts: [...facts] };
    this.#options.record.steps.push(step);
    return step;
  }

  /** @returns what the step came to, or why it does not count */
  async run(thread: EngineThread, step: RecordedStep, known?: KnownStep): Promise<Ran | EndCause> {
    const { conductor, ended } = this.#options;
    const deliveries: Delivery[] = conductor.takeLocal();
    for (const fact of step.facts) {
      const contradiction = known && contradictionOf(conductor, fact);
      if (contradiction) return contradiction;
      const delivery = conductor.deliver(fact, step.at);
      if (delivery) deliveries.push(delivery);
    }
    const taken: Call[][] = [];
    let output: Omit<StepOutput, 'calls'>;
    try {
      output = await thread.step({ at: step.at, deliveries }, (calls) => taken.push(calls));
    } catch (error) {
      if (!(error instanceof EngineGone)) throw error;
      step.killed = true;
      return ended() ?? { type: 'crashed', message: error.message };
    }
    for (const calls of taken) conductor.take(calls, step.at);
    this.engine.steps += 1;
    this.engine.fuel += output.fuel;
    this.engine.heapBytes = Math.max(this.engine.heapBytes, output.heapBytes);
    const cause = this.#causeIn(output, step);
    const asked = conductor.takeAsked();
    const contradiction = step.interruptAt ? undefined : this.#contradictionIn(asked, known);
    if (contradiction) return contradiction;
    const effects = cause === undefined ? conductor.next(step.at) : cause.type === 'body' ? conductor.atEnd() : [];
    return { step, calls: taken, asked, effects, queued: cause === undefined ? conductor.queued : [], cause };
  }

  /** Why the script is over after this step, if it is. */
  #causeIn({ end, broken }: Omit<StepOutput, 'calls'>, step: RecordedStep): EndCause | undefined {
    if (end) return { type: 'body', end };
    if (!broken) return undefined;
    if (!isInterrupt(broken)) return { type: 'broken', by: broken };
    const { polls, reason } = broken;
    step.interruptAt = { polls, reason };
    if (reason === 'fuel') return { type: 'broken', by: { reason } };
    // The worker may see the deadline before our timer does; a stop is ours.
    const { ended, timeoutMs = 0 } = this.#options;
    if (reason === 'deadline') return ended() ?? { type: 'timeout', ms: timeoutMs };
    return ended() ?? { type: 'crashed', message: 'The script was interrupted without a reason.' };
  }

  #contradictionIn(asked: readonly Effect[], known: KnownStep | undefined): EndCause | undefined {
    const leftovers = this.#options.leftovers();
    if (!leftovers || asked.length + (known?.stepped?.asks.length ?? 0) === 0) return undefined;
    const asks = asked.map(askOf);
    if (known?.stepped) {
      const { asks: before, interruptAt } = known.stepped;
      return asksContradiction(known.step, before, asks, interruptAt === undefined);
    }
    for (const ask of asks) {
      const other = leftovers.otherFingerprint(ask);
      if (other !== undefined) return otherParameters(ask.key, ask.asked, other);
    }
    return undefined;
  }
}

/** What an execution tells whoever writes it down, so that another process can go on with it. */
import type { PlannedLane, WorkflowAsk, WorkflowLimits } from '../../../protocol/index.ts';
import type { AskedFact, Effect } from './effects.ts';
import type { RecordedStep } from './record.ts';
import type { ConsoleEntry } from './trace.ts';

/** Facts that are given to the script, in this order, at this time of its clock. */
export interface DeliveredStep {
  /** From 1. */
  step: number;
  /** Milliseconds since 1970. */
  at: number;
  facts: readonly AskedFact[];
}

/** What the script did in a step. */
export interface SteppedStep {
  step: number;
  /** What it asked for, refused or not, in order. A child that is resumed by itself is asked for again, under its number. */
  asks: WorkflowAsk[];
  /** JSON texts. */
  emits: string[];
  console: ConsoleEntry[];
  lanes: PlannedLane[];
  /** What starts as soon as the step is written down: asked for now, or earlier and waiting for its turn. */
  effects: Effect[];
  /** What of the step is launched: what starts now, and what waits for its turn. */
  launches: Extract<Effect, { type: 'launch' }>[];
  /**
   * Launches that wait for their turn when the step is over, first come, first served: those of the step by number, and how many
   * there are altogether. Absent: none.
   */
  queue?: { added: number[]; length: number };
  interruptAt?: NonNullable<RecordedStep['interruptAt']>;
  /** What the refusals of the step were decided by: a repetition needs it. */
  limits: WorkflowLimits;
}

/**
 * Told in the order of the steps. Steps that are only repeated from a history are not told. A step that is told again takes the place
 * of what was told of it, and nothing told of later steps holds any more.
 */
export interface ExecutionJournal {
  /** Before the facts reach the script. Not told again for a step whose facts are in the history. */
  delivered: (step: DeliveredStep) => void;
  /** Awaited before anything of the step starts. When it fails, nothing starts and the execution ends as crashed. */
  stepped: (step: SteppedStep) => Promise<void>;
  /** Facts that came after the end of the script, numbered like steps: nothing is stepped after them. */
  late: (step: DeliveredStep) => void;
}

/** What a script asks for, in the order in which it asked, and what is answered. Plain data: it crosses threads and is recorded. */
import type { PlannedLane } from '../../../protocol/index.ts';
import type { ChildView } from './child-result.ts';

/** One child of a `runs.run` or of a batch. `id` is the number of the operation. */
export interface LaunchCall {
  id: number;
  key: string;
  params: Record<string, unknown>;
  /** Set for stages of `runs.lanes`. */
  generatedLaneKey?: true;
}

export type Call =
  /** Admitted or refused together. An item without `launch` uses a child that is there. */
  | { type: 'batch'; items: ({ launch: LaunchCall } | { reuse: string })[] }
  | { type: 'steer'; id: number; key: string; message: string; options: Record<string, unknown> }
  | { type: 'host'; id: number; key: string; params: Record<string, unknown> }
  | { type: 'status'; id: number; target: string; runId: string }
  | { type: 'state.get'; id: number; key: string }
  /** `value` is JSON text. */
  | { type: 'state.set'; id: number; key: string; value: string }
  /** What `runs.lanes` is going to launch, one stage after the other. */
  | { type: 'lanes'; lanes: PlannedLane[] }
  /** `value` is JSON text. */
  | { type: 'emit'; value: string }
  | { type: 'console'; level: ConsoleLevel; text: string };

export const CONSOLE_LEVELS = ['log', 'info', 'warn', 'error'] as const;
export type ConsoleLevel = (typeof CONSOLE_LEVELS)[number];

/** The answer to an operation. */
export type Answer =
  /** `kind`: what the error of `runs.run` is, when it is not what became of the child. */
  | { type: 'child'; view: ChildView; kind?: ErrorKind }
  /** Plain JSON; without `value`: `undefined`. */
  | { type: 'value'; value?: unknown }
  | { type: 'refused'; kind: ErrorKind; message: string };

export interface Delivery {
  id: number;
  answer: Answer;
}

export const ERROR_KINDS = [
  'script',
  'syntax',
  'validation',
  'timeout',
  'deadlock',
  'unawaited',
  'boundary',
  'detached-child',
  'limit',
  'diverged',
  'engine',
] as const;
export type ErrorKind = (typeof ERROR_KINDS)[number];

export interface WorkflowError {
  message: string;
  kind: ErrorKind;
  /** Of the script, from 1. */
  line?: number;
  column?: number;
}

/** What nothing that was awaited or returned depends on, in the order of the calls. */
export interface Unobserved {
  children: string[];
  steers: string[];
  hosts: string[];
}

/** How the body ended. */
export type BodyEnd =
  | { type: 'returned'; value: string; unobserved: Unobserved }
  | { type: 'threw'; error: WorkflowError; atReturn: boolean };

/** Why a step did not come to its end. */
export type StepBreak =
  | { reason: 'deadline' | 'stop' | 'fuel'; polls: number }
  | { reason: 'memory' | 'engine'; message: string };

/** One step: the deliveries, then everything the script did until it had nothing more to do. */
export interface StepInput {
  /** Milliseconds since 1970; what the script's clock shows during the step. */
  at: number;
  deliveries: Delivery[];
  /** For replay: the poll at which the step was interrupted, and why. */
  interruptAt?: { polls: number; reason: 'deadline' | 'stop' | 'fuel' };
}

export interface StepOutput {
  calls: Call[];
  end?: BodyEnd;
  broken?: StepBreak;
  /** Polls of the interrupt handler during the step: each stands for about 10,000 operations. */
  fuel: number;
  heapBytes: number;
}

/** What the owner of a workflow and the worker with its engine say to each other. Both sides are ours and of one build. */
import type { Call, StepInput, StepOutput, WorkflowError } from './calls.ts';

export interface OpenRequest {
  type: 'open';
  script: string;
  /** JSON text. */
  args?: string;
  state: boolean;
  seed: number;
  heapBytes: number;
  control: SharedArrayBuffer;
}

export type ToWorker =
  | OpenRequest
  | { type: 'step'; input: StepInput }
  /** The owner has taken a part and wants the next. */
  | { type: 'more' };

export type FromWorker =
  | { type: 'ready' }
  | { type: 'refused'; error: WorkflowError }
  /** Calls of a step that is too large for one message. */
  | { type: 'part'; calls: Call[] }
  | { type: 'stepped'; output: StepOutput };

/**
 * Memory that both sides see while the worker is busy: a flag to stop, and the deadline in milliseconds of
 * `process.hrtime`, which is one clock for all threads.
 */
export class Control {
  readonly memory: SharedArrayBuffer;
  readonly #flag: Int32Array;
  readonly #deadline: Float64Array;

  constructor(memory?: SharedArrayBuffer) {
    this.memory = memory ?? new SharedArrayBuffer(16);
    this.#flag = new Int32Array(this.memory, 0, 1);
    this.#deadline = new Float64Array(this.memory, 8, 1);
    if (!memory) this.#deadline[0] = Number.POSITIVE_INFINITY;
  }

  stop(): void {
    Atomics.store(this.#flag, 0, 1);
  }

  set deadline(at: number) {
    this.#deadline[0] = at;
  }

  mustEnd(): 'deadline' | 'stop' | undefined {
    if (Atomics.load(this.#flag, 0) !== 0) return 'stop';
    return monotonicMs() >= (this.#deadline[0] ?? 0) ? 'deadline' : undefined;
  }
}

export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

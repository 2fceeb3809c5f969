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

/** What the worker is born with. */
export interface WorkerBirth {
  control: SharedArrayBuffer;
}

/**
 * Messages cross as JSON text: copying a text is several times cheaper than copying the objects that it describes. Only parts of
 * large steps cross as objects: they are few and consist of long texts, which JSON would have to escape.
 */
export function encode(message: ToWorker | FromWorker): unknown {
  return message.type === 'part' ? message : JSON.stringify(message);
}

/** @param received what `encode` gave the other side */
export function decode<Message extends ToWorker | FromWorker>(received: Message | string): Message {
  return typeof received === 'string' ? JSON.parse(received) : received;
}

const STOP = 0;
const POSTED = 1;
const SLEEPING = 2;

/** How long the worker looks for the next message before it sleeps: answers that are there at once come within this. */
const LOOK_MS = 0.2;

/**
 * Memory that both sides see while the worker is busy: a flag to stop, the deadline in milliseconds of `process.hrtime`, which is
 * one clock for all threads, how many messages the owner has posted, and whether the worker sleeps until that number changes.
 * Waking it so takes a fraction of what its event loop takes, and nothing while it still looks.
 */
export class Control {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #deadline: Float64Array;

  constructor(memory?: SharedArrayBuffer) {
    this.memory = memory ?? new SharedArrayBuffer(24);
    this.#words = new Int32Array(this.memory, 0, 4);
    this.#deadline = new Float64Array(this.memory, 16, 1);
    if (!memory) this.#deadline[0] = Number.POSITIVE_INFINITY;
  }

  stop(): void {
    Atomics.store(this.#words, STOP, 1);
  }

  /** Told by the owner after each message. */
  posted(): void {
    Atomics.add(this.#words, POSTED, 1);
    if (Atomics.load(this.#words, SLEEPING) !== 0) Atomics.notify(this.#words, POSTED);
  }

  /** Blocks the worker until `take` gives something. A message that comes between the two looks is not slept through. */
  receive<T>(take: () => T | undefined): T {
    for (;;) {
      const seen = Atomics.load(this.#words, POSTED);
      const found = take();
      if (found !== undefined) return found;
      if (this.#changes(seen)) continue;
      Atomics.store(this.#words, SLEEPING, 1);
      Atomics.wait(this.#words, POSTED, seen);
      Atomics.store(this.#words, SLEEPING, 0);
    }
  }

  /** Whether something is posted while the worker still looks. */
  #changes(seen: number): boolean {
    const until = performance.now() + LOOK_MS;
    do {
      if (Atomics.load(this.#words, POSTED) !== seen) return true;
    } while (performance.now() < until);
    return false;
  }

  set deadline(at: number) {
    this.#deadline[0] = at;
  }

  mustEnd(): 'deadline' | 'stop' | undefined {
    if (Atomics.load(this.#words, STOP) !== 0) return 'stop';
    return monotonicMs() >= (this.#deadline[0] ?? 0) ? 'deadline' : undefined;
  }
}

export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

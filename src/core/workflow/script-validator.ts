/**
 * The static check for clients. Scripts are read in a worker, one after the other: it has the stack that deep scripts need, a
 * client's own thread stays free, and a script that takes too long is given up by ending the worker.
 */
import { Worker } from 'node:worker_threads';
import { type AnalysisOptions, type ScriptAnalysis, say } from '../../protocol/index.ts';
import { refused } from './refused.ts';
import { validateResponse } from './validate-messages.ts';

/** How long one script may take, from when its turn comes. A megabyte takes about half a second. */
const DEADLINE_MS = 10_000;
/** An idle worker costs memory; starting one takes about 50 ms. */
const IDLE_MS = 60_000;
const STACK_MB = 16;
const HEAP_MB = 1024;

export interface ScriptValidatorOptions {
  /** Path or URL of `validate-worker.mjs`. */
  worker: string | URL;
  /** Milliseconds. */
  deadlineMs?: number;
  /** Milliseconds without work after which the worker is ended. */
  idleMs?: number;
}

interface Job {
  id: number;
  script: string;
  options: AnalysisOptions;
  signal: AbortSignal | undefined;
  resolve: (analysis: ScriptAnalysis) => void;
  reject: (reason: unknown) => void;
}

export class ScriptValidator implements AsyncDisposable {
  readonly #path: string | URL;
  readonly #deadlineMs: number;
  readonly #idleMs: number;
  readonly #queue: Job[] = [];
  #worker: Worker | undefined;
  #current: { job: Job; timer: NodeJS.Timeout } | undefined;
  #idle: NodeJS.Timeout | undefined;
  #nextId = 1;
  #disposed = false;

  constructor({ worker, deadlineMs = DEADLINE_MS, idleMs = IDLE_MS }: ScriptValidatorOptions) {
    this.#idleMs = idleMs;
    this.#path = worker;
    this.#deadlineMs = deadlineMs;
  }

  /**
   * Reads a script. Resolves for every text: what cannot be read in time, or is nested too deeply, is a finding of its own.
   * Rejects when `signal` aborts, and when the worker cannot be started at all.
   */
  analyse(script: string, options: AnalysisOptions = {}, signal?: AbortSignal): Promise<ScriptAnalysis> {
    return new Promise((resolve, reject) => {
      if (this.#disposed) return reject(new Error('The validator has been closed.'));
      if (signal?.aborted) return reject(signal.reason);
      const job: Job = { id: this.#nextId, script, options, signal, resolve, reject };
      this.#nextId += 1;
      // What is already being read is read to its end: it takes less than a new worker.
      signal?.addEventListener('abort', () => this.#drop(job), { once: true });
      this.#queue.push(job);
      this.#takeNext();
    });
  }

  #drop(job: Job): void {
    job.reject(job.signal?.reason);
    const place = this.#queue.indexOf(job);
    if (place !== -1) this.#queue.splice(place, 1);
  }

  #takeNext(): void {
    if (this.#current) return;
    const job = this.#queue.shift();
    if (!job) {
      this.#rest();
      return;
    }
    clearTimeout(this.#idle);
    const worker = this.#started();
    worker.ref();
    const timer = setTimeout(() => this.#giveUp(worker), this.#deadlineMs);
    this.#current = { job, timer };
    worker.postMessage({ id: job.id, script: job.script, options: job.options });
  }

  /** An idle worker does not keep a process alive, and is ended after a while. */
  #rest(): void {
    const worker = this.#worker;
    if (!worker) return;
    worker.unref();
    this.#idle = setTimeout(() => {
      this.#worker = undefined;
      void worker.terminate();
    }, this.#idleMs).unref();
  }

  #started(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(this.#path, {
      name: 'pi-lanes-validate',
      // A program may have been started with options that no file can be run with.
      execArgv: [],
      resourceLimits: { stackSizeMb: STACK_MB, maxOldGenerationSizeMb: HEAP_MB },
    });
    worker.on('message', (message: unknown) => {
      if (worker !== this.#worker) return;
      const { data, error } = validateResponse.safeParse(message);
      if (!data) this.#finish((job) => job.reject(error));
      else if (this.#current?.job.id === data.id) this.#finish((job) => job.resolve(data.analysis));
    });
    worker.on('error', (error: NodeJS.ErrnoException) => {
      if (worker !== this.#worker) return;
      this.#worker = undefined;
      const tooLarge = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      this.#finish((job) =>
        tooLarge ? job.resolve(refused('script_too_deep', say('script_too_deep:memory'))) : job.reject(error),
      );
    });
    this.#worker = worker;
    return worker;
  }

  #giveUp(worker: Worker): void {
    this.#worker = undefined;
    void worker.terminate();
    const message = say('script_too_slow', { seconds: this.#deadlineMs / 1000 });
    this.#finish((job) => job.resolve(refused('script_too_slow', message)));
  }

  #finish(settle: (job: Job) => void): void {
    const current = this.#current;
    if (!current) return;
    clearTimeout(current.timer);
    this.#current = undefined;
    settle(current.job);
    this.#takeNext();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    clearTimeout(this.#idle);
    const closed = new Error('The validator has been closed.');
    for (const job of this.#queue.splice(0)) job.reject(closed);
    const worker = this.#worker;
    this.#worker = undefined;
    if (this.#current) {
      clearTimeout(this.#current.timer);
      this.#current.job.reject(closed);
      this.#current = undefined;
    }
    await worker?.terminate();
  }
}

/** The owner's side of the worker: one script, moved step by step, that can be ended at any moment. */
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Call, StepInput, StepOutput, WorkflowError } from './calls.ts';
import {
  Control,
  decode,
  encode,
  type FromWorker,
  monotonicMs,
  type OpenRequest,
  type ToWorker,
  type WorkerBirth,
} from './messages.ts';

const STACK_MB = 16;
/** Heap of the worker's own code; the script's heap is not in it. */
const HEAP_MB = 512;

/**
 * The compiled engine, once per process: what one worker's engine was optimised to serves the next, and compiling goes on while
 * the worker starts.
 */
const compiled = new Map<string, Promise<WebAssembly.Module>>();

function compiledEngine(worker: string | URL): Promise<WebAssembly.Module> {
  const file = new URL('./quickjs.wasm', typeof worker === 'string' ? pathToFileURL(worker) : worker);
  let found = compiled.get(file.href);
  if (!found) {
    found = readFile(file).then((bytes) => WebAssembly.compile(bytes));
    compiled.set(file.href, found);
    // The next one tries again.
    found.catch(() => compiled.delete(file.href));
  }
  return found;
}

/** The worker ended, by itself or because it was told to. */
export class EngineGone extends Error {}

export class EngineThread implements AsyncDisposable {
  readonly #worker: Worker;
  readonly #control = new Control();
  #wasm: Promise<WebAssembly.Module> | undefined;
  #waiting: { resolve: (message: FromWorker) => void; reject: (error: Error) => void } | undefined;
  #computing = false;
  #gone: EngineGone | undefined;

  /** @param file path or URL of `engine-worker.mjs` */
  constructor(file: string | URL) {
    this.#wasm = compiledEngine(file);
    const workerData: WorkerBirth = { control: this.#control.memory };
    this.#worker = new Worker(file, {
      workerData,
      name: 'pi-lanes-engine',
      resourceLimits: { stackSizeMb: STACK_MB, maxOldGenerationSizeMb: HEAP_MB },
      // Nothing of the surroundings reaches the thread in which scripts run.
      env: {},
      // Nor the options that the process was started with: `--input-type` and others make a worker fail.
      execArgv: [],
    });
    this.#worker.on('message', (received: FromWorker | string) => {
      const message = decode(received);
      this.#computing = false;
      const waiting = this.#waiting;
      this.#waiting = undefined;
      waiting?.resolve(message);
    });
    this.#worker.on('error', (error) =>
      this.#fail(new EngineGone(`worker failed: ${error instanceof Error ? error.message : String(error)}`)),
    );
    this.#worker.on('exit', (code) => this.#fail(new EngineGone(`worker failed: it ended with exit code ${code}`)));
  }

  #fail(error: EngineGone): void {
    this.#gone ??= error;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(this.#gone);
  }

  #ask(message: ToWorker): Promise<FromWorker> {
    return new Promise((resolve, reject) => {
      if (this.#gone) return reject(this.#gone);
      this.#waiting = { resolve, reject };
      this.#computing = message.type !== 'more';
      this.#worker.postMessage(encode(message));
      this.#control.posted();
    });
  }

  /** Checks and loads the script; nothing of it runs. @returns why it cannot run, if so. @throws EngineGone */
  async open(request: Omit<OpenRequest, 'type'>): Promise<WorkflowError | undefined> {
    const wasm = await this.#wasm?.catch((error: unknown) => {
      throw new EngineGone(
        `worker failed: the script engine cannot be loaded: ${error instanceof Error ? error.message : String(error)}`,
      );
    });
    if (wasm) {
      this.#wasm = undefined;
      this.#worker.postMessage(wasm);
    }
    const answer = await this.#ask({ type: 'open', ...request });
    return answer.type === 'refused' ? answer.error : undefined;
  }

  /** Whether the worker computes: it has been asked and has not begun to answer. */
  get computing(): boolean {
    return this.#computing;
  }

  /** @param onCalls is given the calls of the step in order, in parts of bounded size. @throws EngineGone */
  async step(input: StepInput, onCalls: (calls: Call[]) => void): Promise<Omit<StepOutput, 'calls'>> {
    let answer = await this.#ask({ type: 'step', input });
    while (answer.type === 'part') {
      onCalls(answer.calls);
      answer = await this.#ask({ type: 'more' });
    }
    if (answer.type !== 'stepped') throw new EngineGone(`worker failed: it answered a step with ${answer.type}`);
    const { calls, ...rest } = answer.output;
    onCalls(calls);
    return rest;
  }

  /** From now on a running step ends after this time. */
  set deadlineIn(ms: number) {
    this.#control.deadline = monotonicMs() + ms;
  }

  /** Ends a running step at its next poll. */
  interrupt(): void {
    this.#control.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#fail(new EngineGone('The engine has been closed.'));
    await this.#worker.terminate();
  }
}

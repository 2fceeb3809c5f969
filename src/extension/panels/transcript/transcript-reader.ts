/**
 * The host's side of the transcript worker: one thread for all panels, started at first use. When it dies it is started
 * again and every open source with it; its panels get a fresh snapshot and see nothing else of it.
 */
import { Worker } from 'node:worker_threads';
import {
  type FromTranscriptWorker,
  fromTranscriptWorker,
  type LanesError,
  lanesError,
  type SourceContext,
  type SourceFile,
  type ToTranscriptWorker,
  type TranscriptWorkerData,
} from '../../../protocol/index.ts';

export interface OpenRequest {
  files: SourceFile[];
  wanted: number | null;
  context: SourceContext;
  /** It is only asked about: no snapshot comes, and its growth is not followed. */
  quiet?: boolean;
}

type ForSource<T> = T extends { source: number } ? Omit<T, 'source'> : never;
/** What can be asked of an open source. */
export type SourceRequest = ForSource<Exclude<ToTranscriptWorker, { type: 'open' | 'close' | 'context' | 'end' }>>;
/** What is heard of one. */
export type SourceMessage = Exclude<FromTranscriptWorker, { type: 'memory' }>;

/** A thread that dies this often in a minute is not started again. */
const MAX_DEATHS = 5;
const DEATHS_WITHIN_MS = 60_000;
/** A line of 16 MiB, decoded, several times over. */
const MAX_HEAP_MB = 512;

/** A thread without readers waits this long for the next: many transcripts are read one after the other. Milliseconds. */
const IDLE_MS = 2000;

/** For a thread to finish what it reads. */
const END_MS = 5000;

const ANSWERED: ReadonlySet<string> = new Set(['page', 'body', 'find', 'export']);

export class Reader {
  /** False: there is no thread. */
  readonly #post: (message: ToTranscriptWorker) => boolean;
  readonly #source: number;
  readonly #onMessage: (message: SourceMessage) => void;
  readonly #onClose: () => void;
  readonly #unanswered = new Set<number>();
  #request: OpenRequest;

  constructor(
    source: number,
    request: OpenRequest,
    post: (message: ToTranscriptWorker) => boolean,
    onMessage: (message: SourceMessage) => void,
    onClose: () => void,
  ) {
    this.#source = source;
    this.#request = request;
    this.#post = post;
    this.#onMessage = onMessage;
    this.#onClose = onClose;
  }

  /** Once for every thread. */
  open(): void {
    this.#post({ type: 'open', source: this.#source, quiet: false, ...this.#request });
  }

  learn(context: SourceContext): void {
    this.#request = { ...this.#request, context };
    this.#post({ type: 'context', source: this.#source, context });
  }

  send(message: SourceRequest): void {
    if (ANSWERED.has(message.type) && 'request' in message) this.#unanswered.add(message.request);
    if (!this.#post({ ...message, source: this.#source })) this.fail(ended());
  }

  hear(message: SourceMessage): void {
    if ('request' in message && message.request !== null && !('done' in message && !message.done))
      this.#unanswered.delete(message.request);
    this.#onMessage(message);
  }

  /** What was asked of a thread that died will not be answered. */
  fail(error: LanesError): void {
    for (const request of this.#unanswered)
      this.#onMessage({ type: 'failed', source: this.#source, request, error: error.toValue() });
    this.#unanswered.clear();
  }

  close(): void {
    this.#post({ type: 'close', source: this.#source });
    this.#onClose();
  }
}

function ended(code?: number): LanesError {
  return code === undefined
    ? lanesError('transcript_unreadable:no-reader')
    : lanesError('transcript_unreadable:reader-ended', { code });
}

export class TranscriptReaders {
  readonly #script: string;
  readonly #data: TranscriptWorkerData;
  readonly #onTrouble: (text: string) => void;
  readonly #readers = new Map<number, Reader>();
  #worker: Worker | undefined;
  #deaths: number[] = [];
  #idle: NodeJS.Timeout | undefined;
  #source = 0;
  #isDisposed = false;

  /** @param onTrouble hears what a log should keep */
  constructor(script: string, data: TranscriptWorkerData, onTrouble: (text: string) => void) {
    this.#script = script;
    this.#data = data;
    this.#onTrouble = onTrouble;
  }

  open(request: OpenRequest, onMessage: (message: SourceMessage) => void): Reader {
    const source = ++this.#source;
    const reader = new Reader(
      source,
      request,
      (message) => {
        this.#worker?.postMessage(message);
        return this.#worker !== undefined;
      },
      onMessage,
      () => this.#forget(source),
    );
    this.#readers.set(source, reader);
    clearTimeout(this.#idle);
    if (!this.#worker) this.#start();
    reader.open();
    return reader;
  }

  #forget(source: number): void {
    this.#readers.delete(source);
    if (this.#readers.size > 0) return;
    // Nobody reads: the thread and its memory go.
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#end(), IDLE_MS);
    this.#idle.unref();
  }

  #start(): void {
    const worker = new Worker(this.#script, {
      workerData: this.#data,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    // It must not keep the host alive.
    worker.unref();
    worker.on('message', (data: unknown) => this.#hear(data));
    worker.on('error', (error: unknown) => this.#onTrouble(`transcript worker: ${error}`));
    worker.on('exit', (code) => this.#died(worker, code));
    this.#worker = worker;
  }

  #hear(data: unknown): void {
    const parsed = fromTranscriptWorker.safeParse(data);
    if (!parsed.success) this.#onTrouble(`transcript worker: ${parsed.error.message}`);
    else if (parsed.data.type !== 'memory') this.#readers.get(parsed.data.source)?.hear(parsed.data);
  }

  #died(worker: Worker, code: number): void {
    if (this.#worker !== worker || this.#isDisposed) return;
    this.#worker = undefined;
    const now = Date.now();
    this.#deaths = [...this.#deaths.filter((at) => now - at < DEATHS_WITHIN_MS), now];
    const error = ended(code);
    this.#onTrouble(error.message);
    const readers = [...this.#readers.entries()];
    for (const [, reader] of readers) reader.fail(error);
    if (this.#deaths.length < MAX_DEATHS) {
      if (readers.length > 0) this.#start();
      for (const [, reader] of readers) reader.open();
      return;
    }
    for (const [source, reader] of readers)
      reader.hear({ type: 'failed', source, request: null, error: error.toValue() });
  }

  #end(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    if (!worker) return;
    const message: ToTranscriptWorker = { type: 'end' };
    worker.postMessage(message);
    const timer = setTimeout(() => void worker.terminate(), END_MS);
    timer.unref();
    worker.once('exit', () => clearTimeout(timer));
  }

  dispose(): void {
    this.#isDisposed = true;
    clearTimeout(this.#idle);
    this.#readers.clear();
    this.#end();
  }
}

/**
 * One open transcript: which of its files is shown, its changes one at a time, and answers about it. Nothing is read ahead of
 * what the page has taken.
 */
import { open, rm } from 'node:fs/promises';
import { type SessionWords, type SourceUpdate, TranscriptSource } from '../core/transcripts/index.ts';
import {
  describeError,
  type FromTranscriptWorker,
  lanesError,
  type SourceContext,
  type ToTranscriptWorker,
  toErrorValue,
} from '../protocol/index.ts';
import { FileWatch } from './watch-file.ts';

type Message<T extends ToTranscriptWorker['type']> = Extract<ToTranscriptWorker, { type: T }>;

/** Between two looks at a growing file, in milliseconds: once in a frame is often enough. */
const LOOK_MS = 16;

export class OpenTranscript {
  readonly #id: number;
  readonly #files: Message<'open'>['files'];
  readonly #wanted: number | null;
  readonly #isQuiet: boolean;
  readonly #words: SessionWords;
  readonly #send: (message: FromTranscriptWorker) => void;
  readonly #jobs = new Map<number, AbortController>();
  /** Pieces of a body that were asked for and not sent yet, by request. */
  readonly #asked = new Map<number, () => void>();
  #context: SourceContext;
  #source: TranscriptSource | undefined;
  #shown = 0;
  #watch: FileWatch | undefined;
  #find: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The last message about changes is on its way. */
  #isWaiting = true;
  #isFollowing = true;
  #isClosed = false;
  /** One thing after the other: pages and changes must not overtake each other. */
  #queue: Promise<void> = Promise.resolve();

  constructor(message: Message<'open'>, words: SessionWords, send: (message: FromTranscriptWorker) => void) {
    this.#id = message.source;
    this.#files = message.files;
    this.#wanted = message.wanted;
    this.#isQuiet = message.quiet;
    this.#context = message.context;
    this.#words = words;
    this.#send = send;
    this.#enqueue(null, () => this.#open());
  }

  #enqueue(request: number | null, act: () => Promise<void>): void {
    this.#queue = this.#queue.then(async () => {
      if (this.#isClosed) return;
      try {
        await act();
      } catch (error) {
        this.#fail(request, error);
      }
    });
  }

  #fail(request: number | null, error: unknown): void {
    if (this.#isClosed) return;
    const { code, message } = toErrorValue(error);
    const value =
      code === 'internal' ? describeError('transcript_unreadable', { reason: message }) : toErrorValue(error);
    this.#send({ type: 'failed', source: this.#id, request, error: value });
  }

  async #open(): Promise<void> {
    const sources = this.#files.map((file) => new TranscriptSource(file, this.#context, { words: this.#words }));
    const shown = this.#wanted ?? (await this.#choose(sources));
    this.#shown = shown;
    this.#source = sources[shown];
    const file = this.#files[shown];
    if (!this.#source || !file) throw lanesError('transcript_unreadable:no-file');
    const snapshot = await this.#source.snapshot();
    if (this.#isQuiet || this.#isClosed) return;
    this.#watch = new FileWatch(file.path, () => this.#soon());
    await this.#tell({ type: 'snapshot', snapshot });
  }

  async #choose(sources: readonly TranscriptSource[]): Promise<number> {
    let present: number | undefined;
    for (const [index, source] of sources.entries()) {
      const isLast = index === sources.length - 1;
      if (isLast && present === undefined) return (await source.isThere()) ? index : 0;
      const { there, whole } = await source.snapshot();
      if (there && whole) return index;
      // A run that has just begun has not said anything yet.
      if (!there && index === 0 && this.#context.live) return 0;
      if (there) present ??= index;
    }
    return present ?? 0;
  }

  async #tell(update: SourceUpdate | undefined): Promise<void> {
    if (!update) return;
    this.#isWaiting = true;
    if (update.type === 'changes') {
      this.#send({ type: 'delta', source: this.#id, ...update.changes });
      return;
    }
    const { window, cwd } = update.snapshot;
    const sources = this.#files.map((file) => new TranscriptSource(file, this.#context, { words: this.#words }));
    const there = await Promise.all(sources.map((source) => source.isThere()));
    this.#send({ type: 'snapshot', source: this.#id, window, shown: this.#shown, there, cwd });
  }

  #soon(): void {
    if (this.#timer || this.#isClosed || !this.#isFollowing) return;
    this.#timer = setTimeout(() => {
      this.#enqueue(null, async () => {
        this.#timer = undefined;
        if (!this.#isWaiting && this.#isFollowing) await this.#tell(await this.#source?.poll());
      });
    }, LOOK_MS);
  }

  taken(): void {
    this.#isWaiting = false;
    this.#soon();
  }

  follow(following: boolean): void {
    this.#isFollowing = following;
    if (!following) return;
    this.#enqueue(null, async () => {
      const snapshot = await this.#source?.snapshot();
      if (snapshot) await this.#tell({ type: 'snapshot', snapshot });
    });
  }

  learn(context: SourceContext): void {
    this.#enqueue(null, async () => {
      this.#context = context;
      const update = await this.#source?.learn(context);
      if (this.#isFollowing) await this.#tell(update);
    });
  }

  page({ request, direction, cursor }: Message<'page'>): void {
    this.#enqueue(request, async () => {
      const window = (await this.#source?.page(direction, cursor)) ?? null;
      this.#send({ type: 'page', source: this.#id, request, window });
    });
  }

  /** Runs beside everything else until it is done or cancelled. */
  #job(request: number, act: (source: TranscriptSource, signal: AbortSignal) => Promise<void>): void {
    const job = new AbortController();
    this.#jobs.set(request, job);
    // What was asked before the file was open waits for it.
    void this.#queue.then(async () => {
      try {
        if (this.#source && !this.#isClosed) await act(this.#source, job.signal);
      } catch (error) {
        if (!job.signal.aborted) this.#fail(request, error);
      } finally {
        this.#jobs.delete(request);
        this.#asked.delete(request);
      }
    });
  }

  body({ request, ref, limit }: Message<'body'>): void {
    this.#job(request, async (source, signal) => {
      let left = limit;
      let held: string | undefined;
      const send = (text: string | null, done: boolean) =>
        this.#send({ type: 'body', source: this.#id, request, text, done });
      for await (const piece of source.body(ref)) {
        if (held !== undefined) {
          send(held, false);
          await this.#more(request, signal);
        }
        held = piece.slice(0, left);
        left -= held.length;
        if (left <= 0) break;
      }
      send(held ?? null, true);
    });
  }

  #more(request: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#asked.set(request, resolve);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  }

  more(request: number): void {
    this.#asked.get(request)?.();
  }

  find({ request, query, matchCase }: Message<'find'>): void {
    if (this.#find !== undefined) this.cancel(this.#find);
    this.#find = request;
    if (query === '') return;
    this.#job(request, async (source, signal) => {
      for await (const progress of source.find(query, matchCase, signal)) {
        signal.throwIfAborted();
        this.#send({ type: 'found', source: this.#id, request, ...progress });
      }
    });
  }

  export({ request, path, title }: Message<'export'>): void {
    this.#job(request, async (source, signal) => {
      const handle = await open(path, 'w');
      try {
        let text = '';
        for await (const piece of source.markdown(title)) {
          signal.throwIfAborted();
          text += piece;
          if (text.length < 64 * 1024) continue;
          await handle.writeFile(text);
          text = '';
        }
        await handle.writeFile(text);
        this.#send({ type: 'exported', source: this.#id, request });
      } catch (error) {
        // Half a transcript must not be taken for a whole one.
        await rm(path, { force: true });
        throw error;
      } finally {
        await handle.close();
      }
    });
  }

  cancel(request: number): void {
    this.#jobs.get(request)?.abort();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#watch?.close();
    for (const job of this.#jobs.values()) job.abort();
  }
}

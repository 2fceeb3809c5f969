/** Commands to and records from one `pi --mode rpc` process, over its pipes. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { type LanesError, lanesError } from '../../../protocol/index.ts';
import { LineSplitter } from './line-splitter.ts';
import { type PiRecord, readRecord } from './records.ts';

export interface RpcListener {
  onRecord(record: Exclude<PiRecord, { type: 'response' }>): void;
  onNoise(text: string): void;
  /** The stream broke a limit; nothing more is read. */
  onLimit(bytes: number): void;
}

interface Pending {
  command: string;
  resolve: (data: unknown) => void;
  reject: (error: LanesError) => void;
  timer: NodeJS.Timeout;
}

export class RpcConnection {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #splitter = new LineSplitter();
  readonly #pending = new Map<string, Pending>();
  #nextId = 0;
  #stopped = false;
  /** Resolves when stdout is over. */
  readonly outputEnded: Promise<void>;
  /** Milliseconds (monotonic) of the last byte on stdout. */
  lastOutputAt = performance.now();

  constructor(process: ChildProcessWithoutNullStreams, listener: RpcListener) {
    this.#process = process;
    // A child that is gone makes writes fail with EPIPE; its exit is reported on its own.
    process.stdin.on('error', () => undefined);
    process.stdout.on('data', (chunk: Buffer) => {
      this.lastOutputAt = performance.now();
      if (!this.#stopped) this.#take(this.#splitter.push(chunk), listener);
    });
    this.outputEnded = new Promise((resolve) => {
      process.stdout.once('close', () => {
        if (!this.#stopped) this.#take(this.#splitter.end(), listener);
        this.stop();
        resolve();
      });
      process.stdout.on('error', () => undefined);
    });
  }

  #take(lines: ReturnType<LineSplitter['push']>, listener: RpcListener): void {
    for (const line of lines) {
      const read = readRecord(line);
      if (read.type === 'record') {
        if (read.record.type === 'response') this.#answer(read.record);
        else listener.onRecord(read.record);
      } else if (read.type === 'noise') {
        listener.onNoise(read.text);
      } else if (read.type === 'too-long') {
        this.stop();
        listener.onLimit(read.bytes);
        return;
      }
    }
  }

  #answer(response: Extract<PiRecord, { type: 'response' }>): void {
    // Pi before 0.79.7 answers an unknown command without its id: it belongs to the oldest command of that name.
    const id =
      response.id ??
      [...this.#pending].find(
        ([, pending]) => pending.command === response.command || response.command === undefined,
      )?.[0];
    const pending = id === undefined ? undefined : this.#pending.get(id);
    if (!pending || id === undefined) return;
    this.#pending.delete(id);
    clearTimeout(pending.timer);
    if (response.success) pending.resolve(response.data);
    else
      pending.reject(
        response.error === undefined
          ? lanesError('pi_failed:refused-silently', { command: pending.command })
          : lanesError('pi_failed:refused', { command: pending.command, reason: response.error }),
      );
  }

  /** Sends a command; rejects with `pi_failed` when Pi refuses it, the deadline passes or the stream ends. */
  request(command: string, fields: Record<string, unknown>, options: { deadlineMs: number }): Promise<unknown> {
    const id = `r${++this.#nextId}`;
    return new Promise((resolve, reject) => {
      if (this.#stopped) {
        reject(lanesError('pi_failed:over', { command }));
        return;
      }
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(lanesError('pi_failed:late', { command, ms: options.deadlineMs }));
      }, options.deadlineMs);
      this.#pending.set(id, { command, resolve, reject, timer });
      this.send({ id, type: command, ...fields });
    });
  }

  /** Writes one record without waiting for an answer. */
  send(record: Record<string, unknown>): void {
    if (this.#process.stdin.writable) this.#process.stdin.write(`${JSON.stringify(record)}\n`);
  }

  endInput(): void {
    this.#process.stdin.end();
  }

  /** Reads nothing more; commands that still wait are rejected. The pipe goes on being emptied, so that Pi can write. */
  stop(): void {
    this.#stopped = true;
    for (const pending of this.#pending.values()) {
      clearTimeout(pending.timer);
      pending.reject(lanesError('pi_failed:ended', { command: pending.command }));
    }
    this.#pending.clear();
  }
}

/** One `pi --mode rpc` process: its pipes, its exit, and the ladder that ends it. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type Command, lanesError, type ProcessIdentity, wordsOf } from '../../../protocol/index.ts';
import { findTree, identify, killTree, signalProcess, spawnPiped, surveyTree } from '../../processes/index.ts';
import type { ChildEnd } from '../child-driver.ts';
import type { ProcessExit } from './outcome.ts';
import { RpcConnection, type RpcListener } from './rpc-connection.ts';
import { StderrTail } from './stderr-tail.ts';

/** Milliseconds of each rung of the ladder; see `end`. */
export interface EndLadder {
  stdinMs: number;
  firstTermMs: number;
  secondTermMs: number;
  killMs: number;
}

export const END_LADDER: EndLadder = { stdinMs: 2000, firstTermMs: 1000, secondTermMs: 1000, killMs: 2000 };

/** After the exit a grandchild may hold the pipes: reading stops when they are silent this long, or in all this long. */
const PIPE_IDLE_MS = 2000;
const PIPE_TOTAL_MS = 8000;

export class PiProcess {
  readonly identity: ProcessIdentity;
  readonly rpc: RpcConnection;
  readonly stderr = new StderrTail();
  /** The process is gone. Its pipes may still be held open by others. */
  readonly exited: Promise<ProcessExit>;
  #exit: ProcessExit | undefined;
  #ending: Promise<ChildEnd> | undefined;
  readonly #hurry = Promise.withResolvers<void>();
  #isHurried = false;
  readonly #marker: string;

  private constructor(
    process: ChildProcessWithoutNullStreams,
    exited: Promise<ProcessExit>,
    identity: ProcessIdentity,
    marker: string,
    listener: ProcessListener,
  ) {
    this.identity = identity;
    this.#marker = marker;
    this.rpc = new RpcConnection(process, listener);
    process.stderr.on('data', (chunk: Buffer) => {
      this.stderr.push(chunk);
      listener.onStderr(chunk);
    });
    process.stderr.on('error', () => undefined);
    this.exited = exited.then((exit) => {
      this.#exit = exit;
      return exit;
    });
  }

  /** Rejects with `child_spawn_failed` when the system could not start it. */
  static async start(
    command: Command,
    options: { cwd: string; env: Record<string, string>; marker: string },
    listener: ProcessListener,
  ): Promise<PiProcess> {
    const process = spawnPiped(command, options);
    const failed = once(process, 'error').then(([error]: unknown[]) => error);
    // Listened to from the first moment: a child can be gone before its identity is read.
    const exited = new Promise<ProcessExit>((resolve) => {
      process.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
    });
    if (process.pid === undefined) {
      const error = await failed;
      throw lanesError('child_spawn_failed', { program: command.file, folder: options.cwd, reason: wordsOf(error) });
    }
    return new PiProcess(process, exited, await identify(process.pid), options.marker, listener);
  }

  get hasExited(): boolean {
    return this.#exit !== undefined;
  }

  /** Resolves when the process is gone and its output is read as far as it ever will be. */
  async drained(): Promise<ProcessExit> {
    const exit = await this.exited;
    const deadline = performance.now() + PIPE_TOTAL_MS;
    while (performance.now() < deadline && performance.now() - this.rpc.lastOutputAt < PIPE_IDLE_MS) {
      const ended = await Promise.race([this.rpc.outputEnded.then(() => true), delay(50, false)]);
      if (ended) break;
    }
    this.rpc.stop();
    return exit;
  }

  /**
   * Ends the process and everything it started: close stdin; SIGTERM; SIGTERM again (Pi exits on the second even when a tool
   * ignores its abort); then SIGKILL for every process of the tree, which is listed while Pi is still alive, because its
   * tools lead process groups of their own. Idempotent.
   */
  end(ladder: EndLadder = END_LADDER): Promise<ChildEnd> {
    this.#ending ??= this.#end(ladder);
    return this.#ending;
  }

  /** Ends it as `end` does, without waiting on any rung of the ladder but the last. */
  hurry(): Promise<ChildEnd> {
    this.#isHurried = true;
    this.#hurry.resolve();
    return this.end();
  }

  async #end(ladder: EndLadder): Promise<ChildEnd> {
    const members = await findTree(this.identity, this.#marker);
    let note: string | null = null;
    this.rpc.endInput();
    if (!(await this.#rung(ladder.stdinMs))) {
      note = 'The child did not exit when its input was closed; it was terminated.';
      await signalProcess(this.identity, 'SIGTERM', { group: false });
      if (!(await this.#rung(ladder.firstTermMs))) {
        await signalProcess(this.identity, 'SIGTERM', { group: false });
        if (!(await this.#rung(ladder.secondTermMs)))
          note = this.#isHurried
            ? 'The child was killed: there was no time to let it end by itself.'
            : 'The child ignored every request to end; it was killed.';
      }
    }
    // Whatever is left now outlived Pi: a tool's process in its own group, or Pi itself.
    const survey = await surveyTree(this.identity, this.#marker).catch(() => undefined);
    const left = survey?.members ?? [this.identity];
    for (const member of members) await signalProcess(member, 'SIGKILL', { group: true });
    const tree = await killTree(this.identity, this.#marker, {
      deadlineMs: ladder.killMs,
      known: members,
      empty: survey,
    });
    const outlived = left.filter((member) => member.pid !== this.identity.pid).length;
    if (outlived > 0) note = `${note ? `${note} ` : ''}${outlived} process(es) it had left running were ended.`;
    await this.#exitWithin(ladder.killMs);
    return { exitCode: this.#exit?.exitCode ?? null, signal: this.#exit?.signal ?? null, tree, note };
  }

  async #rung(ms: number): Promise<boolean> {
    await Promise.race([this.#exitWithin(ms), this.#hurry.promise]);
    return this.hasExited;
  }

  async #exitWithin(ms: number): Promise<boolean> {
    if (this.#exit) return true;
    const timer = new AbortController();
    const late = delay(ms, false, { signal: timer.signal }).catch(() => false);
    const result = await Promise.race([this.exited.then(() => true), late]);
    timer.abort();
    return result;
  }
}

export interface ProcessListener extends RpcListener {
  onStderr(chunk: Buffer): void;
}

/** A command whose output is bytes, from its start to its proven end: it is asked to end before it is killed. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type ProcessIdentity, wordsOf } from '../../protocol/index.ts';
import { errnoOf } from '../files/index.ts';
import { MARKER_ENV } from './environment.ts';
import { identify, liveness } from './identity.ts';
import { spawnPiped } from './spawn.ts';
import { killTree, signalProcess } from './tree.ts';

export interface ByteCommandResult {
  stdout: Buffer;
  /** The end of it. */
  stderr: string;
  /** `undefined`: it could not be started, or was ended by a signal. */
  exitCode: number | undefined;
  /** Why the exit code is not to be relied on. */
  failed: 'spawn' | 'timeout' | 'cancelled' | 'too-much' | 'sink' | undefined;
  /** False: the process or one it started may still be at work. */
  ended: boolean;
  message: string;
}

export interface ByteCommandOptions {
  cwd: string;
  env: Record<string, string>;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  input?: Uint8Array | undefined;
  /** More output than this ends it. Default 256 MiB. */
  maxBytes?: number;
  /** Takes the output piece by piece instead of having it collected; the next piece waits for it. */
  sink?: ((chunk: Buffer) => Promise<void>) | undefined;
}

const DEFAULT_MAX_BYTES = 256 * 1024 * 1024;
const MAX_STDERR_CHARS = 64 * 1024;
/** Some tidy up when they are asked to end: git removes its lock files. */
const TERM_GRACE_MS = 2000;
const KILL_DEADLINE_MS = 5000;
/** What a hook left running may hold our pipes open for ever: silence this long after the command's own exit ends the reading. */
const IDLE_AFTER_EXIT_MS = 2000;

/** Never throws. `env` is the whole environment. */
export async function runByteCommand(
  file: string,
  args: readonly string[],
  options: ByteCommandOptions,
): Promise<ByteCommandResult> {
  const marker = `command/${randomUUID()}`;
  let child: ChildProcessWithoutNullStreams;
  try {
    child = spawnPiped({ file, args: [...args] }, { cwd: options.cwd, env: { ...options.env, [MARKER_ENV]: marker } });
  } catch (error) {
    // An argument with a NUL in it.
    const message = wordsOf(error);
    return { stdout: Buffer.alloc(0), stderr: '', exitCode: undefined, failed: 'spawn', ended: true, message };
  }
  let failed: ByteCommandResult['failed'];
  let message = '';
  const stop = new AbortController();
  const fail = (why: NonNullable<ByteCommandResult['failed']>, what = '') => {
    if (failed !== undefined) return;
    failed = why;
    message = what;
    stop.abort();
  };
  const timer = setTimeout(() => fail('timeout'), options.timeoutMs);
  const cancel = () => fail('cancelled');
  if (options.signal?.aborted) cancel();
  else options.signal?.addEventListener('abort', cancel, { once: true });
  const exited = new Promise<number | undefined>((resolve) => {
    child.once('error', (error) => {
      fail('spawn', error.message);
      resolve(undefined);
    });
    child.once('exit', (code) => resolve(code ?? undefined));
  });
  const ending = endWhenAborted(child, marker, stop.signal, exited);
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input);
  const flow: Flow = { at: performance.now(), busy: false };
  const stderr = tailOf(child, flow);
  const stdout = collect(child, flow, options, fail);
  const exitCode = await exited;
  await drained(child, flow);
  const bytes = await stdout;
  clearTimeout(timer);
  options.signal?.removeEventListener('abort', cancel);
  const ended = await ending();
  return { stdout: bytes, stderr: stderr(), exitCode, failed, ended, message };
}

/** Asks, then kills, everything that was started. The answer: whether all of it is proven gone; true when nothing was stopped. */
function endWhenAborted(
  child: ChildProcessWithoutNullStreams,
  marker: string,
  stop: AbortSignal,
  exited: Promise<unknown>,
): () => Promise<boolean> {
  let ending: Promise<boolean> | undefined;
  const end = () => {
    const { pid } = child;
    if (pid !== undefined) ending = endTree(pid, child, marker, exited);
  };
  if (stop.aborted) end();
  else stop.addEventListener('abort', end, { once: true });
  return async () => {
    stop.removeEventListener('abort', end);
    return (await ending) ?? true;
  };
}

async function endTree(
  pid: number,
  child: ChildProcessWithoutNullStreams,
  marker: string,
  exited: Promise<unknown>,
): Promise<boolean> {
  // Until Node has seen the exit, nobody else can have this pid.
  const running = child.exitCode === null && child.signalCode === null;
  const root: ProcessIdentity = running ? await identify(pid) : { pid, start: 'gone' };
  await signalProcess(root, 'SIGTERM', { group: true });
  await Promise.race([exited, delay(TERM_GRACE_MS, undefined, { ref: false })]);
  const state = await killTree(root, marker, { deadlineMs: KILL_DEADLINE_MS });
  // Where descendants cannot be listed, the command's own end is what can be proven.
  return state === 'gone' || (process.platform !== 'linux' && (await liveness(root)) === 'gone');
}

/** When something last came through a pipe, and whether somebody is still at work with it. */
interface Flow {
  at: number;
  busy: boolean;
}

/** Waits until the pipes are read to their end, or nothing has come for a while after the exit. */
async function drained(child: ChildProcessWithoutNullStreams, flow: Flow): Promise<void> {
  flow.at = performance.now();
  const timer = setInterval(() => {
    if (flow.busy || performance.now() - flow.at < IDLE_AFTER_EXIT_MS) return;
    child.stdout.destroy();
    child.stderr.destroy();
  }, IDLE_AFTER_EXIT_MS / 4);
  await Promise.all([child.stdout, child.stderr].map((pipe) => pipe.closed || once(pipe, 'close')));
  clearInterval(timer);
}

async function collect(
  child: ChildProcessWithoutNullStreams,
  flow: Flow,
  { sink, maxBytes = DEFAULT_MAX_BYTES }: ByteCommandOptions,
  fail: (why: 'too-much' | 'sink', what: string) => void,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of child.stdout) {
      if (!Buffer.isBuffer(chunk)) continue;
      flow.at = performance.now();
      if (sink) {
        flow.busy = true;
        await sink(chunk);
        flow.busy = false;
        continue;
      }
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > maxBytes) throw new Error(`more than ${maxBytes} bytes of output`);
    }
  } catch (error) {
    flow.busy = false;
    // The pipes were given up after the exit: what the command itself wrote has been read.
    if (errnoOf(error) !== 'ERR_STREAM_PREMATURE_CLOSE') fail(sink ? 'sink' : 'too-much', wordsOf(error));
  }
  return Buffer.concat(chunks);
}

function tailOf(child: ChildProcessWithoutNullStreams, flow: Flow): () => string {
  let text = '';
  child.stderr.setEncoding('utf8');
  child.stderr.on('data', (chunk: string) => {
    flow.at = performance.now();
    text = (text + chunk).slice(-MAX_STDERR_CHARS);
  });
  child.stderr.on('error', () => undefined);
  return () => text;
}

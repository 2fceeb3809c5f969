/** A command that may take minutes and can be called off: it is ended with everything it started, and only then given up. */
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Command } from '../../protocol/index.ts';
import { MARKER_ENV } from './environment.ts';
import { identify } from './identity.ts';
import { spawnPiped } from './spawn.ts';
import { killTree } from './tree.ts';

export interface WholeCommandResult {
  /** `undefined`: it could not be started, or was ended by a signal. */
  exitCode: number | undefined;
  stdout: string;
  stderr: string;
  /** Why there is no exit code to rely on. */
  failed: 'spawn' | 'timeout' | 'aborted' | undefined;
  message: string;
}

/** Output beyond this is dropped from its beginning. */
const MAX_OUTPUT_CHARS = 1024 * 1024;
const KILL_DEADLINE_MS = 5000;

/** Never throws. `env` is the whole environment; `signal` ends the command. */
export async function runWholeCommand(
  command: Command,
  options: { cwd: string; env: Record<string, string>; timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<WholeCommandResult> {
  const marker = `command/${randomUUID()}`;
  const env = { ...options.env, ...command.env, [MARKER_ENV]: marker };
  const child = spawnPiped(command, { cwd: options.cwd, env });
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const ended = new Promise<{ exitCode?: number; spawnError?: Error }>((resolve) => {
    child.once('error', (error) => resolve({ spawnError: error }));
    child.once('close', (code) => resolve(code === null ? {} : { exitCode: code }));
  });
  const [stdout, stderr] = [tailOf(child.stdout), tailOf(child.stderr)];
  child.stdin.on('error', () => undefined);
  child.stdin.end();
  const stop = options.signal ? AbortSignal.any([timeout, options.signal]) : timeout;
  const { pid } = child;
  const ending = pid === undefined ? undefined : endWhenAborted(pid, marker, stop);
  const end = await ended;
  await ending?.settled();
  const failed = end.spawnError
    ? 'spawn'
    : options.signal?.aborted
      ? 'aborted'
      : timeout.aborted
        ? 'timeout'
        : undefined;
  return {
    exitCode: end.exitCode,
    stdout: stdout(),
    stderr: stderr(),
    failed,
    message: end.spawnError?.message ?? '',
  };
}

/** Ends the tree below `pid` once `stop` is aborted. `settled` waits until that is done, where it was begun. */
function endWhenAborted(pid: number, marker: string, stop: AbortSignal): { settled: () => Promise<void> } {
  const identity = identify(pid);
  let ending: Promise<void> | undefined;
  const end = () => {
    ending = identity.then(async (root) => {
      await killTree(root, marker, { deadlineMs: KILL_DEADLINE_MS });
    });
  };
  if (stop.aborted) end();
  else stop.addEventListener('abort', end, { once: true });
  return {
    settled: async () => {
      stop.removeEventListener('abort', end);
      await ending;
    },
  };
}

function tailOf(stream: Readable): () => string {
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    text = (text + chunk).slice(-MAX_OUTPUT_CHARS);
  });
  return () => text;
}

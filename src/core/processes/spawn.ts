/**
 * The one place where processes are started. Never through a shell.
 * Short commands go through execa. Processes that live longer than one call use Node's own `spawn`: execa's result waits
 * for the end of every pipe, which a grandchild can hold open for ever.
 */
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import type { Command } from '../../protocol/index.ts';
import { childEnvironment } from './environment.ts';

export interface CommandResult {
  stdout: string;
  stderr: string;
  exitCode: number | undefined;
  /** Why there is no usable exit code. */
  failed: 'spawn' | 'timeout' | 'signal' | undefined;
  message: string;
}

/** Runs a short command to its end. Never throws; output is cut at 8 MiB. */
export async function runCommand(
  command: Command,
  options: { cwd?: string; env?: Record<string, string>; timeoutMs: number; input?: string },
): Promise<CommandResult> {
  // Loaded at first use: a runner on Linux needs none of it, and saves its memory and start time.
  const { execa } = await import('execa');
  const result = await execa(command.file, command.args, {
    cwd: options.cwd ?? standingFolder(),
    env: options.env ?? childEnvironment(process.env),
    extendEnv: false,
    timeout: options.timeoutMs,
    forceKillAfterDelay: 1000,
    maxBuffer: 8 * 1024 * 1024,
    ...(options.input === undefined ? { stdin: 'ignore' as const } : { input: options.input }),
    reject: false,
    stripFinalNewline: false,
  });
  const failed = result.timedOut
    ? 'timeout'
    : result.isTerminated
      ? 'signal'
      : result.exitCode === undefined
        ? 'spawn'
        : undefined;
  return {
    stdout: result.stdout ?? '',
    stderr: result.stderr ?? '',
    exitCode: result.exitCode,
    failed,
    message: result.failed ? (result.originalMessage ?? result.shortMessage ?? '') : '',
  };
}

/** Where this process stands; a folder that was deleted meanwhile is none to start anything in. */
function standingFolder(): string {
  try {
    return process.cwd();
  } catch {
    return tmpdir();
  }
}

/**
 * Starts the detached process that owns a run. It survives the starter on every platform; stdout and stderr go to the
 * open file `logFd`. On Windows a process that is not detached would die with the starter's job object.
 */
export function spawnDetached(
  command: Command,
  options: { cwd: string; env: Record<string, string>; logFd: number },
): ChildProcess {
  const child = spawn(command.file, command.args, {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    windowsHide: true,
    shell: false,
    stdio: ['ignore', options.logFd, options.logFd],
  });
  // A program that cannot be started says so at once, maybe before the caller listens.
  child.on('error', () => undefined);
  child.unref();
  return child;
}

/**
 * Starts a child agent with pipes. On POSIX it leads its own process group, so that it can be signalled as a whole; on
 * Windows it is not detached, so that it ends with the runner.
 */
export function spawnPiped(
  command: Command,
  options: { cwd: string; env: Record<string, string> },
): ChildProcessWithoutNullStreams {
  return spawn(command.file, command.args, {
    cwd: options.cwd,
    env: options.env,
    detached: process.platform !== 'win32',
    windowsHide: true,
    shell: false,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

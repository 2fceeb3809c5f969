/**
 * The git executable. Every call has an environment of ours, a deadline and answers in bytes; configuration that could change
 * what a command means is overridden, and hooks run only where that is asked for.
 */
import { devNull } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { LanesError, lanesError } from '../../protocol/index.ts';
import { type ByteCommandResult, runByteCommand } from '../processes/index.ts';
import { gitEnvironment } from './environment.ts';

export interface GitVersion {
  /** As git says it, `2.39.5`. */
  text: string;
  atLeast(major: number, minor: number): boolean;
}

export interface GitCall {
  /** Milliseconds until it is ended. Default one minute. */
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
  input?: Uint8Array | string;
  /** Set for this call on top of the stripped environment. */
  env?: Record<string, string>;
  /** Takes the output piece by piece; `stdout` of the answer is empty then. */
  sink?: (chunk: Buffer) => Promise<void>;
  /** Exit codes besides 0 that are answers. */
  accept?: readonly number[] | 'any';
  /** Lets the repository's hooks run. */
  hooks?: boolean;
  /** Does it again while another git holds a lock file. Default true; false for commands that leave something behind when they fail. */
  retry?: boolean;
}

export interface GitAnswer {
  stdout: Buffer;
  stderr: string;
  exitCode: number;
}

const MIN_MAJOR = 2;
const MIN_MINOR = 25;
const DEFAULT_TIMEOUT_MS = 60_000;
/** How long a lock file of another git is waited for. */
const LOCKED_MS = 10_000;

/** Git refuses at once when a lock file of its own is there; whoever made it may be gone in a moment. */
const LOCKED = /Unable to create '.*\.lock': File exists|could not lock config file .*: File exists/s;

/**
 * What is the same in every call: nothing is collected or repaired behind our back, the stat data of files is believed only as
 * a whole, no program is asked what has changed.
 */
const CONFIGURATION = [
  'gc.auto=0',
  'maintenance.auto=false',
  'core.fsmonitor=false',
  'core.trustCtime=true',
  'core.checkStat=default',
  'core.quotePath=false',
  'core.longPaths=true',
  'advice.detachedHead=false',
].flatMap((setting) => ['-c', setting]);

export class Git {
  readonly version: GitVersion;
  readonly #file: string;
  readonly #env: NodeJS.ProcessEnv;

  private constructor(file: string, env: NodeJS.ProcessEnv, version: GitVersion) {
    this.#file = file;
    this.#env = env;
    this.version = version;
  }

  /**
   * Looks at the git that is there. Throws `git_unusable`.
   * @param options.file the executable; `git` on `PATH` when absent
   */
  static async find(options: { file?: string; env?: NodeJS.ProcessEnv; cwd: string }): Promise<Git> {
    const { file = 'git', env = process.env, cwd } = options;
    const result = await runByteCommand(file, ['version'], { cwd, env: gitEnvironment(env), timeoutMs: 10_000 });
    const said = result.stdout.toString('utf8');
    const [, text, major, minor] = /^git version ((\d+)\.(\d+)\S*)/.exec(said) ?? [];
    if (result.failed !== undefined || text === undefined) {
      throw lanesError('git_unusable:missing', { reason: lineOf(result) });
    }
    const version: GitVersion = {
      text,
      atLeast: (wanted, wantedMinor) =>
        Number(major) > wanted || (Number(major) === wanted && Number(minor) >= wantedMinor),
    };
    if (!version.atLeast(MIN_MAJOR, MIN_MINOR)) throw lanesError('git_unusable:old', { version: text });
    return new Git(file, env, version);
  }

  /** Throws `git_failed` when the command cannot be run, is not done in time, or exits with a code that is no answer. */
  async run(folder: string, args: readonly string[], call: GitCall = {}): Promise<GitAnswer> {
    const deadline = performance.now() + LOCKED_MS;
    for (let wait = 10; ; wait = Math.min(wait * 2, 250)) {
      const result = await this.#once(folder, args, call);
      const { exitCode } = result;
      const answered = exitCode !== undefined && result.failed === undefined;
      if (answered && (exitCode === 0 || call.accept === 'any' || call.accept?.includes(exitCode))) {
        return { stdout: result.stdout, stderr: result.stderr, exitCode };
      }
      const again = answered && call.retry !== false && isLocked(result.stderr) && performance.now() < deadline;
      if (!again) throw failureOf(args, result, call);
      // Two that were refused by each other should not meet again.
      await delay(wait * (0.5 + Math.random()));
    }
  }

  /** The output as text without its last line break: one path, one hash, one name. */
  async line(folder: string, args: readonly string[], call: GitCall = {}): Promise<string> {
    return (await this.run(folder, args, call)).stdout.toString('utf8').replace(/\r?\n$/, '');
  }

  /** As `line`; `undefined` when git exits with 1 or 128, or as `accept` says: there is no such thing. */
  async lineIfAny(folder: string, args: readonly string[], call: GitCall = {}): Promise<string | undefined> {
    const { stdout, exitCode } = await this.run(folder, args, { accept: [1, 128], ...call });
    return exitCode === 0 ? stdout.toString('utf8').replace(/\r?\n$/, '') : undefined;
  }

  /** The object that a ref, or another name, stands for; `undefined`: there is none. That git cannot tell is an error. */
  tipOf(folder: string, name: string): Promise<string | undefined> {
    return this.lineIfAny(folder, ['rev-parse', '--verify', '--quiet', name], { accept: [1] });
  }

  /** The records of an output that ends each with NUL (`-z`). */
  async records(folder: string, args: readonly string[], call: GitCall = {}): Promise<Buffer[]> {
    return splitRecords((await this.run(folder, args, call)).stdout);
  }

  #once(folder: string, args: readonly string[], call: GitCall): Promise<ByteCommandResult> {
    const hooks = call.hooks ? [] : ['-c', `core.hooksPath=${devNull}`];
    return runByteCommand(this.#file, [...CONFIGURATION, ...hooks, '-C', folder, ...args], {
      // The folder itself may be gone; git then says so.
      cwd: process.platform === 'win32' ? 'C:\\' : '/',
      env: { ...gitEnvironment(this.#env), GIT_TERMINAL_PROMPT: '0', ...call.env },
      timeoutMs: call.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      signal: call.signal,
      input: typeof call.input === 'string' ? Buffer.from(call.input) : call.input,
      sink: call.sink,
    });
  }
}

/** Whether git gave up because another git was at work. */
export function isLocked(stderr: string): boolean {
  return LOCKED.test(stderr);
}

/** Whether an error says that a git may still be at work. */
export function isUnproven(error: unknown): boolean {
  return error instanceof LanesError && error.toValue().text === 'git_failed:unproven';
}

/** What stands between the NULs, as bytes; a name need not be UTF-8. */
export function splitRecords(bytes: Buffer): Buffer[] {
  const records: Buffer[] = [];
  let from = 0;
  for (let to = bytes.indexOf(0); to !== -1; to = bytes.indexOf(0, from)) {
    records.push(bytes.subarray(from, to));
    from = to + 1;
  }
  if (from < bytes.length) records.push(bytes.subarray(from));
  return records;
}

function failureOf(args: readonly string[], result: ByteCommandResult, call: GitCall): LanesError {
  const command = `git ${args.slice(0, 2).join(' ')}`;
  if (!result.ended) return lanesError('git_failed:unproven', { command });
  if (result.failed === 'timeout') {
    return lanesError('git_failed:timeout', {
      command,
      seconds: Math.ceil((call.timeoutMs ?? DEFAULT_TIMEOUT_MS) / 1000),
    });
  }
  if (result.failed === 'cancelled') return lanesError('git_failed:cancelled', { command });
  if (isLocked(result.stderr)) return lanesError('git_failed:locked', { command, reason: lineOf(result) });
  return lanesError('git_failed', { command, reason: lineOf(result) });
}

/** Why, in one line: what went wrong on our side, else what git complained about. */
function lineOf({ stderr, message, exitCode }: ByteCommandResult): string {
  if (message) return message;
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const complaints = lines.filter((line) => /^(?:fatal|error|BUG):/.test(line)).slice(0, 3);
  const said = complaints.length > 0 ? complaints.join(' ') : lines.at(-1);
  return said ?? (exitCode === undefined ? 'it ended without an exit code' : `exit code ${exitCode}`);
}

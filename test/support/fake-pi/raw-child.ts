import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { splitLines } from '../split-lines.ts';
import { waitFor } from '../wait-for.ts';

export interface RawChildOptions {
  cli: string;
  cwd: string;
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  /** After `--mode rpc`. */
  args?: readonly string[];
}

/** A child seen as bytes, and with both of its ends: of the process, and of its pipes, which others can hold open. */
export class RawChild implements AsyncDisposable {
  readonly process: ChildProcessWithoutNullStreams;
  /** What stdout brought, read by read. */
  readonly chunks: Buffer[] = [];
  /** Complete lines of it. */
  readonly lines: string[] = [];
  exit: { code: number | null; signal: NodeJS.Signals | null } | undefined;
  isClosed = false;

  constructor({ cli, cwd, env, args = [] }: RawChildOptions) {
    this.process = spawn(process.execPath, [cli, '--mode', 'rpc', ...args], { cwd, env, stdio: 'pipe' });
    const split = splitLines((line) => this.lines.push(line));
    this.process.stdout.on('data', (chunk: Buffer) => {
      this.chunks.push(chunk);
      split(chunk);
    });
    this.process.stderr.resume();
    // Whatever it did not take no longer matters once it has ended.
    this.process.stdin.on('error', () => undefined);
    this.process.once('exit', (code, signal) => {
      this.exit = { code, signal };
    });
    this.process.once('close', () => {
      this.isClosed = true;
    });
  }

  get bytes(): Buffer {
    return Buffer.concat(this.chunks);
  }

  prompt(message: string): void {
    this.process.stdin.write(`${JSON.stringify({ id: 'p', type: 'prompt', message })}\n`);
  }

  /** The first complete line that `match` accepts. */
  line(what: string, match: (line: string) => boolean): Promise<string> {
    return waitFor(what, () => this.lines.find(match));
  }

  exited() {
    return waitFor('the exit of the child', () => this.exit, { timeoutMs: 5_000 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.kill('SIGKILL');
    await this.exited();
  }
}

/** What every command gets: the toolbox, the streams and the current project. */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Toolbox } from '../client/index.ts';
import { lanesError, type Owner, type RunState } from '../protocol/index.ts';

export interface CliContext {
  toolbox: Toolbox;
  /** Folder the command was started in. Throws `cwd_missing` when that is gone, for who needs it. */
  readonly cwd: string;
  owner: Owner;
  out: (text: string) => void;
  err: (text: string) => void;
}

/** Exit codes. Scripts may rely on them. */
export const EXIT = {
  ok: 0,
  /** The run failed, ended in part, or was rejected; or what was asked for was done only in part. */
  runFailed: 1,
  /** The command line is wrong, or the request was refused; nothing was started. */
  refused: 2,
  /** The run was stopped, paused or lost. */
  runStopped: 3,
  /** Waiting was interrupted; the run goes on. */
  interrupted: 130,
} as const;

/** Version of the shape of all `--json` outputs. Fields are only ever added. */
export const SCHEMA_VERSION = 1;

export function createContext(): CliContext {
  const client = { kind: 'cli', version: PI_LANES_VERSION };
  return {
    toolbox: new Toolbox({ env: process.env, distDirectory: dirname(fileURLToPath(import.meta.url)), client }),
    get cwd() {
      return currentFolder();
    },
    owner: { kind: 'cli', id: `${process.env['USER'] ?? process.env['USERNAME'] ?? 'user'}@${process.ppid}` },
    out: (text) => process.stdout.write(`${text}\n`),
    err: (text) => process.stderr.write(`${text}\n`),
  };
}

/** The shell can stand in a folder that was deleted. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw lanesError('cwd_missing:started', undefined, { cause: error });
  }
}

export function printJson(context: CliContext, value: Record<string, unknown>): void {
  context.out(JSON.stringify({ schemaVersion: SCHEMA_VERSION, ...value }));
}

/** Of a command that waited for a run. */
export function exitCodeFor(state: RunState): number {
  if (state === 'complete') return EXIT.ok;
  return state === 'failed' || state === 'partial' || state === 'rejected' ? EXIT.runFailed : EXIT.runStopped;
}

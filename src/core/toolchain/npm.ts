/** npm, as the person has it: found on `PATH` or beside Node, started without a shell, with their own configuration. */
import { stat } from 'node:fs/promises';
import { delimiter, dirname, extname, join } from 'node:path';
import { type Command, lanesError } from '../../protocol/index.ts';
import { childEnvironment, runWholeCommand, type WholeCommandResult } from '../processes/index.ts';
import { redact } from '../transcripts/index.ts';
import { findOnPath, realOrSame } from './executables.ts';
import type { NodeLocation } from './node.ts';

export interface Npm {
  command: Command;
  env: Record<string, string>;
}

/** Where npm's own script lies, seen from the folder of a `node` or an `npm` (Windows, then POSIX). */
const SCRIPT_PLACES = [
  ['node_modules', 'npm', 'bin', 'npm-cli.js'],
  ['..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'],
];

/** Throws `npm_not_found` naming what was looked at. */
export async function findNpm(
  node: Pick<NodeLocation, 'file' | 'electron'>,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): Promise<Npm> {
  const command = (await onPath(node, env, platform)) ?? (await besideNode(node));
  if (!command) {
    throw lanesError('npm_not_found', { node: node.file });
  }
  const own = childEnvironment(env, node.electron ? { ELECTRON_RUN_AS_NODE: '1' } : {});
  // A starter that looks for `node` itself finds the one that was chosen.
  const pathName = Object.keys(own).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
  const path = node.electron ? own[pathName] : [dirname(node.file), own[pathName]].filter(Boolean).join(delimiter);
  return { command, env: path === undefined ? own : { ...own, [pathName]: path } };
}

async function onPath(
  node: Pick<NodeLocation, 'file'>,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
): Promise<Command | undefined> {
  for (const file of await findOnPath('npm', env, platform)) {
    const real = await realOrSame(file);
    if (extname(real) === '.js') return { file: node.file, args: [real] };
    const script = await scriptFrom(dirname(real));
    if (script) return { file: node.file, args: [script] };
    // A batch file would need a shell. Anything else (the starter of a version manager) can be started as it is.
    if (!['.cmd', '.bat'].includes(extname(real).toLowerCase())) return { file, args: [] };
  }
  return undefined;
}

async function besideNode(node: Pick<NodeLocation, 'file'>): Promise<Command | undefined> {
  const script = await scriptFrom(dirname(node.file));
  return script === undefined ? undefined : { file: node.file, args: [script] };
}

async function scriptFrom(folder: string): Promise<string | undefined> {
  for (const place of SCRIPT_PLACES) {
    const file = join(folder, ...place);
    if (
      await stat(file)
        .then((info) => info.isFile())
        .catch(() => false)
    )
      return file;
  }
  return undefined;
}

export interface NpmCall {
  cwd: string;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** What npm printed. Throws `npm_failed` with npm's own words, or the signal's reason when it was called off. */
export async function runNpm(npm: Npm, args: readonly string[], call: NpmCall): Promise<string> {
  call.signal?.throwIfAborted();
  const starting = { ...npm.command, args: [...npm.command.args, ...args] };
  const result = await runWholeCommand(starting, { ...call, env: npm.env });
  call.signal?.throwIfAborted();
  if (result.exitCode === 0 && result.failed === undefined) return result.stdout;
  const command = args[0] ?? '';
  if (result.failed === 'spawn') throw lanesError('npm_failed:spawn', { reason: result.message });
  if (result.failed === 'timeout') {
    throw lanesError('npm_failed:late', { command, seconds: Math.round(call.timeoutMs / 1000) });
  }
  throw lanesError('npm_failed', { command, reason: reasonOf(result) });
}

const MAX_REASON_CHARS = 600;

/** npm's error lines in one, without codes, stack and the name of its log. */
function reasonOf(result: WholeCommandResult): string {
  const lines = result.stderr.split('\n').flatMap((line) => {
    const text = /^npm (?:error|ERR!)\s+(.*)$/.exec(line)?.[1]?.trim() ?? '';
    return text === '' || /^(code|errno|syscall|stack|at) |complete log of this run/.test(text) ? [] : [text];
  });
  const said = lines.length > 0 ? lines.join(' ') : result.stderr.trim().split('\n').slice(-3).join(' ');
  const reason = redact(said).replaceAll(/\s+/g, ' ').replace(/\.$/, '').slice(0, MAX_REASON_CHARS);
  return reason === '' ? `it ended with ${result.exitCode ?? 'a signal'}` : reason;
}

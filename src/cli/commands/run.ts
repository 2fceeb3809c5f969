import { isAbsolute } from 'node:path';
import { type LaunchRequest, launch, RunStore } from '../../client/index.ts';
import { timeLimit } from '../../core/settings/index.ts';
import { lanesError, outputSchema as schemaFile, wordsOf } from '../../protocol/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { readGiven } from '../given-file.ts';
import { waitForRun } from '../run-wait.ts';

/** What is to be launched. */
export interface LaunchOptions {
  agent: string | undefined;
  task: string | undefined;
  'task-file': string | undefined;
  model: string | undefined;
  thinking: string | undefined;
  cwd: string | undefined;
  worktree: boolean | undefined;
  base: string | undefined;
  label: string | undefined;
  output: string | undefined;
  'output-mode': string | undefined;
  'output-schema': string | undefined;
  /** Seconds. */
  timeout: string | undefined;
  'tool-timeout': string | undefined;
  approve: boolean | undefined;
  context: string | undefined;
}

export interface RunOptions extends LaunchOptions {
  wait: boolean | undefined;
  json: boolean | undefined;
}

export async function runCommand(context: CliContext, options: RunOptions): Promise<number> {
  const launched = await launch(context.toolbox, await requestOf(context, options));
  const { runId, directory, noScope } = launched;
  if (noScope !== undefined) context.err(`The runner has no scope of systemd of its own: ${noScope}`);
  if (!options.wait) {
    if (options.json) printJson(context, { runId, directory, state: 'running' });
    else context.out(runId);
    return EXIT.ok;
  }
  if (!options.json) context.err(`Run ${runId} started. Ctrl+C stops waiting, not the run.`);
  return waitForRun(context, { store: new RunStore(launched.project), runId, directory }, options.json);
}

/** What the options ask for. */
export async function requestOf(context: CliContext, options: LaunchOptions): Promise<LaunchRequest> {
  if (!options.agent) throw lanesError('launch_invalid:no-agent');
  return {
    agent: options.agent,
    task: await readTask(options),
    ...folderOf(context, options.cwd),
    owner: context.owner,
    trust: options.approve ? 'approve' : 'no-approve',
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.context === undefined ? {} : { context: contextOf(options.context) }),
    ...(options.thinking === undefined ? {} : { thinking: options.thinking }),
    ...(options.worktree ? { worktree: true } : {}),
    ...(options.base === undefined ? {} : { baseRef: options.base }),
    ...(options.label === undefined ? {} : { label: options.label }),
    ...(options.output === undefined ? {} : { output: options.output }),
    ...outputMode(options['output-mode']),
    ...(await outputSchema(options['output-schema'])),
    ...timeouts(options),
  };
}

function contextOf(value: string): 'fresh' | 'fork' | 'profile' {
  if (value === 'fresh' || value === 'fork' || value === 'profile') return value;
  throw lanesError('launch_invalid:context', { value });
}

/** Where one stands counts only when no whole path is given. */
function folderOf(context: CliContext, cwd: string | undefined): Pick<LaunchRequest, 'cwd' | 'base'> {
  return cwd !== undefined && isAbsolute(cwd) ? { cwd } : { cwd: cwd ?? context.cwd, base: context.cwd };
}

async function readTask(options: LaunchOptions): Promise<string> {
  const file = options['task-file'];
  if (file !== undefined && options.task !== undefined) {
    throw lanesError('launch_invalid:two-tasks');
  }
  if (file === undefined) {
    if (options.task === undefined) throw lanesError('task_empty:option');
    return options.task;
  }
  return readGiven(file, (reason) => lanesError('launch_invalid:task-file', { file, reason }));
}

function outputMode(text: string | undefined): { outputMode?: 'inline' | 'file-only' } {
  if (text === undefined) return {};
  if (text === 'inline' || text === 'file-only') return { outputMode: text };
  throw lanesError('launch_invalid:output-mode', { value: text });
}

async function outputSchema(file: string | undefined): Promise<Pick<LaunchRequest, 'outputSchema'>> {
  if (file === undefined) return {};
  const text = await readGiven(file, (reason) => lanesError('launch_invalid:schema-file', { file, reason }));
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw lanesError('launch_invalid:schema-json', { file, reason: wordsOf(error) });
  }
  const parsed = schemaFile.safeParse(json);
  if (!parsed.success) throw lanesError('launch_invalid:schema-object', { file });
  return { outputSchema: parsed.data };
}

/** `--timeout 0`: no limit. */
function timeouts(options: LaunchOptions): Pick<LaunchRequest, 'timeoutMs' | 'toolTimeoutMs'> {
  const { timeout, 'tool-timeout': tool } = options;
  const limit = (name: string, text: string, zeroIsNone: boolean) =>
    timeLimit(text, { name, unit: 'seconds', zeroIsNone });
  const toolMs = tool === undefined ? null : limit('--tool-timeout', tool, false);
  return {
    ...(timeout === undefined ? {} : { timeoutMs: limit('--timeout', timeout, true) }),
    ...(toolMs === null ? {} : { toolTimeoutMs: toolMs }),
  };
}

import { isAbsolute, resolve } from 'node:path';
import { type PlannedWorkflow, planNamedWorkflow, planWorkflow, RunStore, startRun } from '../../client/index.ts';
import { timeLimit } from '../../core/settings/index.ts';
import { lanesError, wordsOf } from '../../protocol/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { formatPreflight } from '../format-workflow.ts';
import { readGiven, scriptUnreadable } from '../given-file.ts';
import { type LimitOptions, readLimits } from '../workflow-limits.ts';
import { waitForWorkflow } from '../workflow-wait.ts';

export interface RunWorkflowOptions extends LimitOptions {
  /** One of the two. */
  script: string | undefined;
  workflow: string | undefined;
  args: string | undefined;
  'args-file': string | undefined;
  'allow-host': string[] | undefined;
  preflight: string | undefined;
  output: string | undefined;
  model: string | undefined;
  cwd: string | undefined;
  worktree: boolean | undefined;
  base: string | undefined;
  /** Seconds. */
  timeout: string | undefined;
  approve: boolean | undefined;
  wait: boolean | undefined;
  json: boolean | undefined;
}

/** Starts a workflow, and with `--wait` prints what it returned. */
export async function runWorkflowCommand(context: CliContext, options: RunWorkflowOptions): Promise<number> {
  const plan = await planOf(context, options);
  const { preflight } = plan.record.workflow;
  if (preflight && !options.json) context.err(formatPreflight(preflight));
  const launched = await startRun(context.toolbox, plan);
  const { runId, directory, noScope } = launched;
  if (noScope !== undefined) context.err(`The runner has no scope of systemd of its own: ${noScope}`);
  if (!options.wait) {
    if (options.json) printJson(context, { runId, directory, state: 'running' });
    else context.out(runId);
    return EXIT.ok;
  }
  if (!options.json) context.err(`Workflow ${runId} started. Ctrl+C stops waiting, not the workflow.`);
  return waitForWorkflow(context, { store: new RunStore(launched.project), runId, directory }, options.json);
}

async function planOf(context: CliContext, options: RunWorkflowOptions): Promise<PlannedWorkflow> {
  const { script: file, workflow: name, cwd, timeout, model } = options;
  const { usageBudget, ...counts } = readLimits(options);
  const { tokens, costUsd } = usageBudget ?? {};
  const args = await readArgs(context, options);
  const common = {
    ...(args === undefined ? {} : { args: parseArgs(args) }),
    ...(cwd !== undefined && isAbsolute(cwd) ? { cwd } : { cwd: cwd ?? context.cwd, base: context.cwd }),
    owner: context.owner,
    trust: options.approve ? ('approve' as const) : ('no-approve' as const),
    timeoutMs:
      timeout === undefined ? null : timeLimit(timeout, { name: '--timeout', unit: 'seconds', zeroIsNone: true }),
    ...(tokens || costUsd ? { usageBudget: { ...(tokens ? { tokens } : {}), ...(costUsd ? { costUsd } : {}) } } : {}),
    ...(model === undefined ? {} : { defaultModel: model }),
    ...(options.output === undefined ? {} : { output: options.output }),
    ...(options.worktree ? { worktree: true } : {}),
    ...(options.base === undefined ? {} : { baseRef: options.base }),
    host: { mode: 'ask' as const, globs: options['allow-host'] ?? [] },
  };
  if (name === undefined) {
    const read = await readScript(context, file ?? '');
    const preflight =
      options.preflight === undefined ? {} : { preflight: await readPreflight(context, options.preflight) };
    return planWorkflow(context.toolbox, { ...common, ...counts, ...read, ...preflight });
  }
  for (const field of ['script', 'preflight', 'max-spawns', 'concurrency', 'allow-host'] as const)
    if (options[field] !== undefined) throw lanesError('launch_invalid:workflow-field', { field: `--${field}` });
  return planNamedWorkflow(context.toolbox, { ...common, name, isChosen: true });
}

async function readPreflight({ cwd }: CliContext, file: string): Promise<unknown> {
  const refuse = (reason: string) => lanesError('launch_invalid:preflight-file', { file, reason });
  const text = await readGiven(resolve(cwd, file), refuse);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refuse(wordsOf(error));
  }
}

async function readScript({ cwd }: CliContext, name: string): Promise<{ file: string | null; script: string }> {
  const file = name === '-' ? null : resolve(cwd, name);
  const shown = file ?? 'standard input';
  return { file, script: await readGiven(file ?? '-', (reason) => scriptUnreadable(shown, reason)) };
}

/** The text of the arguments. A system passes no more than some 128 KB on a command line; a file may be larger. */
async function readArgs({ cwd }: CliContext, options: RunWorkflowOptions): Promise<string | undefined> {
  const file = options['args-file'];
  if (file === undefined) return options.args;
  if (options.args !== undefined) throw lanesError('launch_invalid:two-args');
  if (file === '-' && options.script === '-') throw lanesError('launch_invalid:two-inputs');
  const path = file === '-' ? file : resolve(cwd, file);
  return readGiven(path, (reason) => lanesError('launch_invalid:args-file', { file, reason }));
}

function parseArgs(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw lanesError('launch_invalid:args', { reason: wordsOf(error) });
  }
}

import { readFile } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { text as readStream } from 'node:stream/consumers';
import { launchWorkflow, RunStore, readWorkflowResult, waitForEnd } from '../../client/index.ts';
import { errnoOf } from '../../core/files/index.ts';
import { timeLimit } from '../../core/settings/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { lanesError, wordsOf } from '../../protocol/index.ts';
import { type CliContext, EXIT, exitCodeFor, printJson } from '../context.ts';

export interface RunWorkflowOptions {
  script: string;
  args: string | undefined;
  'allow-host': string[] | undefined;
  'max-spawns': string | undefined;
  concurrency: string | undefined;
  model: string | undefined;
  cwd: string | undefined;
  /** Seconds. */
  timeout: string | undefined;
  approve: boolean | undefined;
  wait: boolean | undefined;
  json: boolean | undefined;
}

/** Starts a workflow, and with `--wait` prints what it returned. */
export async function runWorkflowCommand(context: CliContext, options: RunWorkflowOptions): Promise<number> {
  const { file, script } = await readScript(context, options.script);
  const { cwd, timeout, model } = options;
  const timeoutMs =
    timeout === undefined ? null : timeLimit(timeout, { name: '--timeout', unit: 'seconds', zeroIsNone: true });
  const launched = await launchWorkflow(context.toolbox, {
    script,
    file,
    ...(options.args === undefined ? {} : { args: parseArgs(options.args) }),
    ...(cwd !== undefined && isAbsolute(cwd) ? { cwd } : { cwd: cwd ?? context.cwd, base: context.cwd }),
    owner: context.owner,
    trust: options.approve ? 'approve' : 'no-approve',
    timeoutMs,
    ...count('--max-spawns', 'maxSubagentSpawnsPerRun', options['max-spawns']),
    ...count('--concurrency', 'globalConcurrencyLimit', options.concurrency),
    ...(model === undefined ? {} : { defaultModel: model }),
    host: { mode: 'ask', globs: options['allow-host'] ?? [] },
  });
  const { runId, directory, noScope } = launched;
  if (noScope !== undefined) context.err(`The runner has no scope of systemd of its own: ${noScope}`);
  if (!options.wait) {
    if (options.json) printJson(context, { runId, directory, state: 'running' });
    else context.out(runId);
    return EXIT.ok;
  }
  if (!options.json) context.err(`Workflow ${runId} started. Ctrl+C stops waiting, not the workflow.`);
  const interrupt = new AbortController();
  const onInterrupt = () => interrupt.abort();
  process.once('SIGINT', onInterrupt);
  try {
    const { state, view, error } = await waitForEnd(new RunStore(launched.project), runId, {
      signal: interrupt.signal,
      onChange: (snapshot) => tellQuestions(context, snapshot.view?.questions ?? []),
    });
    const result = await readWorkflowResult(directory);
    if (options.json) {
      printJson(context, {
        runId,
        directory,
        state,
        value: result?.value ?? null,
        emits: result?.emits ?? [],
        console: result?.console ?? [],
        error,
        failure: view?.workflow?.failure ?? null,
        resultFile: result ? join(directory, 'result.json') : null,
        run: view,
      });
    } else {
      for (const { level, text } of result?.console ?? []) context.err(visible(`[${level}] ${text}`));
      if (result?.ok) {
        const { value = null } = result;
        context.out(visible(typeof value === 'string' ? value : JSON.stringify(value, null, 2)));
      }
      if (state !== 'complete') context.err(visible(`Workflow ${runId}: ${state}.${error ? ` ${error.message}` : ''}`));
      if (error?.hint) context.err(error.hint);
    }
    return exitCodeFor(state);
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    if (options.json) printJson(context, { runId, directory, state: 'running', interrupted: true });
    context.err(
      `The workflow goes on. See it with \`pi-lanes status ${runId}\`, end it with \`pi-lanes stop ${runId}\`.`,
    );
    return EXIT.interrupted;
  } finally {
    process.removeListener('SIGINT', onInterrupt);
  }
}

const told = new Set<string>();

/** Somebody has to answer them, and nobody may be looking at another window. */
function tellQuestions(
  context: CliContext,
  questions: readonly { id: string; title: string; message: string }[],
): void {
  for (const { id, title, message } of questions) {
    if (told.has(id)) continue;
    told.add(id);
    context.err(visible(`It asks: ${title} ${message}\n  pi-lanes answer last ${id} --yes | --no`));
  }
}

async function readScript({ cwd }: CliContext, name: string): Promise<{ file: string | null; script: string }> {
  const path = name === '-' ? 'standard input' : resolve(cwd, name);
  try {
    const text = name === '-' ? await readStream(process.stdin) : await readFile(path, 'utf8');
    return { file: name === '-' ? null : path, script: text.replace(/^\uFEFF/, '') };
  } catch (error) {
    if (errnoOf(error) === 'EISDIR') throw lanesError('script_unreadable:no-file', { path });
    throw lanesError('script_unreadable', { path, reason: wordsOf(error) });
  }
}

function parseArgs(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw lanesError('launch_invalid:args', { reason: wordsOf(error) });
  }
}

function count<Name extends string>(option: string, name: Name, text: string | undefined): { [K in Name]?: number } {
  if (text === undefined) return {};
  if (!/^[1-9]\d{0,5}$/.test(text)) throw lanesError('launch_invalid:count', { option, value: text });
  const counted: { [K in Name]?: number } = {};
  counted[name] = Number(text);
  return counted;
}

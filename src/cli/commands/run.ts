import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { text as readStream } from 'node:stream/consumers';
import { type LaunchRequest, launch, RunStore, waitForEnd } from '../../client/index.ts';
import { timeLimit } from '../../core/settings/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import {
  describeError,
  type ErrorValue,
  lanesError,
  PATCH_NAME,
  outputSchema as schemaFile,
  type WorktreeView,
  wordsOf,
} from '../../protocol/index.ts';
import { readAnswerText } from '../answer-text.ts';
import { type CliContext, EXIT, exitCodeFor, printJson } from '../context.ts';
import { nextStep, withNextStep } from '../next-step.ts';

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
  const interrupt = new AbortController();
  const onInterrupt = () => interrupt.abort();
  process.once('SIGINT', onInterrupt);
  try {
    const snapshot = await waitForEnd(new RunStore(launched.project), runId, { signal: interrupt.signal });
    const answer = await readAnswerText(directory, 1);
    const text = answer?.text ?? '';
    const output = snapshot.view?.children[0]?.output ?? null;
    const unsaved = output?.outcome === 'failed' ? unsavedOutput(output, answer?.resultFile) : null;
    if (options.json)
      printJson(context, {
        runId,
        directory,
        state: snapshot.state,
        text,
        truncated: answer?.truncated ?? false,
        ...(options['output-schema'] === undefined ? {} : { structuredOutput: answer?.structuredOutput ?? null }),
        resultFile: answer?.resultFile ?? null,
        error: snapshot.error ? withNextStep(snapshot.error, runId) : unsaved,
        output,
        run: snapshot.view,
      });
    else {
      const isWritten = output?.outcome === 'saved' || output?.outcome === 'kept';
      // A path is the answer to whoever asked for nothing else: one that does not exist must not look like one.
      if (output && options['output-mode'] === 'file-only') {
        if (isWritten) context.out(output.path);
      } else if (text !== '') context.out(process.stdout.isTTY ? visible(text) : text);
      if (answer?.truncated) context.err(`The whole answer is in ${answer.resultFile}`);
      if (unsaved) context.err(visible([unsaved.message, nextStep(unsaved, runId)].filter(Boolean).join(' ')));
      if (snapshot.state !== 'complete')
        context.err(`Run ${runId}: ${snapshot.state}.${snapshot.error ? ` ${visible(snapshot.error.message)}` : ''}`);
      const next = snapshot.error && nextStep(snapshot.error, runId);
      if (next) context.err(visible(next));
      const worktree = snapshot.view?.children[0]?.worktree;
      if (worktree && worktree.state !== 'undone') context.err(visible(worktreeLine(directory, worktree)));
      context.err(`Transcript: pi-lanes transcript ${runId}`);
    }
    return snapshot.state === 'complete' && unsaved ? EXIT.runFailed : exitCodeFor(snapshot.state);
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    if (options.json) printJson(context, { runId, directory, state: 'running', interrupted: true });
    context.err(`The run goes on. See it with \`pi-lanes status ${runId}\`, end it with \`pi-lanes stop ${runId}\`.`);
    return EXIT.interrupted;
  } finally {
    process.removeListener('SIGINT', onInterrupt);
  }
}

/** Where the work lies, and what of it is kept where. */
function worktreeLine(directory: string, { path, branch, changed, capture, files, faults }: WorktreeView): string {
  const where = `Worktree: ${path} (${branch})`;
  const [fault] = faults;
  if (fault) return `${where}. ${fault.message}`;
  if (!changed || !capture) return `${where}, nothing changed.`;
  const patch = join(directory, dirname(capture.file), PATCH_NAME);
  return files === 0 ? `${where}, no file changed.` : `${where}, files changed: ${files}. Patch: ${patch}`;
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

/** The file a person asked for is not there, although the work is done. */
function unsavedOutput(
  { path, error }: { path: string; error: string | null },
  resultFile: string | undefined,
): ErrorValue {
  const params = { file: path, reason: error ?? 'the reason is not known' };
  return resultFile === undefined
    ? describeError('output_unusable:unsaved', params)
    : describeError('output_unusable:unsaved-kept', { ...params, result: resultFile });
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
  try {
    return file === '-' ? await readStream(process.stdin) : await readFile(file, 'utf8');
  } catch (error) {
    throw lanesError('launch_invalid:task-file', { file, reason: wordsOf(error) });
  }
}

function outputMode(text: string | undefined): { outputMode?: 'inline' | 'file-only' } {
  if (text === undefined) return {};
  if (text === 'inline' || text === 'file-only') return { outputMode: text };
  throw lanesError('launch_invalid:output-mode', { value: text });
}

async function outputSchema(file: string | undefined): Promise<Pick<LaunchRequest, 'outputSchema'>> {
  if (file === undefined) return {};
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw lanesError('launch_invalid:schema-file', { file, reason: wordsOf(error) });
  });
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

import { readFile } from 'node:fs/promises';
import { text as readStream } from 'node:stream/consumers';
import { launch, RunStore, readResultText, waitForEnd } from '../../client/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { LanesError, type RunState } from '../../protocol/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';

export interface RunOptions {
  agent: string | undefined;
  task: string | undefined;
  'task-file': string | undefined;
  model: string | undefined;
  thinking: string | undefined;
  cwd: string | undefined;
  label: string | undefined;
  approve: boolean | undefined;
  wait: boolean | undefined;
  json: boolean | undefined;
}

export async function runCommand(context: CliContext, options: RunOptions): Promise<number> {
  if (!options.agent)
    throw new LanesError('launch_invalid', '--agent is missing.', 'Name one; `pi-lanes agents` lists them.');
  const launched = await launch(context.toolbox, {
    agent: options.agent,
    task: await readTask(options),
    cwd: options.cwd ?? context.cwd,
    base: context.cwd,
    owner: context.owner,
    trust: options.approve ? 'approve' : 'no-approve',
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.thinking === undefined ? {} : { thinking: options.thinking }),
    ...(options.label === undefined ? {} : { label: options.label }),
  });
  const { runId, directory } = launched;
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
    const text = (await readResultText(directory, 1)) ?? '';
    if (options.json)
      printJson(context, { runId, directory, state: snapshot.state, text, error: snapshot.error, run: snapshot.view });
    else {
      if (text !== '') context.out(process.stdout.isTTY ? visible(text) : text);
      if (snapshot.state !== 'complete')
        context.err(`The run is ${snapshot.state}.${snapshot.error ? ` ${visible(snapshot.error.message)}` : ''}`);
      if (snapshot.error?.hint) context.err(snapshot.error.hint);
      context.err(`Transcript: pi-lanes transcript ${runId}`);
    }
    return exitCodeFor(snapshot.state);
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    context.err(`The run goes on. See it with \`pi-lanes status ${runId}\`, end it with \`pi-lanes stop ${runId}\`.`);
    return EXIT.interrupted;
  } finally {
    process.removeListener('SIGINT', onInterrupt);
  }
}

async function readTask(options: RunOptions): Promise<string> {
  const file = options['task-file'];
  if (file !== undefined && options.task !== undefined) {
    throw new LanesError('launch_invalid', 'Both --task and --task-file are given.', 'Give one of them.');
  }
  if (file === undefined) {
    if (options.task === undefined)
      throw new LanesError('task_empty', '--task is missing.', 'Say what the agent should do.');
    return options.task;
  }
  try {
    return file === '-' ? await readStream(process.stdin) : await readFile(file, 'utf8');
  } catch (error) {
    throw new LanesError(
      'launch_invalid',
      `--task-file ${file} cannot be read: ${error instanceof Error ? error.message : error}.`,
    );
  }
}

function exitCodeFor(state: RunState): number {
  if (state === 'complete') return EXIT.ok;
  return state === 'failed' || state === 'partial' || state === 'rejected' ? EXIT.runFailed : EXIT.runStopped;
}

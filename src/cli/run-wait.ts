/** Waiting for a run of one agent, and printing what it said: what `run --wait` and `resume --wait` have in common. */
import { type RunStore, waitForEnd } from '../client/index.ts';
import { readLaunchRecord } from '../core/runs/index.ts';
import { visible } from '../core/transcripts/index.ts';
import { describeError, type ErrorValue } from '../protocol/index.ts';
import { readAnswerText } from './answer-text.ts';
import { type CliContext, EXIT, exitCodeFor, printJson } from './context.ts';
import { nextStep, withNextStep } from './next-step.ts';
import { noticesOf, worktreeLine } from './worktree-text.ts';

interface Awaited {
  store: RunStore;
  runId: string;
  directory: string;
}

/** Ctrl+C stops waiting, not the run. */
export async function waitForRun(
  context: CliContext,
  { store, runId, directory }: Awaited,
  json: boolean | undefined,
): Promise<number> {
  const record = await readLaunchRecord(directory);
  const child = record.mode === 'single' ? record.child : undefined;
  const interrupt = new AbortController();
  const onInterrupt = () => interrupt.abort();
  process.once('SIGINT', onInterrupt);
  try {
    const snapshot = await waitForEnd(store, runId, { signal: interrupt.signal });
    const answer = await readAnswerText(directory, 1);
    const text = answer?.text ?? '';
    const output = snapshot.view?.children[0]?.output ?? null;
    const unsaved = output?.outcome === 'failed' ? unsavedOutput(output, answer?.resultFile) : null;
    if (json)
      printJson(context, {
        runId,
        directory,
        state: snapshot.state,
        text,
        truncated: answer?.truncated ?? false,
        ...(child?.outputSchema === undefined ? {} : { structuredOutput: answer?.structuredOutput ?? null }),
        resultFile: answer?.resultFile ?? null,
        error: snapshot.error ? withNextStep(snapshot.error, runId) : unsaved,
        output,
        run: snapshot.view,
      });
    else {
      const isWritten = output?.outcome === 'saved' || output?.outcome === 'kept';
      // A path is the answer to whoever asked for nothing else: one that does not exist must not look like one.
      if (output && child?.output?.mode === 'file-only') {
        if (isWritten) context.out(output.path);
      } else if (text !== '') context.out(process.stdout.isTTY ? visible(text) : text);
      if (answer?.truncated) context.err(`The whole answer is in ${answer.resultFile}`);
      if (unsaved) context.err(visible([unsaved.message, nextStep(unsaved, runId)].filter(Boolean).join(' ')));
      if (snapshot.state !== 'complete')
        context.err(`Run ${runId}: ${snapshot.state}.${snapshot.error ? ` ${visible(snapshot.error.message)}` : ''}`);
      const next = snapshot.error && nextStep(snapshot.error, runId);
      if (next) context.err(visible(next));
      const worktree = snapshot.view?.children[0]?.worktree;
      const line = worktree && worktreeLine(directory, worktree);
      if (line) context.err(visible(line));
      for (const notice of noticesOf(snapshot.view?.children ?? [])) context.err(notice);
      context.err(`Transcript: pi-lanes transcript ${runId}`);
    }
    return snapshot.state === 'complete' && unsaved ? EXIT.runFailed : exitCodeFor(snapshot.state);
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    if (json) printJson(context, { runId, directory, state: 'running', interrupted: true });
    context.err(`The run goes on. See it with \`pi-lanes status ${runId}\`, end it with \`pi-lanes stop ${runId}\`.`);
    return EXIT.interrupted;
  } finally {
    process.removeListener('SIGINT', onInterrupt);
  }
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

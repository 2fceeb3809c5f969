/** Waiting for a workflow, and printing what it came to: what `run --script --wait` and `continue --wait` have in common. */
import { lookAtWorkflowResult, type RunStore, waitForEnd } from '../client/index.ts';
import { runLayout } from '../core/projects/index.ts';
import { visible } from '../core/transcripts/index.ts';
import { describeError, type ErrorValue, type QuestionView, type WorkflowView } from '../protocol/index.ts';
import { type CliContext, EXIT, exitCodeFor, printJson } from './context.ts';
import { nextStep, withNextStep } from './next-step.ts';
import { questionText } from './question-text.ts';

interface Awaited {
  store: RunStore;
  runId: string;
  directory: string;
}

/** Ctrl+C stops waiting, not the workflow. */
export async function waitForWorkflow(
  context: CliContext,
  { store, runId, directory }: Awaited,
  json: boolean | undefined,
): Promise<number> {
  const interrupt = new AbortController();
  const onInterrupt = () => interrupt.abort();
  process.once('SIGINT', onInterrupt);
  const tell = questionTeller(context, runId);
  try {
    const { state, view, error } = await waitForEnd(store, runId, {
      signal: interrupt.signal,
      onChange: (snapshot) => tell(snapshot.view?.questions ?? []),
    });
    const look = await lookAtWorkflowResult(directory);
    const result = look.state === 'there' ? look.result : undefined;
    const { workflowResult } = runLayout(directory);
    const resultFile = result ? workflowResult : null;
    const output = view?.workflow?.output;
    const unsaved = output?.outcome === 'failed' ? unsavedOutput(output, resultFile ?? directory) : undefined;
    if (json) {
      printJson(context, {
        runId,
        directory,
        state,
        value: result?.value ?? null,
        emits: result?.emits ?? [],
        console: result?.console ?? [],
        ...(output === undefined ? {} : { output, warnings: unsaved ? [unsaved] : [] }),
        error: error && withNextStep(error, runId),
        failure: view?.workflow?.failure ?? null,
        resultFile,
        run: view,
      });
    } else {
      for (const { level, text } of result?.console ?? []) context.err(visible(`[${level}] ${text}`));
      if (result?.ok) {
        const { value = null } = result;
        context.out(visible(typeof value === 'string' ? value : JSON.stringify(value, null, 2)));
      }
      if (look.state === 'damaged' && state === 'complete')
        context.err(visible(`What it returned cannot be read: ${workflowResult}: ${look.reason}.`));
      if (unsaved) context.err(visible([unsaved.message, nextStep(unsaved, runId)].filter(Boolean).join(' ')));
      if (state !== 'complete') context.err(visible(`Workflow ${runId}: ${state}.${error ? ` ${error.message}` : ''}`));
      const next = error && nextStep(error, runId);
      if (next) context.err(visible(next));
    }
    return state === 'complete' && unsaved ? EXIT.runFailed : exitCodeFor(state);
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    if (json) printJson(context, { runId, directory, state: 'running', interrupted: true });
    context.err(
      `The workflow goes on. See it with \`pi-lanes status ${runId}\`, end it with \`pi-lanes stop ${runId}\`.`,
    );
    return EXIT.interrupted;
  } finally {
    process.removeListener('SIGINT', onInterrupt);
  }
}

/** The file a person asked for is not there, although the work is done. */
function unsavedOutput({ path, error }: NonNullable<WorkflowView['output']>, result: string): ErrorValue {
  return describeError('output_unusable:unsaved-result', {
    file: path,
    reason: error ?? 'the reason is not known',
    result,
  });
}

/** Somebody has to answer them, and nobody may be looking at another window. Each is told once. */
function questionTeller(context: CliContext, runId: string) {
  const told = new Set<string>();
  return (questions: readonly QuestionView[]): void => {
    for (const question of questions) {
      if (told.has(question.id)) continue;
      told.add(question.id);
      context.err(visible(`It asks: ${questionText(runId, question)}`));
    }
  };
}

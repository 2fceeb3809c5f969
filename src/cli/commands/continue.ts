import { continueWorkflow } from '../../client/index.ts';
import { timeLimit } from '../../core/settings/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { type LimitOptions, readLimits } from '../workflow-limits.ts';
import { waitForWorkflow } from '../workflow-wait.ts';
import { locateRun } from './status.ts';

export interface ContinueOptions extends LimitOptions {
  /** Seconds. */
  timeout: string | undefined;
  wait: boolean | undefined;
  json: boolean | undefined;
}

/** Goes on with a workflow that was lost or that a limit has ended, as the same run, with limits kept or raised. */
export async function continueCommand(context: CliContext, wanted: string, options: ContinueOptions): Promise<number> {
  const { timeout, wait, json } = options;
  const limits = readLimits(options);
  const timeoutMs =
    timeout === undefined ? undefined : timeLimit(timeout, { name: '--timeout', unit: 'seconds', zeroIsNone: true });
  const { store, runId, directory } = await locateRun(context, wanted);
  await continueWorkflow(context.toolbox, directory, context.owner, {
    ...limits,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  if (wait) {
    if (!json) context.err(`Workflow ${runId} goes on. Ctrl+C stops waiting, not the workflow.`);
    return waitForWorkflow(context, { store, runId, directory }, json);
  }
  if (json) printJson(context, { kind: 'continued', runId, directory });
  else context.out(`Run ${runId} goes on where it stood.`);
  return EXIT.ok;
}

/** The end of a workflow: result and receipt durable, then the word that there is one. */
import type { WorkflowResult } from '../../core/workflow/index.ts';
import {
  cutText,
  describeError,
  type ErrorValue,
  type JournalLine,
  type StoredFile,
  type TerminalState,
  type WorkflowFailure,
  type WorkflowRecord,
  wordsOf,
} from '../../protocol/index.ts';
import type { OpenRun } from '../open-run.ts';
import type { RunResult } from '../run-work.ts';
import type { AggregateOutput, WrittenOutput } from './aggregate-output.ts';
import { receiptOf } from './receipts.ts';
import { summaryOf } from './summary.ts';

const MESSAGE_CHARS = 4000;

export async function concludeWorkflow(
  run: OpenRun,
  record: WorkflowRecord,
  result: WorkflowResult,
  { isStopped, aggregate }: { isStopped: boolean; aggregate: AggregateOutput | undefined },
): Promise<RunResult> {
  const { ok, error, terminalOutcome, abortedKeys } = result;
  const state = stateOf(result, isStopped);
  const failure: WorkflowFailure | null = error ? { ...error, message: cutText(error.message, MESSAGE_CHARS) } : null;
  const { workflowResult, receipt: receiptFile } = run.layout;
  const written = await aggregate?.settle(summaryOf(result, whyOf(state, failure)));
  let value: StoredFile | null = null;
  let unsaved: ErrorValue | undefined;
  try {
    value = await run.store(
      workflowResult,
      `${JSON.stringify({ version: 1, runId: record.runId, state, ...result, ...(written ? told(written, workflowResult) : {}) })}\n`,
    );
  } catch (refused) {
    unsaved = describeError('result_unsaved:whole', { file: workflowResult, reason: wordsOf(refused) });
  }
  try {
    const receipt = receiptOf(run.view, state, result, Date.now());
    await run.store(receiptFile, `${JSON.stringify(receipt, null, 2)}\n`);
  } catch (refused) {
    unsaved ??= describeError('result_unsaved:whole', { file: receiptFile, reason: wordsOf(refused) });
  }
  await run.append({
    type: 'workflow.ended',
    ok,
    state,
    failure,
    value,
    partial: terminalOutcome?.reason ?? null,
    aborted: abortedKeys.slice(0, 100),
  });
  if (unsaved) return { state: 'failed', error: unsaved };
  return resultOf(state, failure);
}

/** The file as the result names it. That it could not be written is a warning: the work is done, and stands in the result. */
function told({ path, outcome, bytes, error }: WrittenOutput, result: string) {
  const params = { file: path, reason: error ?? 'the reason is not known', result };
  const warnings = outcome === 'failed' ? [describeError('output_unusable:unsaved-result', params).message] : [];
  return { output: { path, outcome, bytes, error }, warnings };
}

/** The receipt of a workflow whose script came to nothing: it is not taken up again after a loss, or what it asked for could not be kept. */
export async function leaveReceipt(run: OpenRun, { state }: RunResult): Promise<void> {
  try {
    const receipt = receiptOf(run.view, state, { partialChildren: [] }, Date.now());
    await run.store(run.layout.receipt, `${JSON.stringify(receipt, null, 2)}\n`);
  } catch (refused) {
    // It ends all the same; whoever asks for the receipt is told that there is none.
    console.error(`pi-lanes runner: the receipt could not be written: ${wordsOf(refused)}`);
  }
}

function whyOf(state: TerminalState, failure: WorkflowFailure | null): string {
  return resultOf(state, failure).error?.message ?? failure?.message ?? state;
}

function stateOf({ ok, terminalOutcome }: WorkflowResult, isStopped: boolean): TerminalState {
  if (isStopped) return 'stopped';
  if (ok) return 'complete';
  return terminalOutcome ? 'partial' : 'failed';
}

/** The trace of an error that the script's own top has thrown: the place is all there is in it. */
const ONE_FRAME = /(?<!\n {4}at [^\n]*)\n {4}at workflow\.js:\d+:\d+$/;

function resultOf(state: TerminalState, failure: WorkflowFailure | null): RunResult {
  if (state === 'stopped' || failure === null) return { state, error: null };
  const { message, line, column } = failure;
  const place = line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`;
  const said = place === '' ? message : message.replace(ONE_FRAME, '');
  return { state, error: describeError('workflow_failed', { reason: `${said}${place}` }) };
}

/** The end that stands in the journal already, when only the terminal event is missing. */
export function endOfRecord(lines: readonly JournalLine[]): RunResult | undefined {
  const end = lines.findLast((line) => line.type === 'workflow.ended');
  return end?.type === 'workflow.ended' ? resultOf(end.state, end.failure) : undefined;
}

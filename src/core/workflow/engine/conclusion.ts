/** The end of a workflow: from why it ended and what had become of everything, to the result. Pure, so a replay ends the same. */
import type { BodyEnd, ErrorKind, StepBreak, WorkflowError } from './calls.ts';
import type { ChildView } from './child-result.ts';
import type { Conductor } from './conductor.ts';
import { HEAP_BYTES } from './limits.ts';
import type { ConsoleEntry, TraceRow } from './trace.ts';

export type EndCause =
  | { type: 'body'; end: BodyEnd }
  | { type: 'broken'; by: Extract<StepBreak, { message: string }> | { reason: 'fuel' } }
  | { type: 'timeout'; ms: number }
  | { type: 'aborted'; reason: string }
  | { type: 'deadlock' }
  | { type: 'crashed'; message: string }
  | { type: 'diverged'; message: string }
  /** Nothing ran. */
  | { type: 'refused'; error: WorkflowError };

export interface WorkflowResult {
  ok: boolean;
  /** What the body returned; `null` when it returned nothing. Absent when the workflow failed. */
  value?: unknown;
  error?: WorkflowError;
  trace: TraceRow[];
  emits: unknown[];
  console: ConsoleEntry[];
  /** Children that were called and had not settled. */
  abortedKeys: string[];
  /** Children that settled, in the order of their launch. */
  partialChildren: ChildView[];
  terminalOutcome?: { state: 'partial'; reason: 'timeout' | 'budget_exhausted' };
  /** What the script used: steps, polls of the fuel counter (each about 10,000 operations), most heap in bytes. */
  engine: { steps: number; fuel: number; heapBytes: number };
}

export function conclude(conductor: Conductor, cause: EndCause, engine: WorkflowResult['engine']): WorkflowResult {
  const error = errorOf(conductor, cause);
  const abortedKeys = conductor.stop(error?.message.split('\n')[0] ?? 'The workflow completed.');
  const result: WorkflowResult = {
    ok: error === undefined,
    ...(error ? { error } : {}),
    trace: conductor.trace,
    emits: conductor.emits,
    console: conductor.console,
    abortedKeys,
    partialChildren: conductor.children,
    engine,
  };
  if (!error && cause.type === 'body' && cause.end.type === 'returned') result.value = JSON.parse(cause.end.value);
  if (error) {
    const reason = conductor.budgetExhausted ? 'budget_exhausted' : cause.type === 'timeout' ? 'timeout' : undefined;
    if (reason) result.terminalOutcome = { state: 'partial', reason };
  }
  return result;
}

function errorOf(conductor: Conductor, cause: EndCause): WorkflowError | undefined {
  switch (cause.type) {
    case 'body':
      return bodyError(conductor, cause.end);
    case 'refused':
      return cause.error;
    case 'timeout':
      return failed('timeout', `The workflow timed out after ${cause.ms} ms.`);
    case 'aborted':
      return failed('engine', `The workflow was stopped: ${cause.reason}`);
    case 'deadlock':
      return failed(
        'deadlock',
        'The workflow waits for something that cannot happen: its body has not ended, and nothing is under way that could settle a promise. Look for a promise that is never resolved.',
      );
    case 'crashed':
      return failed('engine', cause.message);
    case 'diverged':
      return failed('diverged', cause.message);
    case 'broken':
      return brokenError(cause.by);
  }
}

function failed(kind: ErrorKind, message: string): WorkflowError {
  return { kind, message };
}

function brokenError(by: Extract<EndCause, { type: 'broken' }>['by']): WorkflowError {
  if (by.reason === 'fuel') {
    return failed(
      'limit',
      'The script computed for too long without waiting for anything and was ended. Let children do long work.',
    );
  }
  if (by.reason === 'memory') {
    return failed(
      'limit',
      `The script needs more memory than a workflow may have (${HEAP_BYTES / 1024 / 1024} MiB): out of memory.`,
    );
  }
  return failed('engine', `The script engine failed: ${by.message}`);
}

function bodyError(conductor: Conductor, end: BodyEnd): WorkflowError | undefined {
  if (end.type === 'threw') {
    if (!end.atReturn || end.error.kind !== 'boundary') return end.error;
    const recovery = recoveryList(conductor.children);
    return recovery ? { ...end.error, message: `${end.error.message}\n${recovery}` } : end.error;
  }
  const { children, steers, hosts } = end.unobserved;
  if (children.length > 0) {
    return failed(
      'unawaited',
      `The workflow ended without awaiting ${list(children)}. Finishing is not observing: await every launch, for example ` +
        'await runs.all([{key, agent, task}, …]), and do not read .output from a launch that was not awaited.',
    );
  }
  if (steers.length > 0) {
    return failed(
      'unawaited',
      `The workflow ended without awaiting runs.steer of ${list(steers)}. Await it or return it.`,
    );
  }
  if (hosts.length > 0) {
    return failed(
      'unawaited',
      `The workflow ended without awaiting runs.host of ${list(hosts)}. Await it or return it.`,
    );
  }
  return undefined;
}

function list(keys: readonly string[]): string {
  return keys.map((key) => `'${key}'`).join(', ');
}

const MAX_RECOVERY = 10;
const MAX_FIELD = 500;

/** Where the work of children can be found when the value that was to name it could not cross. */
function recoveryList(children: readonly ChildView[]): string | undefined {
  if (children.length === 0) return undefined;
  const lines = children.slice(0, MAX_RECOVERY).map(({ key, runId, outputReference, artifactPaths }) => {
    const parts = [
      runId === undefined ? undefined : `run ${cut(runId)}`,
      outputReference === undefined ? undefined : `output ${cut(outputReference)}`,
      artifactPaths[0] === undefined ? undefined : `artifact ${cut(artifactPaths[0])}`,
    ];
    return `  ${key}: ${parts.filter((part) => part !== undefined).join(', ') || 'no files'}`;
  });
  if (children.length > MAX_RECOVERY) lines.push(`  and ${children.length - MAX_RECOVERY} more`);
  return `The children's work is not lost:\n${lines.join('\n')}\nReturn a projection of plain JSON, such as results.map((r) => ({key: r.key, output: r.output})).`;
}

function cut(text: string): string {
  return text.length > MAX_FIELD ? `${text.slice(0, MAX_FIELD - 3)}...` : text;
}

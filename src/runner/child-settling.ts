/** The end of a child: its result is made durable, then said; its process is ended and its session looked at. */
import type { Child, ChildOutcome } from '../core/children/index.ts';
import type { OutputClaim } from '../core/outputs/index.ts';
import type { ChildLayout } from '../core/projects/index.ts';
import { readSessionFile } from '../core/sessions/index.ts';
import { readKeptValue } from '../core/structured-output/index.ts';
import {
  type ChildPlan,
  cutText,
  describeError,
  type ErrorValue,
  type StoredFile,
  type TerminalState,
  wordsOf,
} from '../protocol/index.ts';
import type { ChildTools } from './child-tools.ts';
import { cleanError, clipError, type OpenRun } from './open-run.ts';
import { type Answered, judgeAnswer } from './structured-answer.ts';

/** What became of a child. */
export interface ChildResult {
  state: TerminalState;
  error: ErrorValue | null;
  /** Its whole answer; of a structured one its JSON. */
  text: string;
  /** Only when it was asked for a value and gave one. */
  structuredOutput?: unknown;
  toolBudgetBlocked?: true;
}

const MAX_VERDICT = 100;

/** A child that was ended from outside said nothing at its end: its last words are kept. */
function keptText({ state, exited, text, lastWords }: ChildOutcome): string {
  return (state === 'stopped' || exited) && text.trim() === '' ? lastWords : text;
}

/**
 * Makes the result durable, then says so. A result that is refused by the system makes the run fail by name: the answer
 * then stands in the session and the transcript only.
 */
export async function settle(
  { run, index, plan, layout }: ChildTools,
  raw: ChildOutcome,
  output: OutputClaim | undefined,
): Promise<ChildResult> {
  const { outcome, answer } = await answered(plan, layout, raw);
  const { progress, stopReason } = outcome;
  const more = {
    ...(answer === undefined ? {} : { structuredOutput: answer.value }),
    ...(outcome.toolBudgetBlocked ? { toolBudgetBlocked: true as const } : {}),
  };
  let { state, error } = outcome;
  const text = keptText(outcome);
  const body = {
    version: 1,
    runId: run.record.runId,
    child: index,
    state,
    stopReason,
    error: error && cleanError(error),
    usage: progress.usage,
    text,
    ...more,
  };
  let result: StoredFile | null = null;
  try {
    result = await run.store(layout.result, `${JSON.stringify(body)}\n`);
  } catch (refused) {
    state = state === 'complete' ? 'failed' : state;
    error ??= unsaved(refused, run.child(index)?.session?.file);
  }
  if (output) {
    const stub = text === '';
    const saved = await output.settle(stub ? `[no answer: ${error?.message ?? state}]\n` : text, { stub });
    await run.append({ type: 'output.settled', child: index, path: output.path, ...saved });
  }
  await run.append({
    type: 'child.settled',
    child: index,
    state,
    stopReason,
    error: error && clipError(error),
    result,
    turns: progress.turns,
    toolCalls: progress.toolCalls,
    usage: progress.usage,
    ...(outcome.toolBudgetBlocked ? { toolBudgetBlocked: true } : {}),
    ...verdictOf(answer?.value),
  });
  return { state, error, text, ...more };
}

async function answered({ outputSchema }: ChildPlan, layout: ChildLayout, outcome: ChildOutcome): Promise<Answered> {
  if (outputSchema === undefined) return { outcome };
  return judgeAnswer(outcome, await readKeptValue(layout.structuredOutput, outputSchema), outputSchema);
}

/** The whole value stands in the result; of a verdict the word is told, because it decides what a lane does next. */
function verdictOf(value: unknown): { verdict?: string } {
  const verdict = typeof value === 'object' && value !== null && 'verdict' in value ? value.verdict : undefined;
  return typeof verdict === 'string' && verdict !== '' ? { verdict: cutText(verdict, MAX_VERDICT) } : {};
}

function unsaved(refused: unknown, session: string | null | undefined): ErrorValue {
  const reason = wordsOf(refused);
  return session
    ? describeError('result_unsaved:session', { reason, session })
    : describeError('result_unsaved', { reason });
}

export async function endChild({ run, index, desk }: ChildTools, child: Child): Promise<void> {
  const end = await child.end();
  desk.dismiss(child);
  if (end.note) desk.remark(end.note);
  const attempt = run.child(index)?.attempt ?? 1;
  await run.append({ type: 'child.ended', child: index, attempt, ...end }, await checkSession(run, index));
}

/** Pi writes a session that was deleted under it anew without its header; then it can never be opened again. */
async function checkSession(run: OpenRun, index: number) {
  const session = run.child(index)?.session?.file;
  const event = { type: 'child.session.checked', child: index } as const;
  if (!session) return { ...event, state: 'none', note: null } as const;
  const file = await readSessionFile(session);
  if (file.state === 'ok') return { ...event, state: 'ok', note: null } as const;
  // A child that was asked nothing has no session file yet.
  const begun = (run.child(index)?.turns ?? 0) > 0;
  if (file.state === 'missing' && !begun) return { ...event, state: 'none', note: null } as const;
  return {
    ...event,
    state: file.state === 'missing' ? 'missing' : 'damaged',
    note: cutText(file.reason, 500),
  } as const;
}

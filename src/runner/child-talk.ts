/** What is said to a working child, and what becomes of it: asked, cut off, or gone by itself. */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Child, ChildOutcome } from '../core/children/index.ts';
import { readSessionFile } from '../core/sessions/index.ts';
import { inTime } from '../core/time/index.ts';
import { describeError, type ErrorValue, type JournalEvent, NO_USAGE, toErrorValue } from '../protocol/index.ts';
import type { ChildTools } from './child-tools.ts';
import type { RunControl } from './run-control.ts';

/** Milliseconds an exit may come after the request it made fail. */
const EXPLAIN_MS = 2000;
/** Milliseconds a child may tell how far it came after its end was tried: as long as its pipes are read, and a little. */
const LAST_OUTCOME_MS = 10_000;

export const NOTHING_DONE = { phase: 'ending', tool: null, turns: 0, toolCalls: 0, usage: NO_USAGE } as const;

/** Hands the prompt over and waits for the outcome. Stop, timeout and interrupt win over whatever happens at the same time. */
export async function ask(
  tools: ChildTools,
  child: Child,
  prompt: string,
  { before, after }: { before: JournalEvent[]; after: string | null | undefined },
): Promise<ChildOutcome> {
  const { run, index, control, desk } = tools;
  try {
    const promptId = randomUUID();
    const sha256 = createHash('sha256').update(prompt).digest('hex');
    const bytes = Buffer.byteLength(prompt);
    await run.append(...before, {
      type: 'child.prompt.intended',
      child: index,
      promptId,
      bytes,
      sha256,
      ...(after === undefined ? {} : { after }),
    });
    const answer = await control.race(child.prompt(prompt));
    if (answer === 'ended') return await cutOff(tools, child);
    await run.append({ type: 'child.prompted', child: index, promptId, disposition: answer.disposition });
    if ((await control.race(desk.steering.attach(child))) === 'ended') return await cutOff(tools, child);
  } catch (error) {
    return explain(child, error);
  }
  for (;;) {
    const work = child.settled;
    const outcome = await control.race(work);
    if (outcome === 'ended') return cutOff(tools, child);
    if (outcome.exited) return outcome;
    // A message that reached the child just after its end has begun more work; its answer belongs to the run.
    if ((await control.race(desk.steering.quiet())) === 'ended') return cutOff(tools, child);
    if (child.settled === work) return outcome;
    if ((await control.race(desk.steering.attach(child))) === 'ended') return cutOff(tools, child);
  }
}

/** The entry a session ends with; `undefined` when that cannot be told. */
export async function lastEntry(session: string | null): Promise<string | undefined> {
  const file = session === null ? undefined : await readSessionFile(session);
  return file?.state === 'ok' ? file.branch.at(-1)?.id : undefined;
}

/** A child that exited while it was asked explains itself better than the request that failed. */
export async function explain(child: Child, error: unknown): Promise<ChildOutcome> {
  const settled = await Promise.race([child.settled, delay(EXPLAIN_MS, undefined)]);
  return settled?.error ? settled : failed(toErrorValue(error));
}

/** Asks the child to stop, ends it with everything it started, and keeps what it had said. */
export async function cutOff(
  { control }: Pick<ChildTools, 'control'>,
  child: Child,
  patienceMs: number = LAST_OUTCOME_MS,
): Promise<ChildOutcome> {
  const aborted = await child.abort();
  const end = child.end();
  // An aborted child reports how far it came; one that cannot answer is judged by its exit.
  if (!aborted) await end;
  // A process that does not go, not even when it is killed, tells nothing any more.
  const outcome = await Promise.race([child.settled, end.then(() => inTime(child.settled, patienceMs))]);
  return cutShort(control, outcome);
}

/** What becomes of an outcome when a person or a limit ended the work. */
export function cutShort(control: RunControl, outcome: ChildOutcome | undefined): ChildOutcome {
  const whole = outcome ?? failed(describeError('interrupted'));
  // An abort between two messages leaves an empty one; what had been said before it is the result.
  const base = { ...whole, text: whole.text.trim() === '' ? whole.lastWords : whole.text };
  if (control.reason === 'stop') return { ...base, state: 'stopped', error: null };
  if (control.reason === 'timeout') return { ...base, state: 'failed', error: control.error };
  return { ...base, state: 'paused', error: null };
}

/** A child of which nothing is known but why it failed. */
export function failed(error: ErrorValue): ChildOutcome {
  return {
    state: 'failed',
    stopReason: null,
    text: '',
    lastWords: '',
    error,
    progress: NOTHING_DONE,
    exited: false,
    inactive: true,
  };
}

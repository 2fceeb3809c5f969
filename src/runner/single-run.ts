/** Executes a run with one child: intent, effect, fact; and again where the policy says so. */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Child, ChildDriver, ChildOutcome, SessionStart } from '../core/children/index.ts';
import { whenThereIsRoom } from '../core/files/index.ts';
import type { Lock } from '../core/locks/index.ts';
import { OutputClaim } from '../core/outputs/index.ts';
import { childEnvironment } from '../core/processes/index.ts';
import { type ChildLayout, rootLayout } from '../core/projects/index.ts';
import { CONTINUE_PROMPT } from '../core/runs/index.ts';
import { leaseSession, readSessionFile } from '../core/sessions/index.ts';
import {
  cutText,
  describeError,
  type ErrorValue,
  type JournalEvent,
  NO_USAGE,
  type StoredFile,
  type TerminalState,
  toErrorValue,
  wordsOf,
} from '../protocol/index.ts';
import { attemptsSoFar, nextStep } from './attempt-policy.ts';
import type { ChildDesk } from './child-desk.ts';
import { cleanError, clipError, type OpenRun } from './open-run.ts';
import type { RunControl } from './run-control.ts';

/** The run's only child. */
const CHILD = 1;

export interface RunResult {
  state: TerminalState;
  error: ErrorValue | null;
}

/** Where the work begins: with the task, in the middle after a crash, or with an answer that is already there. */
export type Beginning =
  | { kind: 'ask'; session: SessionStart; prompt: string }
  | { kind: 'adopt'; text: string; stopReason: string };

export interface RunTools {
  run: OpenRun;
  driver: ChildDriver;
  control: RunControl;
  desk: ChildDesk;
  layout: ChildLayout;
}

/** Milliseconds an exit may come after the request it made fail. */
const EXPLAIN_MS = 2000;

const NOTHING_DONE = { phase: 'ending', tool: null, turns: 0, toolCalls: 0, usage: NO_USAGE } as const;

/** Runs to the end. The terminal event is left to the caller. */
export async function executeSingleRun(tools: RunTools, beginning: Beginning): Promise<RunResult> {
  const { run, desk } = tools;
  const leases: Leases = new Map();
  let output: OutputClaim | undefined;
  try {
    output = await claimOutput(run, beginning);
    if (beginning.kind === 'adopt') {
      const { text, stopReason } = beginning;
      const known = run.view.children[0];
      const progress = {
        ...NOTHING_DONE,
        turns: known?.turns ?? 0,
        toolCalls: known?.toolCalls ?? 0,
        usage: known?.usage ?? NO_USAGE,
      };
      const outcome: ChildOutcome = {
        state: 'complete',
        stopReason,
        text,
        lastWords: text,
        error: null,
        progress,
        exited: true,
        inactive: false,
      };
      return await settle(tools, outcome, output);
    }
    const { outcome, child } = await attempts(tools, beginning, leases, output);
    await desk.workOver();
    const result = await settle(tools, outcome, output);
    if (child) await endChild(tools, child);
    return result;
  } catch (error) {
    await desk.workOver();
    return { state: 'failed', error: toErrorValue(error) };
  } finally {
    for (const child of desk.living) await endChild(tools, child).catch(() => undefined);
    await desk.endLiving();
    await desk.close();
    await giveBack(output);
    for (const lease of leases.values()) await giveBack(await lease.catch(() => undefined));
  }
}

/** The locks of the session files this run writes, by file. */
type Leases = Map<string, Promise<Lock>>;

function lease({ run: { record } }: RunTools, leases: Leases, file: string): Promise<Lock> {
  const { sessionLocks } = rootLayout(record.agentDir);
  const taken = leases.get(file) ?? whenThereIsRoom(() => leaseSession(sessionLocks, file, `run ${record.runId}`));
  // Somebody waits for it, perhaps later.
  taken.catch(() => undefined);
  leases.set(file, taken);
  return taken;
}

/** What cannot be given back is free as soon as this process is gone; it changes nothing about the work. */
async function giveBack(held: { release(): Promise<void> } | undefined): Promise<void> {
  if (held) await whenThereIsRoom(() => held.release()).catch(() => undefined);
}

async function claimOutput(run: OpenRun, beginning: Beginning): Promise<OutputClaim | undefined> {
  const plan = run.record.child.output;
  if (!plan) return undefined;
  // Work that goes on after a crash may have written the file already.
  const goesOn = beginning.kind === 'adopt' || beginning.prompt === CONTINUE_PROMPT;
  const earlier = goesOn ? run.earlier.findLast((line) => line.type === 'output.claimed') : undefined;
  const before = earlier?.type === 'output.claimed' ? earlier.before : undefined;
  const claim = await OutputClaim.take(run.project.claims, plan.path, `run ${run.record.runId}`, before);
  await run.append(...proceeded(run), claimed(claim));
  return claim;
}

function claimed({ path, before }: OutputClaim): JournalEvent {
  return { type: 'output.claimed', child: CHILD, path, before };
}

/** The commit point is written in one step with what it allows. */
function proceeded(run: OpenRun): JournalEvent[] {
  return run.view.startedAt === null ? [{ type: 'run.proceeded' }] : [];
}

interface Attempted {
  outcome: ChildOutcome;
  /** Still to be ended; absent when no process came to be. */
  child: Child | undefined;
}

/** Tries until the work is over or the policy gives up. Of all attempts only the last child is still there afterwards. */
async function attempts(
  tools: RunTools,
  beginning: Extract<Beginning, { kind: 'ask' }>,
  leases: Leases,
  output: OutputClaim | undefined,
): Promise<Attempted> {
  const { run, control } = tools;
  let { plan, coldStarts, recovered, tried } = attemptsSoFar(run.record.child, run.earlier);
  for (let attempt = (run.view.children[0]?.attempt ?? 0) + 1; ; attempt++) {
    const from = performance.now();
    let { outcome, child } = await oneAttempt(tools, beginning, attempt, plan, leases);
    for (;;) {
      if (control.reason !== undefined) return { outcome, child };
      const model = run.view.children[0]?.model ?? plan.model ?? null;
      if (model !== null && !tried.includes(model)) tried = [...tried, model];
      const step = nextStep({ outcome, tookMs: performance.now() - from, plan, coldStarts, tried, recovered });
      if (step.next === 'none') return { outcome, child };
      const error = outcome.error ?? describeError('child_exited:aborted');
      await run.append({
        type: 'child.attempt.failed',
        child: CHILD,
        attempt,
        error: clipError(error),
        next: step.next,
        model,
        delayMs: step.delayMs,
      });
      if (step.next === 'continue' && child) {
        recovered = true;
        const session = run.view.children[0]?.session?.file ?? null;
        outcome = await ask(tools, child, CONTINUE_PROMPT, { before: [], after: await lastEntry(session) });
        continue;
      }
      tools.desk.steering.detach(child);
      if (child) await endChild(tools, child);
      if (output) {
        await output.renew();
        await run.append(claimed(output));
      }
      if (step.next === 'retry') coldStarts++;
      if (step.next === 'fallback') plan = { ...plan, model: step.model };
      const ended = await control.race(delay(step.delayMs));
      if (ended === 'ended') return { outcome: cutShort(control, outcome), child: undefined };
      break;
    }
  }
}

async function oneAttempt(
  tools: RunTools,
  beginning: Extract<Beginning, { kind: 'ask' }>,
  attempt: number,
  plan: OpenRun['record']['child'],
  leases: Leases,
): Promise<Attempted> {
  const { run, driver, control, desk, layout } = tools;
  const { record } = run;
  if (control.reason !== undefined) return { outcome: cutShort(control, undefined), child: undefined };
  if (beginning.session.kind === 'continue') await lease(tools, leases, beginning.session.file);
  const intended = { attempt, agent: plan.agent.name, model: plan.model ?? null };
  await run.append(...proceeded(run), { type: 'child.spawn.intended', child: CHILD, ...intended });
  let child: Child;
  try {
    const { runId, cwd, trust, agentDir, node, pi } = record;
    const { session } = beginning;
    const env = childEnvironment(process.env);
    child = await driver.start(
      { runId, index: CHILD, plan, session, cwd, trust, agentDir, node, pi, layout, env },
      desk.onEvent,
    );
  } catch (error) {
    const value = toErrorValue(error);
    await run.append({ type: 'child.spawn.failed', child: CHILD, attempt, error: clipError(value) });
    return { outcome: failed(value), child: undefined };
  }
  desk.attend(child);
  // Not waited for: Pi is starting meanwhile. The next synced step comes after it in the same journal.
  const spawned = run.append({ type: 'child.spawned', child: CHILD, attempt, process: child.process });
  // Its failure is met where it is waited for.
  spawned.catch(() => undefined);
  let ready: Awaited<ReturnType<Child['ready']>> | 'ended';
  try {
    ready = await control.race(child.ready());
  } catch (error) {
    return { outcome: await explain(child, error), child };
  } finally {
    await spawned;
  }
  if (ready === 'ended') return { outcome: await cutOff(tools, child), child };
  desk.ready(ready);
  // A session that is new is nobody else's: its lease is taken while the prompt is on its way.
  const { file } = ready.session;
  const fresh = file !== null && beginning.session.kind !== 'continue' ? lease(tools, leases, file) : undefined;
  const isNew = beginning.session.kind === 'new';
  const outcome = await ask(tools, child, beginning.prompt, {
    before: [{ type: 'child.ready', child: CHILD, ...ready }],
    after: isNew ? null : await lastEntry(file),
  });
  // The work is done; that its session was not guarded does not undo it.
  await fresh?.catch((error: unknown) => desk.remark(`Its session was not locked: ${toErrorValue(error).message}`));
  return { outcome, child };
}

/** Hands the prompt over and waits for the outcome. Stop, timeout and interrupt win over whatever happens at the same time. */
async function ask(
  tools: RunTools,
  child: Child,
  prompt: string,
  { before, after }: { before: JournalEvent[]; after: string | null | undefined },
): Promise<ChildOutcome> {
  const { run, control, desk } = tools;
  try {
    const promptId = randomUUID();
    const sha256 = createHash('sha256').update(prompt).digest('hex');
    const bytes = Buffer.byteLength(prompt);
    await run.append(...before, {
      type: 'child.prompt.intended',
      child: CHILD,
      promptId,
      bytes,
      sha256,
      ...(after === undefined ? {} : { after }),
    });
    const answer = await control.race(child.prompt(prompt));
    if (answer === 'ended') return await cutOff(tools, child);
    await run.append({ type: 'child.prompted', child: CHILD, promptId, disposition: answer.disposition });
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
async function lastEntry(session: string | null): Promise<string | undefined> {
  const file = session === null ? undefined : await readSessionFile(session);
  return file?.state === 'ok' ? file.branch.at(-1)?.id : undefined;
}

/** A child that exited while it was asked explains itself better than the request that failed. */
async function explain(child: Child, error: unknown): Promise<ChildOutcome> {
  const settled = await Promise.race([child.settled, delay(EXPLAIN_MS, undefined)]);
  return settled?.error ? settled : failed(toErrorValue(error));
}

/** Asks the child to stop, ends it with everything it started, and keeps what it had said. */
async function cutOff({ control }: RunTools, child: Child): Promise<ChildOutcome> {
  const aborted = await child.abort();
  const end = child.end();
  // An aborted child reports how far it came; one that cannot answer is judged by its exit.
  if (!aborted) await end;
  const outcome = await Promise.race([child.settled, end.then(() => child.settled)]);
  return cutShort(control, outcome);
}

/** What becomes of an outcome when a person or a limit ended the work. */
function cutShort(control: RunControl, outcome: ChildOutcome | undefined): ChildOutcome {
  const whole = outcome ?? failed(describeError('interrupted'));
  // An abort between two messages leaves an empty one; what had been said before it is the result.
  const base = { ...whole, text: whole.text.trim() === '' ? whole.lastWords : whole.text };
  if (control.reason === 'stop') return { ...base, state: 'stopped', error: null };
  if (control.reason === 'timeout') return { ...base, state: 'failed', error: control.error };
  return { ...base, state: 'paused', error: null };
}

function failed(error: ErrorValue): ChildOutcome {
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

/** A child that was ended from outside said nothing at its end: its last words are kept. */
function keptText({ state, exited, text, lastWords }: ChildOutcome): string {
  return (state === 'stopped' || exited) && text.trim() === '' ? lastWords : text;
}

/**
 * Makes the result durable, then says so. A result that is refused by the system makes the run fail by name: the answer
 * then stands in the session and the transcript only.
 */
async function settle(
  { run, layout }: RunTools,
  outcome: ChildOutcome,
  output: OutputClaim | undefined,
): Promise<RunResult> {
  const { progress, stopReason } = outcome;
  let { state, error } = outcome;
  const text = keptText(outcome);
  const body = {
    version: 1,
    runId: run.record.runId,
    child: CHILD,
    state,
    stopReason,
    error: error && cleanError(error),
    usage: progress.usage,
    text,
  };
  let result: StoredFile | null = null;
  try {
    result = await run.store(layout.result, `${JSON.stringify(body)}\n`);
  } catch (refused) {
    state = state === 'complete' ? 'failed' : state;
    error ??= unsaved(refused, run.view.children[0]?.session?.file);
  }
  if (output) {
    const stub = text === '';
    const saved = await output.settle(stub ? `[no answer: ${error?.message ?? state}]\n` : text, { stub });
    await run.append({ type: 'output.settled', child: CHILD, path: output.path, ...saved });
  }
  await run.append({
    type: 'child.settled',
    child: CHILD,
    state,
    stopReason,
    error: error && clipError(error),
    result,
    turns: progress.turns,
    toolCalls: progress.toolCalls,
    usage: progress.usage,
  });
  return { state, error };
}

function unsaved(refused: unknown, session: string | null | undefined): ErrorValue {
  const reason = wordsOf(refused);
  return session
    ? describeError('result_unsaved:session', { reason, session })
    : describeError('result_unsaved', { reason });
}

async function endChild({ run, desk }: RunTools, child: Child): Promise<void> {
  const end = await child.end();
  desk.dismiss(child);
  if (end.note) desk.remark(end.note);
  const attempt = run.view.children[0]?.attempt ?? 1;
  await run.append({ type: 'child.ended', child: CHILD, attempt, ...end }, await checkSession(run));
}

/** Pi writes a session that was deleted under it anew without its header; then it can never be opened again. */
async function checkSession(run: OpenRun) {
  const session = run.view.children[0]?.session?.file;
  const event = { type: 'child.session.checked', child: CHILD } as const;
  if (!session) return { ...event, state: 'none', note: null } as const;
  const file = await readSessionFile(session);
  if (file.state === 'ok') return { ...event, state: 'ok', note: null } as const;
  // A child that was asked nothing has no session file yet.
  const begun = (run.view.children[0]?.turns ?? 0) > 0;
  if (file.state === 'missing' && !begun) return { ...event, state: 'none', note: null } as const;
  return {
    ...event,
    state: file.state === 'missing' ? 'missing' : 'damaged',
    note: cutText(file.reason, 500),
  } as const;
}

/** Where a run begins that has never been started: with its task, on the session it was launched with. */
export function firstBeginning(run: OpenRun): Beginning {
  const { child, resume } = run.record;
  const session: SessionStart = resume ? { kind: resume.how, file: resume.session } : { kind: 'new' };
  return { kind: 'ask', session, prompt: child.task };
}

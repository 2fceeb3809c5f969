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
  describeError,
  type ErrorValue,
  type JournalEvent,
  NO_USAGE,
  type TerminalState,
  toErrorValue,
} from '../protocol/index.ts';
import { nextStep } from './attempt-policy.ts';
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
        error: null,
        progress,
        exited: true,
        inactive: false,
      };
      await settle(tools, outcome, output);
      return { state: outcome.state, error: null };
    }
    const { outcome, child } = await attempts(tools, beginning, leases, output);
    await desk.workOver();
    await settle(tools, outcome, output);
    if (child) await endChild(tools, child);
    return { state: outcome.state, error: outcome.error };
  } catch (error) {
    await desk.workOver();
    return { state: 'failed', error: toErrorValue(error) };
  } finally {
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
  let plan = run.record.child;
  let coldStarts = 0;
  let recovered = false;
  const tried: string[] = [];
  for (let attempt = (run.view.children[0]?.attempt ?? 0) + 1; ; attempt++) {
    const from = performance.now();
    let { outcome, child } = await oneAttempt(tools, beginning, attempt, plan, leases);
    for (;;) {
      if (control.reason !== undefined) return { outcome, child };
      const model = run.view.children[0]?.model ?? plan.model ?? null;
      if (model !== null && !tried.includes(model)) tried.push(model);
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
        outcome = await ask(tools, child, CONTINUE_PROMPT);
        continue;
      }
      tools.desk.steering.detach();
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
  await run.append(...proceeded(run), { type: 'child.spawn.intended', child: CHILD, attempt, agent: plan.agent.name });
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
  const outcome = await ask(tools, child, beginning.prompt, [{ type: 'child.ready', child: CHILD, ...ready }]);
  // The work is done; that its session was not guarded does not undo it.
  await fresh?.catch((error: unknown) => desk.remark(`Its session was not locked: ${toErrorValue(error).message}`));
  return { outcome, child };
}

/** Hands the prompt over and waits for the outcome. Stop, timeout and interrupt win over whatever happens at the same time. */
async function ask(tools: RunTools, child: Child, prompt: string, before: JournalEvent[] = []): Promise<ChildOutcome> {
  const { run, control, desk } = tools;
  try {
    const promptId = randomUUID();
    const sha256 = createHash('sha256').update(prompt).digest('hex');
    const bytes = Buffer.byteLength(prompt);
    await run.append(...before, { type: 'child.prompt.intended', child: CHILD, promptId, bytes, sha256 });
    const answer = await control.race(child.prompt(prompt));
    if (answer === 'ended') return await cutOff(tools, child);
    await run.append({ type: 'child.prompted', child: CHILD, promptId, disposition: answer.disposition });
    if ((await control.race(desk.steering.attach(child))) === 'ended') return await cutOff(tools, child);
  } catch (error) {
    return explain(child, error);
  }
  const outcome = await control.race(child.settled);
  return outcome === 'ended' ? cutOff(tools, child) : outcome;
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
  const base = outcome ?? failed(describeError('interrupted'));
  if (control.reason === 'stop') return { ...base, state: 'stopped', error: null };
  if (control.reason === 'timeout') return { ...base, state: 'failed', error: control.error };
  return { ...base, state: 'paused', error: null };
}

function failed(error: ErrorValue): ChildOutcome {
  return { state: 'failed', stopReason: null, text: '', error, progress: NOTHING_DONE, exited: false, inactive: true };
}

async function settle(
  { run, layout }: RunTools,
  outcome: ChildOutcome,
  output: OutputClaim | undefined,
): Promise<void> {
  const { progress, text, state, stopReason, error } = outcome;
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
  const result = await run.store(layout.result, `${JSON.stringify(body)}\n`);
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
    note: file.reason.slice(0, 500),
  } as const;
}

/** Where a run begins that has never been started: with its task, on the session it was launched with. */
export function firstBeginning(run: OpenRun): Beginning {
  const { child, resume } = run.record;
  const session: SessionStart = resume ? { kind: resume.how, file: resume.session } : { kind: 'new' };
  return { kind: 'ask', session, prompt: child.task };
}

/** Executes one child: intent, effect, fact; and again where the policy says so. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Child, ChildOutcome } from '../core/children/index.ts';
import { whenThereIsRoom } from '../core/files/index.ts';
import type { Lock } from '../core/locks/index.ts';
import { changeExclusions, EXCLUDED_MS, withExclusion } from '../core/models/index.ts';
import { OutputClaim, realOutputPath } from '../core/outputs/index.ts';
import { childEnvironment } from '../core/processes/index.ts';
import { rootLayout } from '../core/projects/index.ts';
import { CONTINUE_PROMPT } from '../core/runs/index.ts';
import { leaseSession } from '../core/sessions/index.ts';
import { configuredExclusionMs } from '../core/settings/index.ts';
import { redact } from '../core/transcripts/index.ts';
import { type ChildPlan, describeError, type JournalEvent, NO_USAGE, toErrorValue } from '../protocol/index.ts';
import { attemptsSoFar, nextStep } from './attempt-policy.ts';
import { type ChildResult, endChild, settle } from './child-settling.ts';
import { ask, cutOff, cutShort, explain, failed, lastEntry, NOTHING_DONE } from './child-talk.ts';
import type { Beginning, ChildTools } from './child-tools.ts';
import { clipError, type OpenRun } from './open-run.ts';
import { proceeded } from './proceeded.ts';

/** Works on a child to its end. Never rejects; afterwards none of its processes is left. */
export async function workOnChild(tools: ChildTools, beginning: Beginning): Promise<ChildResult> {
  const { desk } = tools;
  const leases: Leases = new Map();
  let output: OutputClaim | undefined;
  try {
    output = await claimOutput(tools, beginning);
    if (beginning.kind === 'adopt') return await settle(tools, adopted(tools, beginning), output);
    const cwd = await enter(tools);
    if (typeof cwd !== 'string') {
      await desk.workOver();
      return await settle(tools, cwd, output);
    }
    const { outcome, child } = await attempts(tools, { beginning, cwd }, leases, output);
    await desk.workOver();
    const result = await settle(tools, outcome, output);
    if (child) await endChild(tools, child);
    return result;
  } catch (error) {
    await desk.workOver();
    return { state: 'failed', error: toErrorValue(error), text: '' };
  } finally {
    for (const child of desk.living) await endChild(tools, child).catch(() => undefined);
    await desk.endLiving();
    await desk.close();
    await tools.workplace.leave();
    await giveBack(output);
    for (const lease of leases.values()) await giveBack(await lease.catch(() => undefined));
  }
}

/** The folder to work in; what becomes of the child when there is none, or it is to end before there is. */
async function enter({ workplace, control }: ChildTools): Promise<string | ChildOutcome> {
  try {
    return await workplace.enter();
  } catch (error) {
    return control.reason === undefined ? failed(toErrorValue(error)) : cutShort(control, undefined);
  }
}

interface Start {
  beginning: Extract<Beginning, { kind: 'ask' }>;
  /** Folder it works in, absolute. */
  cwd: string;
}

/** The answer that a lost runner's child had come to. */
function adopted(
  { run, index }: ChildTools,
  { text, stopReason }: Extract<Beginning, { kind: 'adopt' }>,
): ChildOutcome {
  const { turns = 0, toolCalls = 0, usage = NO_USAGE } = run.child(index) ?? {};
  const progress = { ...NOTHING_DONE, turns, toolCalls, usage };
  return { state: 'complete', stopReason, text, lastWords: text, error: null, progress, exited: true, inactive: false };
}

/** The locks of the session files this run writes, by file. */
type Leases = Map<string, Promise<Lock>>;

function lease({ run: { record } }: ChildTools, leases: Leases, file: string): Promise<Lock> {
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

async function claimOutput(
  { run, index, plan, aggregate }: ChildTools,
  beginning: Beginning,
): Promise<OutputClaim | undefined> {
  if (!plan.output) return undefined;
  // Work that goes on after a crash may have written the file already.
  const goesOn = beginning.kind === 'adopt' || beginning.prompt === CONTINUE_PROMPT;
  const earlier = goesOn
    ? run.earlier.findLast((line) => line.type === 'output.claimed' && line.child === index)
    : undefined;
  const before = earlier?.type === 'output.claimed' ? earlier.before : undefined;
  const { key } = run.child(index) ?? {};
  const holder = `${key === undefined ? '' : `${key} of `}run ${run.record.runId}`;
  const { path } = plan.output;
  const isOfAll = aggregate !== undefined && aggregate.path === (await realOutputPath(path));
  const claim = isOfAll
    ? await aggregate.lend(before)
    : await OutputClaim.take(rootLayout(run.record.agentDir).claims, path, holder, before);
  await run.append(...proceeded(run), claimed(index, claim));
  return claim;
}

function claimed(index: number, { path, before }: OutputClaim): JournalEvent {
  return { type: 'output.claimed', child: index, path, before };
}

interface Attempted {
  outcome: ChildOutcome;
  /** Still to be ended; absent when no process came to be. */
  child: Child | undefined;
}

/** Tries until the work is over or the policy gives up. Of all attempts only the last child is still there afterwards. */
async function attempts(
  tools: ChildTools,
  start: Start,
  leases: Leases,
  output: OutputClaim | undefined,
): Promise<Attempted> {
  const { run, index, control } = tools;
  let { plan, coldStarts, recovered, tried } = attemptsSoFar(tools.plan, run.earlier, index);
  for (let attempt = (run.child(index)?.attempt ?? 0) + 1; ; attempt++) {
    const from = performance.now();
    let { outcome, child } = await oneAttempt(tools, start, attempt, plan, leases);
    for (;;) {
      if (control.reason !== undefined) return { outcome, child };
      const model = run.child(index)?.model ?? plan.model ?? null;
      if (model !== null && !tried.includes(model)) tried = [...tried, model];
      const step = nextStep({ outcome, tookMs: performance.now() - from, plan, coldStarts, tried, recovered });
      if (step.next === 'none') return { outcome, child };
      const error = outcome.error ?? describeError('child_exited:aborted');
      await run.append({
        type: 'child.attempt.failed',
        child: index,
        attempt,
        error: clipError(error),
        next: step.next,
        model,
        delayMs: step.delayMs,
      });
      if (step.next === 'continue' && child) {
        recovered = true;
        const session = run.child(index)?.session?.file ?? null;
        outcome = await ask(tools, child, CONTINUE_PROMPT, { before: [], after: await lastEntry(session) });
        continue;
      }
      tools.desk.steering.detach(child);
      if (child) await endChild(tools, child);
      if (output) {
        await output.renew();
        await run.append(claimed(index, output));
      }
      if (step.next === 'retry') coldStarts++;
      if (step.next === 'fallback') {
        plan = step.plan;
        // An empty answer may have to do with the task: only what the provider said counts for others, too.
        if (model !== null && error.code === 'child_model_error') await exclude(run, model, error.message);
      }
      const ended = await control.race(delay(step.delayMs));
      if (ended === 'ended') return { outcome: cutShort(control, outcome), child: undefined };
      break;
    }
  }
}

/** The next run need not find out anew that its provider fails. What cannot be kept changes nothing about this one. */
async function exclude({ record: { agentDir } }: OpenRun, model: string, evidence: string): Promise<void> {
  const { config, modelExclusions } = rootLayout(agentDir);
  const file = process.env['PI_MODEL_EXCLUSIONS_PATH'] || modelExclusions;
  try {
    const since = Date.now();
    const until = since + ((await configuredExclusionMs(config)) ?? EXCLUDED_MS);
    await changeExclusions(file, (all) => withExclusion(all, { model, evidence: redact(evidence), since, until }));
  } catch {
    // It is a convenience.
  }
}

async function oneAttempt(
  tools: ChildTools,
  { beginning, cwd }: Start,
  attempt: number,
  plan: ChildPlan,
  leases: Leases,
): Promise<Attempted> {
  const { run, index, driver, control, desk, layout } = tools;
  const { record } = run;
  if (control.reason !== undefined) return { outcome: cutShort(control, undefined), child: undefined };
  if (beginning.session.kind === 'continue') await lease(tools, leases, beginning.session.file);
  const intended = { attempt, agent: plan.agent.name, model: plan.model ?? null };
  await run.append(...proceeded(run), { type: 'child.spawn.intended', child: index, ...intended });
  let child: Child;
  try {
    const { runId, trust, agentDir, node, pi } = record;
    const { session } = beginning;
    const env = childEnvironment(process.env);
    child = await driver.start(
      { runId, index, plan, session, cwd, trust, agentDir, node, pi, layout, env },
      desk.onEvent,
    );
  } catch (error) {
    const value = toErrorValue(error);
    await run.append({ type: 'child.spawn.failed', child: index, attempt, error: clipError(value) });
    return { outcome: failed(value), child: undefined };
  }
  desk.attend(child);
  // Not waited for: Pi is starting meanwhile. The next synced step comes after it in the same journal.
  const spawned = run.append({ type: 'child.spawned', child: index, attempt, process: child.process });
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
    before: [{ type: 'child.ready', child: index, ...ready }],
    after: isNew ? null : await lastEntry(file),
  });
  // The work is done; that its session was not guarded does not undo it.
  await fresh?.catch((error: unknown) => desk.remark(`Its session was not locked: ${toErrorValue(error).message}`));
  return { outcome, child };
}

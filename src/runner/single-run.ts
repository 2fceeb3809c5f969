/** Executes a run with one child: intent, effect, fact. */
import { createHash, randomUUID } from 'node:crypto';
import type { Child, ChildDriver, ChildEvent, ChildOutcome } from '../core/children/index.ts';
import { childEnvironment } from '../core/processes/index.ts';
import type { ChildLayout } from '../core/projects/index.ts';
import { CappedLog, MirrorWriter, redact } from '../core/transcripts/index.ts';
import { type ErrorValue, NO_USAGE, type TerminalState, toErrorValue } from '../protocol/index.ts';
import type { OpenRun } from './open-run.ts';
import { ProgressNotes } from './progress-notes.ts';
import type { StopRequest } from './stop-request.ts';

/** The run's only child. */
const CHILD = 1;
const ATTEMPT = 1;
const STDOUT_NOTE_CHARS = 2000;
/** A child may not fill the journal with noise: after so many lines the rest is only counted in memory. */
const MAX_STDOUT_NOTES = 100;

export interface RunResult {
  state: TerminalState;
  error: ErrorValue | null;
}

const NOTHING_DONE = { phase: 'ending', tool: null, turns: 0, toolCalls: 0, usage: NO_USAGE } as const;

/** Runs to the end. The terminal event is left to the caller. */
export async function executeSingleRun(run: OpenRun, driver: ChildDriver, stop: StopRequest): Promise<RunResult> {
  const { record } = run;
  const layout = await run.childFolder(CHILD);
  const mirror = new MirrorWriter(layout.transcript);
  const stderr = new CappedLog(layout.stderr);
  const progress = new ProgressNotes((event) => run.note(event), CHILD);
  let stdoutNotes = 0;
  const onEvent = (event: ChildEvent) => {
    switch (event.type) {
      case 'transcript':
        mirror.add(event.entry);
        break;
      case 'progress':
        progress.update(event.progress);
        break;
      case 'stderr':
        stderr.add(event.text);
        break;
      case 'stdout':
        if (stdoutNotes++ < MAX_STDOUT_NOTES) {
          run.note({ type: 'child.stdout', child: CHILD, text: redact(event.text).slice(0, STDOUT_NOTE_CHARS) });
        }
        break;
      case 'dialog':
        run.note({
          type: 'child.dialog',
          child: CHILD,
          method: event.method,
          title: redact(event.title).slice(0, 200),
          answer: 'cancelled',
        });
        mirror.add({
          type: 'note',
          t: Date.now(),
          text: `A dialog was cancelled, nobody was there to answer: ${event.title}`,
        });
        break;
      default:
        event satisfies never;
    }
  };

  try {
    if (stop.isRequested) return { state: 'stopped', error: null };
    await run.append({ type: 'child.spawn.intended', child: CHILD, attempt: ATTEMPT, agent: record.child.agent.name });
    let child: Child;
    try {
      child = await driver.start(
        {
          runId: record.runId,
          index: CHILD,
          plan: record.child,
          cwd: record.cwd,
          trust: record.trust,
          agentDir: record.agentDir,
          node: record.node,
          pi: record.pi,
          layout,
          env: childEnvironment(process.env),
        },
        onEvent,
      );
    } catch (error) {
      const value = toErrorValue(error);
      await run.append({ type: 'child.spawn.failed', child: CHILD, attempt: ATTEMPT, error: value });
      return { state: 'failed', error: value };
    }
    // Not waited for: Pi is starting meanwhile. The next synced step comes after it in the same journal.
    const spawned = run.append({ type: 'child.spawned', child: CHILD, attempt: ATTEMPT, process: child.process });
    const outcome = await converse(run, child, stop);
    await spawned;
    progress.stop();
    await mirror.flush();
    await settle(run, layout, outcome);
    const end = await child.end();
    if (end.note) mirror.add({ type: 'note', t: Date.now(), text: end.note });
    await run.append({ type: 'child.ended', child: CHILD, attempt: ATTEMPT, ...end });
    return { state: outcome.state, error: outcome.error };
  } finally {
    progress.stop();
    await mirror.close();
    await stderr.close();
  }
}

/** From the handshake to the outcome. A stop wins over whatever happens at the same time. */
async function converse(run: OpenRun, child: Child, stop: StopRequest): Promise<ChildOutcome> {
  const task = run.record.child.task;
  try {
    const ready = await stop.race(child.ready());
    if (ready === 'stop') return await stopped(child);
    const promptId = randomUUID();
    const sha256 = createHash('sha256').update(task).digest('hex');
    await run.append(
      { type: 'child.ready', child: CHILD, ...ready },
      { type: 'child.prompt.intended', child: CHILD, promptId, bytes: Buffer.byteLength(task), sha256 },
    );
    const answer = await stop.race(child.prompt(task));
    if (answer === 'stop') return await stopped(child);
    await run.append({ type: 'child.prompted', child: CHILD, promptId, disposition: answer.disposition });
  } catch (error) {
    // A child that exited while it was asked explains itself better than the request that failed.
    const settled = await Promise.race([child.settled, Promise.resolve(undefined)]);
    return settled?.error
      ? settled
      : { state: 'failed', stopReason: null, text: '', error: toErrorValue(error), progress: NOTHING_DONE };
  }
  const outcome = await stop.race(child.settled);
  return outcome === 'stop' ? await stopped(child) : outcome;
}

/** Asks the child to stop, ends it with everything it started, and keeps what it had said. */
async function stopped(child: Child): Promise<ChildOutcome> {
  const aborted = await child.abort();
  const end = child.end();
  // An aborted child reports how far it came; one that cannot answer is judged by its exit.
  if (!aborted) await end;
  const outcome = await Promise.race([child.settled, end.then(() => child.settled)]);
  return { ...outcome, state: 'stopped', error: null };
}

async function settle(run: OpenRun, layout: ChildLayout, outcome: ChildOutcome): Promise<void> {
  const { progress, text, state, stopReason, error } = outcome;
  const body = {
    version: 1,
    runId: run.record.runId,
    child: CHILD,
    state,
    stopReason,
    error,
    usage: progress.usage,
    text,
  };
  const result = await run.store(layout.result, `${JSON.stringify(body)}\n`);
  await run.append({
    type: 'child.settled',
    child: CHILD,
    state,
    stopReason,
    error: clip(error),
    result,
    turns: progress.turns,
    toolCalls: progress.toolCalls,
    usage: progress.usage,
  });
}

/** Journal lines are small; the whole text of an error stands in the result file. */
function clip(error: ErrorValue | null): ErrorValue | null {
  return error && { ...error, message: error.message.slice(0, 8000) };
}

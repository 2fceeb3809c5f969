/** Brings a run into each situation of the matrix, and asks for each control as a client does. */
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import {
  answerQuestion,
  forceStopRun,
  interruptRun,
  resumeRun,
  steerRun,
  stopRun,
  waitForEnd,
} from '../../src/client/index.ts';
import type { RpcPeer } from '../../src/core/ipc/index.ts';
import { inspectLock } from '../../src/core/locks/index.ts';
import { runLayout } from '../../src/core/projects/index.ts';
import { LanesError } from '../../src/protocol/index.ts';
import type { Control, Row } from './control-matrix.ts';
import { owner, TestRun } from './control-matrix-runs.ts';
import { type FakePi, type FakeTask, fakeTask } from './fake-pi/index.ts';
import { waitFor } from './wait-for.ts';
import type { World } from './world.ts';

export const ANSWER = 'the answer';

/** What a child says that is asked to go on. */
const LAUNCH = { task: { steps: [{ say: ANSWER }] } };

const ENDED: Record<'paused' | 'complete' | 'partial' | 'failed' | 'stopped', FakeTask> = {
  paused: { steps: [{ say: 'begun' }, { hang: true }] },
  complete: { steps: [{ say: ANSWER }] },
  partial: { steps: [{ say: 'cut of', stop: 'length' }] },
  failed: { steps: [{ error: 'quota exceeded' }] },
  stopped: { steps: [{ say: 'begun' }, { hang: true }] },
};

export interface Situation {
  run: TestRun;
  /** Lets a living run go on to its end. */
  goOn: () => Promise<void>;
  /** Makes a run whose runner cannot be told one that can be ended again, and ends it. */
  end?: () => Promise<void>;
}

/**
 * Lease and journal name a process of which nothing is proven, as on a platform that tells nothing about processes: the number
 * of one that lives, and no start. @returns how to put that right
 */
export async function hideRunner(run: TestRun): Promise<() => Promise<void>> {
  const layout = runLayout(run.directory);
  const { owner: holder, epoch } = await inspectLock(layout.lease);
  if (!holder) throw new Error('the run has no owner');
  const lease = `${layout.lease}.${epoch}`;
  // Else it would write both again.
  await run.signalRunner('SIGSTOP');
  const stranger = { pid: process.pid, start: null };
  const journal = await readFile(layout.journal, 'utf8');
  const named = /("type":"runner\.started".*?"process":)\{[^}]*\}/;
  await writeFile(layout.journal, journal.replace(named, `$1${JSON.stringify(stranger)}`));
  await writeFile(lease, JSON.stringify({ ...holder, process: stranger, socket: '/nowhere.sock' }));
  return async () => {
    await writeFile(lease, JSON.stringify(holder));
    await writeFile(layout.journal, journal);
  };
}

export async function bringInto({ state, runner }: Row, world: World, fake: FakePi): Promise<Situation> {
  const gate = `matrix-${randomUUID().slice(0, 8)}`;
  const situation = await live();
  if (runner === 'lost') {
    await situation.run.killRunner();
    await situation.run.until('the run to be lost', (snapshot) => snapshot.state === 'lost');
    // Should the task be given once more, it is not to wait again.
    await fake.open(gate);
  }
  if (runner === 'unresponsive') {
    await situation.run.signalRunner('SIGSTOP');
    await situation.run.until('the run not to answer', (snapshot) => snapshot.state === 'unresponsive');
  }
  if (runner === 'unknown') {
    const { run } = situation;
    const putRight = await hideRunner(run);
    await run.until('nothing to be known', (snapshot) => snapshot.state === 'unknown');
    const end = async () => {
      await putRight();
      await forceStopRun(run.toolbox(), run.directory, owner);
    };
    return { ...situation, end };
  }
  return situation;

  async function live(): Promise<Situation> {
    const begin = (task: FakeTask) => TestRun.start(world, fakeTask(task), { launch: LAUNCH });
    /** Begins, and goes on as soon as its child has what was said meanwhile. */
    const confirm = async (peer: RpcPeer, run: TestRun) => {
      try {
        await peer.request('proceed', {}, { deadlineMs: 10_000 });
      } finally {
        peer.close();
      }
      const waiting = (await run.all('control.requested')).length;
      const queued = async () => (await run.all('control.settled')).length === waiting;
      await waitFor('the messages to be queued', queued);
      await fake.open(gate);
    };
    switch (state) {
      case 'queued': {
        const task = fakeTask({ steps: [{ tools: [{ during: [{ gate }] }] }, { say: ANSWER }] });
        const run = await TestRun.plan(world, task, { launch: LAUNCH });
        const peer = await run.startUnconfirmed();
        return { run, goOn: () => confirm(peer, run) };
      }
      case 'running': {
        const run = await begin({ steps: [{ tools: [{ during: [{ gate }] }] }, { say: ANSWER }] });
        await fake.arrivedAt(gate);
        return { run, goOn: () => fake.open(gate) };
      }
      case 'waiting': {
        const run = await begin({ steps: [{ dialog: 'confirm', title: 'Sure?' }, { gate }, { say: ANSWER }] });
        await run.until('the question', (snapshot) => snapshot.state === 'waiting');
        return { run, goOn: () => fake.open(gate) };
      }
      default: {
        const run = await begin(ENDED[state]);
        if (state === 'paused' || state === 'stopped') {
          await run.working(1);
          await ask(state === 'paused' ? 'interrupt' : 'stop', run);
        }
        await run.end();
        return { run, goOn: async () => undefined };
      }
    }
  }
}

/** Asks as a client does. What the client is told, in one word; a refusal by its code. */
export async function ask(control: Control, run: TestRun): Promise<string> {
  const [toolbox, { directory }] = [run.toolbox(), run];
  try {
    switch (control) {
      case 'steer':
      case 'follow-up':
        return (await steerRun(toolbox, directory, owner, `a ${control}`, control)).state;
      case 'interrupt':
        return (await interruptRun(toolbox, directory, owner)).outcome;
      case 'stop':
        return (await stopRun(toolbox, directory, owner)).outcome;
      case 'force stop':
        return (await forceStopRun(toolbox, directory, owner)).outcome;
      case 'answer': {
        const question = (await run.snapshot()).view?.questions[0]?.id ?? 'none';
        return (await answerQuestion(toolbox, directory, owner, question, { confirmed: true })).accepted
          ? 'accepted'
          : 'not accepted';
      }
      case 'resume': {
        const resumed = await resumeRun(toolbox, { directory, owner });
        if (resumed.kind === 'continued') return 'continued';
        const { state, view } = await waitForEnd(run.store, resumed.runId, { signal: AbortSignal.timeout(30_000) });
        return `${resumed.kind}, ${state}${view?.resumedFrom === run.runId ? '' : ', not from this run'}`;
      }
      default:
        return control satisfies never;
    }
  } catch (error) {
    if (error instanceof LanesError) return error.code;
    throw error;
  }
}

/** Asking a run's runner for something. Any client of the same user can; the token stands in the run's lease. */
import { randomUUID } from 'node:crypto';
import { RunReader } from '../core/runs/index.ts';
import {
  isTerminal,
  LanesError,
  lanesError,
  type Owner,
  type QuestionAnswer,
  type RpcMethod,
  type RpcParams,
  type RpcResult,
} from '../protocol/index.ts';
import { connectRunner } from './connect.ts';
import { projectOf, recoverRun } from './recover.ts';
import { deriveState } from './run-snapshot.ts';
import { RunStore } from './run-store.ts';
import { waitForEnd } from './run-watcher.ts';
import type { Toolbox } from './toolbox.ts';

/** The whole ladder that ends a child, and the terminal writes. */
const END_MS = 30_000;
const STEER_ANSWER_MS = 15_000;

export type Ended = RpcResult<'stop'>;

async function request<M extends RpcMethod>(
  toolbox: Toolbox,
  directory: string,
  method: M,
  params: RpcParams<M>,
  deadlineMs: number,
): Promise<RpcResult<M>> {
  const peer = await connectRunner(directory, toolbox.client);
  try {
    return await peer.request(method, params, { deadlineMs });
  } finally {
    peer.close();
  }
}

/**
 * Stops a run and waits until it has ended. `too-late`: it had ended by itself. A lost run is ended by a new runner, which
 * first ends what the old one left.
 */
export async function stopRun(toolbox: Toolbox, directory: string, by: Owner, child?: number): Promise<Ended> {
  return child === undefined ? endRun(toolbox, directory, by, 'stop') : endChild(toolbox, directory, by, 'stop', child);
}

/** Ends the child's present work and keeps its session; the run becomes `paused`. Of a workflow one child has to be named. */
export async function interruptRun(toolbox: Toolbox, directory: string, by: Owner, child?: number): Promise<Ended> {
  return child === undefined
    ? endRun(toolbox, directory, by, 'interrupt')
    : endChild(toolbox, directory, by, 'interrupt', child);
}

/** Ends one child of a workflow; the workflow goes on. */
async function endChild(
  toolbox: Toolbox,
  directory: string,
  by: Owner,
  method: 'stop' | 'interrupt',
  child: number,
): Promise<Ended> {
  const { view } = await RunReader.open(directory);
  if (isTerminal(view.state)) return { outcome: 'too-late' };
  if ((await deriveState(directory, view)) === 'lost') throw lanesError('run_lost:control');
  try {
    return await request(toolbox, directory, method, { requestId: randomUUID(), by, child }, END_MS);
  } catch (error) {
    // The whole run may have ended meanwhile, and this child with it.
    const after = (await RunReader.open(directory)).view;
    if (!isTerminal(after.state)) throw error;
    const wanted = method === 'stop' ? 'stopped' : 'paused';
    return { outcome: after.children.find(({ index }) => index === child)?.state === wanted ? 'done' : 'too-late' };
  }
}

async function endRun(toolbox: Toolbox, directory: string, by: Owner, method: 'stop' | 'interrupt'): Promise<Ended> {
  const params = { requestId: randomUUID(), by };
  const opened = await RunReader.open(directory).catch((error: unknown) => ({ unreadable: error }));
  // A runner knows its run, whatever became of the folder.
  if ('unreadable' in opened) {
    return request(toolbox, directory, method, params, END_MS).catch(() => {
      throw opened.unreadable;
    });
  }
  const reader = opened;
  const wanted = method === 'stop' ? 'stopped' : 'paused';
  if (isTerminal(reader.view.state)) return { outcome: 'too-late' };
  if ((await deriveState(directory, reader.view)) === 'lost') {
    if (method === 'interrupt') throw lanesError('run_lost:control');
    return stopLost(toolbox, directory, by);
  }
  try {
    return await request(toolbox, directory, method, params, END_MS);
  } catch (error) {
    // The runner may have ended while it was asked: then the journal has the answer.
    const view = await reader.refresh();
    if (!isTerminal(view.state)) throw error;
    return { outcome: view.state === wanted ? 'done' : 'too-late' };
  }
}

/** Has a new runner end what a lost one left, and waits for that. */
export async function stopLost(toolbox: Toolbox, directory: string, by: Owner): Promise<Ended> {
  try {
    await recoverRun(toolbox, directory, 'stop', by);
  } catch (error) {
    if (!(error instanceof LanesError && error.code === 'lock_held')) throw error;
    // Somebody else took it over first: their runner is asked.
    const { outcome } = await endRun(toolbox, directory, by, 'stop');
    const isStopped = (await RunReader.open(directory)).view.state === 'stopped';
    return { outcome: isStopped ? 'done' : outcome };
  }
  const store = new RunStore(projectOf(directory));
  const runId = directory.split(/[\\/]/).at(-1) ?? '';
  const snapshot = await waitForEnd(store, runId, { signal: AbortSignal.timeout(END_MS) });
  return { outcome: snapshot.state === 'stopped' ? 'done' : 'too-late' };
}

/** Says something to the child; see `Steering` for what the receipts mean. */
export async function steerRun(
  toolbox: Toolbox,
  directory: string,
  by: Owner,
  message: string,
  mode: 'steer' | 'follow-up' = 'steer',
  child?: number,
): Promise<RpcResult<'steer'>> {
  const params = { requestId: randomUUID(), by, mode, message, ...(child === undefined ? {} : { child }) };
  return whileItLives(directory, 'run_not_running:steer', () =>
    request(toolbox, directory, 'steer', params, STEER_ANSWER_MS),
  );
}

export async function answerQuestion(
  toolbox: Toolbox,
  directory: string,
  by: Owner,
  questionId: string,
  answer: QuestionAnswer,
): Promise<RpcResult<'answer'>> {
  const params = { questionId, by, answer };
  return whileItLives(directory, 'run_not_running:answer', () =>
    request(toolbox, directory, 'answer', params, STEER_ANSWER_MS),
  );
}

type EndedText = 'run_not_running:steer' | 'run_not_running:answer';

/** Asks a run that lives. One that ends while it is asked is told as ended, not as unreachable. */
async function whileItLives<T>(directory: string, otherwise: EndedText, ask: () => Promise<T>): Promise<T> {
  await refuseEnded(directory, otherwise);
  try {
    return await ask();
  } catch (error) {
    const { view } = await RunReader.open(directory);
    throw isTerminal(view.state) ? lanesError(otherwise, { state: view.state }) : error;
  }
}

async function refuseEnded(directory: string, otherwise: EndedText): Promise<void> {
  const { view } = await RunReader.open(directory);
  if (isTerminal(view.state)) throw lanesError(otherwise, { state: view.state });
  if ((await deriveState(directory, view)) === 'lost') throw lanesError('run_lost:control');
}

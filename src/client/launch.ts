/**
 * Starts a run: a detached runner is spawned, given the launch record over its socket and told to proceed. Nothing of it
 * blocks the caller's event loop, and a runner that dies on the way is reported with what it printed.
 */
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connectSocket, newAddress, RpcPeer } from '../core/ipc/index.ts';
import { childEnvironment, spawnDetached } from '../core/processes/index.ts';
import { ensureProject } from '../core/projects/index.ts';
import { redact } from '../core/transcripts/index.ts';
import { LanesError, RPC_VERSION, START_ENV, type StartOrder } from '../protocol/index.ts';
import { type LaunchPlan, type LaunchRequest, planLaunch } from './plan.ts';
import type { Toolbox } from './toolbox.ts';

export interface Launched {
  runId: string;
  /** Folder of the run. */
  directory: string;
  project: LaunchPlan['project'];
}

/** Milliseconds from the spawn until the runner listens, and for each answer after that. */
const LISTEN_MS = 20_000;
const ANSWER_MS = 20_000;
const CONNECT_EVERY_MS = 4;

/** Plans and starts. Throws before anything exists when the request cannot be carried out. */
export async function launch(toolbox: Toolbox, request: LaunchRequest): Promise<Launched> {
  return startRun(toolbox, await planLaunch(toolbox, request));
}

export async function startRun(
  toolbox: Toolbox,
  plan: LaunchPlan,
  options: { listenMs?: number } = {},
): Promise<Launched> {
  const { record, project } = plan;
  await ensureProject(project);
  const order: StartOrder = {
    runId: record.runId,
    projectDirectory: project.layout.directory,
    address: await newAddress(toolbox.env),
    token: randomBytes(24).toString('hex'),
    log: join(project.layout.starting, `${record.runId}.log`),
  };
  const runner = await spawnRunner(toolbox, plan, order);
  let peer: RpcPeer | undefined;
  let created = false;
  try {
    peer = await reach(runner, order, options.listenMs ?? LISTEN_MS);
    await peer.request(
      'hello',
      { token: order.token, version: RPC_VERSION, client: toolbox.client },
      { deadlineMs: ANSWER_MS },
    );
    const { runId, directory } = await peer.request('start', { record }, { deadlineMs: ANSWER_MS });
    created = true;
    await peer.request('proceed', {}, { deadlineMs: ANSWER_MS });
    return { runId, directory, project };
  } catch (error) {
    throw await explain(error, runner, order, created);
  } finally {
    peer?.close();
  }
}

async function spawnRunner(toolbox: Toolbox, plan: LaunchPlan, order: StartOrder): Promise<ChildProcess> {
  const log = await open(order.log, 'wx', 0o600);
  try {
    return spawnDetached(
      { file: plan.record.node, args: [plan.runtime.runner] },
      {
        cwd: toolbox.root.root,
        env: childEnvironment(toolbox.env, {
          [START_ENV]: JSON.stringify(order),
          ...(plan.electron ? { ELECTRON_RUN_AS_NODE: '1' } : {}),
        }),
        logFd: log.fd,
      },
    );
  } finally {
    await log.close();
  }
}

/** Connects as soon as the runner listens; fails at once when it dies first. */
async function reach(runner: ChildProcess, order: StartOrder, deadlineMs: number): Promise<RpcPeer> {
  const gone = Promise.race([once(runner, 'exit'), once(runner, 'error')]).then(() => 'gone' as const);
  const deadline = performance.now() + deadlineMs;
  while (performance.now() < deadline) {
    if (runner.exitCode !== null || runner.signalCode !== null || runner.pid === undefined) break;
    const socket = await connectSocket(order.address, 1000).catch(() => undefined);
    if (socket) {
      const peer = new RpcPeer(socket);
      peer.listen();
      return peer;
    }
    if ((await Promise.race([gone, delay(CONNECT_EVERY_MS, 'again' as const)])) === 'gone') break;
  }
  const alive = runner.pid !== undefined && runner.exitCode === null && runner.signalCode === null;
  throw alive
    ? new LanesError(
        'runner_start_timeout',
        `The runner did not begin to listen within ${deadlineMs} ms.`,
        'Is this machine overloaded? Try again.',
      )
    : new LanesError('runner_died', 'The runner ended before the run began.');
}

/** Says what the runner printed. A runner that has no run yet is ended; one that has ends its run itself as not confirmed. */
async function explain(error: unknown, runner: ChildProcess, order: StartOrder, created: boolean): Promise<unknown> {
  if (created) return error;
  if (runner.pid !== undefined && runner.exitCode === null) runner.kill('SIGKILL');
  const printed = await readFile(order.log, 'utf8').catch(() => '');
  await rm(order.log, { force: true });
  if (process.platform !== 'win32') await rm(order.address, { force: true });
  const tail = redact(printed).trim().slice(-4000);
  const value =
    error instanceof LanesError
      ? error
      : new LanesError('runner_died', error instanceof Error ? error.message : String(error));
  if (tail === '') return value;
  return new LanesError(value.code, `${value.message}\nThe runner printed:\n${tail}`, value.hint);
}

/** Spawning a detached runner and reaching it: nothing of it blocks the caller's event loop. */
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makePrivateFolder, readRegular } from '../core/files/index.ts';
import { connectSocket, newAddress, RpcPeer } from '../core/ipc/index.ts';
import { childEnvironment, inScope, scopeObstacle, spawnDetached } from '../core/processes/index.ts';
import type { ProjectLayout } from '../core/projects/index.ts';
import { redact } from '../core/transcripts/index.ts';
import {
  cutTextFront,
  type ErrorValue,
  LanesError,
  lanesError,
  RPC_VERSION,
  START_ENV,
  type StartOrder,
  toErrorValue,
  withDetail,
  wordsOf,
} from '../protocol/index.ts';
import type { Toolbox } from './toolbox.ts';

/** How a runner is started. */
export interface RunnerProgram {
  node: string;
  /** `runner.mjs` */
  runner: string;
  /** The Node is the editor's own executable. */
  electron: boolean;
}

/** Milliseconds from the spawn until the runner listens, and for each answer after that. */
const LISTEN_MS = 20_000;
export const ANSWER_MS = 20_000;
const CONNECT_EVERY_MS = 4;
const TAIL_CHARS = 4000;

export interface ReachedRunner {
  peer: RpcPeer;
  /** Why it has no scope of systemd's, although the settings ask for one. */
  noScope: string | undefined;
  /** The error with what the runner printed; the runner is ended unless it owns a run by now. */
  explain(error: unknown, options: { ownsRun: boolean }): Promise<unknown>;
}

type OrderDetails = StartOrder extends infer O
  ? O extends StartOrder
    ? Omit<O, 'address' | 'token' | 'log'>
    : never
  : never;

/** Starts a runner with an order and connects to it. A runner that dies on the way is reported with what it printed. */
export async function startRunner(
  toolbox: Toolbox,
  program: RunnerProgram,
  project: ProjectLayout,
  details: OrderDetails,
  options: { listenMs?: number } = {},
): Promise<ReachedRunner> {
  await makePrivateFolder(project.starting);
  const order: StartOrder = {
    ...details,
    address: await newAddress(toolbox.env),
    token: randomBytes(24).toString('hex'),
    log: join(project.starting, `${details.runId}-${randomBytes(4).toString('hex')}.log`),
  };
  const { scoped, noScope } = await askForScope(toolbox, details.kind === 'recover');
  const child = await spawn(toolbox, program, order, scoped);
  const explain: ReachedRunner['explain'] = (error, { ownsRun }) =>
    ownsRun ? Promise.resolve(error) : describe(error, child, order);
  let peer: RpcPeer | undefined;
  try {
    peer = await reach(child, order, options.listenMs ?? LISTEN_MS);
    const hello = { token: order.token, version: RPC_VERSION, client: toolbox.client };
    await peer.request('hello', hello, { deadlineMs: ANSWER_MS });
    return { peer, noScope, explain };
  } catch (error) {
    peer?.close();
    throw await describe(error, child, order);
  }
}

/** @param mustGoOn a run has to be put in order: a setting that is wrong is no reason to leave it as it is */
async function askForScope(
  toolbox: Toolbox,
  mustGoOn: boolean,
): Promise<{ scoped: boolean; noScope: string | undefined }> {
  let isWanted: boolean;
  try {
    isWanted = await toolbox.systemdScope();
  } catch (error) {
    if (!mustGoOn) throw error;
    return { scoped: false, noScope: toErrorValue(error).message };
  }
  const noScope = isWanted ? await scopeObstacle(toolbox.env) : undefined;
  return { scoped: isWanted && noScope === undefined, noScope };
}

async function spawn(
  toolbox: Toolbox,
  program: RunnerProgram,
  order: StartOrder,
  scoped: boolean,
): Promise<ChildProcess> {
  const log = await open(order.log, 'wx', 0o600);
  try {
    const fault = toolbox.env['PI_LANES_FAULT'];
    const env = childEnvironment(toolbox.env, {
      [START_ENV]: JSON.stringify(order),
      ...(fault === undefined ? {} : { PI_LANES_FAULT: fault }),
      ...(program.electron ? { ELECTRON_RUN_AS_NODE: '1' } : {}),
    });
    const command = { file: program.node, args: [program.runner] };
    return spawnDetached(scoped ? inScope(command, `Pi Lanes run ${order.runId}`) : command, {
      cwd: toolbox.root.root,
      env,
      logFd: log.fd,
    });
  } finally {
    await log.close();
  }
}

/** Connects as soon as the runner listens; fails at once when it dies first. */
async function reach(runner: ChildProcess, order: StartOrder, deadlineMs: number): Promise<RpcPeer> {
  const gone = Promise.race([once(runner, 'exit'), once(runner, 'error')]).then(
    () => 'gone' as const,
    () => 'gone' as const,
  );
  const deadline = performance.now() + deadlineMs;
  while (performance.now() < deadline) {
    if (!isAlive(runner)) break;
    const socket = await connectSocket(order.address, 1000).catch(() => undefined);
    if (socket) {
      const peer = new RpcPeer(socket);
      peer.listen();
      return peer;
    }
    if ((await Promise.race([gone, delay(CONNECT_EVERY_MS, 'again' as const)])) === 'gone') break;
  }
  throw isAlive(runner) ? lanesError('runner_start_timeout', { ms: deadlineMs }) : lanesError('runner_died');
}

function isAlive(runner: ChildProcess): boolean {
  return runner.pid !== undefined && runner.exitCode === null && runner.signalCode === null;
}

async function describe(error: unknown, runner: ChildProcess, order: StartOrder): Promise<unknown> {
  if (isAlive(runner)) runner.kill('SIGKILL');
  const printed = await readRegular(order.log).catch(() => '');
  await rm(order.log, { force: true });
  if (process.platform !== 'win32') await rm(order.address, { force: true });
  const tail = cutTextFront(redact(printed).trim(), TAIL_CHARS);
  const value: ErrorValue =
    error instanceof LanesError ? error.toValue() : { code: 'runner_died', message: wordsOf(error) };
  return new LanesError(tail === '' ? value : withDetail(value, `\nThe runner printed:\n${tail}`));
}

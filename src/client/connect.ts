/** Reaching the runner of a run: its address and token stand in the run's lease. */
import { connectSocket, RpcPeer } from '../core/ipc/index.ts';
import { inspectLock } from '../core/locks/index.ts';
import { liveness } from '../core/processes/index.ts';
import { runLayout } from '../core/projects/index.ts';
import { RunReader } from '../core/runs/index.ts';
import { isTerminal, LanesError, lanesError, RPC_VERSION, wordsOf } from '../protocol/index.ts';

/** Alive means: the socket answers the token handshake within this time. */
const HELLO_MS = 1000;

export interface ClientIdentity {
  kind: string;
  version: string;
}

/** Connects to the runner of a run. Throws `run_not_running` or `runner_unreachable`. */
export async function connectRunner(directory: string, client: ClientIdentity): Promise<RpcPeer> {
  const lease = await inspectLock(runLayout(directory).lease);
  if (lease.state === 'missing' && !lease.owner && (await livesWithoutLease(directory))) {
    throw lanesError('runner_unreachable:lease-removed');
  }
  if (lease.state === 'missing' || lease.state === 'stale') {
    throw lanesError('run_not_running:no-runner');
  }
  if (!lease.owner?.socket) {
    throw lease.reason === undefined
      ? lanesError('runner_unreachable:lease-state', { lease: lease.state })
      : lanesError('runner_unreachable:lease', { reason: lease.reason });
  }
  const socket = await connectSocket(lease.owner.socket, HELLO_MS).catch((error: unknown) => {
    throw lanesError('runner_unreachable:socket', { reason: wordsOf(error) });
  });
  const peer = new RpcPeer(socket);
  peer.listen();
  try {
    await peer.request('hello', { token: lease.owner.token, version: RPC_VERSION, client }, { deadlineMs: HELLO_MS });
    return peer;
  } catch (error) {
    peer.close();
    throw error;
  }
}

async function livesWithoutLease(directory: string): Promise<boolean> {
  const { view } = await RunReader.open(directory);
  return !isTerminal(view.state) && view.runner !== null && (await liveness(view.runner)) === 'alive';
}

/** Whether the runner of a run answers the token handshake in time. One of another version answers as well, with a refusal. */
export async function answers(directory: string, client: ClientIdentity): Promise<boolean> {
  try {
    (await connectRunner(directory, client)).close();
    return true;
  } catch (error) {
    return error instanceof LanesError && error.code === 'journal_newer';
  }
}

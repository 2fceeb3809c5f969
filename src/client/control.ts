/** Asking a run's runner for something. Any client of the same user can; the token stands in the run's lease. */
import { randomUUID } from 'node:crypto';
import { connectSocket, RpcPeer } from '../core/ipc/index.ts';
import { inspectLock } from '../core/locks/index.ts';
import { runLayout } from '../core/projects/index.ts';
import { RunReader } from '../core/runs/index.ts';
import { isTerminal, LanesError, type Owner, RPC_VERSION, type RpcResult } from '../protocol/index.ts';

/** Alive means: the socket answers the token handshake within this time. */
const HELLO_MS = 1000;
/** The whole ladder that ends a child, and the terminal writes. */
const STOP_MS = 30_000;

export interface Caller {
  by: Owner;
  client: { kind: string; version: string };
}

/** Connects to the runner of a run. Throws `run_not_running` or `runner_unreachable`. */
export async function connectRunner(directory: string, client: Caller['client']): Promise<RpcPeer> {
  const lease = await inspectLock(runLayout(directory).lease);
  if (lease.state !== 'held' || !lease.owner?.socket) {
    throw new LanesError(
      'run_not_running',
      'This run has no living runner.',
      'Its work is over, or was cut off; see its status.',
    );
  }
  const socket = await connectSocket(lease.owner.socket, HELLO_MS).catch((error: unknown) => {
    throw new LanesError(
      'runner_unreachable',
      `The runner's socket cannot be reached: ${error instanceof Error ? error.message : error}.`,
    );
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

/** Stops a run and waits until it has ended. `too-late`: it had ended by itself. */
export async function stopRun(directory: string, caller: Caller): Promise<RpcResult<'stop'>> {
  const before = await RunReader.open(directory);
  if (isTerminal(before.view.state)) return { outcome: 'too-late' };
  let peer: RpcPeer | undefined;
  try {
    peer = await connectRunner(directory, caller.client);
    return await peer.request('stop', { requestId: randomUUID(), by: caller.by }, { deadlineMs: STOP_MS });
  } catch (error) {
    // The runner may have ended while it was asked: then the journal has the answer.
    const view = await before.refresh();
    if (!isTerminal(view.state)) throw error;
    return { outcome: view.stopRequested && view.state === 'stopped' ? 'done' : 'too-late' };
  } finally {
    peer?.close();
  }
}

/** The runner's socket. A connection that does not begin with the right token is closed. */
import { timingSafeEqual } from 'node:crypto';
import { lstat, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errnoOf, makeCheckedFolder } from '../core/files/index.ts';
import { RpcPeer } from '../core/ipc/index.ts';
import { inTime } from '../core/time/index.ts';
import { lanesError, RPC_VERSION, type RpcMethod, type RpcParams, type RpcResult } from '../protocol/index.ts';

/** Milliseconds a new connection has for its `hello`. */
const HELLO_MS = 5000;
const ANSWER_MS = 10;
/** Milliseconds the last answers may take; longer than a receipt is waited for. */
const LAST_ANSWERS_MS = 5000;

export type Handlers = { [M in Exclude<RpcMethod, 'hello'>]: (params: RpcParams<M>) => Promise<RpcResult<M>> };

export class RunnerServer {
  #server: Server;
  readonly #address: string;
  readonly #accepts: (socket: Socket) => void;
  #closed = false;
  readonly #peers = new Set<RpcPeer>();
  readonly #answering = new Set<Promise<unknown>>();

  private constructor(address: string, accepts: (server: RunnerServer, socket: Socket) => void) {
    this.#server = createServer();
    this.#address = address;
    this.#accepts = (socket) => accepts(this, socket);
  }

  static async listen(
    address: string,
    identity: { token: string; runId: string },
    handlers: Handlers,
  ): Promise<RunnerServer> {
    const runner = new RunnerServer(address, (server, socket) => server.#accept(socket, identity, handlers));
    await runner.#listen();
    return runner;
  }

  async #listen(): Promise<void> {
    const server = createServer(this.#accepts);
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#address, () => resolve());
    });
  }

  /** Listens anew when the socket was removed; whoever is connected stays so. True when it was needed. */
  async renew(): Promise<boolean> {
    if (this.#closed || process.platform === 'win32' || (await exists(this.#address))) return false;
    await makeCheckedFolder(dirname(this.#address));
    // Closing removes the path: first the old one, then the new.
    this.#server.close();
    await this.#listen();
    return true;
  }

  #accept(socket: Socket, identity: { token: string; runId: string }, handlers: Handlers): void {
    const peer = new RpcPeer(socket);
    this.#peers.add(peer);
    let known = false;
    const timer = setTimeout(() => {
      if (!known) peer.close();
    }, HELLO_MS);
    void peer.closed.then(() => {
      clearTimeout(timer);
      this.#peers.delete(peer);
    });
    peer.handle('hello', ({ token, version }) => {
      if (!sameSecret(token, identity.token)) {
        setImmediate(() => peer.close());
        throw lanesError('runner_refused:token');
      }
      if (version !== RPC_VERSION) {
        throw lanesError('journal_newer:rpc', { runner: RPC_VERSION, client: version });
      }
      known = true;
      return { version: RPC_VERSION, runnerVersion: PI_LANES_VERSION, runId: identity.runId };
    });
    const guarded = <M extends Exclude<RpcMethod, 'hello'>>(method: M) =>
      peer.handle(method, (params: RpcParams<M>) => {
        if (!known) {
          setImmediate(() => peer.close());
          throw lanesError('runner_refused:hello');
        }
        const answer = handlers[method](params);
        this.#answering.add(answer);
        void answer.catch(() => undefined).finally(() => this.#answering.delete(answer));
        return answer;
      });
    guarded('start');
    guarded('proceed');
    guarded('ping');
    guarded('status');
    guarded('stop');
    guarded('interrupt');
    guarded('steer');
    guarded('answer');
    peer.listen();
  }

  /** Closes the socket. Requests that are being answered get their answer first. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#server.close();
    await inTime(Promise.allSettled(this.#answering), LAST_ANSWERS_MS);
    // The JSON-RPC writer takes a few turns of the event loop to hand its last message to the socket.
    await delay(ANSWER_MS);
    await Promise.all([...this.#peers].map((peer) => peer.finish()));
    if (process.platform !== 'win32') await rm(this.#address, { force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: unknown) => errnoOf(error) !== 'ENOENT',
  );
}

function sameSecret(given: string, secret: string): boolean {
  const a = Buffer.from(given);
  const b = Buffer.from(secret);
  return a.length === b.length && timingSafeEqual(a, b);
}

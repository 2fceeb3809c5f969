/** Typed JSON-RPC over a socket: both sides check every parameter and result against the protocol's schemas. */
import { connect, type Socket } from 'node:net';
import {
  type CancellationToken,
  createMessageConnection,
  type MessageConnection,
  ResponseError,
  SocketMessageReader,
  SocketMessageWriter,
} from 'vscode-jsonrpc/node';
import type * as z from 'zod/mini';
import {
  describeFaults,
  LanesError,
  lanesError,
  type RpcMethod,
  type RpcParams,
  type RpcResult,
  rpc,
  rpcErrorData,
  toErrorValue,
  wordsOf,
} from '../../protocol/index.ts';

/** JSON-RPC's range for server errors. The error value with its own stable code travels in `data`. */
const SERVER_ERROR = -32_000;

export class RpcPeer {
  readonly #connection: MessageConnection;
  readonly #socket: Socket;
  readonly closed: Promise<void>;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#connection = createMessageConnection(new SocketMessageReader(socket), new SocketMessageWriter(socket));
    this.closed = new Promise((resolve) => {
      this.#connection.onClose(() => resolve());
      socket.once('close', () => resolve());
    });
    // Reported through `closed` and through the failing request; without a listener Node would throw.
    this.#connection.onError(() => undefined);
    socket.on('error', () => undefined);
  }

  handle<M extends RpcMethod>(
    method: M,
    handler: (params: RpcParams<M>) => Promise<RpcResult<M>> | RpcResult<M>,
  ): void {
    this.#connection.onRequest(method, async (raw: unknown, _token: CancellationToken) => {
      try {
        const params = parse<RpcParams<M>>(rpc[method].params, raw, 'parameters', method);
        return await handler(params);
      } catch (error) {
        const value = toErrorValue(error);
        throw new ResponseError(SERVER_ERROR, value.message, value);
      }
    });
  }

  listen(): void {
    this.#connection.listen();
  }

  /** Sends a request; rejects with the other side's error, or `runner_unreachable` at the deadline or a closed connection. */
  async request<M extends RpcMethod>(
    method: M,
    params: RpcParams<M>,
    options: { deadlineMs: number },
  ): Promise<RpcResult<M>> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(lanesError('runner_unreachable:late', { method, ms: options.deadlineMs })),
        options.deadlineMs,
      );
    });
    const gone = this.closed.then(() => {
      throw lanesError('runner_unreachable:closed', { method });
    });
    try {
      const raw: unknown = await Promise.race([this.#connection.sendRequest(method, params), late, gone]);
      return parse<RpcResult<M>>(rpc[method].result, raw, 'result', method);
    } catch (error) {
      if (error instanceof LanesError) throw error;
      if (error instanceof ResponseError) {
        const value = rpcErrorData.safeParse(error.data);
        if (value.success) throw new LanesError(value.data);
      }
      throw lanesError('runner_unreachable:failed', { reason: wordsOf(error) });
    } finally {
      clearTimeout(timer);
      late.catch(() => undefined);
      gone.catch(() => undefined);
    }
  }

  /** Closes at once. */
  close(): void {
    this.#connection.dispose();
    this.#socket.destroy();
  }

  /** Closes after everything written so far has been sent. */
  finish(): Promise<void> {
    this.#socket.end();
    setTimeout(() => this.#socket.destroy(), FINISH_MS).unref();
    return this.closed;
  }
}

/** Milliseconds the other side has to take the last bytes. */
const FINISH_MS = 500;

function parse<T>(schema: z.ZodMiniType, value: unknown, what: 'parameters' | 'result', method: RpcMethod): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    throw lanesError(`runner_refused:${what}`, { method, faults: describeFaults(parsed.error) });
  }
  // The schema is the one registered for this method, so its output is T.
  return parsed.data as T;
}

/** Connects within the deadline or rejects with the system's error. */
export function connectSocket(address: string, deadlineMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(address);
    const timer = setTimeout(() => {
      socket.destroy();
      reject(lanesError('runner_unreachable:no-connection', { ms: deadlineMs }));
    }, deadlineMs);
    socket.once('connect', () => {
      clearTimeout(timer);
      resolve(socket);
    });
    socket.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}

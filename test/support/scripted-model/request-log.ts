import type { ChatMessage } from './chat-request.ts';

/** What was asked and how it ended. The object in the log changes its `outcome` when the request ends. */
export interface LoggedRequest {
  /** Position since the start of the server, from 0; stays the same when old records are dropped. */
  readonly index: number;
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly model: string;
  /** The client's session id (`x-session-affinity` header) when it sends one. */
  readonly session: string | undefined;
  readonly messages: readonly ChatMessage[];
  /** Names of the tools offered, as sent. */
  readonly tools: readonly string[];
  /** The JSON schemas of their arguments, by name. */
  readonly toolParameters?: Readonly<Record<string, unknown>>;
  /** An `Authorization` header was present. Its value is never kept. */
  readonly authorized: boolean;
  readonly stream: boolean;
  /** Name of the script that answered, and the step of it. */
  script: string;
  step: number;
  outcome: 'open' | 'answered' | 'failed' | 'cut' | 'disconnected';
  /** HTTP status sent; 0 while none was. */
  status: number;
}

export interface RequestLog {
  /** Newest last. At most `keep` records. */
  readonly requests: readonly LoggedRequest[];
  add(request: Omit<LoggedRequest, 'index' | 'time' | 'script' | 'step' | 'outcome' | 'status'>): LoggedRequest;
}

/** A log bounded to `keep` records, so that a long soak does not hold every conversation it ever saw. */
export function createRequestLog(keep: number): RequestLog {
  const requests: LoggedRequest[] = [];
  let next = 0;
  return {
    requests,
    add(request) {
      const record: LoggedRequest = {
        index: next,
        time: new Date().toISOString(),
        ...request,
        script: '',
        step: 0,
        outcome: 'open',
        status: 0,
      };
      next += 1;
      requests.push(record);
      if (requests.length > keep) requests.shift();
      return record;
    },
  };
}

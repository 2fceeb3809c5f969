import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { type ChatRequest, chatRequestSchema } from './chat-request.ts';
import { type Conversation, readConversation } from './conversation.ts';
import { streamReply, wholeReply } from './reply.ts';
import { createRequestLog, type LoggedRequest } from './request-log.ts';
import { ScriptError } from './script-error.ts';
import { builtInScripts } from './scripts.ts';
import { type ReadyStep, readyStep, type Script } from './step.ts';

/** Milliseconds; the longest a timer can take. */
const LONGER_THAN_ANY_TEST = 2 ** 31 - 1;

export interface ScriptedModelOptions {
  /** TCP port on 127.0.0.1; 0 or absent picks a free one. */
  port?: number;
  /** Added to the built-in library; a name of the library is replaced. */
  scripts?: Readonly<Record<string, Script>>;
  /** Called once per request, when it has ended. */
  log?: (request: LoggedRequest) => void;
  /** How many requests the log keeps (default 2,000). */
  keep?: number;
}

export interface ScriptedModel {
  /** `http://127.0.0.1:<port>`; the OpenAI base URL is this plus `/v1`. */
  readonly url: string;
  readonly port: number;
  /** What was asked, newest last; live. `GET <url>/requests` is the same as JSON. */
  readonly requests: readonly LoggedRequest[];
  /** Stops listening and drops every open connection. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * An OpenAI-compatible model that plays scripts, on 127.0.0.1. The newest user message with `SCRIPT:<name>` picks the
 * script and the number of assistant messages after it picks the step, so a request carries all the state there is:
 * resumed, forked and parallel sessions need nothing from the server.
 *
 * The one exception are answers that fail a number of times and then succeed. Their counter is kept per request
 * identity: the client's session id (`x-session-affinity`, if sent) plus all messages but the system prompt. A retry
 * repeats both, so it finds its counter; two clients without session ids that send the same words share one.
 *
 * Routes: `POST /v1/chat/completions` (streaming unless `stream` is false), `GET /v1/models`, `GET /requests`.
 *
 * @throws the listen error, for example `EADDRINUSE` for a port in use
 */
export async function startScriptedModel(options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
  const log = createRequestLog(options.keep ?? 2_000);
  const scripts: Readonly<Record<string, Script>> = { ...builtInScripts, ...options.scripts };
  const failures = new Map<string, number>();

  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://127.0.0.1').pathname;
    if (request.method === 'POST' && path === '/v1/chat/completions') {
      void complete(request, response);
    } else if (request.method === 'GET' && path === '/v1/models') {
      const data = ['scripted', 'scripted-b'].map((id) => ({ id, object: 'model', owned_by: 'scripted-model' }));
      sendJson(response, 200, { object: 'list', data });
    } else if (request.method === 'GET' && path === '/requests') {
      sendJson(response, 200, log.requests);
    } else {
      sendJson(response, 404, errorBody(`nothing at ${request.method} ${path}`, 'not_found_error'));
    }
  });

  async function complete(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    let record: LoggedRequest | undefined;
    try {
      const body = await readChatRequest(request);
      const header = request.headers['x-session-affinity'];
      const session = Array.isArray(header) ? header[0] : header;
      record = log.add({
        model: body.model,
        session,
        messages: body.messages,
        tools: (body.tools ?? []).map((tool) => tool.function.name),
        toolParameters: Object.fromEntries(
          (body.tools ?? []).map(({ function: { name, parameters } }) => [name, parameters]),
        ),
        authorized: request.headers.authorization !== undefined,
        stream: body.stream ?? false,
      });
      const conversation = readConversation(body);
      const picked = pick(scripts, conversation);
      record.script = picked.name;
      record.step = conversation.step;
      await play(response, record, picked.step, identity(session, body), gone.signal);
    } catch (error) {
      if (record) record.outcome = gone.signal.aborted ? 'disconnected' : 'failed';
      if (!response.headersSent && !gone.signal.aborted) {
        const status = error instanceof ScriptError ? 400 : 500;
        if (record) record.status = status;
        sendJson(response, status, errorBody(String(error), 'invalid_request_error'));
      } else {
        response.destroy();
      }
    } finally {
      if (record) options.log?.(record);
    }
  }

  async function play(
    response: ServerResponse,
    record: LoggedRequest,
    step: ReadyStep,
    id: string,
    signal: AbortSignal,
  ): Promise<void> {
    if (step.waitMs) await delay(step.waitMs, undefined, { signal });
    if (step.hang) await delay(LONGER_THAN_ANY_TEST, undefined, { signal });
    if (step.fail && isDue(`fail ${id}`, step.fail.times)) {
      record.outcome = 'failed';
      record.status = step.fail.status;
      sendFailure(response, step.fail);
      return;
    }
    const head = { id: id.slice(0, 16), model: record.model };
    record.status = 200;
    if (!record.stream) {
      sendJson(response, 200, wholeReply(head, step));
      record.outcome = 'answered';
      return;
    }
    const cut = step.cut !== undefined && isDue(`cut ${id}`, step.cut.times);
    record.outcome = (await streamReply(response, head, step, { cut, signal })) ? 'answered' : 'cut';
  }

  /** Counts one more failure of this request, unless it already failed `times` times. */
  function isDue(key: string, times: number | undefined): boolean {
    if (times === undefined) return true;
    const so = failures.get(key) ?? 0;
    if (so >= times) return false;
    failures.set(key, so + 1);
    return true;
  }

  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the scripted model has no TCP address');
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    requests: log.requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * The script and step for a request. Without a marker, or behind the last step, the default script answers; a default of
 * several steps is played round and round, once per message.
 */
function pick(
  scripts: Readonly<Record<string, Script>>,
  conversation: Conversation,
): { name: string; step: ReadyStep } {
  const play = (name: string, args: unknown, index: number) => {
    const script = scripts[name];
    if (!script) {
      // The known names are not listed: "rate-limit" or "500" in an error's text makes Pi retry it, whatever the status.
      throw new ScriptError(`unknown script "${name}"; see builtInScripts for the names`);
    }
    const steps = script.plan(args);
    const step = steps[name === 'default' ? index % steps.length : index];
    return step === undefined ? undefined : { name, step: readyStep(step, conversation) };
  };
  const { marker } = conversation;
  const asked = conversation.summarizing
    ? play('summary', {}, 0)
    : marker && play(marker.name, marker.args, conversation.step);
  const picked = asked ?? play('default', {}, marker ? 0 : conversation.step);
  if (!picked) throw new ScriptError('the script "default" has no step');
  return picked;
}

async function readChatRequest(request: IncomingMessage): Promise<ChatRequest> {
  const raw = (await buffer(request)).toString('utf8');
  let json: unknown;
  try {
    json = JSON.parse(raw);
  } catch (error) {
    throw new ScriptError(`the request body is not JSON: ${String(error)}`);
  }
  const parsed = chatRequestSchema.safeParse(json);
  if (!parsed.success) throw new ScriptError(`the request body: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** The system prompt is left out: it may hold the time of day, and a retry must be recognised. */
function identity(session: string | undefined, body: ChatRequest): string {
  const said = body.messages.filter((one) => one.role !== 'system' && one.role !== 'developer');
  return createHash('sha256')
    .update(JSON.stringify([session ?? '', body.model, said]))
    .digest('hex');
}

function sendFailure(response: ServerResponse, fail: NonNullable<ReadyStep['fail']>): void {
  if (fail.retryAfter !== undefined) response.setHeader('retry-after', String(fail.retryAfter));
  const body =
    fail.body ?? JSON.stringify(errorBody(fail.message ?? `scripted ${fail.status}`, fail.type ?? 'scripted_error'));
  response.writeHead(fail.status, { 'content-type': 'application/json' }).end(body);
}

function errorBody(message: string, type: string): object {
  return { error: { message, type, param: null, code: null } };
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

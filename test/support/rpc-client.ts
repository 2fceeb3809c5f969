import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import { splitLines } from './split-lines.ts';
import { waitFor } from './wait-for.ts';

const recordSchema = z.looseObject({ type: z.string() });
const responseSchema = z.looseObject({
  type: z.literal('response'),
  id: z.string().optional(),
  command: z.string(),
  success: z.boolean(),
  error: z.string().optional(),
  data: z.unknown().optional(),
});
const stateSchema = z.looseObject({
  model: z.looseObject({ provider: z.string(), id: z.string() }),
  isStreaming: z.boolean(),
  isCompacting: z.boolean(),
  pendingMessageCount: z.number(),
  messageCount: z.number(),
  sessionId: z.string(),
  sessionFile: z.string().optional(),
});
const assistantSchema = z.looseObject({
  role: z.literal('assistant'),
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  stopReason: z.string(),
  errorMessage: z.string().optional(),
});

/** Any line of Pi's stdout that is not a response. */
export type PiEvent = z.output<typeof recordSchema>;
export type PiResponse = z.output<typeof responseSchema>;
export type PiState = z.output<typeof stateSchema>;

/** What a prompt came to, taken from the last assistant message. */
export interface PiOutcome {
  readonly stopReason: string;
  readonly text: string;
  readonly errorMessage: string | undefined;
  /** Every event from the prompt until Pi was idle again. */
  readonly events: readonly PiEvent[];
}

export interface PiOptions {
  /** Path of the CLI script; see `piCli`. */
  cli: string;
  cwd: string;
  /** The whole environment; see `createAgentDir`. */
  env: Readonly<Record<string, string>>;
  /** After `--mode rpc`. */
  args?: readonly string[];
}

const RESPONSE_TIMEOUT = 20_000;
const RUN_TIMEOUT = 30_000;

/**
 * A real `pi --mode rpc` for tests, in any version. Written apart from the product's own client on purpose, so that one
 * mistake cannot hide in both. Nothing here reads the event's time or order beyond what Pi sends.
 */
export class PiRpc implements AsyncDisposable {
  readonly events: PiEvent[] = [];
  /** Lines of stdout that are no record of the protocol. Always empty with a healthy Pi. */
  readonly strays: string[] = [];
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #pending = new Map<string, (response: PiResponse) => void>();
  #stderr = '';
  #nextId = 1;
  #ended: string | undefined;

  constructor({ cli, cwd, env, args = [] }: PiOptions) {
    this.#child = spawn(process.execPath, [cli, '--mode', 'rpc', ...args], { cwd, env, stdio: 'pipe' });
    this.#child.stdout.on(
      'data',
      splitLines((line) => this.#receive(line)),
    );
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-20_000);
    });
    // A write to a Pi that has just ended fails here; the `close` below says so with the better words.
    this.#child.stdin.on('error', () => undefined);
    this.#child.once('error', (error) => this.#end(`could not be started: ${error.message}`));
    this.#child.once('close', (code, signal) => this.#end(`ended with ${signal ?? code}`));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** How Pi ended (`ended with 0`, `ended with SIGKILL`); undefined while it runs. */
  get ended(): string | undefined {
    return this.#ended;
  }

  /** Writes one record as it is, for everything that is not a command with a response. */
  send(record: object): void {
    this.#child.stdin.write(`${JSON.stringify(record)}\n`);
  }

  /**
   * Sends a command and waits for its response, which may say `success: false`.
   * @throws Error when Pi ends or the deadline passes (ms) before the response
   */
  async request(type: string, fields: object = {}, timeoutMs = RESPONSE_TIMEOUT): Promise<PiResponse> {
    const id = `t${this.#nextId}`;
    this.#nextId += 1;
    let response: PiResponse | undefined;
    this.#pending.set(id, (one) => {
      response = one;
    });
    this.send({ id, type, ...fields });
    try {
      return await this.#wait(`the response to ${type}`, () => response, timeoutMs);
    } finally {
      this.#pending.delete(id);
    }
  }

  async state(): Promise<PiState> {
    return stateSchema.parse((await this.request('get_state')).data);
  }

  /** The first event from position `from` that `match` accepts. */
  waitForEvent(what: string, match: (event: PiEvent) => boolean, from = 0, timeoutMs = RUN_TIMEOUT): Promise<PiEvent> {
    return this.#wait(what, () => this.events.slice(from).find(match), timeoutMs);
  }

  /** Sends a prompt and waits until Pi is idle again, retries and compaction included. */
  async run(message: string, timeoutMs = RUN_TIMEOUT): Promise<PiOutcome> {
    return this.settle(await this.prompt(message), timeoutMs);
  }

  /**
   * Sends a prompt and returns as soon as it is accepted, with the position in `events` where its run begins.
   * @throws Error when Pi refuses it
   */
  async prompt(message: string): Promise<number> {
    const from = this.events.length;
    const response = await this.request('prompt', { message });
    if (!response.success) throw new Error(`prompt refused: ${response.error}`);
    return from;
  }

  /** Waits until the run that began at position `from` has ended. */
  async settle(from: number, timeoutMs = RUN_TIMEOUT): Promise<PiOutcome> {
    for (let at = from; ; ) {
      // Positions are counted from 1 here, so that "none" is falsy.
      const end = await this.#wait(
        'the end of the run',
        () => this.events.findIndex((one, index) => index >= at && isEnd(one, this.events.slice(from, index))) + 1,
        timeoutMs,
      );
      if (this.events[end - 1]?.type === 'agent_settled' || (await this.#isQuietSince(end))) break;
      at = end;
    }
    return outcomeOf(this.events.slice(from));
  }

  /** Ends Pi: closes stdin, then SIGTERM twice, then SIGKILL, two seconds each. Safe to call twice. */
  async stop(): Promise<void> {
    const steps = [
      () => this.#child.stdin.end(),
      () => this.#child.kill('SIGTERM'),
      () => this.#child.kill('SIGTERM'),
      () => this.#child.kill('SIGKILL'),
    ];
    for (const step of steps) {
      if (this.#ended !== undefined) return;
      step();
      await once(this.#child, 'close', { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
    }
    if (this.#ended === undefined) throw new Error(`pi ${this.pid} does not end`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #isQuietSince(position: number): Promise<boolean> {
    const { isStreaming, isCompacting, pendingMessageCount } = await this.state();
    const resumed = this.events.slice(position).some((one) => RESUMES.has(one.type));
    return !resumed && !isStreaming && !isCompacting && pendingMessageCount === 0;
  }

  #wait<T>(what: string, probe: () => T, timeoutMs: number) {
    const gone = new AbortController();
    return waitFor(
      what,
      () => {
        const value = probe();
        // What arrived before the end still counts.
        if (!value && this.#ended !== undefined)
          gone.abort(new Error(`pi ${this.#ended}, before ${what}:\n${this.#stderr}`));
        return value || undefined;
      },
      {
        timeoutMs,
        everyMs: 3,
        signal: gone.signal,
        seen: () =>
          `${this.events
            .map((one) => one.type)
            .slice(-12)
            .join(' ')}\n${this.#stderr}`,
      },
    );
  }

  #receive(line: string): void {
    const json = asJson(line);
    const response = responseSchema.safeParse(json);
    if (response.success) {
      const { id } = response.data;
      if (id !== undefined) this.#pending.get(id)?.(response.data);
      return;
    }
    const event = recordSchema.safeParse(json);
    if (event.success && event.data.type !== 'response') this.events.push(event.data);
    else this.strays.push(line);
  }

  #end(how: string): void {
    this.#ended ??= how;
  }
}

const RESUMES: ReadonlySet<string> = new Set(['agent_start', 'auto_retry_start', 'compaction_start']);

/**
 * Versions from 0.80.4 on say `agent_settled`. Older ones (their `agent_end` has no `willRetry`) have no event for it:
 * an `agent_end`, or the `compaction_end` behind one, is the end when nothing follows.
 */
function isEnd(event: PiEvent, before: readonly PiEvent[]): boolean {
  const isOld = (one: PiEvent) => one.type === 'agent_end' && one['willRetry'] === undefined;
  if (event.type === 'compaction_end') return before.some(isOld);
  return event.type === 'agent_settled' || isOld(event);
}

function outcomeOf(events: readonly PiEvent[]): PiOutcome {
  const last = events
    .filter((one) => one.type === 'message_end')
    .map((one) => assistantSchema.safeParse(one['message']))
    .findLast((one) => one.success)?.data;
  if (!last) throw new Error(`the run had no assistant message: ${events.map((one) => one.type).join(' ')}`);
  const text = last.content.map((one) => (one.type === 'text' ? (one.text ?? '') : '')).join('');
  return { stopReason: last.stopReason, text, errorMessage: last.errorMessage, events };
}

function asJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

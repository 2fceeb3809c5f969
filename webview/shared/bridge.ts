/**
 * The page's side of the line to the extension: typed messages out, schema-checked messages in, and requests whose answers
 * carry their number. Nothing is taken in before `ready()`, which asks for the first snapshot.
 */
import type * as z from 'zod/mini';

/** What VS Code hands to a webview. */
export interface EditorApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): EditorApi;

/** Can be called once per page. */
export function editorApi(): EditorApi {
  return acquireVsCodeApi();
}

interface Incoming {
  readonly type: string;
  readonly request?: number | null;
}

export interface BridgeEvents<In> {
  /** A message that fits the schema and answers no request. */
  message(message: In): void;
  /** A message that does not fit: `where` names the first field that is wrong. */
  unreadable(where: string): void;
}

/** `Out` without its number, for messages that have one. */
type Unnumbered<Out> = Out extends { request: number } ? Omit<Out, 'request'> : never;

export class Bridge<In extends Incoming, Out extends { readonly type: string }> {
  readonly #api: EditorApi;
  readonly #schema: z.ZodMiniType<In>;
  readonly #events: BridgeEvents<In>;
  readonly #answers = new Map<number, (message: In) => void>();
  #request = 0;
  #open = false;

  constructor(api: EditorApi, schema: z.ZodMiniType<In>, events: BridgeEvents<In>) {
    this.#api = api;
    this.#schema = schema;
    this.#events = events;
  }

  /** Opens the gate and says so. */
  ready(message: Out): void {
    this.#open = true;
    window.addEventListener('message', (event: MessageEvent<unknown>) => this.#receive(event.data));
    this.post(message);
  }

  post(message: Out): void {
    this.#api.postMessage(message);
  }

  /**
   * Sends a numbered message; `answer` gets every message that repeats the number, until `forget`.
   * @returns the number
   */
  request(message: Unnumbered<Out>, answer: (message: In) => void): number {
    this.#request += 1;
    const request = this.#request;
    this.#answers.set(request, answer);
    this.#api.postMessage({ ...message, request });
    return request;
  }

  /** Answers to this request are not wanted any more. */
  forget(request: number): void {
    this.#answers.delete(request);
  }

  #receive(data: unknown): void {
    if (!this.#open) return;
    const parsed = this.#schema.safeParse(data);
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      this.#events.unreadable(issue ? `${issue.path.join('.')}: ${issue.message}` : 'message');
      return;
    }
    const { request } = parsed.data;
    if (typeof request === 'number') this.#answers.get(request)?.(parsed.data);
    else this.#events.message(parsed.data);
  }
}

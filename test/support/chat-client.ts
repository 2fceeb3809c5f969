import { z } from 'zod';

export interface ChatMessage {
  role: string;
  content: unknown;
}

export interface PostOptions {
  headers?: Record<string, string>;
  /** Laid over the request body. */
  body?: object;
  signal?: AbortSignal;
}

/** A reply put together from its deltas. */
export interface ChatReply {
  text: string;
  thinking: string;
  calls: { id: string | undefined; tool: string | undefined; args: unknown }[];
  finish: string | undefined;
  usage: z.output<typeof usageSchema> | undefined;
  /** The deltas as they came. */
  deltas: z.output<typeof partSchema>[];
}

const usageSchema = z.object({ prompt_tokens: z.number(), completion_tokens: z.number(), total_tokens: z.number() });
const partSchema = z.object({
  content: z.string().optional(),
  reasoning_content: z.string().optional(),
  tool_calls: z
    .array(
      z.object({
        index: z.number().optional(),
        id: z.string().optional(),
        function: z.object({ name: z.string().optional(), arguments: z.string() }),
      }),
    )
    .optional(),
});

/** One chunk of a stream (`delta`), or a whole reply (`message`). */
export const chatReplySchema = z.object({
  choices: z.array(
    z.object({ delta: partSchema.optional(), message: partSchema.optional(), finish_reason: z.string().nullable() }),
  ),
  usage: usageSchema.optional(),
});

export const user = (content: unknown): ChatMessage => ({ role: 'user', content });
export const assistant = (content = ''): ChatMessage => ({ role: 'assistant', content });
export const tool = (content: string): ChatMessage => ({ role: 'tool', content });

/** Asks an OpenAI-compatible server at `url` (without `/v1`) for a streamed reply; the response is not read yet. */
export function post(url: string, messages: readonly ChatMessage[], options: PostOptions = {}): Promise<Response> {
  const { headers, signal, body } = options;
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'scripted', stream: true, messages, ...body }),
    signal: signal ?? null,
  });
}

/**
 * Asks and reads the stream to its end.
 * @throws Error when the response is no complete event stream
 */
export async function ask(url: string, ...messages: readonly ChatMessage[]): Promise<ChatReply> {
  const response = await post(url, messages);
  const events = (await response.text()).split('\n\n').filter((one) => one !== '');
  if (events.pop() !== 'data: [DONE]') throw new Error(`not a complete stream: ${response.status} ${events.at(-1)}`);
  const chunks = events.map((one) => chatReplySchema.parse(JSON.parse(one.slice('data: '.length))));
  const choices = chunks.flatMap((one) => one.choices);
  const deltas = choices.map((one) => one.delta ?? {});
  const parts = deltas.flatMap((one) => one.tool_calls ?? []);
  return {
    text: deltas.map((one) => one.content ?? '').join(''),
    thinking: deltas.map((one) => one.reasoning_content ?? '').join(''),
    calls: [...new Set(parts.map((one) => one.index))].map((index) => {
      const own = parts.filter((one) => one.index === index);
      const args: unknown = JSON.parse(own.map((one) => one.function.arguments).join(''));
      return { id: own[0]?.id, tool: own[0]?.function.name, args };
    }),
    finish: choices.map((one) => one.finish_reason).findLast((one) => one !== null) ?? undefined,
    usage: chunks.at(-1)?.usage,
    deltas,
  };
}

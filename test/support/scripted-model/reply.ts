import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { ReadyStep } from './step.ts';

/** Largest text delta in UTF-16 units. Old Pi versions repeat the whole text per delta, so small ones cost the square. */
const PIECE = 256 * 1024;

const DEFAULT_USAGE = { input: 100, output: 10 };

export interface ReplyHead {
  /** Unique per request position in a conversation; the ids of tool calls are made from it. */
  readonly id: string;
  readonly model: string;
}

/** The text of a step, with its `tokens` and `bytes` filled in. */
export function fullText({ text = '', tokens = 0, bytes = 0 }: ReadyStep): string {
  const words = Array.from({ length: tokens }, (_, index) => `word-${index + 1} `).join('');
  const whole = text + words;
  const missing = bytes - Buffer.byteLength(whole);
  return missing > 0 ? whole + '0123456789abcdef'.repeat(Math.ceil(missing / 16)).slice(0, missing) : whole;
}

/**
 * Answers as server-sent events. Resolves when everything is written (`true`) or when `step.cut` dropped the
 * connection (`false`).
 * @throws AbortError as soon as the client goes away
 */
export async function streamReply(
  response: ServerResponse,
  head: ReplyHead,
  step: ReadyStep,
  options: { cut: boolean; signal: AbortSignal },
): Promise<boolean> {
  const { signal } = options;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const send = async (payload: object) => {
    signal.throwIfAborted();
    if (!response.write(`data: ${JSON.stringify({ ...envelope(head, 'chat.completion.chunk'), ...payload })}\n\n`)) {
      await once(response, 'drain', { signal });
    }
  };
  const delta = (content: object) => send({ choices: [{ index: 0, delta: content, finish_reason: null }] });

  await delta({ role: 'assistant', content: '' });
  for (const [field, text] of [
    ['reasoning_content', step.thinking ?? ''],
    ['content', fullText(step)],
  ] as const) {
    for (const piece of pieces(text, step.tokenMs !== undefined)) {
      await delta({ [field]: piece });
      if (step.tokenMs) await delay(step.tokenMs, undefined, { signal });
    }
  }
  for (const call of toolCalls(head, step)) await sendCall(delta, call);
  if (options.cut) {
    // Without this the last deltas may still sit in our buffer, and the client would see nothing at all.
    await new Promise<void>((resolve) => response.write('\n', () => resolve()));
    response.destroy();
    return false;
  }
  await send({ choices: [{ index: 0, delta: {}, finish_reason: finishReason(step) }] });
  await send({ choices: [], usage: usageOf(step) });
  response.end('data: [DONE]\n\n');
  return true;
}

/** The same answer as one JSON object, for `stream: false`. */
export function wholeReply(head: ReplyHead, step: ReadyStep): object {
  const calls = toolCalls(head, step);
  const message = {
    role: 'assistant',
    content: fullText(step),
    ...(step.thinking === undefined ? {} : { reasoning_content: step.thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(({ index: _, ...call }) => call) }),
  };
  return {
    ...envelope(head, 'chat.completion'),
    choices: [{ index: 0, message, finish_reason: finishReason(step) }],
    usage: usageOf(step),
  };
}

interface OpenAiCall {
  readonly index: number;
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

function toolCalls(head: ReplyHead, step: ReadyStep): OpenAiCall[] {
  return (step.calls ?? []).map((call, index) => ({
    index,
    id: `call_${head.id}_${index}`,
    type: 'function',
    function: { name: call.tool, arguments: JSON.stringify(call.args) },
  }));
}

/** Arguments go out in two deltas, as real providers split them, so that a client which does not join them fails. */
async function sendCall(delta: (content: object) => Promise<void>, call: OpenAiCall): Promise<void> {
  const { name, arguments: args } = call.function;
  const half = Math.ceil(args.length / 2);
  await delta({ tool_calls: [{ ...call, function: { name, arguments: args.slice(0, half) } }] });
  if (half < args.length) {
    await delta({ tool_calls: [{ index: call.index, function: { arguments: args.slice(half) } }] });
  }
}

/** Words when paced, otherwise as few pieces as possible; never splits a surrogate pair. */
function pieces(text: string, byWord: boolean): string[] {
  if (byWord) return text.match(/\s*\S+\s*/gu) ?? (text === '' ? [] : [text]);
  const result: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + PIECE, text.length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end -= 1;
    result.push(text.slice(start, end));
    start = end;
  }
  return result;
}

function envelope(head: ReplyHead, object: string): object {
  return { id: `chatcmpl-${head.id}`, object, created: Math.floor(Date.now() / 1000), model: head.model };
}

function finishReason(step: ReadyStep): string {
  return step.finish ?? ((step.calls ?? []).length > 0 ? 'tool_calls' : 'stop');
}

function usageOf({ usage = DEFAULT_USAGE }: ReadyStep): object {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
  };
}
